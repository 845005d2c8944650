// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/FirstFit.h"

#include <algorithm>
#include <numeric>

namespace stator::memory {

int64_t FirstFit::findGap(const Block &block, Fit fit) const {
  int64_t at = 0, bestAt = kUnplaced, bestSlack = INT64_MAX;
  for (auto [start, end] : taken) {
    if (start - at >= block.size) {
      if (fit == Fit::First) return at;
      if (start - at - block.size < bestSlack) bestSlack = start - at - block.size, bestAt = at;
    }
    if (end > at) at = alignUp(end, block.alignment);
  }
  return bestAt != kUnplaced ? bestAt : at;
}

bool FirstFit::place(const std::vector<int> &order, Fit fit, Offsets &offsets, int64_t giveUp) {
  offsets.assign(blocks.size(), kUnplaced);
  for (size_t u = 0; u < blocks.size(); ++u)
    if (blocks[u].isFixed()) offsets[u] = blocks[u].fixed;
  for (int u : order) {
    if (blocks[u].isFixed()) continue;
    taken.clear();
    for (int64_t i = conflicts.begin[u]; i < conflicts.begin[u + 1]; ++i)
      if (int v = conflicts.other[i]; offsets[v] != kUnplaced)
        taken.emplace_back(offsets[v], offsets[v] + blocks[v].size);
    std::sort(taken.begin(), taken.end());
    offsets[u] = findGap(blocks[u], fit);
    if (offsets[u] + blocks[u].size > giveUp) return false;
  }
  return true;
}

void placeInClassicOrders(const std::vector<Block> &blocks, const Conflicts &conflicts, int64_t target, int64_t visits,
                          Offsets &best, std::vector<int> &order) {
  FirstFit firstFit(blocks, conflicts);
  std::vector<double> rank(blocks.size());
  auto orderByRank = [&] {
    std::vector<int> order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](int a, int b) {
      if (rank[a] != rank[b]) return rank[a] > rank[b];
      return blocks[a].size != blocks[b].size ? blocks[a].size > blocks[b].size : a < b;
    });
    return order;
  };
  // First fit in the order of a plan's own offsets puts no block higher than the plan does.
  for (size_t u = 0; u < blocks.size(); ++u) rank[u] = -static_cast<double>(best[u]);
  order = orderByRank();
  int64_t bestEnd = arenaEnd(blocks, best);
  Offsets offsets;
  for (int key = 0; key < 4; ++key) {
    for (size_t u = 0; u < blocks.size(); ++u) {
      const double size = static_cast<double>(blocks[u].size), start = static_cast<double>(blocks[u].lower);
      const double life = static_cast<double>(blocks[u].upper) - start;
      rank[u] = key == 0 ? size : key == 1 ? size * life : key == 2 ? life : -start;
    }
    const std::vector<int> tried = orderByRank();
    for (Fit fit : {Fit::First, Fit::Best}) {
      if (bestEnd <= target || visits < 0) return;
      visits -= static_cast<int64_t>(conflicts.other.size());
      if (!firstFit.place(tried, fit, offsets, bestEnd - 1)) continue;
      bestEnd = arenaEnd(blocks, offsets);
      best = offsets;
      order = tried;
    }
  }
}

} // namespace stator::memory
