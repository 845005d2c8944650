// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Where things lie in the simulated generic address space. The windows are far apart, so a generic address names its
// state space by its upper bits, and none overlaps an address that the host process uses for its own memory.
#pragma once

#include "runtime/simulator/Types.h"

namespace stator::sim {

/// Shared memory of the blocks of a cluster: block r's lies at r << 24 inside the window.
inline constexpr uint64_t kSharedWindow = 0x0000'0100'0000'0000, kSharedWindowBytes = uint64_t{1} << 28;
inline constexpr unsigned kClusterShift = 24;
inline constexpr uint64_t kLocalWindow = 0x0000'0200'0000'0000, kLocalWindowBytes = uint64_t{1} << 24;
/// Local memory of one thread on every compute capability (CUDA programming guide, technical specifications).
inline constexpr uint64_t kLocalBytesPerThread = uint64_t{512} << 10;
inline constexpr uint64_t kParamWindow = 0x0000'0300'0000'0000, kParamWindowBytes = uint64_t{1} << 16;
/// Device d's memory begins at kDeviceBase + d * kDeviceBytes. Nothing is mapped until it is allocated and touched.
inline constexpr uint64_t kDeviceBase = 0x0000'1000'0000'0000, kDeviceBytes = uint64_t{1} << 40;

constexpr Space spaceOf(uint64_t generic) {
  if (generic - kSharedWindow < kSharedWindowBytes) return Space::sharedCluster;
  if (generic - kLocalWindow < kLocalWindowBytes) return Space::local;
  if (generic - kParamWindow < kParamWindowBytes) return Space::param;
  return Space::global;
}
constexpr uint64_t windowOf(Space space) {
  switch (space) {
  case Space::shared:
  case Space::sharedCluster: return kSharedWindow;
  case Space::local: return kLocalWindow;
  case Space::param: return kParamWindow;
  default: return 0;
  }
}

} // namespace stator::sim
