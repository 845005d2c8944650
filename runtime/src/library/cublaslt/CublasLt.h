// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The place of cuBLASLt (matrix products on NVIDIA GPUs).
#ifndef STATOR_RUNTIME_LIBRARY_CUBLASLT_CUBLASLT_H
#define STATOR_RUNTIME_LIBRARY_CUBLASLT_CUBLASLT_H

#include "runtime/src/library/Library.h"

namespace stator::runtime {

/// nullptr: not available. This runtime does not open the library yet, so plans run their own kernels (the steps'
/// fallbacks); what stands behind the returned Library is what onednn/ shows.
std::unique_ptr<Library> openCublasLt();

} // namespace stator::runtime
#endif
