// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the gather family accepts, the types it infers, and its elements.
#include "dialects/graph/Choices.h"
#include "dialects/graph/IndexEmission.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerGatherOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Gather.cpp.inc"
      >();
  using Set = ModeChoices<ScatterOp, ScatterModeAttr, ScatterMode, symbolizeScatterMode>;
  using Put = ModeChoices<IndexPutOp, ScatterModeAttr, ScatterMode, symbolizeScatterMode>;
  ScatterOp::attachInterface<Set>(*getContext());
  IndexPutOp::attachInterface<Put>(*getContext());
}

/// x's dimensions with `count` of them, from `dim` on, replaced by those of `indices`.
static SmallVector<DimExpr> replacedDims(Type x, int64_t dim, int64_t count, Type indices) {
  SmallVector<DimExpr> dims = dimsOf(x), result(ArrayRef<DimExpr>(dims).take_front(dim));
  llvm::append_range(result, dimsOf(indices));
  llvm::append_range(result, ArrayRef<DimExpr>(dims).drop_front(dim + count));
  return result;
}

static LogicalResult takeRule(const Refusal &refuse, Value x, Value indices, int64_t dim,
                              SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorTypeOf(x);
  if (failed(checkDim(refuse, "dim", dim, type.getRank()))) return failure();
  types.push_back(tensorOf(replacedDims(type, dim, 1, indices.getType()), type.getElementType()));
  return success();
}
LogicalResult TakeOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return takeRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getIndices(), adaptor.getDim(), types);
}
LogicalResult TakeOp::verify() {
  SmallVector<Type> types;
  return takeRule(Refusal(*this), getX(), getIndices(), getDim(), types);
}

/// Indices of x's rank that address `dim` and stay inside the other dimensions.
static LogicalResult alongRule(const Refusal &refuse, Operation *op, Value x, Value indices, int64_t dim) {
  SmallVector<DimExpr> whole = dimsOf(x.getType()), part = dimsOf(indices.getType());
  if (failed(checkDim(refuse, "dim", dim, whole.size()))) return failure();
  if (whole.size() != part.size())
    return refuse("operand #0 has rank " + Twine(whole.size()) + " and the indices have rank " + Twine(part.size()),
                  indices);
  for (auto [d, size, limit] : llvm::enumerate(part, whole)) {
    if (int64_t(d) == dim || size == limit) continue;
    bool above = op ? provablyAbove(op, size, limit)
                    : size.isConstant() && limit.isConstant() && size.getConstant() > limit.getConstant();
    if (above)
      return refuse("dimension " + Twine(d) + " of the indices is " + size.str() + ", above the " + limit.str() +
                        " of operand #0",
                    indices);
  }
  return success();
}
LogicalResult GatherOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  Refusal refuse(loc, getOperationName());
  if (failed(alongRule(refuse, nullptr, adaptor.getX(), adaptor.getIndices(), adaptor.getDim()))) return failure();
  types.push_back(tensorOf(dimsOf(adaptor.getIndices().getType()), tensorTypeOf(adaptor.getX()).getElementType()));
  return success();
}
LogicalResult GatherOp::verify() {
  return alongRule(Refusal(*this), *this, getX(), getIndices(), getDim());
}

static LogicalResult indexRule(const Refusal &refuse, Value x, ValueRange indices, ArrayRef<int64_t> dims,
                               SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorTypeOf(x);
  if (indices.empty()) return refuse("needs an index tensor");
  if (indices.size() != dims.size())
    return refuse("has " + Twine(indices.size()) + " index tensors for " + Twine(dims.size()) + " dims");
  if (failed(checkDistinctDims(refuse, "dims", dims, type.getRank()))) return failure();
  for (size_t i = 1; i < dims.size(); ++i) {
    if (dims[i] != dims[i - 1] + 1)
      return refuse("dims are adjacent and ascending, but " + Twine(dims[i]) + " follows " + Twine(dims[i - 1]));
    std::string name = ("index tensor #" + Twine(i)).str();
    if (failed(checkSameDims(refuse, indices[0], "index tensor #0", indices[i], name))) return failure();
  }
  types.push_back(
      tensorOf(replacedDims(type, dims[0], dims.size(), indices[0].getType()), type.getElementType()));
  return success();
}
LogicalResult IndexOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                        SmallVectorImpl<Type> &types) {
  return indexRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getIndices(), adaptor.getDims(), types);
}
LogicalResult IndexOp::verify() {
  SmallVector<Type> types;
  return indexRule(Refusal(*this), getX(), getIndices(), getDims(), types);
}

