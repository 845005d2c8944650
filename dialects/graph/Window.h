// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the window ops share: checks of their attribute lists, output sizes, and the spatial dimensions as the evaluator
// sees them.
#ifndef STATOR_DIALECTS_GRAPH_WINDOW_H
#define STATOR_DIALECTS_GRAPH_WINDOW_H

#include "dialects/graph/Complaint.h"
#include "dialects/graph/Graph.h"

namespace stator::graph {

/// Numbers in attribute lists stay below 2^31, so that products of two fit int64.
inline constexpr int64_t windowLimit = INT32_MAX;

/// The rules of window ops, and where they report.
struct WindowOp : Refusal {
  using Refusal::Refusal;

  /// x is [N, C, spatial...] with one to three spatial dimensions.
  mlir::LogicalResult checkRank(mlir::Value x) const;
  /// `list` has one number per spatial dimension of x, each from `least` to windowLimit.
  mlir::LogicalResult checkList(mlir::Value x, llvm::StringRef what, llvm::ArrayRef<int64_t> list, int64_t least) const;
  /// floordiv(in + padding - dilation * (kernel - 1) - 1, stride) + 1; null and a complaint where it leaves int64 or
  /// the window is larger than the padded input.
  DimExpr outputSize(mlir::Value x, int64_t spatialDim, int64_t padding, DimExpr kernel, int64_t dilation,
                     int64_t stride) const;
};

/// Output dimensions of a pool over x; fails with a complaint.
mlir::FailureOr<llvm::SmallVector<DimExpr>> inferPool(WindowOp op, mlir::Value x, llvm::ArrayRef<int64_t> kernel,
                                                      llvm::ArrayRef<int64_t> strides, llvm::ArrayRef<int64_t> padding,
                                                      llvm::ArrayRef<int64_t> dilations, bool ceilMode);
/// Refuses element types other than floats.
mlir::LogicalResult verifyFloatElements(mlir::Operation *op);
/// N, C, rank and element type of operand 0 and the result agree; spatial sizes are free.
mlir::LogicalResult verifySpatialChange(mlir::Operation *op);

/// A value for each of three spatial dimensions, missing ones in front.
using Triple = std::array<int64_t, 3>;
inline Triple triple(llvm::ArrayRef<int64_t> list, int64_t missing) {
  Triple result;
  result.fill(missing);
  std::copy(list.begin(), list.end(), result.end() - list.size());
  return result;
}
/// Sizes of the spatial dimensions of [N, C, spatial...].
inline Triple spatialSizes(const HostTensor &tensor) { return triple(llvm::ArrayRef(tensor.shape).drop_front(2), 1); }

/// Nested loops over [lower, upper) of each dimension, dimension 0 outermost.
llvm::SmallVector<Scalar>
emitLoops(ElementEmitter &e, llvm::ArrayRef<mlir::Value> lower, llvm::ArrayRef<mlir::Value> upper,
          llvm::ArrayRef<Scalar> initial,
          llvm::function_ref<llvm::SmallVector<Scalar>(llvm::ArrayRef<mlir::Value>, llvm::ArrayRef<Scalar>)> body);
/// Conjunction of two i1; either may be null.
mlir::Value emitBoth(ElementEmitter &e, mlir::Value a, mlir::Value b);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_WINDOW_H
