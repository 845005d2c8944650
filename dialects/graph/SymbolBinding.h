// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_DIALECTS_GRAPH_SYMBOLBINDING_H
#define STATOR_DIALECTS_GRAPH_SYMBOLBINDING_H

#include "dialects/interfaces/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace stator::graph {

/// Gives every symbol in the function's argument types the value that the sizes of `arguments` (one per argument) imply,
/// in `env.symbols`. A symbol that stands alone as a dimension is read from it; one that occurs only in linear expressions
/// (2 * s0 + 1) is solved for. Fails, with `env.message`, where an argument has another element type or rank than
/// declared, sizes contradict each other, a symbol leaves its bounds, or the sizes do not determine one.
mlir::LogicalResult bindSymbols(mlir::func::FuncOp function, llvm::ArrayRef<const HostTensor *> arguments, EvalEnv &env);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_SYMBOLBINDING_H
