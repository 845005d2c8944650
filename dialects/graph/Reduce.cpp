// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Reduce.h"
#include "dialects/graph/Complaint.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerReduceOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Reduce.cpp.inc"
      >();
}

LogicalResult inferReduction(std::optional<Location> location, StringRef op, Value x, ArrayRef<int64_t> dims,
                             Type element, SmallVectorImpl<Type> &types) {
  SmallVector<DimExpr> all = dimsOf(x.getType()), kept;
  int64_t previous = -1;
  for (int64_t dim : dims) {
    if (dim < 0 || dim >= int64_t(all.size()))
      return (Complaint(location, op) << "reduces dimension " << dim << " of a tensor of rank " << all.size())
          .at(x, "the operand");
    if (dim <= previous)
      return Complaint(location, op) << "needs ascending dimensions: " << dim << " stands after " << previous;
    previous = dim;
  }
  for (auto [d, dim] : llvm::enumerate(all))
    if (!llvm::is_contained(dims, int64_t(d))) kept.push_back(dim);
  types.push_back(tensorOf(kept, element));
  return success();
}

LogicalResult verifyReduction(Operation *op, ReducedElements accepts) {
  Value x = op->getOperand(0);
  bool isBool = cast<RankedTensorType>(x.getType()).getElementType().isInteger(1);
  if (accepts == ReducedElements::Bools && !isBool)
    return (Complaint(op) << "needs bool elements").at(x, "the operand");
  if (accepts == ReducedElements::Numbers && isBool)
    return (Complaint(op) << "has no meaning for bool: cast first").at(x, "the operand");
  return success();
}

Scalar emitReductionElement(ReductionOpInterface op, ElementEmitter &e, ValueRange indices) {
  OpOperand &x = op->getOpOperand(0);
  ArrayRef<int64_t> dims = op.getReducedDims();
  SmallVector<Value> sizes;
  Value count = e.index(1);
  for (int64_t dim : dims) {
    sizes.push_back(e.size(dimOf(x.get().getType(), dim)));
    count = e.mul(count, sizes.back());
  }
  // One loop over all reduced elements: its variable is the position, and one reduced dimension needs no division.
  auto body = [&](Value position, ArrayRef<Scalar> state) -> SmallVector<Scalar> {
    SmallVector<Value> inner(dims.size());
    Value rest = position;
    for (size_t i = dims.size(); i-- > 0;) {
      inner[i] = i == 0 ? rest : e.mod(rest, sizes[i]);
      if (i > 0) rest = e.floorDiv(rest, sizes[i]);
    }
    SmallVector<Value> full;
    size_t reduced = 0, kept = 0;
    for (int64_t d = 0; d < int64_t(indices.size() + dims.size()); ++d) {
      bool isReduced = reduced < dims.size() && dims[reduced] == d;
      full.push_back(isReduced ? inner[reduced++] : indices[kept++]);
    }
    return op.emitCombine(e.s, state, op.emitLift(e.s, e.element(x, full), e.s.index(position)));
  };
  auto result = e.loop(e.index(0), count, e.index(1), op.emitIdentity(e.s), body);
  return e.s.cast(op.emitFinish(e.s, result), cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
}

SmallVector<Scalar> combineArgument(ScalarBuilder &s, ArrayRef<Scalar> a, ArrayRef<Scalar> b, bool largest) {
  Scalar earlier = s.le(a[1], b[1]);
  Scalar first = s.bitOr(largest ? s.gt(a[0], b[0]) : s.lt(a[0], b[0]), s.bitAnd(s.eq(a[0], b[0]), earlier));
  // A NaN wins against every number, and against another NaN by position. Comparisons with NaN are false.
  if (a[0].isFloat()) {
    Scalar beatsNaN = s.bitOr(s.logicalNot(s.isNan(b[0])), earlier);
    first = s.select(s.isNan(a[0]), beatsNaN, first);
  }
  return {s.select(first, a[0], b[0]), s.select(first, a[1], b[1])};
}

Scalar finishArgument(ScalarBuilder &s, ArrayRef<Scalar> accumulator) {
  Scalar position = accumulator[1];
  return s.select(s.eq(position, s.highest(position.type)), s.integer(position.type, 0), position);
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Reduce.cpp.inc"
