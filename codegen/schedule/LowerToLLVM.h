// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_SCHEDULE_LOWERTOLLVM_H
#define STATOR_CODEGEN_SCHEDULE_LOWERTOLLVM_H

#include "mlir/IR/BuiltinOps.h"

namespace stator::codegen {

/// Turns func, scf, cf, arith and math into the llvm dialect; `index` becomes an integer of `indexBits`. What no conversion covers is an error
/// that names the op.
mlir::LogicalResult lowerToLLVMDialect(mlir::ModuleOp module, unsigned indexBits = 64);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_LOWERTOLLVM_H
