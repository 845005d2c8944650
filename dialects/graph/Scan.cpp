// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the scan family accepts, and the types it infers.
#include "dialects/graph/ShapeRules.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerScanOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Scan.cpp.inc"
      >();
}

static LogicalResult cumulativeRule(const Refusal &refuse, Value x, int64_t dim) {
  if (tensorTypeOf(x).getElementType().isInteger(1)) return refuse("accumulates numbers: cast the bools first", x);
  return checkDim(refuse, "dim", dim, tensorTypeOf(x).getRank());
}
LogicalResult CumsumOp::verify() { return cumulativeRule(Refusal(*this), getX(), getDim()); }
LogicalResult CumprodOp::verify() { return cumulativeRule(Refusal(*this), getX(), getDim()); }

/// Values as x's and positions in i64, along a dimension of size `k` where given.
static LogicalResult positionsRule(const Refusal &refuse, Value x, int64_t dim, std::optional<int64_t> k,
                                   SmallVectorImpl<Type> &types) {
  RankedTensorType type = tensorTypeOf(x);
  if (failed(checkDim(refuse, "dim", dim, type.getRank()))) return failure();
  SmallVector<DimExpr> dims = dimsOf(type);
  if (k) {
    if (*k < 0) return refuse("k is " + Twine(*k) + ", which is negative");
    if (dims[dim].isConstant() && *k > dims[dim].getConstant())
      return refuse("k is " + Twine(*k) + ", above the size of dimension " + Twine(dim) + ", " + dims[dim].str(), x);
    dims[dim] = DimExpr::constant(type.getContext(), *k);
  }
  types.push_back(tensorOf(dims, type.getElementType()));
  types.push_back(tensorOf(dims, IntegerType::get(type.getContext(), 64)));
  return success();
}

LogicalResult CummaxOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return positionsRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getDim(), std::nullopt, types);
}
LogicalResult CumminOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  return positionsRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getDim(), std::nullopt, types);
}
LogicalResult SortOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return positionsRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getDim(), std::nullopt, types);
}
LogicalResult TopkOp::inferReturnTypes(MLIRContext *, std::optional<Location> loc, Adaptor adaptor,
                                       SmallVectorImpl<Type> &types) {
  return positionsRule(Refusal(loc, getOperationName()), adaptor.getX(), adaptor.getDim(), adaptor.getK(), types);
}
LogicalResult CummaxOp::verify() {
  SmallVector<Type> types;
  return positionsRule(Refusal(*this), getX(), getDim(), std::nullopt, types);
}
LogicalResult CumminOp::verify() {
  SmallVector<Type> types;
  return positionsRule(Refusal(*this), getX(), getDim(), std::nullopt, types);
}
LogicalResult SortOp::verify() {
  SmallVector<Type> types;
  return positionsRule(Refusal(*this), getX(), getDim(), std::nullopt, types);
}
LogicalResult TopkOp::verify() {
  SmallVector<Type> types;
  Refusal refuse(*this);
  if (failed(positionsRule(refuse, getX(), getDim(), getK(), types))) return failure();
  DimExpr size = dimOf(getX().getType(), getDim());
  if (rangeAt(*this, size).max < int64_t(getK()))
    return refuse("k is " + Twine(getK()) + ", above every size that dimension " + Twine(getDim()) + " may have, " +
                      size.str(),
                  getX());
  return success();
}

LogicalResult NonzeroOp::verify() {
  Refusal refuse(*this);
  RankedTensorType x = tensorTypeOf(getX());
  SmallVector<DimExpr> dims = dimsOf(getType());
  if (dims.size() != 2 || !getType().getElementType().isInteger(64))
    return refuse("gives rows of positions: a result of rank 2 in i64");
  if (!dims[1].isConstant(x.getRank()))
    return refuse("dimension 1 of the result is " + dims[1].str() + ", and positions in the operand have " +
                      Twine(x.getRank()) + " numbers",
                  getX());
  if (!numElements(dimsOf(x), getContext())) return refuse("counts more elements than 64 bits hold", getX());
  return success();
}

SmallVector<Value> NonzeroOp::decompose(OpBuilder &b) {
  // Each element that counts is written at its rank among those that do (a running count); all others are written to one
  // spare place at the end, which is cut off. The row-major numbers are then taken apart into positions.
  Location loc = getLoc();
  Type i64 = b.getI64Type();
  MLIRContext *context = getContext();
  SmallVector<DimExpr> dims = dimsOf(getX().getType());
  DimExpr total = numElements(dims, context), rows = dimOf(getType(), 0);
  DimExpr one = DimExpr::constant(context, 1);
  RankedTensorType flat = tensorOf(total, i64), rowsType = tensorOf(rows, i64);
  DimExpr withSpare = DimExpr::add(rows, one);
  if (!withSpare) return {};
  auto scalarIn = [&](RankedTensorType type, int64_t value) -> Value {
    auto literal = DenseElementsAttr::get(RankedTensorType::get({}, i64), value);
    return BroadcastOp::create(b, loc, type, ConstantOp::create(b, loc, literal));
  };
  auto sizeIn = [&](RankedTensorType type, DimExpr expr) -> Value {
    return BroadcastOp::create(b, loc, type, SizeOp::create(b, loc, expr));
  };
  auto counting = [&](RankedTensorType type) -> Value {
    return IotaOp::create(b, loc, type, 0, APFloat(0.0), APFloat(1.0));
  };

  Type element = tensorTypeOf(getX()).getElementType();
  Value mask = ReshapeOp::create(b, loc, tensorOf(total, element), getX());
  if (!element.isInteger(1)) {
    auto zero = DenseElementsAttr::get(RankedTensorType::get({}, element), b.getZeroAttr(element));
    mask = NeOp::create(b, loc, mask,
                        BroadcastOp::create(b, loc, mask.getType(), ConstantOp::create(b, loc, zero)));
  }
  Value counted = CumsumOp::create(b, loc, flat, CastOp::create(b, loc, flat, mask), 0);
  Value place = SubOp::create(b, loc, counted, scalarIn(flat, 1));
  Value spare = sizeIn(flat, rows);
  Value kept = LogicalAndOp::create(b, loc, mask, LtOp::create(b, loc, place, spare));
  place = WhereOp::create(b, loc, kept, place, spare);
  Value numbers = scalarIn(tensorOf(withSpare, i64), -1);
  numbers = ScatterOp::create(b, loc, numbers.getType(), numbers, place, counting(flat), 0, ScatterMode::Set);
  numbers = SliceOp::create(b, loc, rowsType, numbers, ArrayRef<int64_t>{0}, ArrayRef<int64_t>{1});

  if (dims.empty()) return {IotaOp::create(b, loc, getType(), 0, APFloat(0.0), APFloat(1.0))}; // [n, 0] holds nothing.
  Value unused = LtOp::create(b, loc, numbers, scalarIn(rowsType, 0));
  Value fill = scalarIn(rowsType, getFill());
  RankedTensorType column = tensorOf({rows, one}, i64);
  SmallVector<Value> columns;
  Value rest = numbers;
  for (int64_t d = dims.size() - 1; d >= 0; --d) {
    Value size = sizeIn(rowsType, dims[d]);
    Value position = d == 0 ? rest : Value(RemainderOp::create(b, loc, rest, size));
    rest = TruncDivideOp::create(b, loc, rest, size);
    position = WhereOp::create(b, loc, unused, fill, position);
    columns.push_back(ReshapeOp::create(b, loc, column, position));
  }
  std::reverse(columns.begin(), columns.end());
  return {ConcatOp::create(b, loc, columns, 1)};
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Scan.cpp.inc"
