// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/CpuLevel.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace stator::codegen {

static llvm::StringRef nativeLevel() {
  auto features = llvm::sys::getHostCPUFeatures();
  auto has = [&](std::initializer_list<const char *> names) {
    return llvm::all_of(names, [&](const char *name) { return features.lookup(name); });
  };
  if (!has({"cx16", "sahf", "popcnt", "sse3", "ssse3", "sse4.1", "sse4.2"})) return "x86-64";
  if (!has({"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave"})) return "x86-64-v2";
  return has({"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}) ? "x86-64-v4" : "x86-64-v3";
}

std::optional<CpuLevel> cpuLevel(llvm::StringRef name) {
  if (name == "native") name = nativeLevel();
  if (name == "x86-64" || name == "x86-64-v2") return CpuLevel{name.str(), 4};
  if (name == "x86-64-v3") return CpuLevel{name.str(), 8};
  if (name == "x86-64-v4") return CpuLevel{name.str(), 16};
  return std::nullopt;
}

} // namespace stator::codegen
