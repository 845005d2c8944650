// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The place of cuDNN (convolution, attention and norms on NVIDIA GPUs).
#ifndef STATOR_RUNTIME_LIBRARY_CUDNN_CUDNN_H
#define STATOR_RUNTIME_LIBRARY_CUDNN_CUDNN_H

#include "runtime/src/library/Library.h"

namespace stator::runtime {

/// nullptr: not available. This runtime does not open the library yet, so plans run their own kernels (the steps'
/// fallbacks); what stands behind the returned Library is what onednn/ shows.
std::unique_ptr<Library> openCudnn();

} // namespace stator::runtime
#endif
