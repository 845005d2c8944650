// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/CutBound.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace stator::remat {

CutProblem::CutProblem(const Dag &dag, int32_t node, int64_t budget, Scope scope, const std::vector<int32_t> &place)
    : dag(dag), node(node), budget(budget), localOf(dag.size(), -1) {
  collect(scope, place);
  build();
}

/// Finds the values that matter: demanded ones, and through recomputable ones what they read.
void CutProblem::collect(Scope scope, const std::vector<int32_t> &place) {
  enum : uint8_t { Free, Before, After };
  std::vector<uint8_t> when(dag.size(), Free);
  if (scope == Scope::GivenOrder) {
    for (int32_t v = 0; v < dag.size(); ++v)
      when[v] = (place.empty() ? v < node : place[v] < place[node]) ? Before : After;
  } else {
    for (int32_t v = node; v-- > 0;)
      for (int32_t r : dag.readers(v))
        if (r == node || when[r] == Before) when[v] = Before;
    for (int32_t v = node + 1; v < dag.size(); ++v)
      for (int32_t i : dag.inputs(v))
        if (i == node || when[i] == After) when[v] = After;
  }
  std::vector<uint8_t> held(dag.size(), 0);
  auto hold = [&](int32_t v) {
    held[v] = 1;
    heldFixed.push_back(v);
    fixedBytes += dag.bytes[v];
  };
  hold(node);
  for (int32_t i : dag.inputs(node)) hold(i);

  auto need = [&](int32_t v, bool demand) {
    if (held[v]) return;
    if (localOf[v] < 0) {
      localOf[v] = int32_t(items.size());
      items.push_back(v);
      // What may run for the first time after k costs nothing extra there.
      canRecompute.push_back(when[v] == Free || dag.recomputable[v]);
      price.push_back(when[v] == Free ? 0 : dag.cost[v]);
      demanded.push_back(0);
    }
    demanded[localOf[v]] |= demand;
  };
  for (int32_t v = 0; v < dag.size(); ++v) {
    if (when[v] == After && v != node)
      for (int32_t i : dag.inputs(v))
        if (when[i] != After) need(i, true);
    if (when[v] == Before && dag.keep[v]) need(v, true);
  }
  for (size_t x = 0; x < items.size(); ++x)
    if (canRecompute[x])
      for (int32_t i : dag.inputs(items[x])) need(i, false);
  choice.assign(items.size(), 0);
  for (size_t x = 0; x < items.size(); ++x) {
    totalCost += price[x];
    totalBytes += dag.bytes[items[x]];
  }
}

void CutProblem::build() {
  graph = MinCut(int32_t(2 + 2 * items.size()));
  liveArc.assign(items.size(), -1);
  costArc.assign(items.size(), -1);
  forceArc.assign(items.size(), -1);
  for (int32_t x = 0; x < int32_t(items.size()); ++x) {
    int32_t needed = 2 + 2 * x, redone = 3 + 2 * x;
    if (demanded[x]) graph.arc(MinCut::source(), needed, MinCut::kInfinite);
    liveArc[x] = graph.arc(needed, canRecompute[x] ? redone : MinCut::sink());
    if (!canRecompute[x]) continue;
    graph.arc(redone, needed, MinCut::kInfinite);
    costArc[x] = graph.arc(redone, MinCut::sink());
    forceArc[x] = graph.arc(MinCut::source(), redone);
    for (int32_t i : dag.inputs(items[x]))
      if (localOf[i] >= 0) graph.arc(redone, 2 + 2 * localOf[i], MinCut::kInfinite);
  }
}

/// One minimum cut under integer weights rounded down, so that its value bounds the true minimum from below.
bool CutProblem::cut(double costScale, double byteScale, Point &point) {
  for (size_t x = 0; x < items.size(); ++x) {
    graph.setCapacity(liveArc[x], int64_t(double(dag.bytes[items[x]]) * byteScale));
    if (costArc[x] < 0) continue;
    graph.setCapacity(costArc[x], choice[x] == 2 ? MinCut::kInfinite : int64_t(price[x] * costScale));
    graph.setCapacity(forceArc[x], choice[x] == 1 ? MinCut::kInfinite : 0);
  }
  int64_t value = graph.solve();
  if (value >= MinCut::kInfinite) return false;
  point = {0, double(value), fixedBytes, {}};
  for (int32_t x = 0; x < int32_t(items.size()); ++x) {
    if (!graph.onSourceSide(2 + 2 * x)) continue;
    if (canRecompute[x] && graph.onSourceSide(3 + 2 * x)) {
      point.cost += price[x];
      point.recomputed.push_back(x);
    } else {
      point.bytes += dag.bytes[items[x]];
    }
  }
  return true;
}

int64_t CutProblem::floor(std::vector<int32_t> *held) {
  Point least;
  if (!cut(0, 1, least)) return std::numeric_limits<int64_t>::max();
  if (held) {
    *held = heldFixed;
    std::vector<uint8_t> redone(items.size(), 0);
    for (int32_t x : least.recomputed) redone[x] = 1;
    for (size_t x = 0; x < items.size(); ++x)
      if (graph.onSourceSide(int32_t(2 + 2 * x)) && !redone[x]) held->push_back(items[x]);
    std::sort(held->begin(), held->end());
  }
  return least.bytes;
}

