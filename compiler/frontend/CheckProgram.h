// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_COMPILER_FRONTEND_CHECKPROGRAM_H
#define STATOR_COMPILER_FRONTEND_CHECKPROGRAM_H

#include "mlir/IR/BuiltinOps.h"

namespace stator {

/// Checks what no op can check of itself, in a program of any form: every symbol that a type or an expression holds is
/// declared by its function, and gets its value from an input's size or a bind_symbol; states have unique names, a
/// static type and an initial value of that type; results that update a state or an input have its type; functions have
/// one block and take and return tensors. Reports everything that is wrong.
mlir::LogicalResult checkProgram(mlir::ModuleOp module);

} // namespace stator

#endif // STATOR_COMPILER_FRONTEND_CHECKPROGRAM_H
