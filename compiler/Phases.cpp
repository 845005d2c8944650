// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Phases.h"
#include "passes/fuse/Passes.h"
#include "passes/normalize/Passes.h"
#include "passes/simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace stator {

static void addNormalize(OpPassManager &module) {
  OpPassManager &pm = module.nest<func::FuncOp>();
  pm.addPass(normalize::createFunctionalizeWrites());
  pm.addPass(normalize::createDecomposeOps());
}

static void addSimplify(OpPassManager &module) {
  OpPassManager &pm = module.nest<func::FuncOp>();
  pm.addPass(simplify::createSimplifyAlgebra());
  pm.addPass(createCSEPass());
  pm.addPass(simplify::createFoldScales());
  pm.addPass(simplify::createFoldConstants());
  pm.addPass(simplify::createSimplifyAlgebra());
  pm.addPass(createCSEPass());
}

static void addFuse(OpPassManager &module) { module.nest<func::FuncOp>().addPass(fuse::createFuseKernels()); }

llvm::ArrayRef<Phase> phases() {
  static const Phase table[] = {
      {"import", "compiler/frontend", "Reads a PT2 archive, graph JSON or .mlir; one location per operation of the user's",
       "graph, with composites, views and writes", nullptr},
      {"normalize", "passes/normalize", "Functionalises writes, decomposes composites", "pure graph", addNormalize},
      {"simplify", "passes/simplify", "Folds constants, removes repeats and dead operations, exact algebra", "pure graph",
       addSimplify},
      {"fuse", "passes/fuse", "Groups operations into kernels", "graph.fusion, constants, reshapes, control flow", addFuse},
      {"lower", "codegen/lower", "Chooses the kernel template of each fusion", "graph.fusion with templates", nullptr},
      {"schedule", "codegen/schedule", "Emits each kernel's body inside its template", "llvm, nvvm", nullptr},
      {"memory", "codegen/memory", "Assigns buffers to arena offsets", "plan", nullptr},
      {"emit", "codegen/emit", "Writes PTX, host code and the artifact", "files", nullptr},
  };
  return table;
}

const Phase *findPhase(llvm::StringRef name) {
  for (const Phase &phase : phases())
    if (phase.name == name) return &phase;
  return nullptr;
}

} // namespace stator
