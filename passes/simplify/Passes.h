// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_PASSES_SIMPLIFY_PASSES_H
#define STATOR_PASSES_SIMPLIFY_PASSES_H

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace stator::simplify {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/simplify/Passes.h.inc"
} // namespace stator::simplify

#endif // STATOR_PASSES_SIMPLIFY_PASSES_H
