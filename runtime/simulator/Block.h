// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thread block (CTA) as a resumable object: run() goes on where it stopped, so any number of blocks can be alive on
// one host thread, and a blocked block costs nothing.
#pragma once

#include "runtime/simulator/Cluster.h"
#include "runtime/simulator/Mbarrier.h"
#include "runtime/simulator/Race.h"
#include "runtime/simulator/Warp.h"

#include <memory>

namespace stator::sim {

struct Launch;
struct WarpgroupLog;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
};

/// One of the sixteen barriers of a block.
struct BarrierState {
  enum class Use : uint8_t { none, sync, reduce };
  Use use = Use::none;
  uint32_t expected = 0; ///< threads; 0: all of the block
  uint32_t arrived = 0;  ///< threads, in whole warps
  uint32_t arrivedWarps = 0;
  uint32_t trueCount = 0; ///< barrier.red: threads whose predicate is true
  uint32_t threadCount = 0;
  std::vector<std::pair<Warp *, const Instr *>> waiting;
  BarrierKnowledge knowledge;
};

class Block {
public:
  Block(Worker &worker, const Launch &launch);
  ~Block();

  void start(uint64_t linearIndex);
  /// Runs all warps in turn. True when every thread has exited.
  bool run(uint64_t budget);
  bool done() const;
  /// Can any warp go on without help from outside?
  bool canRun() const;

  /// Arrives at barrier `id`. `wait`: the lanes wait for its completion. Counts whole warps. `predicate`: for
  /// barrier.red.
  void arrive(Warp &warp, const Instr &instr, uint32_t mask, unsigned id, uint32_t count, bool wait,
              BarrierState::Use use, uint32_t predicateMask);
  /// A warp has lost its last lane: barriers that wait for all may be complete now.
  void warpExited(Warp &warp);

  /// The block of rank `rank` in this block's cluster, or null. Its own rank gives itself.
  Block *peer(uint32_t rank) {
    if (rank == clusterRank) return this;
    return rank < cluster.size() ? cluster[rank] : nullptr;
  }

  /// Actor numbers for races (see Knowledge): `which` engine of a warp (reads and writes of bulk groups, wgmma).
  uint32_t groupEngine(uint32_t warp, uint32_t which) const {
    return static_cast<uint32_t>(warps.size()) * (1 + which) + warp;
  }
  uint32_t barrierEngine() const { return static_cast<uint32_t>(warps.size()) * 4 + enginesGiven; }
  /// Does an asynchronous operation still read some of these bytes of shared memory?
  bool beingRead(uint64_t offset, uint32_t bytes) const {
    if (asyncReaders.empty()) return false;
    for (uint64_t g = offset / 16; g <= (offset + bytes - 1) / 16; ++g)
      if (asyncReaders[g]) return true;
    return false;
  }
  /// Another block of the cluster accesses this one's shared memory: false when this one has exited.
  bool visitedBy(Warp &visitor, const Instr &instr);

  /// Host pointer to `bytes` of a thread's local memory, or null when out of bounds.
  uint8_t *local(unsigned thread, uint64_t offset, uint64_t bytes) {
    return offset <= localBytes && bytes <= localBytes - offset ? localData.data() + thread * localBytes + offset
                                                                : nullptr;
  }
  uint8_t *localInit(unsigned thread, uint64_t offset) { return localDefined.data() + thread * localBytes + offset; }

  Worker &worker;
  const Launch &launch;
  const Kernel &kernel;
  std::vector<std::unique_ptr<Warp>> warps;
  uint64_t linear = 0;
  Dim3 id;
  uint32_t clusterRank = 0;
  std::vector<Block *> cluster;                   ///< all blocks of the cluster by rank; empty where it has one
  std::vector<uint8_t> sharedData, sharedDefined; ///< one byte of state per byte
  std::vector<SharedCell> sharedCells;            ///< for race checks; empty before the first access
  std::vector<uint16_t> asyncReaders; ///< asynchronous operations that read each 16 bytes; empty before the first
  std::unordered_map<uint32_t, Mbarrier> mbarriers;      ///< by offset in shared memory
  uint32_t enginesGiven = 0;                             ///< to mbarriers
  std::vector<std::unique_ptr<WarpgroupLog>> warpgroups; ///< of wgmma; empty before the first
  Cluster *group = nullptr;                              ///< of this block, even where it is alone
  uint32_t barrierEpoch = 0;                             ///< full-block barriers passed
  bool startedAny = false;

private:
  void complete(unsigned id);
  uint32_t liveWarps() const;

  /// The last access of each warp of other blocks: their end must be known to this block before it exits.
  struct Visit {
    uint64_t block;
    uint32_t warp, segment;
    const Instr *instr;
    Warp *visitor;
  };
  void checkVisits();

  std::map<std::pair<uint64_t, uint32_t>, Visit> visits;
  uint64_t localBytes = 0;
  std::vector<uint8_t> localData, localDefined;
  BarrierState barriers[16];
  uint32_t nextWarp = 0;
};

} // namespace stator::sim
