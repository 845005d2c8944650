// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One kernel launch: its shape, the workers that run its blocks, and what comes out.
#pragma once

#include "runtime/simulator/Block.h"
#include "runtime/simulator/Chips.h"
#include "runtime/simulator/Counters.h"
#include "runtime/simulator/Memory.h"
#include "runtime/simulator/Report.h"
#include "runtime/simulator/Traffic.h"

#include <deque>

namespace stator::sim {

struct Launch {
  const Kernel *kernel = nullptr;
  const ptx::Module *module = nullptr;
  Memory *memory = nullptr;
  const Chip *chip = nullptr;
  const Settings *settings = nullptr;
  Dim3 grid, block, cluster;
  uint32_t dynamicShared = 0;
  bool cooperative = false;
  uint64_t workspace = 0; ///< address of zeroed memory for a cooperative launch's barrier; 0 where there is none
  uint64_t gridId = 0;
  std::vector<uint8_t> params; ///< laid out as the kernel declares
  WarpTrace *trace = nullptr;  ///< who watches a warp; null: nobody
  bool perInstruction = false; ///< also count each instruction by itself

  uint32_t threads() const { return static_cast<uint32_t>(block.count()); }
  uint32_t sharedBytes() const;
  /// Blocks that the whole chip can hold at once.
  uint64_t resident() const;
};

/// Blocks of `kernel` with `threads` threads and `dynamicShared` bytes that one multiprocessor of `chip` holds.
unsigned blocksPerSm(const Kernel &kernel, const Chip &chip, uint32_t threads, uint32_t dynamicShared);

/// What one instruction did in a launch.
struct InstructionCount {
  uint64_t executed = 0, partialLanes = 0;
  MemoryCount memory;
};

struct LaunchResult {
  std::vector<Finding> findings;
  Counters counters;
  std::vector<InstructionCount> instructions; ///< by index, where the launch asked for it
};

/// A finding at `instr` with everything that is known without running it.
Finding describe(const Launch &launch, const Instr &instr, Kind kind, Severity severity);

/// Runs the launch to its end, or to the first finding that leaves no way on.
LaunchResult execute(const Launch &launch);

/// What one host thread needs while it runs blocks of a launch.
class Worker {
public:
  Worker(const Launch &launch, unsigned number);

  /// Runs blocks [first, end), keeping at most `resident` alive.
  void run(uint64_t first, uint64_t end, uint64_t resident);

  /// Records a finding; returns it for the caller to complete when it is the first of its kind at this instruction.
  Finding *report(Warp &warp, const Instr &instr, Kind kind, uint32_t lanes, Severity severity, const char *message);
  /// Ends the launch after the current instruction: nothing sensible can follow.
  void abort() { aborted = true; }
  uint64_t random() {
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
  }
  /// The lanes of `warp` have synchronised with each other.
  void orderLanes(Warp &warp) {
    if (warp.order) races->syncWarp(warp);
  }
  Allocation *lookUp(uint64_t address) {
    if (last && lastVersion == launch.memory->version && address - last->base < last->bytes) return last;
    last = launch.memory->find(address);
    lastVersion = launch.memory->version;
    return last;
  }

  const Launch &launch;
  Findings findings;
  std::vector<uint64_t> executed, partialLanes; ///< per instruction: times run; lanes of runs that were not full
  std::vector<MemoryCount> memoryCounts;        ///< per instruction
  Footprint footprint;                          ///< sectors of global memory that were touched
  uint64_t divergentBranches = 0;
  uint64_t steps = 0;           ///< warp instructions so far: the simulated clock
  uint64_t changes = 0;         ///< grows when memory may have changed
  std::unique_ptr<Races> races; ///< null when race checks are off
  bool usesAsync = false;       ///< the kernel has asynchronous copies
  bool aborted = false;

private:
  struct Unit { ///< the blocks of one cluster, which live and die together
    std::vector<std::unique_ptr<Block>> blocks;
    std::unique_ptr<Cluster> cluster;
    unsigned timeOuts = 0; ///< rounds in which waits at mbarriers were given up, since memory last changed
    uint64_t stuckAt = 0;  ///< Worker::changes when it was found to wait
    uint64_t quietTurns = 0;
  };
  std::unique_ptr<Unit> startUnit(uint64_t index);
  bool runUnit(Unit &unit);
  /// Does every warp of the unit wait at a barrier or go round in circles?
  bool waits(Unit &unit);
  void reportDeadlock(const std::deque<std::unique_ptr<Unit>> &alive, uint64_t waitingToStart, bool timedOut);

  std::vector<std::unique_ptr<Block>> idle;
  uint64_t state;
  Allocation *last = nullptr;
  uint64_t lastVersion = ~uint64_t{0};
};

} // namespace stator::sim
