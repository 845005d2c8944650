// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Codegen.h"
#include "codegen/emit/BuildPlan.h"
#include "codegen/memory/AssignBuffers.h"
#include "codegen/target/cuda/CudaTarget.h"
#include "codegen/target/host/HostTarget.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;

namespace stator::codegen {

/// The fuse phase numbers kernels function by function; in the artifact their names are symbols of one library.
static void makeKernelNamesUnique(ArrayRef<func::FuncOp> functions) {
  llvm::StringSet<> taken;
  for (func::FuncOp function : functions)
    function.walk([&](graph::FusionOp fusion) {
      std::string name = fusion.getName().str();
      for (unsigned number = 1; !taken.insert(name).second; ++number)
        name = (fusion.getName() + "_" + std::to_string(number)).str();
      fusion.setName(name);
    });
}

LogicalResult generate(ModuleOp module, const Options &options, ArtifactParts &parts) {
  MLIRContext *context = module.getContext();
  context->loadDialect<plan::PlanDialect>();
  parts.plans = ModuleOp::create(module.getLoc());
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal()) functions.push_back(function);
  for (auto [i, function] : llvm::enumerate(functions)) wrapBareOps(function, "bare" + (i ? std::to_string(i) + "_" : std::string()));
  makeKernelNamesUnique(functions);

  std::vector<std::unique_ptr<Target>> targets;
  if (options.host) targets.push_back(std::make_unique<HostTarget>(context, NativeOptions{options.cpu, options.fastMath}));
  if (!options.cudaArchitectures.empty()) {
    CudaOptions cuda;
    cuda.architectures = options.cudaArchitectures;
    cuda.fastMath = options.fastMath;
    cuda.cubins = options.cubins;
    cuda.toolkit = options.cudaToolkit;
    targets.push_back(std::make_unique<CudaTarget>(context, cuda));
  }
  WeightTable weights(parts.weights);
  for (auto &target : targets) {
    KernelCache kernels;
    for (func::FuncOp function : functions) {
      FailureOr<plan::ProgramOp> program = buildPlan(function, *target, *parts.plans, weights, kernels, parts);
      if (failed(program)) return failure();
      ArenaSize size = assignBuffers(*program);
      parts.memory.push_back({function.getName().str(), target->device().str(), size.bytes, size.liveLoad});
    }
    if (failed(target->finish(parts.modules, parts.blobs))) return failure();
  }
  return success();
}

} // namespace stator::codegen
