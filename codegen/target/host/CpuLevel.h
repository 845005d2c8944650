// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_TARGET_HOST_CPULEVEL_H
#define STATOR_CODEGEN_TARGET_HOST_CPULEVEL_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>

namespace stator::codegen {

/// An x86-64 microarchitecture level, as the artifact names it for the runtime to check.
struct CpuLevel {
  std::string name;
  /// f32 lanes of a vector register.
  int64_t lanes;
  /// AVX-512: scaling by powers of two is one instruction.
  bool hasScale() const { return lanes == 16; }
};

/// x86-64, x86-64-v2, x86-64-v3, x86-64-v4, or `native`: the highest of them that this machine has. Nullopt for any
/// other name: what code of a particular CPU needs could not be said in an artifact.
std::optional<CpuLevel> cpuLevel(llvm::StringRef name);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_CPULEVEL_H
