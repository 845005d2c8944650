// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/CutBound.h"

#include <algorithm>
#include <numeric>

namespace stator::remat {

/// Bytes that are live for certain at the first run of each node: its output and inputs, in the given order also what
/// is read later or kept and cannot be recomputed.
static std::vector<int64_t> certainBytes(const Dag &dag, Scope scope) {
  std::vector<int64_t> certain(dag.bytes);
  for (int32_t v = 0; v < dag.size(); ++v)
    for (int32_t i : dag.inputs(v)) certain[v] += dag.bytes[i];
  if (scope == Scope::AnyOrder) return certain;
  std::vector<int64_t> change(size_t(dag.size()) + 1, 0);
  for (int32_t v = 0; v < dag.size(); ++v) {
    if (dag.recomputable[v]) continue;
    int32_t last = dag.keep[v] ? dag.size() - 1 : v;
    for (int32_t r : dag.readers(v)) last = std::max(last, r);
    if (last == v) continue;
    change[v + 1] += dag.bytes[v];
    change[last + 1] -= dag.bytes[v];
    // Where a reader runs the value is counted among its inputs already.
    for (int32_t r : dag.readers(v)) certain[r] -= dag.bytes[v];
  }
  int64_t live = 0;
  for (int32_t v = 0; v < dag.size(); ++v) certain[v] += live += change[v];
  return certain;
}

/// Live bytes at each node when every node runs once in the given order.
static std::vector<int64_t> storeAllBytes(const Dag &dag) {
  std::vector<int64_t> live(dag.size()), freed(size_t(dag.size()) + 1, 0);
  int64_t now = 0;
  for (int32_t v = 0; v < dag.size(); ++v) {
    int32_t last = dag.keep[v] ? dag.size() - 1 : v;
    for (int32_t r : dag.readers(v)) last = std::max(last, r);
    freed[last] += dag.bytes[v];
    live[v] = now += dag.bytes[v];
    now -= freed[v];
  }
  return live;
}

/// Node numbers by falling `key`, the smaller number first among equals.
template <typename Key> static std::vector<int32_t> byFalling(const std::vector<Key> &key) {
  std::vector<int32_t> order(key.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return key[a] > key[b]; });
  return order;
}

Floor peakFloor(const Dag &dag, Scope scope, int64_t effort) {
  Floor best;
  std::vector<int64_t> certain = certainBytes(dag, scope);
  std::vector<int64_t> stored = storeAllBytes(dag);
  int64_t tries = std::max<int64_t>(4, effort / std::max(1, dag.size()));
  // A cut never gives less than the certain bytes; steps that hold most for certain, then those that hold most in all.
  std::vector<uint8_t> seen(dag.size(), 0);
  std::vector<int32_t> a = byFalling(certain), b = byFalling(stored), order;
  for (size_t i = 0; i < a.size() && int64_t(order.size()) < tries; ++i)
    for (int32_t v : {a[i], b[i]})
      if (!seen[v]) {
        seen[v] = 1;
        order.push_back(v);
      }
  for (int32_t v : order) {
    if (scope == Scope::GivenOrder && stored[v] <= best.bytes) continue;
    std::vector<int32_t> held;
    int64_t bytes = CutProblem(dag, v, 0, scope).floor(&held);
    if (bytes > best.bytes) best = {bytes, v, std::move(held)};
  }
  return best;
}

LowerBound lowerBound(const Dag &dag, int64_t budget, Scope scope, int64_t effort, double multiplier) {
  LowerBound best;
  if (dag.size() == 0) return best;
  std::vector<int64_t> stored = storeAllBytes(dag);
  std::vector<int32_t> order = byFalling(stored);
  int64_t full = dag.size(); // steps that can exceed the budget at all
  if (scope == Scope::GivenOrder)
    while (full > 0 && stored[order[full - 1]] <= budget) --full;
  if (full == 0) return best;
  auto take = [&](CutProblem &cut, CutProblem::Solution &&s, int32_t v) {
    if (best.node >= 0 && (s.bound < best.extraCost || (s.bound == best.extraCost && !best.recomputed.empty()))) return;
    best = {true, s.bound, v, std::move(s.recomputed), cut.bestMultiplier()};
  };
  // The multiplier of a full step ranks the others with one cut each.
  for (int64_t i = 0; i < std::min<int64_t>(full, 4); ++i) {
    CutProblem first(dag, order[i * (full - 1) / 4], budget, scope);
    CutProblem::Solution s = first.relax();
    if (!s.feasible) return {false, 0, order[i * (full - 1) / 4], {}, 0};
    take(first, std::move(s), order[i * (full - 1) / 4]);
  }
  if (multiplier == 0) multiplier = best.multiplier;
  // Where not all can be looked at, spread the looks evenly over the fullest ones.
  int64_t screened = std::min<int64_t>(full, std::max<int64_t>(8, effort / dag.size()));
  int64_t pool = std::min<int64_t>(full, screened * 8);
  std::vector<std::pair<double, int32_t>> rank;
  for (int64_t i = 0; i < screened; ++i) {
    int32_t v = order[i * pool / screened];
    rank.push_back({-CutProblem(dag, v, budget, scope).boundAt(multiplier), v});
  }
  std::stable_sort(rank.begin(), rank.end());
  size_t solved = size_t(std::clamp<int64_t>(effort / dag.size() / 16, 1, 24));
  for (size_t i = 0; i < rank.size() && i < solved; ++i) {
    int32_t v = rank[i].second;
    CutProblem cut(dag, v, budget, scope);
    CutProblem::Solution s =
        i < 4 ? cut.solve(std::max<int64_t>(1, i == 0 ? effort * 4 / dag.size() : effort / dag.size() / 2))
              : cut.relax();
    if (!s.feasible) return {false, 0, v, {}, 0};
    take(cut, std::move(s), v);
  }
  best.extraCost = dag.roundUp(best.extraCost);
  return best;
}

} // namespace stator::remat
