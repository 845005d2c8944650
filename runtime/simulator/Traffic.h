// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counting memory traffic of one warp instruction: 32-byte sectors of global memory, passes through the 32 four-byte
// banks of shared memory.
#pragma once

#include "runtime/simulator/Counters.h"

namespace stator::sim {

/// 32 lanes one behind the other.
inline void countDense(MemoryCount &count, uint64_t first, uint64_t bytes) {
  ++count.accesses;
  count.bytes += bytes;
  count.sectors += (first + bytes - 1) / 32 - first / 32 + 1;
  count.ideal += (bytes + 31) / 32;
}

void countGlobal(MemoryCount &count, const uint64_t *addresses, uint32_t lanes, uint32_t bytes);

/// Accesses of 8 bytes go in two half-warps, of 16 bytes in four quarter-warps; lanes that read one word share it.
void countShared(MemoryCount &count, const uint64_t *addresses, uint32_t lanes, uint32_t bytes);

} // namespace stator::sim