/// Weights sum to 2^57 at most: headroom below kInfinite, and 53 bits of them matter.
static double scaleFor(double total) { return total > 0 ? 0x1p57 / total : 1; }

double CutProblem::boundAt(double lambda) {
  double scale = scaleFor(totalCost + lambda * double(totalBytes));
  Point p;
  if (!cut(scale, lambda * scale, p)) return std::numeric_limits<double>::infinity();
  double bound = p.value / scale + lambda * (double(fixedBytes) - double(budget));
  return bound - 1e-9 * (std::abs(bound) + lambda * double(fixedBytes)) * 1e-3;
}

/// The Lagrangian dual by supporting lines: two choices, one over the budget and one within, give the next multiplier.
CutProblem::Solution CutProblem::dual(double cutoff, std::vector<int32_t> *split) {
  Solution best;
  Point low, high, p;
  if (!cut(0, 1, high) || high.bytes > budget) return best;
  best.feasible = true;
  best.cost = high.cost;
  double scale = scaleFor(totalCost);
  if (!cut(scale, 0, low)) return Solution();
  best.bound = low.cost;
  if (low.bytes <= budget) {
    high = low;
  } else {
    for (int round = 0; round < 40 && best.bound < cutoff; ++round) {
      double lambda = std::max(0.0, (high.cost - low.cost) / double(low.bytes - high.bytes));
      scale = scaleFor(totalCost + lambda * double(totalBytes));
      if (!cut(scale, lambda * scale, p)) return Solution();
      double bound = p.value / scale + lambda * (double(fixedBytes) - double(budget));
      bound -= 1e-12 * (std::abs(bound) + lambda * double(fixedBytes));
      if (bound > best.bound) {
        best.bound = bound;
        multiplier = lambda;
      }
      double line = high.cost + lambda * double(high.bytes), now = p.cost + lambda * double(p.bytes);
      if (now >= line - 1e-9 * std::abs(line)) break;
      (p.bytes <= budget ? high : low) = p;
    }
  }
  best.cost = high.cost;
  for (int32_t x : high.recomputed) best.recomputed.push_back(x);
  if (split) {
    std::vector<uint8_t> in(items.size(), 0);
    for (int32_t x : low.recomputed) in[x] ^= 1;
    for (int32_t x : high.recomputed) in[x] ^= 1;
    split->clear();
    for (int32_t x = 0; x < int32_t(items.size()); ++x)
      if (in[x] && choice[x] == 0) split->push_back(x);
  }
  return best;
}

CutProblem::Solution CutProblem::relax() {
  Solution s = dual(std::numeric_limits<double>::infinity(), nullptr);
  for (int32_t &x : s.recomputed) x = items[x];
  return s;
}

CutProblem::Solution CutProblem::solve(int64_t nodeLimit) {
  // Best first on the bound; a subproblem is its decisions so far.
  struct Sub {
    double bound;
    int64_t serial;
    std::vector<std::pair<int32_t, uint8_t>> decisions;
  };
  auto later = [](const Sub &a, const Sub &b) { return a.bound != b.bound ? a.bound > b.bound : a.serial < b.serial; };
  Solution best;
  best.cost = std::numeric_limits<double>::infinity();
  double closed = std::numeric_limits<double>::infinity(); // least bound of what was given up as not better
  std::vector<Sub> open{{0, 0, {}}};
  int64_t made = 0;
  double rootMultiplier = 0;
  while (!open.empty() && made < nodeLimit && open.front().bound < best.cost) {
    std::pop_heap(open.begin(), open.end(), later);
    Sub sub = std::move(open.back());
    open.pop_back();
    for (auto [x, c] : sub.decisions) choice[x] = c;
    std::vector<int32_t> split;
    Solution s = dual(best.cost, &split);
    for (auto [x, c] : sub.decisions) choice[x] = 0;
    if (made++ == 0) rootMultiplier = multiplier;
    if (!s.feasible) continue;
    double bound = std::max(sub.bound, dag.roundUp(s.bound));
    if (s.cost < best.cost) {
      best.feasible = true;
      best.cost = s.cost;
      best.recomputed = s.recomputed;
    }
    if (bound >= best.cost || split.empty()) {
      closed = std::min(closed, bound);
      continue;
    }
    int32_t pick = split[0];
    for (int32_t x : split)
      if (price[x] > price[pick]) pick = x;
    for (uint8_t c : {1, 2}) {
      open.push_back({bound, made * 2 + c, sub.decisions});
      open.back().decisions.push_back({pick, c});
      std::push_heap(open.begin(), open.end(), later);
    }
  }
  multiplier = rootMultiplier;
  if (best.feasible) {
    best.bound = std::min(closed, best.cost);
    for (const Sub &sub : open) best.bound = std::min(best.bound, sub.bound);
    for (int32_t &x : best.recomputed) x = items[x];
  }
  return best;
}

} // namespace stator::remat