static LogicalResult modeRule(const Refusal &refuse, Value x, ScatterMode mode) {
  Type type = tensorTypeOf(x).getElementType();
  if (!type.isInteger(1) || mode == ScatterMode::Set) return success();
  return refuse(Twine("combines numbers; '") + stringifyScatterMode(mode) + "' has no meaning for bool");
}

LogicalResult ScatterOp::verify() {
  Refusal refuse(*this);
  if (failed(checkSameElementType(refuse, getX(), "operand #0", getUpdates(), "the updates")) ||
      failed(alongRule(refuse, *this, getX(), getIndices(), getDim())) ||
      failed(checkSameDims(refuse, getIndices(), "the indices", getUpdates(), "the updates")))
    return failure();
  return modeRule(refuse, getX(), getMode());
}

LogicalResult IndexPutOp::verify() {
  Refusal refuse(*this);
  SmallVector<Type> types;
  if (failed(checkSameElementType(refuse, getX(), "operand #0", getUpdates(), "the updates")) ||
      failed(indexRule(refuse, getX(), getIndices(), getDims(), types)) ||
      failed(modeRule(refuse, getX(), getMode())))
    return failure();
  if (getUpdates().getType() == types[0]) return success();
  return refuse("updates have shape " + shapeText(dimsOf(getUpdates().getType())) + ", and what is indexed has " +
                    shapeText(dimsOf(types[0])),
                getUpdates());
}

/// The element of x at result `indices` whose dimensions from `dim` on, as many as an index tensor has, address x's
/// dimensions from `dim` on, one for each tensor in `indexOperands`.
static Scalar emitIndexed(ElementEmitter &e, OpOperand &x, MutableArrayRef<OpOperand> indexOperands, int64_t dim,
                          ValueRange indices) {
  int64_t indexRank = tensorTypeOf(indexOperands[0].get()).getRank();
  ValueRange place = indices.slice(dim, indexRank);
  SmallVector<Value> at(indices.take_front(dim));
  SmallVector<int64_t> addressed;
  for (auto [i, operand] : llvm::enumerate(indexOperands)) {
    at.push_back(emitWrapped(e, e.element(operand, place), dimOf(x.get().getType(), dim + i)));
    addressed.push_back(dim + i);
  }
  llvm::append_range(at, indices.drop_front(dim + indexRank));
  return emitReadUnlessEmpty(e, x, at, addressed);
}

Scalar TakeOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  return emitIndexed(e, getXMutable(), getOperation()->getOpOperands().drop_front(), getDim(), indices);
}

Scalar IndexOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  return emitIndexed(e, getXMutable(), getOperation()->getOpOperands().drop_front(), getDims()[0], indices);
}

Scalar GatherOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  SmallVector<DimExpr> whole = dimsOf(getX().getType()), part = dimsOf(getIndices().getType());
  SmallVector<Value> at(indices);
  SmallVector<int64_t> checked{int64_t(getDim())};
  at[getDim()] = emitWrapped(e, e.element(getIndicesMutable(), indices), whole[getDim()]);
  for (int64_t d = 0; d < int64_t(whole.size()); ++d) {
    if (d == int64_t(getDim()) || provablyAtMost(*this, part[d], whole[d])) continue;
    at[d] = emitClamped(e, at[d], e.size(whole[d]));
    checked.push_back(d);
  }
  return emitReadUnlessEmpty(e, getXMutable(), at, checked);
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Gather.cpp.inc"
