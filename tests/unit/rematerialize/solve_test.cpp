// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Rematerialize.h"
#include "passes/rematerialize/Search.h"
#include "tests/unit/rematerialize/BruteForce.h"
#include "tools/stator-remat/Generate.h"

#include <gtest/gtest.h>

using namespace stator::remat;

/// A result is what it claims to be.
static void expectSound(const Graph &graph, const Options &options, const Result &r, const std::string &what) {
  Usage u = simulate(graph, r.schedule);
  ASSERT_EQ(u.error, "") << what;
  ASSERT_EQ(u.peak, r.peak) << what;
  ASSERT_EQ(u.cost - r.baseCost, r.extraCost) << what;
  ASSERT_EQ(r.status == Status::Fits, r.peak <= options.budget) << what;
  if (r.status == Status::Fits) {
    ASSERT_LE(r.bound, r.extraCost) << what;
    ASSERT_LE(r.floor, r.peak) << what;
  }
  if (r.status == Status::Infeasible) {
    ASSERT_GT(r.floor, options.budget) << what;
  }
  if (options.reorder) return;
  // First runs in the given order.
  std::vector<uint8_t> ran(graph.nodes.size(), 0);
  int32_t first = 0;
  for (int32_t v : r.schedule)
    if (!ran[v]) {
      ASSERT_EQ(v, first++) << what;
      ran[v] = 1;
    }
}

// Thousands of small graphs against the exhaustive search, in the given order and in any.
static void againstBruteForce(int from, int to) {
  int feasible = 0, met = 0, costly = 0;
  for (int seed = from; seed < to; ++seed) {
    Graph graph = generate::random(5 + seed % 5, uint64_t(seed));
    int64_t full = simulate(graph, givenOrder(graph)).peak;
    Options options;
    options.reorder = seed % 2;
    // From just below what any schedule needs to just below what storing everything needs.
    int64_t floor = peakFloor(Dag(graph.nodes), options.reorder ? Scope::AnyOrder : Scope::GivenOrder, 100000).bytes;
    options.budget =
        floor - 1 + int64_t(Random(uint64_t(seed)).below(uint32_t(std::max<int64_t>(1, full - floor + 1))));
    options.moves = 10000;
    const std::string what = "seed " + std::to_string(seed);
    Result r = solve(graph, options);
    expectSound(graph, options, r, what);
    auto best = test::leastExtraCost(graph, options.budget, options.reorder ? Scope::AnyOrder : Scope::GivenOrder);
    if (r.status == Status::Infeasible) {
      ASSERT_FALSE(best) << what;
    }
    if (!best) {
      ASSERT_NE(r.status, Status::Fits) << what;
      continue;
    }
    ++feasible;
    costly += *best > 0;
    ASSERT_LE(r.bound, *best) << what << ": the bound is above the optimum";
    if (r.status != Status::Fits) continue;
    ASSERT_GE(r.extraCost, *best) << what;
    met += r.extraCost == *best;
    if (r.optimal) {
      ASSERT_EQ(r.extraCost, *best) << what;
    }
    Dag dag(graph.nodes);
    Sequence greedy(dag, givenOrder(graph), options.budget);
    if (repairGreedily(greedy)) {
      ASSERT_LE(r.extraCost, greedy.extraCost()) << what << ": worse than greedy";
    }
  }
  EXPECT_GT(costly, feasible / 10);
  EXPECT_GE(met, feasible * 99 / 100) << "optimum met " << met << " of " << feasible;
}
TEST(Solve, BruteForceA) { againstBruteForce(0, 1000); }
TEST(Solve, BruteForceB) { againstBruteForce(1000, 2000); }
TEST(Solve, BruteForceC) { againstBruteForce(2000, 3000); }

static const char *const kNetworks[] = {"chain:24", "resnet:3:2",    "unet:3",     "transformer:2:1", "transformer:3:0",
                                        "lstm:8",   "inception:3:4", "skips:40:1", "skips:60:2",      "random:50:3"};

