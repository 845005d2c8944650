// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_SCHEDULE_MATHEXPANSION_H
#define STATOR_CODEGEN_SCHEDULE_MATHEXPANSION_H

#include "mlir/IR/BuiltinOps.h"

namespace stator::codegen {

/// Expands exp, exp2, expm1, log, log2, log10, log1p, sin, cos, tan, tanh, erf and pow on f32 into arithmetic that
/// vectorises; errors in ulp stand in docs/numerics.md. Other functions, and all of f64, stay calls of the C library.
/// Polynomials are minimax fits (reweighted least squares on Chebyshev points, relative error as weight).
/// `hasScale`: the target multiplies vectors by powers of two in one instruction; results are the same.
void expandMath(mlir::ModuleOp module, bool hasScale = false);

/// Expands conversions between f32 or f64 and bf16, f8E4M3FN, f8E5M2, and from f64 to f16, into integer arithmetic:
/// nearest even, NaN to NaN; f8E4M3FN overflows to NaN, the others to infinity.
void expandNarrowFloats(mlir::ModuleOp module);

/// After expandNarrowFloats, which leaves bf16 to be moved and chosen among only: as 16-bit integers. For processors without
/// bf16, where a choice between two would go through f32 and back by a call of a function that no library here has.
void carryBF16AsBits(mlir::ModuleOp module);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_MATHEXPANSION_H
