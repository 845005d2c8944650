// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_TARGET_CUDA_ARCHITECTURES_H
#define STATOR_CODEGEN_TARGET_CUDA_ARCHITECTURES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace stator::codegen {

/// What kernels may rely on for one architecture (CUDA C++ Programming Guide, "Technical Specifications per Compute
/// Capability", and the PTX ISA's target notes).
struct CudaArchitecture {
  llvm::StringLiteral name;
  /// The least PTX ISA version that knows it, times 10.
  unsigned ptx;
  unsigned threadsPerMultiprocessor;
  /// Largest shared memory of a block, in bytes, with opting in.
  unsigned sharedPerBlock;
};

llvm::ArrayRef<CudaArchitecture> cudaArchitectures();
/// Null where the name is unknown.
const CudaArchitecture *cudaArchitecture(llvm::StringRef name);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_ARCHITECTURES_H
