// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products, out[b, m, n] = sum over k of lhs[b, m, k] * rhs[b, k, n]: matmul, and convolution with n over output
// positions and k over channels and window. Two ways to run one: a call of oneDNN, where operands and epilogue can be said
// in its terms, and our own kernel, which takes everything.
#ifndef STATOR_CODEGEN_TARGET_HOST_CONTRACTION_H
#define STATOR_CODEGEN_TARGET_HOST_CONTRACTION_H

#include "codegen/target/host/HostTemplates.h"

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

/// The one contraction of the fusion's body that blocked kernels can take: floats, every result of the fusion with as many
/// elements as the contraction's result.
std::optional<Contraction> contractionOf(graph::FusionOp fusion);

/// Blocked and packed: panels of both operands are copied (with whatever is fused before) to the stack, register tiles run
/// over them, and the epilogue runs over the finished tile.
std::optional<LoweredFusion> lowerContraction(HostRequest request, const Contraction &contraction);

/// The same as a oneDNN call, if it can be said so.
std::optional<LibraryCall> libraryMatmul(HostRequest request, graph::MatmulOp op);
std::optional<LibraryCall> libraryConvolution(HostRequest request, graph::ConvolutionOp op);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_CONTRACTION_H
