// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sizes as exported programs spell them: sympy's repr, `Add(Mul(Integer(2), Symbol('s0', positive=True)), Integer(1))`,
// and plain infix, `2*s0 + 1`.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SYMBOLICEXPR_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SYMBOLICEXPR_H

#include "dialects/graph/Symbols.h"
#include <string>

namespace stator::torch_export {

/// The dimension expression of `text`. Null, with the reason in `error`, where it is malformed, nested deeper than 64
/// levels, leaves 64 bits, or is not an integer polynomial with floor division, modulus, minimum and maximum.
/// Attributes of symbols are irrelevant.
graph::DimExpr parseSymbolic(mlir::MLIRContext *context, llvm::StringRef text, std::string &error);

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SYMBOLICEXPR_H
