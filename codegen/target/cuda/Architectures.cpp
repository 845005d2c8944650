// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/Architectures.h"
#include "llvm/ADT/STLExtras.h"

namespace stator::codegen {

llvm::ArrayRef<CudaArchitecture> cudaArchitectures() {
  static constexpr unsigned kib = 1024;
  static constexpr CudaArchitecture table[] = {
      {"sm_75", 63, 1024, 64 * kib},   {"sm_80", 70, 2048, 163 * kib},  {"sm_86", 71, 1536, 99 * kib},
      {"sm_87", 74, 1536, 163 * kib},  {"sm_89", 78, 1536, 99 * kib},   {"sm_90", 78, 2048, 227 * kib},
      {"sm_90a", 80, 2048, 227 * kib}, {"sm_100", 86, 2048, 227 * kib}, {"sm_100a", 86, 2048, 227 * kib},
      {"sm_103", 88, 2048, 227 * kib}, {"sm_120", 87, 1536, 99 * kib},  {"sm_120a", 87, 1536, 99 * kib},
      {"sm_121", 88, 1536, 99 * kib},
  };
  return table;
}

const CudaArchitecture *cudaArchitecture(llvm::StringRef name) {
  auto *it = llvm::find_if(cudaArchitectures(), [&](const CudaArchitecture &a) { return a.name == name; });
  return it == cudaArchitectures().end() ? nullptr : it;
}

} // namespace stator::codegen
