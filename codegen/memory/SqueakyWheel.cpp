// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/SqueakyWheel.h"

#include "codegen/memory/FirstFit.h"
#include "codegen/memory/Random.h"

#include <algorithm>
#include <numeric>

namespace stator::memory {

/// What is not found in so many rounds of a small problem is better left to the search.
constexpr int64_t kMostRounds = 250;

int64_t squeakyWheel(const std::vector<Block> &blocks, const Conflicts &conflicts, int64_t target, int64_t visits,
                     std::vector<int> order, Offsets &best) {
  FirstFit firstFit(blocks, conflicts);
  Random random(blocks.size());
  int64_t bestEnd = arenaEnd(blocks, best);
  const int64_t perRound = static_cast<int64_t>(conflicts.other.size() + blocks.size());
  Offsets offsets = best;
  std::vector<double> rank(blocks.size());
  std::vector<int> bestOrder = order;
  int64_t rounds = 0, stale = 0;
  for (; bestEnd > target && visits >= perRound && rounds < kMostRounds; visits -= perRound, ++rounds) {
    // Blame: a block that ends above the target goes to a random place before its own; the rest keep theirs.
    int64_t squeaks = 0;
    for (size_t i = 0; i < order.size(); ++i) {
      int u = order[i];
      rank[u] = static_cast<double>(i);
      if (!blocks[u].isFixed() && offsets[u] + blocks[u].size > target) {
        rank[u] *= random.unit();
        ++squeaks;
      }
    }
    if (!squeaks) break; // the rest that is too high is fixed there
    std::sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] != rank[b] ? rank[a] < rank[b] : a < b; });
    firstFit.place(order, Fit::First, offsets);
    int64_t end = arenaEnd(blocks, offsets);
    if (end <= bestEnd) {
      stale = end < bestEnd ? 0 : stale + 1;
      bestEnd = end;
      best = offsets;
      bestOrder = order;
    } else if (++stale >= 8) {
      // Lost: go back to the best order and try other dice.
      stale = 0;
      order = bestOrder;
      offsets = best;
    }
  }
  return rounds;
}

} // namespace stator::memory
