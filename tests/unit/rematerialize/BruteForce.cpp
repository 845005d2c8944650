// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/rematerialize/BruteForce.h"

#include <map>
#include <queue>
#include <set>

namespace stator::remat::test {

// A state is which nodes have run and which values are held.  A step holds, beside its node's value, some of what was
// held before, all inputs among it; dropping anything else at any time is free.
std::optional<double> leastExtraCost(const Graph &graph, int64_t budget, Scope scope) {
  const auto &nodes = graph.nodes;
  const uint32_t n = uint32_t(nodes.size()), all = (1u << n) - 1;
  uint32_t kept = 0;
  std::vector<uint32_t> inputs(n, 0);
  for (uint32_t v = 0; v < n; ++v) {
    kept |= nodes[v].keep ? 1u << v : 0;
    for (int32_t i : nodes[v].inputs) inputs[v] |= 1u << i;
  }
  auto bytes = [&](uint32_t held) {
    int64_t sum = 0;
    for (uint32_t v = 0; v < n; ++v) sum += held >> v & 1 ? nodes[v].bytes : 0;
    return sum;
  };
  using State = std::pair<uint32_t, uint32_t>; // ran, held
  std::map<State, double> cost;
  std::priority_queue<std::pair<double, State>, std::vector<std::pair<double, State>>, std::greater<>> queue;
  auto reach = [&](State s, double c) {
    auto [it, fresh] = cost.emplace(s, c);
    if (!fresh && it->second <= c) return;
    it->second = c;
    queue.push({c, s});
  };
  reach({0, 0}, 0);
  while (!queue.empty()) {
    auto [c, state] = queue.top();
    queue.pop();
    if (cost[state] < c) continue;
    auto [ran, held] = state;
    if (ran == all && (held & kept) == kept) return c;
    for (uint32_t v = 0; v < n; ++v) {
      if (held >> v & 1) reach({ran, held & ~(1u << v)}, c);
      bool again = ran >> v & 1;
      if ((held & inputs[v]) != inputs[v] || (held >> v & 1) || (again && !nodes[v].recomputable)) continue;
      if (!again && scope == Scope::GivenOrder && ran != (1u << v) - 1) continue;
      if (bytes(held | 1u << v) > budget) continue;
      reach({ran | 1u << v, held | 1u << v}, c + (again ? nodes[v].cost : 0));
    }
  }
  return std::nullopt;
}

int64_t lowestPeak(const Graph &graph, Scope scope, bool repeats) {
  Graph copy = graph;
  std::set<int64_t> sums{0}; // every peak is a sum of sizes
  for (Node &v : copy.nodes) {
    v.cost = 0;
    v.recomputable &= repeats;
    std::set<int64_t> more = sums;
    for (int64_t s : sums) more.insert(s + v.bytes);
    sums = std::move(more);
  }
  std::vector<int64_t> peaks(sums.begin(), sums.end());
  size_t lo = 0, hi = peaks.size() - 1;
  while (lo < hi) {
    size_t mid = (lo + hi) / 2;
    if (leastExtraCost(copy, peaks[mid], scope))
      hi = mid;
    else
      lo = mid + 1;
  }
  return peaks[lo];
}

} // namespace stator::remat::test
