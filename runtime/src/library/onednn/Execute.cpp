// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Running a prepared primitive.
#include "runtime/src/Failure.h"
#include "runtime/src/library/onednn/Prepared.h"

namespace stator::runtime::dnnl {

void Prepared::setResidual(Session &session, const View &view, const MemoryDesc *out) {
  MemoryDesc given;
  check(session.api().describeStrides(&given, view.ndims, view.dims, view.type, view.strides), "describing a tensor");
  Operand operand;
  operand.argument = 0;
  operand.buffer = view.buffer, operand.offset = view.offset, operand.extent = view.extent;
  operand.before = makeReorder(session, &given, out);
  operands.push_back(std::move(operand));
}

char *Prepared::locate(Frame &frame, const Operand &operand) const {
  int64_t bytes = frame.bytes(operand.buffer);
  if (operand.offset > bytes || operand.extent > bytes - operand.offset)
    fail(STATOR_BAD_ARTIFACT, "an operand of %lld bytes at %lld is outside of buffer %u (%lld bytes)",
         (long long)operand.extent, (long long)operand.offset, operand.buffer, (long long)bytes);
  return frame.address(operand.buffer) + operand.offset;
}

void Prepared::run(Session &session, Reorder &reorder, char *from, char *to) {
  const Api &api = session.api();
  check(api.memorySetData(reorder.from.get(), from), "placing a tensor");
  check(api.memorySetData(reorder.to.get(), to), "placing a tensor");
  Argument both[] = {{argSource, reorder.from.get()}, {argDestination, reorder.to.get()}};
  check(api.execute(reorder.primitive.get(), session.stream(), 2, both), "reordering");
}

void Prepared::pack(Session &session, Operand &operand, char *from) {
  const Api &api = session.api();
  const MemoryDesc *wanted = nullptr;
  check(api.memoryDesc(operand.memory.get(), &wanted), "asking for a layout");
  PackedWeights &weights = session.packed();
  std::lock_guard<std::mutex> lock(weights.mutex);
  PackedWeights::List &list = weights.all[operand.packedKey];
  for (const auto &packed : list) {
    const MemoryDesc *layout = nullptr;
    check(api.memoryDesc(packed->memory.get(), &layout), "asking for a layout");
    if (api.descEqual(layout, wanted)) operand.data = packed->data.get();
  }
  if (!operand.data) {
    auto packed = std::make_unique<PackedWeights::Packed>();
    int64_t bytes = int64_t(api.descBytes(wanted));
    packed->data = allocateAligned(bytes);
    Memory memory = nullptr;
    check(api.memoryCreate(&memory, wanted, weights.engine(), packed->data.get()), "creating a memory object");
    packed->memory = {memory, api.memoryDestroy};
    run(session, *operand.before, from, packed->data.get());
    check(api.streamWait(session.stream()), "waiting");
    operand.data = packed->data.get();
    weights.bytes += uint64_t(bytes);
    list.push_back(std::move(packed));
  }
  check(api.memorySetData(operand.memory.get(), operand.data), "placing a tensor");
  operand.before.reset();
}

void Prepared::execute(Session &session, Frame &frame) {
  const Api &api = session.api();
  char *scratch = session.scratch(scratchBytes);
  for (Operand &operand : operands) {
    char *data = locate(frame, operand);
    if (!operand.packedKey.empty()) {
      if (!operand.data) pack(session, operand, data);
      continue;
    }
    if (operand.argument == 0) {
      Operand &out = operands[outOperand];
      run(session, *operand.before, data, out.scratch < 0 ? out.data : scratch + out.scratch);
      continue;
    }
    char *used = operand.scratch < 0 ? data : scratch + operand.scratch;
    if (used != operand.data) check(api.memorySetData(operand.memory.get(), used), "placing a tensor");
    operand.data = used;
    if (operand.before) run(session, *operand.before, data, used);
  }
  if (scratchpad) check(api.memorySetData(scratchpad.get(), scratch + scratchpadOffset), "placing scratch memory");
  check(api.execute(primitive.get(), session.stream(), int(arguments.size()), arguments.data()), "running a primitive");
  for (Operand &operand : operands)
    if (operand.after) run(session, *operand.after, operand.data, locate(frame, operand));
  check(api.streamWait(session.stream()), "waiting");
}

} // namespace stator::runtime::dnnl
