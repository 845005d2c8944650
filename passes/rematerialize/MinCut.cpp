// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/MinCut.h"

#include <algorithm>
#include <tuple>

namespace stator::remat {

int32_t MinCut::arc(int32_t from, int32_t to, int64_t capacity) {
  int32_t id = int32_t(head.size());
  for (auto [a, b, c] : {std::tuple<int32_t, int32_t, int64_t>{from, to, capacity}, {to, from, 0}}) {
    head.push_back(b);
    nextArc.push_back(first[a]);
    first[a] = int32_t(head.size()) - 1;
    capacities.push_back(c);
  }
  return id;
}

/// Distances from the source in the residual graph; false when the sink is out of reach.
bool MinCut::layer() {
  std::fill(level.begin(), level.end(), -1);
  queue.clear();
  queue.push_back(source());
  level[source()] = 0;
  for (size_t i = 0; i < queue.size(); ++i)
    for (int32_t v = queue[i], e = first[v]; e >= 0; e = nextArc[e])
      if (residual[e] > 0 && level[head[e]] < 0) {
        level[head[e]] = level[v] + 1;
        queue.push_back(head[e]);
      }
  return level[sink()] >= 0;
}

/// One augmenting path along the layers; 0 when none is left.
int64_t MinCut::augment() {
  path.clear();
  int32_t v = source();
  while (v != sink()) {
    int32_t &e = current[v];
    while (e >= 0 && !(residual[e] > 0 && level[head[e]] == level[v] + 1)) e = nextArc[e];
    if (e >= 0) {
      path.push_back(e);
      v = head[e];
      continue;
    }
    if (path.empty()) return 0;
    v = head[path.back() ^ 1]; // dead end: step back and past the arc that led here
    path.pop_back();
    current[v] = nextArc[current[v]];
  }
  int64_t flow = kInfinite;
  for (int32_t e : path) flow = std::min(flow, residual[e]);
  for (int32_t e : path) {
    residual[e] -= flow;
    residual[e ^ 1] += flow;
  }
  return flow;
}

int64_t MinCut::solve() {
  residual = capacities;
  level.assign(first.size(), -1);
  int64_t total = 0;
  while (layer()) {
    current = first;
    while (int64_t flow = augment()) {
      total += flow;
      if (total >= kInfinite) return kInfinite;
    }
  }
  return total;
}

} // namespace stator::remat
