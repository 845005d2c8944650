// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// st.async and red.async: values from registers to another block's shared memory, signalled at an mbarrier there.
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/ops/Bulk.h"
#include "runtime/simulator/ops/Reduce.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstring>

namespace stator::sim {

namespace {

/// addresses: destination, mbarrier; list: values.
void storeAsync(Warp &w, const Instr &i, uint32_t mask) {
  const AddressOperand *at = &w.kernel.addresses[i.addresses];
  for (unsigned k = 0; k < 2; ++k) mask = definedLanes(w, i, at[k].base, mask, "an address is undefined");
  uint32_t bytes = uint32_t{i.bytes} * i.listCount;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    uint64_t target = w.addressOf(at[0], l);
    if (target % bytes) {
      if (Finding *f =
              w.worker.report(w, i, Kind::misaligned, 1u << l, Severity::error, "an asynchronous store is not aligned"))
        f->addresses = {target};
      continue;
    }
    AsyncRange to;
    MbarrierPlace barrier;
    if (!locate(w, i, l, at[0].space, target, bytes, true, to) ||
        !barrierPlace(w, i, l, at[1].space, w.addressOf(at[1], l), barrier))
      continue;
    if (to.owner != barrier.home) {
      w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error,
                      "the mbarrier of an asynchronous store lies in the shared memory of its destination");
      continue;
    }
    auto op = std::make_unique<AsyncOp>();
    op->instr = &i;
    op->lane = l;
    op->own.resize(2 * size_t{bytes}); // the values, then which of them are defined
    for (uint32_t k = 0; k < i.listCount; ++k) {
      Slot slot = w.kernel.slots[i.list + k];
      std::memcpy(op->own.data() + size_t{k} * i.bytes, w.data + slot.data + size_t{i.bytes} * l, i.bytes);
      std::memset(op->own.data() + bytes + size_t{k} * i.bytes, !(w.poison[slot.poison] >> l & 1), i.bytes);
    }
    op->reduce = i.reduce;
    AsyncRange from;
    from.data = op->own.data();
    from.defined = op->own.data() + bytes;
    op->chunks.push_back({to, from, bytes});
    op->signals.push_back({barrier, bytes, 0});
    issue(w, std::move(op));
  }
}

void decodeStore(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 3, 3);
  Kernel &k = decoder.result();
  k.usesAsync = k.usesPartialBarriers = true;
  Type type = instr.mods.types[0];
  instr.bytes = static_cast<uint8_t>(sizeOf(type));
  instr.mods.order = Order::weak;
  instr.addresses = decoder.addAddress(s.operands[0], Space::sharedCluster);
  auto number = type == Type::f32   ? Decoder::Number::f32
                : type == Type::f64 ? Decoder::Number::f64
                                    : Decoder::Number::integer;
  std::vector<Slot> slots;
  const ptx::Operand &value = s.operands[1];
  if (instr.mods.vector > 1) {
    if (value.kind != ptx::Operand::Kind::vector || value.parts.size() != instr.mods.vector)
      decoder.fail("a vector operand is expected");
    for (const ptx::Operand &part : value.parts) slots.push_back(decoder.source(part, instr.bytes, number));
  } else {
    slots.push_back(decoder.source(value, instr.bytes, number));
  }
  decoder.list(instr, slots);
  decoder.addAddress(s.operands[2], Space::sharedCluster);
  if (s.opcode != "red") return;
  const std::string &name = s.modifiers[s.modifiers.size() - 2];
  instr.reduce = reductionOf(name, type);
  if (!instr.reduce) decoder.fail("no reduction " + name + " of this type");
}

const Row kRows[] = {
    {"st.async.weak?.shared::cluster?.mbarrier::complete_tx::bytes.v2|v4?.b32|b64|u32|u64|s32|s64|f32|f64", nullptr,
     storeAsync, OpClass::asyncCopy, decodeStore},
    {"red.async.relaxed?.cluster?.shared::cluster?.mbarrier::complete_tx::bytes.inc|dec|min|max|add|and|or|xor.u32|s32|"
     "u64|s64|b32|b64",
     nullptr, storeAsync, OpClass::asyncCopy, decodeStore},
};

} // namespace

Rows storeAsyncRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
