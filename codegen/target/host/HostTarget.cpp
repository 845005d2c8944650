// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/HostTarget.h"
#include "codegen/target/host/Contraction.h"
#include "codegen/target/host/CpuLevel.h"
#include "codegen/target/host/HostTemplates.h"

using namespace mlir;

namespace stator::codegen {

HostTarget::HostTarget(MLIRContext *context, const NativeOptions &options) : options(options) {
  context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, math::MathDialect, scf::SCFDialect>();
  module = ModuleOp::create(UnknownLoc::get(context));
  // A name that is no level is an error when code is made.
  if (std::optional<CpuLevel> level = cpuLevel(options.cpu)) {
    this->options.cpu = level->name;
    lanes = level->lanes;
  }
}
HostTarget::~HostTarget() = default;

FailureOr<LoweredFusion> HostTarget::lower(graph::FusionOp fusion, StringRef name) {
  HostRequest request{*module, fusion, name.str(), lanes};
  std::optional<FusionShape> shape = shapeOf(fusion);
  std::optional<LoweredFusion> lowered;
  if (shape && shape->isReduction()) {
    lowered = lowerSplit(request, *shape);
    if (!lowered) lowered = lowerRows(request, *shape);
    if (!lowered) lowered = lowerColumns(request, *shape);
  }
  for (auto *candidate : {lowerLines, lowerScatter, lowerNonzero})
    if (!lowered) lowered = candidate(request);
  if (!lowered)
    if (auto contraction = contractionOf(fusion)) lowered = lowerContraction(request, *contraction);
  if (!lowered) lowered = lowerPointwise(request);
  if (!lowered) return failure();
  for (Operation &op : fusion.getBody().front()) {
    if (auto matmul = dyn_cast<graph::MatmulOp>(op)) lowered->library = libraryMatmul(request, matmul);
    else if (auto convolution = dyn_cast<graph::ConvolutionOp>(op)) lowered->library = libraryConvolution(request, convolution);
  }
  return *lowered;
}

LogicalResult HostTarget::finish(std::vector<ModuleImage> &modules, std::vector<Blob> &blobs) {
  if (module->getBody()->empty()) return success();
  FailureOr<std::string> bytes = compileToSharedObject(*module, options);
  if (failed(bytes)) return failure();
  std::string cpu = options.cpu;
  modules.push_back({"main", "host", "host/main.so", cpu, ""});
  blobs.push_back({"host/main.so", std::move(*bytes)});
  return success();
}

} // namespace stator::codegen
