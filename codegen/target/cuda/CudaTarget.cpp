// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/CudaTarget.h"
#include "codegen/target/cuda/CudaTemplates.h"
#include "codegen/target/cuda/Toolkit.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;

namespace stator::codegen {

CudaTarget::CudaTarget(MLIRContext *context, const CudaOptions &options) : options(options) {
  context->loadDialect<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect, NVVM::NVVMDialect, math::MathDialect,
                       scf::SCFDialect>();
  narrow = ModuleOp::create(UnknownLoc::get(context));
  wide = ModuleOp::create(UnknownLoc::get(context));
}
CudaTarget::~CudaTarget() = default;

/// Whether every element count of the fusion, and every number in its ops, leaves room in 32 bits.
static bool fitsNarrow(graph::FusionOp fusion) {
  auto fits = [](int64_t value) { return value > -CudaKernel::narrowLimit && value < CudaKernel::narrowLimit; };
  auto small = [&](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor) return true;
    graph::DimExpr count = graph::numElements(graph::dimsOf(tensor), fusion.getContext());
    auto symbols = [&](StringRef name) { return graph::symbolRange(fusion.getOperation(), name); };
    if (!count || !fits(graph::rangeOf(count, symbols).max)) return false;
    // A tensor without elements may have large dimensions.
    return llvm::all_of(graph::dimsOf(tensor),
                        [&](graph::DimExpr dim) { return fits(graph::rangeOf(dim, symbols).max); });
  };
  if (!llvm::all_of(fusion->getOperandTypes(), small) || !llvm::all_of(fusion->getResultTypes(), small)) return false;
  for (Operation &op : fusion.getBody().front()) {
    if (!llvm::all_of(op.getResultTypes(), small)) return false;
    if (isa<graph::ConstantOp>(op)) continue;
    for (NamedAttribute attribute : op.getAttrs()) {
      if (auto number = dyn_cast<IntegerAttr>(attribute.getValue());
          number && number.getValue().getSignificantBits() > 29)
        return false;
      if (auto list = dyn_cast<DenseI64ArrayAttr>(attribute.getValue()); list && !llvm::all_of(list.asArrayRef(), fits))
        return false;
    }
  }
  return true;
}

static std::optional<LoweredFusion> lowerIn(CudaRequest request) {
  std::optional<LoweredFusion> lowered;
  std::optional<FusionShape> shape = shapeOf(request.fusion);
  if (shape && shape->isReduction()) {
    lowered = lowerCudaSplit(request, *shape);
    if (!lowered) lowered = lowerCudaRows(request, *shape);
    if (!lowered) lowered = lowerCudaColumns(request, *shape);
  }
  if (!lowered) lowered = lowerCudaIterations(request);
  if (!lowered)
    if (auto contraction = contractionOf(request.fusion)) lowered = lowerCudaContraction(request, *contraction);
  if (!lowered) lowered = lowerCudaTranspose(request);
  if (!lowered) lowered = lowerCudaPointwise(request);
  return lowered;
}

FailureOr<LoweredFusion> CudaTarget::lower(graph::FusionOp fusion, StringRef name) {
  std::optional<LoweredFusion> lowered;
  if (fitsNarrow(fusion)) lowered = lowerIn({*narrow, fusion, name.str(), /*narrow=*/true});
  if (!lowered) lowered = lowerIn({*wide, fusion, name.str(), /*narrow=*/false});
  if (!lowered) return failure();
  return *lowered;
}

LogicalResult CudaTarget::finish(std::vector<ModuleImage> &modules, std::vector<Blob> &blobs) {
  if (narrow->getBody()->empty() && wide->getBody()->empty()) return success();
  CudaToolkit toolkit = findCudaToolkit(options.toolkit);
  llvm::LLVMContext context;
  FailureOr<std::unique_ptr<llvm::Module>> kernels = translateKernels(*narrow, *wide, context);
  if (failed(kernels)) return failure();
  for (const std::string &name : options.architectures) {
    const CudaArchitecture *architecture = cudaArchitecture(name);
    if (!architecture) {
      auto error = narrow->emitError("unknown GPU architecture '") << name << "'; known are";
      for (const CudaArchitecture &known : cudaArchitectures()) error << " " << known.name;
      return failure();
    }
    FailureOr<std::string> ptx = emitPtx(*narrow, **kernels, *architecture, toolkit.libdevice, options.fastMath);
    if (failed(ptx)) return failure();
    std::string stem = "kernels/main." + name;
    if (options.cubins && !toolkit.ptxas.empty()) {
      std::string messages;
      FailureOr<std::string> cubin = assemble(toolkit.ptxas, *ptx, name, {}, messages);
      if (succeeded(cubin)) {
        modules.push_back({"main", "cubin", stem + ".cubin", "", name});
        blobs.push_back({stem + ".cubin", std::move(*cubin)});
      } else {
        // An older ptxas may not know the architecture; the driver will.
        narrow->emitRemark() << toolkit.ptxas << " gave no cubin for " << name << ": " << messages;
      }
    }
    modules.push_back({"main", "ptx", stem + ".ptx", "", name});
    blobs.push_back({stem + ".ptx", std::move(*ptx)});
  }
  return success();
}

} // namespace stator::codegen
