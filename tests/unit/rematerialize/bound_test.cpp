// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/CutBound.h"
#include "tests/unit/rematerialize/BruteForce.h"
#include "tools/stator-remat/Generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <limits>

using namespace stator::remat;

// All cuts of small random networks, one by one.
TEST(MinCut, AgreesWithAllCuts) {
  for (uint64_t seed = 0; seed < 1000; ++seed) {
    Random random(seed);
    int32_t n = 3 + int32_t(random.below(7));
    MinCut graph(n);
    std::vector<std::array<int64_t, 3>> arcs;
    for (uint32_t k = 0; k < 3u * uint32_t(n); ++k) {
      int32_t a = int32_t(random.below(uint32_t(n))), b = int32_t(random.below(uint32_t(n)));
      if (a == b) continue;
      arcs.push_back({a, b, random.below(20)});
      graph.arc(a, b, arcs.back()[2]);
    }
    int64_t least = MinCut::kInfinite;
    for (uint32_t side = 1; side < 1u << n; side += 4) { // source in, sink out
      int64_t value = 0;
      for (auto [a, b, c] : arcs) value += (side >> a & 1) && !(side >> b & 1) ? c : 0;
      least = std::min(least, value);
    }
    EXPECT_EQ(graph.solve(), least) << seed;
    int64_t own = 0;
    for (auto [a, b, c] : arcs) own += graph.onSourceSide(int32_t(a)) && !graph.onSourceSide(int32_t(b)) ? c : 0;
    EXPECT_EQ(own, least) << seed;
    EXPECT_EQ(graph.solve(), least) << "solved again";
  }
}

// The cut problem at one node by trying every choice.
static double bruteCut(const Graph &graph, int32_t k, int64_t budget) {
  const auto &nodes = graph.nodes;
  double best = std::numeric_limits<double>::infinity();
  uint32_t fixed = 1u << k, demanded = 0;
  for (int32_t i : nodes[k].inputs) fixed |= 1u << i;
  for (size_t v = size_t(k) + 1; v < nodes.size(); ++v)
    for (int32_t i : nodes[v].inputs) demanded |= i < k ? 1u << i : 0;
  for (int32_t v = 0; v < k; ++v) demanded |= nodes[v].keep ? 1u << v : 0;
  for (uint32_t redone = 0; redone < 1u << k; ++redone) {
    uint32_t needed = demanded;
    bool right = !(redone & fixed);
    double cost = 0;
    for (int32_t v = k; v-- > 0;)
      if (redone >> v & 1) {
        right &= nodes[v].recomputable;
        cost += nodes[v].cost;
        for (int32_t i : nodes[v].inputs) needed |= 1u << i;
      }
    int64_t bytes = 0;
    for (int32_t v = 0; v <= k; ++v) bytes += (fixed | (needed & ~redone)) >> v & 1 ? nodes[v].bytes : 0;
    if (right && bytes <= budget) best = std::min(best, cost);
  }
  return best;
}

TEST(CutProblem, BranchAndBoundFindsTheBestChoice) {
  int meaningful = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Graph graph = generate::random(10, seed);
    Dag dag(graph.nodes);
    int32_t k = int32_t(4 + seed % 6);
    for (int64_t budget : {8, 12, 16, 22}) {
      double exact = bruteCut(graph, k, budget);
      CutProblem cut(dag, k, budget, Scope::GivenOrder);
      CutProblem::Solution relaxed = cut.relax(), solved = cut.solve(100000);
      ASSERT_EQ(solved.feasible, exact < std::numeric_limits<double>::infinity()) << seed;
      ASSERT_EQ(relaxed.feasible, solved.feasible);
      ASSERT_EQ(cut.floor() <= budget, solved.feasible);
      if (!solved.feasible) continue;
      meaningful += exact > 0;
      ASSERT_LE(relaxed.bound, exact + 1e-9) << seed;
      ASSERT_EQ(solved.cost, exact) << seed;
      ASSERT_EQ(solved.bound, exact) << seed;
      for (double price : {0.1, 0.5, 2.0}) ASSERT_LE(cut.boundAt(price), exact + 1e-9);
      // Stopped early the bound still holds.
      ASSERT_LE(CutProblem(dag, k, budget, Scope::GivenOrder).solve(2).bound, exact);
    }
  }
  EXPECT_GT(meaningful, 500);
}

TEST(Floor, IsNeverAboveTheLowestPeak) {
  int met = 0, all = 0;
  for (uint64_t seed = 0; seed < 250; ++seed) {
    Graph graph = generate::random(4 + int(seed % 4), seed);
    Dag dag(graph.nodes);
    for (Scope scope : {Scope::GivenOrder, Scope::AnyOrder}) {
      Floor floor = peakFloor(dag, scope, 1000000);
      int64_t lowest = test::lowestPeak(graph, scope, true);
      ASSERT_LE(floor.bytes, lowest) << seed;
      int64_t sum = 0;
      for (int32_t v : floor.held) sum += graph.nodes[v].bytes;
      ASSERT_EQ(sum, floor.bytes) << seed;
      met += floor.bytes == lowest;
      ++all;
    }
  }
  EXPECT_GT(met, all / 2); // the floor says something
}
