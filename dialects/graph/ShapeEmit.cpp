// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements of the shape family's results, as index arithmetic.
#include "dialects/graph/IndexEmission.h"
#include <cmath>

using namespace mlir;

namespace stator::graph {

static DimExpr constantDim(MLIRContext *context, int64_t value) { return DimExpr::constant(context, value); }

Scalar IotaOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  Type type = getType().getElementType();
  double start = getStart().convertToDouble(), step = getStep().convertToDouble();
  Scalar along = e.s.index(indices[getDim()]);
  // Integers of 31 bits and an index of 64 stay exact in i64, and f64 is kept out of kernels that count.
  bool integral = start == std::trunc(start) && step == std::trunc(step);
  // A narrow float is reached through f32, which has to hold the integer exactly, or it would be rounded twice.
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32) {
    double last = double(rangeAt(*this, dimOf(getType(), getDim())).max);
    integral &= std::abs(start) + std::abs(step) * last <= 0x1p24;
  }
  if (isa<FloatType>(type) && !(integral && std::abs(start) < 0x1p31 && std::abs(step) < 0x1p20)) {
    Type f64 = Float64Type::get(getContext());
    Scalar value = e.s.add(e.s.constant(f64, start), e.s.mul(e.s.constant(f64, step), e.s.cast(along, f64)));
    return e.s.cast(value, type);
  }
  Scalar value = along;
  if (step != 1) value = e.s.mul(value, e.s.integer(along.type, int64_t(step)));
  if (start != 0) value = e.s.add(value, e.s.integer(along.type, int64_t(start)));
  return e.s.cast(value, type);
}

Scalar SizeOp::emitElement(ElementEmitter &e, unsigned, ValueRange) {
  return e.s.index(e.size(getExpr().getDims()[0]));
}

Scalar ReshapeOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  return e.element(getXMutable(), emitReshapedIndices(e, dimsOf(getX().getType()), dimsOf(getType()), indices));
}

Scalar BroadcastOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<DimExpr> dims = dimsOf(getX().getType());
  SmallVector<Value> at(indices.take_back(dims.size()));
  for (auto [d, dim] : llvm::enumerate(dims))
    if (dim.isConstant(1)) at[d] = e.index(0);
  return e.element(getXMutable(), at);
}

Scalar TransposeOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<Value> at(indices.size());
  for (auto [i, dim] : llvm::enumerate(getPermutation())) at[dim] = indices[i];
  return e.element(getXMutable(), at);
}

/// The last index that a window of `size` elements reaches.
static DimExpr lastOf(DimExpr start, DimExpr size, int64_t step) {
  MLIRContext *context = start.getContext();
  return DimExpr::add(start,
                      DimExpr::mul(DimExpr::sub(size, constantDim(context, 1)), constantDim(context, step)));
}

Scalar SliceOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<DimExpr> dims = dimsOf(getX().getType()), sizes = dimsOf(getType());
  SmallVector<Value> at;
  SmallVector<int64_t> clamped;
  for (auto [d, start, step] : llvm::enumerate(getStarts().getDims(), getSteps())) {
    Value index = step == 1 ? indices[d] : e.mul(indices[d], e.index(step));
    if (!start.isConstant(0)) index = e.add(index, e.size(start));
    DimExpr end = DimExpr::sub(dims[d], constantDim(getContext(), 1));
    if (rangeAt(*this, start).min < 0 || !provablyAtMost(*this, lastOf(start, sizes[d], step), end)) {
      index = emitClamped(e, index, e.size(dims[d]));
      clamped.push_back(d);
    }
    at.push_back(index);
  }
  return emitReadUnlessEmpty(e, getXMutable(), at, clamped);
}

Scalar UpdateSliceOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<DimExpr> dims = dimsOf(getX().getType()), sizes = dimsOf(getUpdates().getType());
  std::optional<Scalar> inside;
  auto require = [&](Value condition) {
    Scalar holds = e.s.boolean(condition);
    inside = inside ? e.s.bitAnd(*inside, holds) : holds;
  };
  SmallVector<Value> at;
  for (auto [d, start, step] : llvm::enumerate(getStarts().getDims(), getSteps())) {
    Value index = indices[d];
    if (!start.isConstant(0)) {
      index = e.sub(index, e.size(start));
      require(e.atLeast(index, e.index(0)));
    }
    if (step != 1) {
      // Division wants what is not negative; the condition above turns those elements away in any case.
      if (!start.isConstant(0)) {
        Scalar i = e.s.index(index);
        index = e.s.toIndex(e.s.maximum(i, e.s.integer(i.type, 0)));
      }
      require(e.lessThan(e.mod(index, e.index(step)), e.index(1)));
      index = e.floorDiv(index, e.index(step));
    }
    DimExpr end = DimExpr::add(start, DimExpr::mul(sizes[d], constantDim(getContext(), step)));
    if (!end || !provablyAtMost(*this, dims[d], end)) require(e.lessThan(index, e.size(sizes[d])));
    at.push_back(index);
  }
  OpOperand &x = getXMutable(), &updates = getUpdatesMutable();
  if (!inside) return e.element(updates, at);
  return e.guarded(inside->value, [&] { return e.element(updates, at); }, [&] { return e.element(x, indices); });
}

