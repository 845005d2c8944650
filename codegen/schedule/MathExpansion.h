// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_SCHEDULE_MATHEXPANSION_H
#define STATOR_CODEGEN_SCHEDULE_MATHEXPANSION_H

#include "mlir/IR/BuiltinOps.h"

namespace stator::codegen {

/// Expands `math` operations on f32 into polynomial arithmetic that vectorises, and the narrow float conversions that no
/// x86-64-v3 instruction does (bf16, f8) into integer arithmetic. Errors in ulp stand in docs/numerics.md. f64 stays with
/// the C library.
void expandMath(mlir::ModuleOp module);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_MATHEXPANSION_H
