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

constexpr StringLiteral weightsAttrName = "plan.weights";

/// Kernels are func.func ops until code is made, and say already what their llvm.func will be (`nvvm.kernel`). Dialects refuse
/// such attributes on other functions, so in a program that can be verified they stand under another name.
static void renameAttributes(ModuleOp kernels, StringRef from, StringRef to) {
  for (auto function : kernels.getOps<func::FuncOp>())
    for (NamedAttribute attribute : llvm::to_vector(function->getDiscardableAttrs()))
      if (StringRef name = attribute.getName(); name.consume_front(from)) {
        function->removeDiscardableAttr(attribute.getName());
        function->setDiscardableAttr((to + name).str(), attribute.getValue());
      }
}
constexpr StringLiteral targetPrefix = "nvvm.", waitingPrefix = "plan.nvvm.";

static SmallVector<func::FuncOp> entryPoints(ModuleOp module) {
  SmallVector<func::FuncOp> functions;
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate() && !function.isExternal()) functions.push_back(function);
  return functions;
}

static std::vector<std::unique_ptr<Target>> targetsOf(MLIRContext *context, const Options &options) {
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
  return targets;
}

void lower(ModuleOp module) {
  for (auto [i, function] : llvm::enumerate(entryPoints(module)))
    wrapBareOps(function, "bare" + (i ? std::to_string(i) + "_" : std::string()));
  makeKernelNamesUnique(entryPoints(module));
}

LogicalResult schedule(ModuleOp module, const Options &options, ArtifactParts &parts) {
  MLIRContext *context = module.getContext();
  context->loadDialect<plan::PlanDialect>();
  parts.plans = ModuleOp::create(module.getLoc());
  WeightTable weights;
  SmallVector<OwningOpRef<ModuleOp>> kernelModules;
  for (auto &target : targetsOf(context, options)) {
    KernelCache kernels;
    for (func::FuncOp function : entryPoints(module))
      if (failed(buildPlan(function, *target, *parts.plans, weights, kernels, parts))) return failure();
    for (auto &[name, kernelModule] : target->kernelModules()) {
      if ((*kernelModule)->getBody()->empty()) continue;
      (*kernelModule)->setSymName(name);
      renameAttributes(**kernelModule, targetPrefix, waitingPrefix);
      kernelModules.push_back(std::move(*kernelModule));
    }
  }
  for (OwningOpRef<ModuleOp> &each : kernelModules) parts.plans->push_back(each.release());
  parts.plans->getOperation()->setAttr(weightsAttrName, weights.dictionary(context));
  return success();
}

LogicalResult planMemory(ArtifactParts &parts) {
  for (auto program : parts.plans->getOps<plan::ProgramOp>()) {
    ArenaSize size = assignBuffers(program);
    parts.memory.push_back({program.getName().str(), program.getDevice().str(), size.bytes, size.liveLoad});
  }
  return success();
}

LogicalResult emit(const Options &options, ArtifactParts &parts) {
  ModuleOp plans = *parts.plans;
  for (auto &target : targetsOf(plans.getContext(), options)) {
    for (auto &[name, kernelModule] : target->kernelModules())
      for (auto found : llvm::make_early_inc_range(plans.getOps<ModuleOp>()))
        if (found.getSymName() == name) {
          found->remove();
          renameAttributes(found, waitingPrefix, targetPrefix);
          *kernelModule = found;
        }
    if (failed(target->finish(parts.modules, parts.blobs))) return failure();
  }
  if (auto weights = plans->getAttrOfType<DictionaryAttr>(weightsAttrName))
    for (NamedAttribute each : weights) {
      auto value = dyn_cast<ElementsAttr>(each.getValue());
      if (!value) return plans.emitError("weight ") << each.getName() << " is no tensor";
      parts.weights.push_back(weightOf(each.getName(), value));
      // A program may name a resource and not give it.
      if (parts.weights.back().data.empty() && value.getNumElements() != 0)
        return plans.emitError("weight ") << each.getName() << " has no bytes";
    }
  return success();
}

LogicalResult generate(ModuleOp module, const Options &options, ArtifactParts &parts) {
  lower(module);
  return success(succeeded(schedule(module, options, parts)) && succeeded(planMemory(parts)) && succeeded(emit(options, parts)));
}

} // namespace stator::codegen
