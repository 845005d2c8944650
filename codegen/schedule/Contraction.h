// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products, out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]: matmul, and convolution with n over
// output positions and k over channels and window.
#ifndef STATOR_CODEGEN_SCHEDULE_CONTRACTION_H
#define STATOR_CODEGEN_SCHEDULE_CONTRACTION_H

#include "codegen/schedule/BodyEmitter.h"
#include <functional>

namespace stator::codegen {

struct Contraction {
  mlir::Operation *op;
  graph::DimExpr batch, m, n, k;
  /// The widened factors at flat coordinates.
  std::function<Scalar(BodyEmitter &, mlir::Value b, mlir::Value m, mlir::Value k)> lhs;
  std::function<Scalar(BodyEmitter &, mlir::Value b, mlir::Value k, mlir::Value n)> rhs;
  /// The op's result index.
  std::function<llvm::SmallVector<mlir::Value>(BodyEmitter &, mlir::Value b, mlir::Value m, mlir::Value n)> resultIndex;
};

/// The one contraction of the fusion's body that blocked kernels can take: floats, every result of the fusion with as
/// many elements as the contraction's result.
std::optional<Contraction> contractionOf(graph::FusionOp fusion);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_CONTRACTION_H
