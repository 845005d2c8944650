// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From emitted kernels to PTX text, and on to cubins where ptxas is installed.
#ifndef STATOR_CODEGEN_TARGET_CUDA_DEVICECODE_H
#define STATOR_CODEGEN_TARGET_CUDA_DEVICECODE_H

#include "codegen/target/cuda/Architectures.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include <memory>

namespace stator::codegen {

struct CudaOptions {
  /// sm_80, sm_90, ...: one PTX for each.
  std::vector<std::string> architectures;
  /// Allows contraction of a product and a sum, and reordering; never set otherwise.
  bool fastMath = false;
  /// Makes cubins beside the PTX where ptxas is found.
  bool cubins = true;
  /// The folder of the CUDA toolkit; empty: where findCudaToolkit looks.
  std::string toolkit;
};

/// The LLVM module of kernels in `narrow` (32-bit index) and `wide` (64-bit index); both are consumed.
mlir::FailureOr<std::unique_ptr<llvm::Module>> translateKernels(mlir::ModuleOp narrow, mlir::ModuleOp wide,
                                                                llvm::LLVMContext &context);

/// PTX text. `libdevice` is the path of NVIDIA's bitcode, read only where a kernel calls it; that is then an error at
/// `at` where the path is empty.
mlir::FailureOr<std::string> emitPtx(mlir::ModuleOp at, const llvm::Module &kernels,
                                     const CudaArchitecture &architecture, llvm::StringRef libdevice, bool fastMath);

/// Runs ptxas. Failure is left to the caller, who has PTX anyway: `messages` says what was wrong.
mlir::FailureOr<std::string> assemble(llvm::StringRef ptxas, llvm::StringRef ptx, llvm::StringRef architecture,
                                      llvm::ArrayRef<llvm::StringRef> flags, std::string &messages);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_DEVICECODE_H
