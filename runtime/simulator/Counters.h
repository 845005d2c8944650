// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch did, counted: numbers that tests can lock.
#pragma once

#include "runtime/simulator/Instruction.h"

#include <string>
#include <vector>

namespace stator::sim {

struct Kernel;

/// Memory traffic of one instruction over a launch.
struct MemoryCount {
  uint64_t accesses = 0; ///< warp-level
  uint64_t bytes = 0;    ///< asked for by lanes
  uint64_t sectors = 0;  ///< 32-byte sectors of global memory
  uint64_t ideal = 0;    ///< sectors that the bytes would fill if they were dense
  uint64_t waves = 0;    ///< shared memory: passes through the banks
  uint64_t idealWaves = 0;

  void add(const MemoryCount &m) {
    accesses += m.accesses, bytes += m.bytes, sectors += m.sectors, ideal += m.ideal;
    waves += m.waves, idealWaves += m.idealWaves;
  }
};

struct Counters {
  uint64_t warpInstructions = 0, laneInstructions = 0;
  uint64_t byClass[32] = {};
  uint64_t sectorsRead = 0, sectorsWritten = 0, idealRead = 0, idealWritten = 0;
  uint64_t bytesRead = 0, bytesWritten = 0;
  uint64_t sharedWaves = 0, sharedIdealWaves = 0;
  uint64_t divergentBranches = 0; ///< branches at which the lanes of a warp parted
  /// Distinct 32-byte sectors: what must pass between DRAM and the chip at least, however large the caches are.
  uint64_t dramSectorsRead = 0, dramSectorsWritten = 0;

  uint64_t of(OpClass kind) const { return byClass[static_cast<unsigned>(kind)]; }
  uint64_t bankConflicts() const { return sharedWaves - sharedIdealWaves; }
  std::string json(const std::string &kernel) const;
};

/// Adds what one worker counted.
void accumulate(Counters &counters, const Kernel &kernel, const std::vector<uint64_t> &executed,
                const std::vector<uint64_t> &partialLanes, const std::vector<MemoryCount> &memory);

const char *spell(OpClass kind);

} // namespace stator::sim
