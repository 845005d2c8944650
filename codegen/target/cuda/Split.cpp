// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Few rows with many elements. Each level takes two launches: blocks reduce chunks to partial accumulators, then a
// block for each row combines them. Full-domain results are a last launch. Chunks depend on the sizes only.
#include "codegen/target/cuda/RowGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static constexpr int64_t threadsPerBlock = 256, chunkElements = 8192, mostRows = 64;

std::optional<LoweredFusion> lowerCudaSplit(CudaRequest request, const FusionShape &shape) {
  auto rows = shape.rows.asConstant(), reduced = shape.reduced.asConstant();
  if (!shape.inner.isConstant(1) || !rows || !reduced || *rows >= mostRows || *reduced < 4 * chunkElements)
    return std::nullopt;
  MLIRContext *context = request.fusion.getContext();
  auto constant = [&](int64_t value) { return DimExpr::constant(context, value); };
  int64_t chunks = llvm::divideCeil(*reduced, chunkElements), width = rowWidth(request, shape);

  LoweredFusion lowered;
  lowered.templateName = "rows split";
  auto scratch = [&](int64_t count, Type element) -> KernelBuffer {
    lowered.scratchBytes.push_back(constant(count * int64_t(elementBytes(element))));
    return {KernelBuffer::Scratch, unsigned(lowered.scratchBytes.size() - 1)};
  };
  auto resultType = [](Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()).getElementType(); };
  SmallVector<SmallVector<KernelBuffer>> finished(shape.levels.size());
  /// States what the levels before `level` found for the row.
  auto recall = [&](CudaKernel &kernel, size_t level, Coordinates &at, Value row) {
    for (size_t k = 0; k < level; ++k) {
      SmallVector<Scalar> known;
      for (auto [op, buffer] : llvm::zip_equal(shape.levels[k], finished[k]))
        known.push_back({kernel.load(buffer, row, resultType(op)), resultType(op)});
      Accumulators(kernel.body, shape.levels[k]).define(known, at);
    }
  };
  bool bad = false;
  auto finish = [&](CudaKernel &kernel, int64_t blocks) {
    auto launch = finishLaunch(kernel, constant(blocks));
    if (launch)
      lowered.launches.push_back(*launch);
    else
      bad = true;
  };
  /// One block for each (row, chunk): emit with the pieces of the chunk as a loop's bounds, in units of `width`
  /// elements.
  auto overChunks = [&](const std::string &name,
                        function_ref<void(CudaKernel &, Coordinates &, Value, Value, Value)> emit, size_t level) {
    CudaKernel kernel(request, name, threadsPerBlock);
    IndexForms &f = kernel.body.indices;
    Value place = kernel.opaque(kernel.block, f.constant(*rows * chunks));
    Value row = f.floorDiv(place, f.constant(chunks)), chunk = f.mod(place, f.constant(chunks));
    Value first = f.mul(chunk, f.constant(chunkElements / width));
    Value end = arith::MinSIOp::create(kernel.b, kernel.loc, f.add(first, f.constant(chunkElements / width)),
                                       f.constant(*reduced / width));
    Coordinates at(kernel.body, shape, row, f.constant(0));
    recall(kernel, level, at, row);
    emit(kernel, at, place, f.add(first, kernel.thread), end);
    finish(kernel, *rows * chunks);
  };
  auto placesOf = [&](CudaKernel &kernel, Value piece) {
    IndexForms &f = kernel.body.indices;
    SmallVector<Value> places;
    for (int64_t lane = 0; lane < width; ++lane)
      places.push_back(f.add(f.mul(piece, f.constant(width)), f.constant(lane)));
    return places;
  };
  auto firstOnly = [&](RowGroup &group) {
    return arith::CmpIOp::create(group.kernel.b, group.kernel.loc, arith::CmpIPredicate::eq, group.member,
                                 group.kernel.body.indices.constant(0))
        .getResult();
  };

  for (auto [k, reductions] : llvm::enumerate(shape.levels)) {
    SmallVector<KernelBuffer> partials;
    SmallVector<Type> types;
    std::string suffix = std::to_string(k);
    overChunks(
        request.name + "_partial" + suffix,
        [&, &reductions = reductions](CudaKernel &kernel, Coordinates &at, Value place, Value first, Value end) {
          IndexForms &f = kernel.body.indices;
          Accumulators acc(kernel.body, reductions);
          SmallVector<Value> start = acc.identities();
          types.assign(acc.types().begin(), acc.types().end());
          SmallVector<Value> own = kernel.loopCarrying(
              first, end, f.constant(threadsPerBlock), start,
              [&](Value piece, ValueRange carried) {
                SmallVector<Value> next(carried);
                for (Value j : placesOf(kernel, piece)) next = acc.accumulate(next, at, j);
                return next;
              },
              f.constant(*reduced / width));
          RowGroup group(kernel, threadsPerBlock);
          own = group.combine(acc, own);
          kernel.when(firstOnly(group), [&] {
            for (auto [value, type] : llvm::zip_equal(own, types)) {
              partials.push_back(scratch(*rows * chunks, type));
              kernel.store(partials.back(), place, value, type);
            }
          });
        },
        k);
    for (Operation *op : reductions) finished[k].push_back(scratch(*rows, resultType(op)));
    CudaKernel kernel(request, request.name + "_combine" + suffix, threadsPerBlock);
    IndexForms &f = kernel.body.indices;
    RowGroup group(kernel, threadsPerBlock);
    Value row = kernel.opaque(kernel.block, f.constant(*rows));
    Coordinates at(kernel.body, shape, row, f.constant(0));
    recall(kernel, k, at, row);
    Accumulators acc(kernel.body, reductions);
    SmallVector<Value> own = kernel.loopCarrying(group.member, f.constant(chunks), f.constant(threadsPerBlock),
                                                 acc.identities(), [&](Value chunk, ValueRange carried) {
                                                   SmallVector<Value> part;
                                                   Value place = f.add(f.mul(row, f.constant(chunks)), chunk);
                                                   for (auto [buffer, type] : llvm::zip_equal(partials, types))
                                                     part.push_back(kernel.load(buffer, place, type));
                                                   return acc.combine(carried, part);
                                                 });
    own = group.combine(acc, own);
    Value first = firstOnly(group);
    SmallVector<Scalar> found = acc.finish(own);
    acc.define(found, at);
    kernel.when(first, [&] {
      for (auto [op, buffer, result] : llvm::zip_equal(reductions, finished[k], found))
        kernel.store(buffer, row, kernel.body.s.cast(result, resultType(op)).value, resultType(op));
    });
    // The last combination knows everything about the row.
    if (k + 1 == shape.levels.size()) storeRowResults(kernel, shape, at, first);
    finish(kernel, *rows);
  }
  if (llvm::is_contained(shape.fullDomain, true))
    overChunks(
        request.name + "_rest",
        [&](CudaKernel &kernel, Coordinates &at, Value, Value first, Value end) {
          IndexForms &f = kernel.body.indices;
          kernel.loop(
              first, end, f.constant(threadsPerBlock),
              [&](Value piece) { storeResultsAt(kernel, shape, at, placesOf(kernel, piece), true, {}); },
              f.constant(*reduced / width));
        },
        shape.levels.size());
  if (bad) return std::nullopt;
  return lowered;
}

} // namespace stator::codegen