Scalar ReverseOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<Value> at(indices);
  for (int64_t d : getDims()) at[d] = e.sub(e.sub(e.size(dimOf(getType(), d)), e.index(1)), at[d]);
  return e.element(getXMutable(), at);
}

Scalar PadOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<DimExpr> dims = dimsOf(getX().getType());
  std::optional<Scalar> inside;
  auto require = [&](Value condition) {
    Scalar holds = e.s.boolean(condition);
    inside = inside ? e.s.bitAnd(*inside, holds) : holds;
  };
  SmallVector<Value> at;
  for (auto [d, low, high] : llvm::enumerate(getLow().getDims(), getHigh().getDims())) {
    Value index = low.isConstant(0) ? indices[d] : e.sub(indices[d], e.size(low));
    // Without elements before (after), no index is below 0 (past the end).
    if (rangeAt(*this, low).max > 0) require(e.atLeast(index, e.index(0)));
    if (rangeAt(*this, high).max > 0) require(e.lessThan(index, e.size(dims[d])));
    at.push_back(index);
  }
  OpOperand &x = getXMutable(), &value = getValueMutable();
  if (!inside) return e.element(x, at);
  return e.guarded(inside->value, [&] { return e.element(x, at); }, [&] { return e.element(value, {}); });
}

namespace {
/// One operand of a concat that is not empty, and where it begins.
struct Part {
  OpOperand *operand;
  DimExpr offset;
};
} // namespace

/// The element of the part that index `dim` lies in: halves of the list, so that the depth is logarithmic.
static Scalar emitPart(ElementEmitter &e, ArrayRef<Part> parts, ValueRange indices, int64_t dim) {
  if (parts.size() == 1) {
    SmallVector<Value> at(indices);
    if (!parts[0].offset.isConstant(0)) at[dim] = e.sub(at[dim], e.size(parts[0].offset));
    return e.element(*parts[0].operand, at);
  }
  size_t half = parts.size() / 2;
  return e.guarded(
      e.lessThan(indices[dim], e.size(parts[half].offset)),
      [&] { return emitPart(e, parts.take_front(half), indices, dim); },
      [&] { return emitPart(e, parts.drop_front(half), indices, dim); });
}

Scalar ConcatOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<Part> parts;
  DimExpr offset = constantDim(getContext(), 0);
  for (OpOperand &operand : getOperation()->getOpOperands()) {
    DimExpr size = dimOf(operand.get().getType(), getDim());
    if (!size.isConstant(0)) parts.push_back({&operand, offset});
    offset = DimExpr::add(offset, size);
  }
  if (parts.empty()) return e.s.constant(getType().getElementType(), 0); // No element exists.
  return emitPart(e, parts, indices, getDim());
}

Scalar StridedOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  DimExpr offset = getOffset().getDims()[0], size = dimOf(getX().getType(), 0);
  DimExpr one = constantDim(getContext(), 1), last = offset;
  bool inside = rangeAt(*this, offset).min >= 0;
  Value at;
  for (auto [index, stride, count] : llvm::zip(indices, getStrides().getDims(), dimsOf(getType()))) {
    last = DimExpr::add(last, DimExpr::mul(DimExpr::sub(count, one), stride));
    inside &= rangeAt(*this, stride).min >= 0;
    if (stride.isConstant(0)) continue;
    Value term = stride.isConstant(1) ? index : e.mul(index, e.size(stride));
    at = at ? e.add(at, term) : term;
  }
  if (!at) at = e.size(offset);
  else if (!offset.isConstant(0)) at = e.add(at, e.size(offset));
  if (inside && provablyAtMost(*this, last, DimExpr::sub(size, one))) return e.element(getXMutable(), at);
  return emitReadUnlessEmpty(e, getXMutable(), emitClamped(e, at, e.size(size)), {0});
}

} // namespace stator::graph
