// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Reorder.h"
#include "tests/unit/rematerialize/BruteForce.h"
#include "tools/stator-remat/Generate.h"

#include <gtest/gtest.h>

using namespace stator::remat;

TEST(Reorder, IsExactForSmallGraphs) {
  int lower = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    Graph graph = generate::random(4 + int(seed % 6), seed);
    Ordered best = reorder(Dag(graph.nodes));
    Usage u = simulate(graph, best.order);
    ASSERT_EQ(u.error, "") << seed;
    ASSERT_EQ(best.order.size(), graph.nodes.size());
    ASSERT_EQ(u.peak, best.peak) << seed;
    ASSERT_TRUE(best.exact) << seed;
    ASSERT_EQ(best.peak, test::lowestPeak(graph, Scope::AnyOrder, false)) << seed;
    lower += best.peak < simulate(graph, givenOrder(graph)).peak;
  }
  EXPECT_GT(lower, 50);
}

TEST(Reorder, TheExampleOfTheHeader) {
  Graph g{{{"x", {}, 1, 1, false, false},
           {"a", {0}, 8, 1, false, false},
           {"b", {0}, 8, 1, false, false},
           {"a'", {1}, 1, 1, false, false},
           {"b'", {2}, 1, 1, false, false},
           {"y", {3, 4}, 1, 1, false, true}},
          {}};
  EXPECT_EQ(simulate(g, givenOrder(g)).peak, 17);
  EXPECT_EQ(reorder(Dag(g.nodes)).peak, 10);
}

TEST(Reorder, NeverRaisesThePeakAndKeepsItsLimits) {
  for (const char *name :
       {"resnet:3:2", "unet:3", "transformer:3:1", "lstm:12", "inception:4:4", "skips:60:1", "random:120:1"}) {
    Graph graph = generate::byName(name);
    for (ReorderLimits limits : {ReorderLimits{2000, 100000}, ReorderLimits{10, 1000}, ReorderLimits{0, 0}}) {
      Ordered best = reorder(Dag(graph.nodes), limits);
      Usage u = simulate(graph, best.order);
      EXPECT_EQ(u.error, "") << name;
      EXPECT_EQ(u.peak, best.peak) << name;
      EXPECT_LE(best.peak, simulate(graph, givenOrder(graph)).peak) << name;
      EXPECT_EQ(reorder(Dag(graph.nodes), limits).order, best.order) << name << ": not deterministic";
    }
  }
}
