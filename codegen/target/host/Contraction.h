// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the host runs a contraction (codegen/schedule/Contraction.h): a call of oneDNN, where operands and epilogue can be said
// in its terms, and our own kernel, which takes everything.
#ifndef STATOR_CODEGEN_TARGET_HOST_CONTRACTION_H
#define STATOR_CODEGEN_TARGET_HOST_CONTRACTION_H

#include "codegen/schedule/Contraction.h"
#include "codegen/target/host/HostTemplates.h"

namespace stator::codegen {

/// Blocked and packed: panels of both operands are copied (with whatever is fused before) to the stack, register tiles run
/// over them, and the epilogue runs over the finished tile.
std::optional<LoweredFusion> lowerContraction(HostRequest request, const Contraction &contraction);

/// The same as a oneDNN call, if it can be said so.
std::optional<LibraryCall> libraryMatmul(HostRequest request, graph::MatmulOp op);
std::optional<LibraryCall> libraryConvolution(HostRequest request, graph::ConvolutionOp op);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_CONTRACTION_H
