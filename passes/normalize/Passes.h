// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_PASSES_NORMALIZE_PASSES_H
#define STATOR_PASSES_NORMALIZE_PASSES_H

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace stator::normalize {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/normalize/Passes.h.inc"
} // namespace stator::normalize

#endif // STATOR_PASSES_NORMALIZE_PASSES_H
