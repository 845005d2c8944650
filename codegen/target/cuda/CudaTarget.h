// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_TARGET_CUDA_CUDATARGET_H
#define STATOR_CODEGEN_TARGET_CUDA_CUDATARGET_H

#include "codegen/target/Target.h"
#include "codegen/target/cuda/DeviceCode.h"

namespace stator::codegen {

/// Kernels for NVIDIA GPUs: `kernels/main.ARCH.ptx` for each architecture, and cubins where ptxas is found.
class CudaTarget : public Target {
public:
  CudaTarget(mlir::MLIRContext *context, const CudaOptions &options);
  ~CudaTarget() override;
  llvm::StringRef device() const override { return "cuda"; }
  mlir::FailureOr<LoweredFusion> lower(graph::FusionOp fusion, llvm::StringRef name) override;
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::OwningOpRef<mlir::ModuleOp> *>> kernelModules() override {
    return {{"cuda32", &narrow}, {"cuda64", &wide}};
  }
  mlir::LogicalResult finish(std::vector<ModuleImage> &modules, std::vector<Blob> &blobs) override;

private:
  CudaOptions options;
  mlir::OwningOpRef<mlir::ModuleOp> narrow, wide;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_CUDATARGET_H
