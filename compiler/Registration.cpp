// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Registration.h"
#include "compiler/Phases.h"
#include "dialects/graph/Graph.h"
#include "dialects/plan/Plan.h"
#include "passes/fuse/Passes.h"
#include "passes/normalize/Passes.h"
#include "passes/simplify/Passes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

namespace stator {

void registerDialects(mlir::DialectRegistry &registry) {
  registry.insert<mlir::func::FuncDialect, graph::GraphDialect, plan::PlanDialect, mlir::arith::ArithDialect,
                  mlir::cf::ControlFlowDialect, mlir::LLVM::LLVMDialect, mlir::math::MathDialect, mlir::NVVM::NVVMDialect,
                  mlir::scf::SCFDialect>();
}

void registerPasses() {
  normalize::registerNormalizePasses();
  simplify::registerSimplifyPasses();
  fuse::registerFusePasses();
  mlir::registerTransformsPasses();
  for (const Phase &phase : phases())
    if (phase.addPasses)
      mlir::registerPassPipeline(
          ("stator-" + phase.name).str(), phase.sentence,
          [&phase](mlir::OpPassManager &pm, llvm::StringRef, llvm::function_ref<mlir::LogicalResult(const llvm::Twine &)>) {
            phase.addPasses(pm, PhaseOptions());
            return mlir::success();
          },
          [](llvm::function_ref<void(const mlir::detail::PassOptions &)>) {});
}

} // namespace stator
