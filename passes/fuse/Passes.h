// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_PASSES_FUSE_PASSES_H
#define STATOR_PASSES_FUSE_PASSES_H

#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace stator::fuse {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "passes/fuse/Passes.h.inc"
} // namespace stator::fuse

#endif // STATOR_PASSES_FUSE_PASSES_H
