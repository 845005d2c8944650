// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/RowGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

RowGroup::RowGroup(CudaKernel &kernel, int64_t size) : kernel(kernel), size(size) {
  IndexForms &f = kernel.body.indices;
  number = f.floorDiv(kernel.thread, f.constant(size));
  member = f.mod(kernel.thread, f.constant(size));
}

SmallVector<Value> RowGroup::combine(Accumulators &acc, SmallVector<Value> own) {
  IndexForms &f = kernel.body.indices;
  auto exchangeAll = [&](int64_t lanes) {
    for (int64_t mask = 1; mask < lanes; mask *= 2) {
      SmallVector<Value> other;
      for (Value value : own) other.push_back(kernel.exchange(value, mask));
      own = acc.combine(own, other);
    }
  };
  exchangeAll(std::min(size, lanesPerWarp));
  if (size <= lanesPerWarp) return own;
  // One value for each warp goes through shared memory; then each warp has the values of its group's warps in its
  // lanes.
  int64_t warps = size / lanesPerWarp;
  SmallVector<Type> types(acc.types());
  SmallVector<Value> arrays;
  for (Type type : types) arrays.push_back(kernel.sharedArray(type, kernel.threads / lanesPerWarp));
  Value lane = f.mod(kernel.thread, f.constant(lanesPerWarp)),
        warp = f.floorDiv(kernel.thread, f.constant(lanesPerWarp));
  Value first = arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::eq, lane, f.constant(0));
  kernel.when(first, [&] {
    for (auto [array, value, type] : llvm::zip_equal(arrays, own, types)) kernel.storeShared(array, warp, value, type);
  });
  kernel.barrier();
  Value place = f.add(f.mul(number, f.constant(warps)), f.mod(lane, f.constant(warps)));
  own.clear();
  for (auto [array, type] : llvm::zip_equal(arrays, types)) own.push_back(kernel.loadShared(array, place, type));
  exchangeAll(warps);
  return own;
}

int64_t rowWidth(CudaRequest request, const FusionShape &shape) {
  int64_t narrowest = 8;
  auto visit = [&](Value tensor) {
    if (graph::numElements(graph::dimsOf(tensor.getType()), request.fusion.getContext()) != shape.elements) return;
    narrowest = std::min<int64_t>(narrowest, elementBytes(cast<RankedTensorType>(tensor.getType()).getElementType()));
  };
  for (Value input : request.fusion.getInputs()) visit(input);
  for (Value result : request.fusion.getResults()) visit(result);
  int64_t width = std::min<int64_t>(8, 16 / narrowest);
  auto length = shape.reduced.asConstant();
  while (width > 1 && (!length || *length % width != 0)) width /= 2;
  return width;
}

/// Calls emit with the places of each of the thread's pieces, and the condition under which they are its own (null:
/// always).
static SmallVector<Value> walkRow(RowGroup &group, const RowWalk &walk, ValueRange initial,
                                  function_ref<SmallVector<Value>(ArrayRef<Value>, Value, ValueRange)> emit) {
  CudaKernel &kernel = group.kernel;
  IndexForms &f = kernel.body.indices;
  auto placesOf = [&](Value piece) {
    SmallVector<Value> places;
    Value first = f.mul(piece, f.constant(walk.width));
    for (int64_t lane = 0; lane < walk.width; ++lane) places.push_back(f.add(first, f.constant(lane)));
    return places;
  };
  DimExpr pieces = DimExpr::ceilDiv(walk.length, DimExpr::constant(walk.length.getContext(), walk.width));
  Value count = kernel.body.size(pieces);
  if (!walk.unrolled)
    return kernel.loopCarrying(group.member, count, f.constant(group.size), initial,
                               [&](Value piece, ValueRange carried) { return emit(placesOf(piece), {}, carried); });
  SmallVector<Value> carried(initial);
  for (int64_t k = 0; k < *walk.unrolled; ++k) {
    Value piece = f.add(group.member, f.constant(k * group.size)), inside = kernel.below(piece, count);
    // Threads beyond the end read the last piece, and what they find counts for nothing.
    if (inside)
      piece = kernel.opaque(arith::MinSIOp::create(kernel.b, kernel.loc, piece, f.sub(count, f.constant(1))), count);
    carried = emit(placesOf(piece), inside, carried);
  }
  return carried;
}

SmallVector<Value> accumulateRow(RowGroup &group, const RowWalk &walk, Accumulators &acc, const Coordinates &at) {
  CudaKernel &kernel = group.kernel;
  SmallVector<Value> start = acc.identities();
  return walkRow(group, walk, start, [&](ArrayRef<Value> places, Value inside, ValueRange carried) {
    SmallVector<Value> next(carried);
    for (Value j : places) next = acc.accumulate(next, at, j);
    if (inside)
      for (auto [value, old] : llvm::zip_equal(next, carried))
        value = arith::SelectOp::create(kernel.b, kernel.loc, inside, value, old);
    return next;
  });
}

void storeResultsAt(CudaKernel &kernel, const FusionShape &shape, const Coordinates &at, ArrayRef<Value> places,
                    bool full, Value condition) {
  BodyEmitter &body = kernel.body;
  SmallVector<std::tuple<unsigned, SmallVector<Value>, Scalar>> stores;
  for (auto [r, isFull] : llvm::enumerate(shape.fullDomain)) {
    if (isFull != full) continue;
    Value root = domainRoot(body.result(r));
    for (Value j : places) {
      SmallVector<Value> index = full ? at.full(root, j) : at.row(root);
      Scalar element = body.valueAt(root, index);
      stores.push_back({unsigned(r), forwardIndex(body, root, body.result(r), index), element});
    }
  }
  if (stores.empty()) return;
  kernel.when(condition, [&] {
    for (auto &[r, index, element] : stores) body.store(r, index, element);
  });
}

void storeRow(RowGroup &group, const RowWalk &walk, const FusionShape &shape, const Coordinates &at, Value inRange) {
  if (!llvm::is_contained(shape.fullDomain, true)) return;
  walkRow(group, walk, {}, [&](ArrayRef<Value> places, Value inside, ValueRange) -> SmallVector<Value> {
    storeResultsAt(group.kernel, shape, at, places, true, group.kernel.both(inRange, inside));
    return {};
  });
}

void storeRowResults(CudaKernel &kernel, const FusionShape &shape, const Coordinates &at, Value condition) {
  storeResultsAt(kernel, shape, at, {Value()}, false, condition);
}

} // namespace stator::codegen
