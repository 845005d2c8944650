// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the shape family accepts, and the types it infers.
#include "dialects/graph/ShapeMaps.h"
#include "dialects/graph/ShapeRules.h"
#include <cmath>

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerShapeOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Shape.cpp.inc"
      >();
}

LogicalResult IotaOp::verify() {
  Refusal refuse(*this);
  RankedTensorType type = getType();
  if (failed(checkDim(refuse, "dim", getDim(), type.getRank()))) return failure();
  if (type.getElementType().isInteger(1)) return refuse("counts in numbers, not in bool");
  for (auto [name, value] : {std::pair<StringRef, double>{"start", getStart().convertToDouble()},
                             std::pair<StringRef, double>{"step", getStep().convertToDouble()}}) {
    if (!std::isfinite(value)) return refuse("has a " + name + " that is not finite");
    if (isa<FloatType>(type.getElementType())) continue;
    if (value != std::trunc(value) || std::abs(value) > 9007199254740992.0)
      return refuse("counts in integers, but its " + name + " is not an integer of at most 53 bits");
  }
  return success();
}

LogicalResult SizeOp::verify() {
  if (getExpr().getDims().size() != 1) return emitOpError("holds one expression, not ") << getExpr().getDims().size();
  if (getType() != RankedTensorType::get({}, IntegerType::get(getContext(), 64)))
    return emitOpError("gives tensor<i64>, not ") << getType();
  return success();
}

LogicalResult ReshapeOp::verify() {
  Refusal refuse(*this);
  if (failed(checkSameElementType(refuse, getResult(), "the result", getX(), "the operand"))) return failure();
  SmallVector<DimExpr> from = dimsOf(getX().getType()), to = dimsOf(getType());
  DimExpr have = numElements(from, getContext()), want = numElements(to, getContext());
  if (!have || !want) return refuse("has more elements than 64 bits count");
  if (have == want) return success();
  std::string text = llvm::formatv("operand {0} has {1} elements and result {2} has {3}", shapeText(from), have.str(),
                                   shapeText(to), want.str());
  if (!have.isConstant() || !want.isConstant())
    text += "; where they are equal for another reason, state it with graph.assert_shape";
  return refuse(text, getX());
}

LogicalResult BroadcastOp::verify() {
  Refusal refuse(*this);
  if (failed(checkSameElementType(refuse, getResult(), "the result", getX(), "the operand"))) return failure();
  SmallVector<DimExpr> from = dimsOf(getX().getType()), to = dimsOf(getType());
  if (from.size() > to.size())
    return refuse("operand has rank " + Twine(from.size()) + ", above the result's " + Twine(to.size()), getX());
  unsigned lead = to.size() - from.size();
  for (auto [d, dim] : llvm::enumerate(from))
    if (!dim.isConstant(1) &&
        failed(checkSameDim(refuse, lead + d, to[lead + d], "the result", d, dim, "the operand", getX())))
      return failure();
  return success();
}

static LogicalResult transposeRule(const Refusal &refuse, Value x, ArrayRef<int64_t> permutation,
                                   SmallVectorImpl<Type> &types) {
  SmallVector<DimExpr> dims = dimsOf(x.getType()), result;
  if (failed(checkLength(refuse, "permutation entries", permutation.size(), dims.size())) ||
      failed(checkDistinctDims(refuse, "permutation", permutation, dims.size())))
    return failure();
  for (int64_t dim : permutation) result.push_back(dims[dim]);
  types.push_back(tensorOf(result, tensorTypeOf(x).getElementType()));
  return success();
}
LogicalResult TransposeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                            SmallVectorImpl<Type> &types) {
  return transposeRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getPermutation(), types);
}
LogicalResult TransposeOp::verify() {
  SmallVector<Type> types;
  return transposeRule(Refusal(*this), getX(), getPermutation(), types);
}

/// The window that starts, steps and the sizes of `part` cut out of `whole`.
static LogicalResult windowRule(Operation *op, Value whole, Value part, StringRef partName, ArrayRef<DimExpr> starts,
                                ArrayRef<int64_t> steps) {
  Refusal refuse(op);
  SmallVector<DimExpr> dims = dimsOf(whole.getType()), sizes = dimsOf(part.getType());
  if (failed(checkSameElementType(refuse, part, partName, whole, "the operand")) ||
      failed(checkLength(refuse, "starts", starts.size(), dims.size())) ||
      failed(checkLength(refuse, "steps", steps.size(), dims.size())))
    return failure();
  if (sizes.size() != dims.size())
    return refuse("operand has rank " + Twine(dims.size()) + " and " + partName + " rank " + Twine(sizes.size()));
  DimExpr one = DimExpr::constant(op->getContext(), 1);
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (steps[d] < 1) return refuse("steps[" + Twine(d) + "] is " + Twine(steps[d]) + ", not positive");
    if (rangeAt(op, starts[d]).max < 0)
      return refuse("starts[" + Twine(d) + "] is " + starts[d].str() + ", which is negative");
    if (sizes[d].isConstant(0)) continue;
    DimExpr step = DimExpr::constant(op->getContext(), steps[d]);
    DimExpr last = DimExpr::add(starts[d], DimExpr::mul(DimExpr::sub(sizes[d], one), step));
    if (!last) return refuse("overflows 64 bits in dimension " + Twine(d));
    if (provablyAbove(op, last, DimExpr::sub(dim, one)))
      return refuse("reaches element " + last.str() + " of dimension " + Twine(d) + ", whose size is " + dim.str(),
                    whole);
  }
  return success();
}
LogicalResult SliceOp::verify() {
  return windowRule(*this, getX(), getResult(), "the result", getStarts().getDims(), getSteps());
}
LogicalResult UpdateSliceOp::verify() {
  return windowRule(*this, getX(), getUpdates(), "the updates", getStarts().getDims(), getSteps());
}

