// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_TARGET_HOST_HOSTTARGET_H
#define STATOR_CODEGEN_TARGET_HOST_HOSTTARGET_H

#include "codegen/target/Target.h"
#include "codegen/target/host/NativeCode.h"

namespace stator::codegen {

/// Kernels for the CPU: one shared object, `host/main.so`.
class HostTarget : public Target {
public:
  HostTarget(mlir::MLIRContext *context, const NativeOptions &options);
  ~HostTarget() override;
  llvm::StringRef device() const override { return "host"; }
  mlir::FailureOr<LoweredFusion> lower(graph::FusionOp fusion, llvm::StringRef name) override;
  llvm::SmallVector<std::pair<llvm::StringRef, mlir::OwningOpRef<mlir::ModuleOp> *>> kernelModules() override {
    return {{"host", &module}};
  }
  mlir::LogicalResult finish(std::vector<ModuleImage> &modules, std::vector<Blob> &blobs) override;

  /// What has been emitted so far, before lowering; for tests and dumps.
  mlir::ModuleOp emitted() { return *module; }

private:
  NativeOptions options;
  int64_t lanes = 8;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_HOSTTARGET_H
