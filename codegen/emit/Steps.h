// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_EMIT_STEPS_H
#define STATOR_CODEGEN_EMIT_STEPS_H

#include "codegen/lower/FusionCost.h"
#include "codegen/target/Target.h"
#include "dialects/plan/Plan.h"

namespace stator::codegen {

/// The buffers that a fusion's inputs, results and scratch stand for.
struct StepBuffers {
  llvm::SmallVector<mlir::Value> inputs, results, scratch;
  mlir::Value of(KernelBuffer buffer) const {
    return (buffer.kind == KernelBuffer::Input ? inputs : buffer.kind == KernelBuffer::Result ? results : scratch)[buffer.index];
  }
};

/// Appends the library step (with the launches as its fallback) or the launches of a fusion that costs `cost`.
void emitSteps(mlir::OpBuilder &b, mlir::Location loc, const LoweredFusion &lowered, const StepBuffers &buffers,
               const FusionCost &cost, bool host, llvm::StringRef label, llvm::StringRef source);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_EMIT_STEPS_H
