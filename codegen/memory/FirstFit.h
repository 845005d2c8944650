// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Places blocks one after another in a given order, each into a gap between those already placed.
#ifndef STATOR_CODEGEN_MEMORY_FIRSTFIT_H
#define STATOR_CODEGEN_MEMORY_FIRSTFIT_H

#include "codegen/memory/Block.h"

#include <utility>

namespace stator::memory {

enum class Fit {
  First, ///< the lowest gap that is large enough
  Best,  ///< the smallest gap that is large enough, below whatever is placed; the open end above only if there is none
};

class FirstFit {
public:
  FirstFit(const std::vector<Block> &blocks, const Conflicts &conflicts) : blocks(blocks), conflicts(conflicts) {}

  /// Offsets for all blocks, fixed ones first at theirs, then the others in \p order (which names every block once).
  /// Gives up and returns false when a free block ends above \p giveUp.
  bool place(const std::vector<int> &order, Fit fit, Offsets &offsets, int64_t giveUp = INT64_MAX);

private:
  int64_t findGap(const Block &block, Fit fit) const;

  const std::vector<Block> &blocks;
  const Conflicts &conflicts;
  std::vector<std::pair<int64_t, int64_t>> taken; ///< what is placed beside the block at hand: [start, end)
};

/// The eight classic orders: by decreasing size, area, life and by increasing start, each first-fit and best-fit.
/// Runs them one by one, stops each where it is no better than \p best, keeps the lowest arena there, and stops at
/// \p target or before \p visits pairs of blocks would have been looked at. \p order becomes one that leads by first
/// fit to an arena no larger than the best.
void placeInClassicOrders(const std::vector<Block> &blocks, const Conflicts &conflicts, int64_t target, int64_t visits,
                          Offsets &best, std::vector<int> &order);

/// The allocator's way: walk through time and serve each block as it begins from a list of free ranges, forwards and
/// backwards, lowest-address-fit and best-fit. O(n log n) in every case, for problems with too many conflicts for the
/// other way. Fixed blocks keep the space below their highest end for themselves.
void placeOnline(const std::vector<Block> &blocks, int64_t target, Offsets &best);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_FIRSTFIT_H
