// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Folders of the shape family, and what its views do to their sources when they are overwritten.
#include "dialects/graph/ShapeRules.h"

using namespace mlir;

namespace stator::graph {

/// A splat literal with the result's shape, where the operand is one and the result is static.
static OpFoldResult splatOf(Attribute operand, RankedTensorType type) {
  auto literal = dyn_cast_or_null<SplatElementsAttr>(operand);
  return literal && type.hasStaticShape() ? OpFoldResult(literal.resizeSplat(type)) : OpFoldResult();
}

OpFoldResult SizeOp::fold(FoldAdaptor) {
  auto value = getExpr().getDims()[0].asConstant();
  return value ? OpFoldResult(DenseElementsAttr::get(getType(), *value)) : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType()) return getX();
  if (auto literal = dyn_cast_or_null<DenseElementsAttr>(adaptor.getX()); literal && getType().hasStaticShape())
    return literal.reshape(getType());
  if (auto inner = getX().getDefiningOp<ReshapeOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult BroadcastOp::fold(FoldAdaptor adaptor) {
  if (getX().getType() == getType()) return getX();
  if (OpFoldResult splat = splatOf(adaptor.getX(), getType())) return splat;
  if (auto inner = getX().getDefiningOp<BroadcastOp>()) {
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  ArrayRef<int64_t> permutation = getPermutation();
  if (llvm::equal(permutation, llvm::seq<int64_t>(0, permutation.size()))) return getX();
  if (OpFoldResult splat = splatOf(adaptor.getX(), getType())) return splat;
  if (auto inner = getX().getDefiningOp<TransposeOp>()) {
    SmallVector<int64_t> composed;
    for (int64_t dim : permutation) composed.push_back(inner.getPermutation()[dim]);
    setPermutation(composed);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

static bool allZero(ArrayRef<DimExpr> exprs) {
  return llvm::all_of(exprs, [](DimExpr expr) { return expr.isConstant(0); });
}

OpFoldResult SliceOp::fold(FoldAdaptor adaptor) {
  bool unitSteps = llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  if (getX().getType() == getType() && unitSteps && allZero(getStarts().getDims())) return getX();
  if (OpFoldResult splat = splatOf(adaptor.getX(), getType())) return splat;
  if (auto inner = getX().getDefiningOp<SliceOp>()) {
    SmallVector<DimExpr> starts;
    SmallVector<int64_t> steps;
    for (auto [outerStart, outerStep, innerStart, innerStep] :
         llvm::zip(getStarts().getDims(), getSteps(), inner.getStarts().getDims(), inner.getSteps())) {
      int64_t step;
      DimExpr start = DimExpr::add(innerStart, DimExpr::mul(outerStart, DimExpr::constant(getContext(), innerStep)));
      if (!start || __builtin_mul_overflow(outerStep, innerStep, &step)) return {};
      starts.push_back(start);
      steps.push_back(step);
    }
    setStartsAttr(ShapeAttr::get(getContext(), starts));
    setSteps(steps);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult UpdateSliceOp::fold(FoldAdaptor) {
  auto sizes = dimsOf(getUpdates().getType());
  if (llvm::any_of(sizes, [](DimExpr size) { return size.isConstant(0); })) return getX();
  bool unitSteps = llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  if (getUpdates().getType() == getType() && unitSteps && allZero(getStarts().getDims())) return getUpdates();
  return {};
}

OpFoldResult ReverseOp::fold(FoldAdaptor adaptor) {
  auto turns = [&](int64_t dim) {
    auto size = dimOf(getType(), dim).asConstant();
    return !size || *size > 1;
  };
  if (llvm::none_of(getDims(), turns)) return getX();
  if (OpFoldResult splat = splatOf(adaptor.getX(), getType())) return splat;
  if (auto inner = getX().getDefiningOp<ReverseOp>()) {
    SmallVector<int64_t> dims;
    for (int64_t dim : getDims())
      if (!llvm::is_contained(inner.getDims(), dim)) dims.push_back(dim);
    for (int64_t dim : inner.getDims())
      if (!llvm::is_contained(getDims(), dim)) dims.push_back(dim);
    setDims(dims);
    getXMutable().assign(inner.getX());
    return getResult();
  }
  return {};
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  return allZero(getLow().getDims()) && allZero(getHigh().getDims()) ? OpFoldResult(getX()) : OpFoldResult();
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getXs().size() == 1) return getXs()[0];
  SmallVector<Value> kept;
  for (Value x : getXs())
    if (!dimOf(x.getType(), getDim()).isConstant(0)) kept.push_back(x);
  if (kept.empty()) return getXs()[0];
  if (kept.size() == getXs().size()) return {};
  if (kept.size() == 1 && kept[0].getType() == getType()) return kept[0];
  getXsMutable().assign(kept);
  return getResult();
}

OpFoldResult StridedOp::fold(FoldAdaptor adaptor) {
  ArrayRef<DimExpr> strides = getStrides().getDims();
  if (getX().getType() == getType() && allZero(getOffset().getDims()) && strides.size() == 1 &&
      (strides[0].isConstant(1) || dimOf(getType(), 0).isConstant(1)))
    return getX();
  return splatOf(adaptor.getX(), getType());
}

Value ReshapeOp::scatterBack(OpBuilder &b, Value source, Value updated) {
  return ReshapeOp::create(b, getLoc(), source.getType(), updated);
}

Value TransposeOp::scatterBack(OpBuilder &b, Value source, Value updated) {
  SmallVector<int64_t> inverse(getPermutation().size());
  for (auto [i, dim] : llvm::enumerate(getPermutation())) inverse[dim] = i;
  return TransposeOp::create(b, getLoc(), updated, inverse);
}

Value SliceOp::scatterBack(OpBuilder &b, Value source, Value updated) {
  return UpdateSliceOp::create(b, getLoc(), source.getType(), source, updated, getStarts(), getSteps());
}

Value BroadcastOp::scatterBack(OpBuilder &b, Value source, Value updated) {
  // A source element that repeats takes the first of its updates; where it repeats no times, nothing was written.
  SmallVector<DimExpr> from = dimsOf(source.getType()), to = dimsOf(updated.getType());
  SmallVector<DimExpr> sizes(to);
  unsigned lead = to.size() - from.size();
  for (unsigned d = 0; d < to.size(); ++d) {
    if (d >= lead && from[d - lead] == to[d]) continue;
    if (to[d].isConstant(0)) return source;
    sizes[d] = DimExpr::constant(getContext(), 1);
  }
  Type first = tensorOf(sizes, tensorTypeOf(updated).getElementType());
  SmallVector<int64_t> starts(to.size(), 0), steps(to.size(), 1);
  Value taken = SliceOp::create(b, getLoc(), first, updated, starts, steps);
  return ReshapeOp::create(b, getLoc(), source.getType(), taken);
}

Value StridedOp::scatterBack(OpBuilder &b, Value source, Value updated) {
  // The place of each element, flat: offset + sum(i[d] * strides[d]); then one scatter writes them all.
  Location loc = getLoc();
  SmallVector<DimExpr> sizes = dimsOf(updated.getType());
  Type i64 = b.getI64Type();
  RankedTensorType placesType = tensorOf(sizes, i64);
  auto everywhere = [&](DimExpr expr) -> Value {
    return BroadcastOp::create(b, loc, placesType, SizeOp::create(b, loc, expr));
  };
  Value places = everywhere(getOffset().getDims()[0]);
  for (auto [d, stride] : llvm::enumerate(getStrides().getDims())) {
    Value along = IotaOp::create(b, loc, placesType, int64_t(d), APFloat(0.0), APFloat(1.0));
    places = AddOp::create(b, loc, places, MulOp::create(b, loc, along, everywhere(stride)));
  }
  DimExpr count = numElements(sizes, getContext());
  Value flatPlaces = ReshapeOp::create(b, loc, tensorOf(count, i64), places);
  Value flat = ReshapeOp::create(b, loc, tensorOf(count, tensorTypeOf(updated).getElementType()), updated);
  return ScatterOp::create(b, loc, source.getType(), source, flatPlaces, flat, 0, ScatterMode::Set);
}

} // namespace stator::graph