TEST(Solve, NetworksAtManyBudgets) {
  for (const char *name : kNetworks) {
    Graph graph = generate::byName(name);
    ASSERT_EQ(validate(graph), "") << name;
    int64_t full = simulate(graph, givenOrder(graph)).peak;
    for (int percent : {100, 80, 60, 40, 5}) {
      Options options;
      options.budget = full * percent / 100;
      options.moves = 4000;
      options.boundEffort = 20000;
      options.reorder = percent % 40 == 0;
      Result r = solve(graph, options);
      std::string what = std::string(name) + " at " + std::to_string(percent);
      expectSound(graph, options, r, what);
      if (percent == 100) {
        EXPECT_EQ(r.extraCost, 0) << what;
      }
      Result again = solve(graph, options);
      EXPECT_EQ(again.schedule, r.schedule) << what << ": not deterministic";
      EXPECT_EQ(again.bound, r.bound);
      Dag dag(graph.nodes);
      Sequence greedy(dag, givenOrder(graph), options.budget);
      if (repairGreedily(greedy)) {
        EXPECT_TRUE(r.status == Status::Fits && r.extraCost <= greedy.extraCost()) << what;
      }
    }
  }
}

TEST(Solve, TheChainOfTheLiterature) {
  // 2n equal steps; at the turn n values are live and 2 in use.  With a budget of m, n + 1 - m values are recomputed at
  // least once, and with room enough for the recomputed stretch once is enough.
  Graph graph = generate::chain(60);
  Options options;
  options.budget = int64_t(31) << 20;
  options.moves = 200000;
  Result r = solve(graph, options);
  EXPECT_TRUE(r.optimal);
  EXPECT_EQ(r.status, Status::Fits);
}

TEST(Solve, MovesAreLimited) {
  Graph graph = generate::byName("lstm:10");
  Options options;
  options.budget = simulate(graph, givenOrder(graph)).peak * 45 / 100;
  for (int64_t moves : {1, 100, 5000}) {
    options.moves = moves;
    options.boundEffort = 20000;
    EXPECT_LE(solve(graph, options).moves, moves);
  }
}

TEST(Solve, TheExampleOfTheHeader) {
  Graph g{{}, {}};
  for (std::vector<int32_t> inputs :
       std::vector<std::vector<int32_t>>{{}, {0}, {1}, {2}, {2, 3}, {1, 2, 4}, {0, 1, 5}, {0, 6}})
    g.nodes.push_back({"", inputs, 1, 1, g.nodes.size() < 4, g.nodes.size() == 7});
  ASSERT_EQ(simulate(g, givenOrder(g)).peak, 5);
  Options options;
  options.budget = 4;
  Result r = solve(g, options);
  EXPECT_EQ(r.schedule, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 0, 6, 7}));
  EXPECT_TRUE(r.optimal);
  EXPECT_EQ(r.bound, 1);
}

TEST(Solve, TellsTheFloorAndWhatHoldsIt) {
  // c needs a and b at once.
  Graph g{{{"a", {}, 6, 1, true, false}, {"b", {}, 5, 1, true, false}, {"c", {0, 1}, 4, 1, false, true}}, {}};
  Options options;
  options.budget = 14;
  Result r = solve(g, options);
  EXPECT_EQ(r.status, Status::Infeasible);
  EXPECT_EQ(r.floor, 15);
  EXPECT_EQ(r.floorNode, 2);
  EXPECT_EQ(r.floorHeld, (std::vector<int32_t>{0, 1, 2}));
}

TEST(Solve, TrivialGraphs) {
  Options options;
  EXPECT_EQ(solve({}, options).status, Status::Fits);
  Graph one{{{"a", {}, 0, 0, true, true}}, {}};
  EXPECT_EQ(solve(one, options).status, Status::Fits);
  one.nodes[0].bytes = 1;
  EXPECT_EQ(solve(one, options).status, Status::Infeasible);
  options.budget = 1;
  EXPECT_EQ(solve(one, options).schedule, std::vector<int32_t>{0});
}
