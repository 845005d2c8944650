// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the blocks of a cluster share: their barrier, and the asynchronous operations in flight. A launch without
// clusters has one of these a block.
#pragma once

#include "runtime/simulator/Race.h"

#include <memory>
#include <vector>

namespace stator::sim {

struct AsyncOp;
struct Instr;

class Cluster {
public:
  explicit Cluster(std::vector<Block *> blocks);
  ~Cluster();

  /// barrier.cluster.arrive for lanes of a warp; `releases`: it orders memory.
  void arrive(Warp &warp, const Instr &instr, uint32_t mask, bool releases);
  /// barrier.cluster.wait: true when the lanes may go on; otherwise they are parked and will execute it again.
  bool wait(Warp &warp, const Instr &instr, uint32_t mask, bool acquires);
  /// Lanes have exited: the barrier may be complete now.
  void exited();

  std::vector<Block *> blocks;                      ///< by rank
  std::vector<std::unique_ptr<AsyncOp>> operations; ///< issued, and not yet known to be over by their issuer

private:
  void completeIfDue();

  std::vector<BarrierKnowledge> arriving, completed; ///< by rank, for the block's own warps
  BarrierKnowledge arrivingAll, completedAll;        ///< for those of others
};

} // namespace stator::sim
