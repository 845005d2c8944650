// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Phases.h"
#include "passes/fuse/Passes.h"
#include "passes/normalize/Passes.h"
#include "passes/simplify/Passes.h"
#include "codegen/Codegen.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace stator {

static void addNormalize(OpPassManager &module, const PhaseOptions &) {
  OpPassManager &pm = module.nest<func::FuncOp>();
  pm.addPass(normalize::createFunctionalizeWrites());
  pm.addPass(normalize::createDecomposeOps());
}

static void addSimplify(OpPassManager &module, const PhaseOptions &options) {
  OpPassManager &pm = module.nest<func::FuncOp>();
  pm.addPass(simplify::createSimplifyAlgebra());
  pm.addPass(createCSEPass());
  if (options.readsPacked) pm.addPass(simplify::createMergeMatmuls());
  pm.addPass(simplify::createFoldScales());
  pm.addPass(simplify::createFoldConstants());
  pm.addPass(simplify::createSimplifyAlgebra());
  pm.addPass(createCSEPass());
}

static void addFuse(OpPassManager &module, const PhaseOptions &) {
  module.nest<func::FuncOp>().addPass(fuse::createFuseKernels());
}

using codegen::ArtifactParts;
using codegen::Options;

static LogicalResult runLower(ModuleOp module, const Options &, ArtifactParts &) {
  codegen::lower(module);
  return success();
}
static LogicalResult runSchedule(ModuleOp module, const Options &options, ArtifactParts &parts) {
  return codegen::schedule(module, options, parts);
}
static LogicalResult runMemory(ModuleOp, const Options &, ArtifactParts &parts) { return codegen::planMemory(parts); }
static LogicalResult runEmit(ModuleOp, const Options &options, ArtifactParts &parts) { return codegen::emit(options, parts); }

llvm::ArrayRef<Phase> phases() {
  static const Phase table[] = {
      {"import", "compiler/frontend", "Reads a PT2 archive, graph JSON or .mlir; one location per operation of the user's",
       "graph, with composites, views and writes", nullptr, nullptr},
      {"normalize", "passes/normalize", "Functionalises writes, decomposes composites", "pure graph", addNormalize, nullptr},
      {"simplify", "passes/simplify", "Folds constants, removes repeats and dead operations, exact algebra", "pure graph",
       addSimplify, nullptr},
      {"fuse", "passes/fuse", "Groups operations into kernels", "graph.fusion, constants, reshapes, control flow", addFuse,
       nullptr},
      {"lower", "codegen/lower", "Makes a kernel of every operation that still stands alone",
       "graph.fusion for all that computes", nullptr, runLower},
      {"schedule", "codegen/schedule", "Chooses each kernel's template and emits its body inside",
       "plan without offsets, kernels as func, scf, arith, math, llvm, nvvm", nullptr, runSchedule},
      {"memory", "codegen/memory", "Assigns buffers to arena offsets", "plan with offsets, kernels", nullptr, runMemory, true},
      {"emit", "codegen/emit", "Makes PTX, cubins and host code, and the artifact", "files (no text)", nullptr, runEmit, true},
  };
  return table;
}

const Phase *findPhase(llvm::StringRef name) {
  for (const Phase &phase : phases())
    if (phase.name == name) return &phase;
  return nullptr;
}

} // namespace stator
