// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where NVIDIA's files stand that we use when they are there. Neither is needed to build Stator.
#ifndef STATOR_CODEGEN_TARGET_CUDA_TOOLKIT_H
#define STATOR_CODEGEN_TARGET_CUDA_TOOLKIT_H

#include "llvm/ADT/StringRef.h"
#include <string>

namespace stator::codegen {

/// Paths; empty where nothing was found.
struct CudaToolkit {
  std::string ptxas, libdevice;
};

/// Looks below `folder` if it is given, and else below CUDA_HOME and CUDA_PATH, in PATH, in /usr/local/cuda, and in the
/// Python wheels nvidia-cuda-nvcc and nvidia-nvvm of the active virtual environment, the user and the system. Both the
/// layout of the toolkit (bin/ptxas, nvvm/libdevice) and that of the wheels are known.
CudaToolkit findCudaToolkit(llvm::StringRef folder = {});

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_TOOLKIT_H