LogicalResult ReverseOp::verify() {
  return checkDistinctDims(Refusal(*this), "dims", getDims(), getType().getRank());
}

static LogicalResult padRule(const Refusal &refuse, Value x, Value value, ArrayRef<DimExpr> low, ArrayRef<DimExpr> high,
                             SmallVectorImpl<Type> &types) {
  SmallVector<DimExpr> dims = dimsOf(x.getType());
  if (tensorTypeOf(value).getRank() != 0)
    return refuse("pads with one value, of rank 0; operand #1 has rank " + Twine(tensorTypeOf(value).getRank()), value);
  if (failed(checkSameElementType(refuse, x, "operand #0", value, "operand #1")) ||
      failed(checkLength(refuse, "low amounts", low.size(), dims.size())) ||
      failed(checkLength(refuse, "high amounts", high.size(), dims.size())))
    return failure();
  for (auto [d, dim] : llvm::enumerate(dims)) {
    dim = DimExpr::add(DimExpr::add(dim, low[d]), high[d]);
    if (!dim) return refuse("overflows 64 bits in dimension " + Twine(d));
    if (dim.isConstant() && dim.getConstant() < 0)
      return refuse("cuts more off dimension " + Twine(d) + " than it has: its size would be " + dim.str(), x);
  }
  types.push_back(tensorOf(dims, tensorTypeOf(x).getElementType()));
  return success();
}
LogicalResult PadOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                      SmallVectorImpl<Type> &types) {
  return padRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getValue(), adaptor.getLow().getDims(),
                 adaptor.getHigh().getDims(), types);
}
LogicalResult PadOp::verify() {
  SmallVector<Type> types;
  return padRule(Refusal(*this), getX(), getValue(), getLow().getDims(), getHigh().getDims(), types);
}

static LogicalResult concatRule(const Refusal &refuse, ValueRange xs, int64_t dim, SmallVectorImpl<Type> &types) {
  if (xs.empty()) return refuse("needs an operand");
  SmallVector<DimExpr> dims = dimsOf(xs[0].getType());
  if (failed(checkDim(refuse, "dim", dim, dims.size()))) return failure();
  for (auto [i, x] : llvm::enumerate(xs.drop_front())) {
    std::string name = ("operand #" + Twine(i + 1)).str();
    if (failed(checkSameElementType(refuse, xs[0], "operand #0", x, name)) ||
        failed(checkSameDims(refuse, xs[0], "operand #0", x, name, dim)))
      return failure();
    dims[dim] = DimExpr::add(dims[dim], dimOf(x.getType(), dim));
    if (!dims[dim]) return refuse("overflows 64 bits in dimension " + Twine(dim));
  }
  types.push_back(tensorOf(dims, tensorTypeOf(xs[0]).getElementType()));
  return success();
}
LogicalResult ConcatOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return concatRule(Refusal(loc, getOperationName()), adaptor.getXs(), adaptor.getDim(), types);
}
LogicalResult ConcatOp::verify() {
  SmallVector<Type> types;
  return concatRule(Refusal(*this), getXs(), getDim(), types);
}

LogicalResult StridedOp::verify() {
  Refusal refuse(*this);
  SmallVector<DimExpr> dims = dimsOf(getX().getType()), sizes = dimsOf(getType());
  ArrayRef<DimExpr> strides = getStrides().getDims();
  if (dims.size() != 1) return refuse("takes a flat operand, of rank 1, not " + Twine(dims.size()), getX());
  if (getOffset().getDims().size() != 1)
    return refuse("holds one offset, not " + Twine(getOffset().getDims().size()));
  if (failed(checkSameElementType(refuse, getResult(), "the result", getX(), "the operand")) ||
      failed(checkLength(refuse, "strides", strides.size(), sizes.size())))
    return failure();
  DimExpr last = getOffset().getDims()[0], one = DimExpr::constant(getContext(), 1);
  if (rangeAt(*this, last).max < 0) return refuse("offset is " + last.str() + ", which is negative");
  bool empty = false;
  for (auto [d, stride] : llvm::enumerate(strides)) {
    if (rangeAt(*this, stride).max < 0)
      return refuse("strides[" + Twine(d) + "] is " + stride.str() + ", which is negative");
    empty |= sizes[d].isConstant(0);
    last = DimExpr::add(last, DimExpr::mul(DimExpr::sub(sizes[d], one), stride));
    if (!last) return refuse("overflows 64 bits in dimension " + Twine(d));
  }
  if (!empty && provablyAbove(*this, last, DimExpr::sub(dims[0], one)))
    return refuse("reaches element " + last.str() + " of an operand with " + dims[0].str(), getX());
  return success();
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Shape.cpp.inc"
