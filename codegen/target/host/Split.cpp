// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few rows with many elements. Each level takes two kernels: partial accumulators of fixed chunks, chunk after chunk in
// parallel; then their combination in chunk order. Full-domain results are a last kernel. The chunks depend on the sizes
// only, so the result does not depend on the number of threads.
#include "codegen/target/host/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static constexpr int64_t chunkElements = 16384;

std::optional<LoweredFusion> lowerSplit(HostRequest request, const FusionShape &shape) {
  auto rows = shape.rows.asConstant(), reduced = shape.reduced.asConstant();
  if (!shape.inner.isConstant(1) || !rows || !reduced || *rows >= 8 || *reduced < 4 * chunkElements) return std::nullopt;
  MLIRContext *context = request.fusion.getContext();
  auto constant = [&](int64_t value) { return DimExpr::constant(context, value); };
  int64_t chunks = llvm::divideCeil(*reduced, chunkElements);

  LoweredFusion lowered;
  lowered.templateName = "split";
  auto scratch = [&](int64_t count, Type element) -> KernelBuffer {
    lowered.scratchBytes.push_back(constant(count * int64_t(elementBytes(element))));
    return {KernelBuffer::Scratch, unsigned(lowered.scratchBytes.size() - 1)};
  };
  auto resultType = [](Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()).getElementType(); };
  SmallVector<SmallVector<KernelBuffer>> finished(shape.levels.size());
  /// States what the levels before `level` found for the row.
  auto recall = [&](HostKernel &kernel, size_t level, Coordinates &at, Value row) {
    for (size_t k = 0; k < level; ++k) {
      SmallVector<Scalar> known;
      for (auto [op, buffer] : llvm::zip_equal(shape.levels[k], finished[k]))
        known.push_back({kernel.load(buffer, row, resultType(op)), resultType(op)});
      Accumulators(kernel.body, shape.levels[k]).define(known, at);
    }
  };
  bool bad = false;
  auto finish = [&](HostKernel &kernel, int64_t count, int64_t elements) {
    if (kernel.body.failed()) {
      bad = true;
      kernel.discard();
      return;
    }
    int64_t work = kernel.work();
    KernelLaunch launch = kernel.finish();
    launch.count = constant(count);
    launch.grain = grainFor(work, constant(elements));
    lowered.launches.push_back(launch);
  };
  /// One kernel over (row, chunk); emit(kernel, at, row, chunk number, first, end).
  auto overChunks = [&](const std::string &name, function_ref<void(HostKernel &, Coordinates &, Value, Value, Value, Value)> emit) {
    HostKernel kernel(request.module, name, request.fusion);
    IndexForms &forms = kernel.body.indices;
    Value count = forms.constant(chunks), size = forms.constant(chunkElements);
    kernel.loop(
        kernel.begin, kernel.end,
        [&](Value p) {
          Value row = forms.floorDiv(p, count), chunk = forms.mod(p, count);
          Value first = forms.mul(chunk, size);
          Value end = arith::MinSIOp::create(kernel.b, kernel.loc, forms.add(first, size), forms.constant(*reduced));
          Coordinates at(kernel.body, shape, row, forms.constant(0));
          emit(kernel, at, row, p, first, end);
        },
        false, forms.constant(*rows * chunks));
    finish(kernel, *rows * chunks, chunkElements);
  };

  for (auto [k, reductions] : llvm::enumerate(shape.levels)) {
    SmallVector<KernelBuffer> partials;
    SmallVector<Type> types;
    std::string suffix = std::to_string(k);
    overChunks(request.name + "_partial" + suffix, [&](HostKernel &kernel, Coordinates &at, Value row, Value p, Value first, Value end) {
      recall(kernel, k, at, row);
      Accumulators acc(kernel.body, reductions);
      SmallVector<Value> start = acc.identities();
      types.assign(acc.types().begin(), acc.types().end());
      SmallVector<Value> last = kernel.loopCarrying(
          first, end, start, [&](Value j, ValueRange carried) { return acc.accumulate(carried, at, j); },
          kernel.body.indices.constant(*reduced));
      for (auto [value, type] : llvm::zip_equal(last, types)) {
        partials.push_back(scratch(*rows * chunks, type));
        kernel.store(partials.back(), p, value, type);
      }
    });
    HostKernel kernel(request.module, request.name + "_combine" + suffix, request.fusion);
    IndexForms &forms = kernel.body.indices;
    for (Operation *op : reductions) finished[k].push_back(scratch(*rows, resultType(op)));
    kernel.loop(
        kernel.begin, kernel.end,
        [&](Value row) {
          Accumulators acc(kernel.body, reductions);
          SmallVector<Value> start = acc.identities();
          SmallVector<Value> last = kernel.loopCarrying(
              forms.constant(0), forms.constant(chunks), start, [&](Value chunk, ValueRange carried) {
                SmallVector<Value> part;
                Value at = forms.add(forms.mul(row, forms.constant(chunks)), chunk);
                for (auto [buffer, type] : llvm::zip_equal(partials, types)) part.push_back(kernel.load(buffer, at, type));
                return acc.combine(carried, part);
              });
          for (auto [op, buffer, result] : llvm::zip_equal(reductions, finished[k], acc.finish(last)))
            kernel.store(buffer, row, kernel.body.s.cast(result, resultType(op)).value, resultType(op));
          if (k + 1 < shape.levels.size()) return;
          // The last combination knows everything about the row.
          Coordinates at(kernel.body, shape, row, forms.constant(0));
          recall(kernel, k, at, row);
          SmallVector<Scalar> own;
          for (auto [op, buffer] : llvm::zip_equal(reductions, finished[k]))
            own.push_back({kernel.load(buffer, row, resultType(op)), resultType(op)});
          Accumulators(kernel.body, reductions).define(own, at);
          emitRowResults(kernel, shape, at);
        },
        false, forms.constant(*rows));
    finish(kernel, *rows, chunks);
  }
  if (llvm::is_contained(shape.fullDomain, true))
    overChunks(request.name + "_rest", [&](HostKernel &kernel, Coordinates &at, Value row, Value, Value first, Value end) {
      recall(kernel, shape.levels.size(), at, row);
      kernel.loop(first, end, [&](Value j) { emitResultsAt(kernel, shape, at, j, true); }, true,
                  kernel.body.indices.constant(*reduced));
    });
  if (bad) return std::nullopt;
  return lowered;
}

} // namespace stator::codegen
