// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Complaint.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/HostSpans.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerContractOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Contract.cpp.inc"
      >();
}

LogicalResult MatmulOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                         SmallVectorImpl<Type> &types) {
  auto lhs = cast<RankedTensorType>(adaptor.getLhs().getType()),
       rhs = cast<RankedTensorType>(adaptor.getRhs().getType());
  auto complain = [&] { return Complaint(location, getOperationName()); };
  auto both = [&](Complaint &complaint) -> LogicalResult {
    return complaint.at(adaptor.getLhs(), "lhs").at(adaptor.getRhs(), "rhs");
  };
  int64_t rank = lhs.getRank(), rhsRank = rhs.getRank();
  bool shared = rank > 2 && rhsRank == 2;
  if (rank < 2 || (rhsRank != rank && !shared))
    return both(complain() << "needs operands of one rank of at least 2, or an rhs of rank 2: lhs has rank " << rank
                           << ", rhs " << rhsRank);
  if (shared && adaptor.getTransposeLhs())
    return both(complain() << "cannot transpose lhs where all its batches share one rhs of rank 2");
  if (lhs.getElementType() != rhs.getElementType())
    return both(complain() << "needs one element type: lhs has " << lhs.getElementType() << ", rhs "
                           << rhs.getElementType());
  SmallVector<DimExpr> a = dimsOf(lhs), b = dimsOf(rhs), result;
  for (int64_t d = 0; d < rank - 2; ++d) {
    if (!shared && a[d] != b[d])
      return both(complain() << "batch dimension " << d << " is " << a[d] << " in lhs but " << b[d] << " in rhs");
    result.push_back(a[d]);
  }
  if (adaptor.getTransposeLhs()) std::swap(a[rank - 2], a[rank - 1]);
  if (adaptor.getTransposeRhs()) std::swap(b[rhsRank - 2], b[rhsRank - 1]);
  if (a[rank - 1] != b[rhsRank - 2])
    return both(complain() << "multiplies " << a[rank - 1] << " columns of lhs with " << b[rhsRank - 2]
                           << " rows of rhs");
  result.push_back(a[rank - 2]);
  result.push_back(b[rhsRank - 1]);
  types.push_back(tensorOf(result, lhs.getElementType()));
  return success();
}

LogicalResult MatmulOp::verify() {
  if (getLhs().getType().getElementType().isInteger(1))
    return Complaint(*this) << "has no meaning for bool: cast first";
  return success();
}

Scalar MatmulOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  int64_t rank = indices.size(), rhsRank = getRhs().getType().getRank();
  Type element = getType().getElementType(), compute = computeType(element);
  bool transposeLhs = getTransposeLhs(), transposeRhs = getTransposeRhs();
  DimExpr depth = dimOf(getLhs().getType(), transposeLhs ? rank - 2 : rank - 1);
  auto sum = e.loop(e.index(0), e.size(depth), e.index(1), {e.s.constant(compute, 0)},
                    [&](Value k, ArrayRef<Scalar> state) -> SmallVector<Scalar> {
                      SmallVector<Value> a(indices), b(indices.drop_front(rank - rhsRank));
                      a[rank - 1] = k;
                      b[rhsRank - 2] = k;
                      if (transposeLhs) std::swap(a[rank - 2], a[rank - 1]);
                      if (transposeRhs) std::swap(b[rhsRank - 2], b[rhsRank - 1]);
                      Scalar x = e.s.cast(e.element(getLhsMutable(), a), compute);
                      Scalar y = e.s.cast(e.element(getRhsMutable(), b), compute);
                      return {e.s.add(state[0], e.s.mul(x, y))};
                    });
  return e.s.cast(sum[0], element);
}

template <typename T>
static void multiply(const HostTensor &lhs, const HostTensor &rhs, bool transposeLhs, bool transposeRhs,
                     HostTensor &result) {
  int64_t rank = result.rank(), rows = result.shape[rank - 2], columns = result.shape[rank - 1];
  int64_t depth = lhs.shape[transposeLhs ? rank - 2 : rank - 1];
  int64_t batch = 1;
  for (int64_t d = 0; d < rank - 2; ++d) batch *= result.shape[d];
  int64_t rhsStep = rhs.rank() == rank ? depth * columns : 0;
  std::vector<T> a = widen<T>(lhs), b = widen<T>(rhs), c(result.size(), T(0));
  std::vector<T> turned(transposeRhs ? depth * columns : 0);
  for (int64_t n = 0; n < batch; ++n) {
    const T *x = a.data() + n * rows * depth, *y = b.data() + n * rhsStep;
    if (transposeRhs && (n == 0 || rhsStep)) {
      for (int64_t j = 0; j < columns; ++j)
        for (int64_t k = 0; k < depth; ++k) turned[k * columns + j] = y[j * depth + k];
    }
    if (transposeRhs) y = turned.data();
    for (int64_t i = 0; i < rows; ++i) {
      T *row = c.data() + (n * rows + i) * columns;
      for (int64_t k = 0; k < depth; ++k) {
        T factor = transposeLhs ? x[k * rows + i] : x[i * depth + k];
        const T *other = y + k * columns;
        for (int64_t j = 0; j < columns; ++j) row[j] += factor * other[j];
      }
    }
  }
  narrow(c, result);
}

LogicalResult MatmulOp::evaluate(EvalEnv &, ArrayRef<const HostTensor *> operands,
                                 MutableArrayRef<HostTensor> results) {
  auto run = results[0].isFloat() ? multiply<double> : multiply<uint64_t>;
  run(*operands[0], *operands[1], getTransposeLhs(), getTransposeRhs(), results[0]);
  return success();
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Contract.cpp.inc"
