// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Graph.h"

#include <gtest/gtest.h>

#include <limits>

using namespace stator::remat;

// a -> b -> c, c reads a too.
static Graph triangle() {
  return {{{"a", {}, 4, 1, true, false}, {"b", {0}, 2, 10, true, false}, {"c", {0, 1}, 1, 100, false, true}}, {}};
}

TEST(Graph, SimulateCountsLives) {
  Usage u = simulate(triangle(), {0, 1, 2});
  EXPECT_EQ(u.error, "");
  EXPECT_EQ(u.peak, 7); // a, b and c while c runs
  EXPECT_EQ(u.peakStep, 2u);
  EXPECT_EQ(u.cost, 111);
}

TEST(Graph, ARunMakesANewValue) {
  // a lives through its last reader before it runs again: nothing is live between b and the second a but b.
  Graph g = triangle();
  g.nodes[2].bytes = 0;
  Usage u = simulate(g, {0, 1, 1, 0, 2});
  EXPECT_EQ(u.error, "");
  EXPECT_EQ(u.peak, 6);
  EXPECT_EQ(u.cost, 122);
}

TEST(Graph, KeptValuesLiveToTheEnd) {
  Graph g{{{"a", {}, 5, 1, true, true}, {"b", {}, 3, 1, true, false}, {"c", {}, 4, 1, true, false}}, {}};
  EXPECT_EQ(simulate(g, {0, 1, 2}).peak, 9);
  EXPECT_EQ(simulate(g, {1, 2, 0}).peak, 5);
  // Only the last value is kept.
  EXPECT_EQ(simulate(g, {0, 1, 2, 0}).peak, 5);
}

TEST(Graph, SimulateRefusesWrongSchedules) {
  EXPECT_EQ(simulate(triangle(), {1}).error, "step 0: node 1 reads node 0, which has not run");
  EXPECT_EQ(simulate(triangle(), {0, 1, 2, 2}).error, "step 3: node 2 is not recomputable and runs again");
  EXPECT_EQ(simulate(triangle(), {0, 1}).error, "step 2: node 2 never runs");
  EXPECT_EQ(simulate(triangle(), {0, 7}).error, "step 1: no node 7");
  EXPECT_EQ(simulate(triangle(), {-1}).error, "step 0: no node -1");
}

TEST(Graph, ValidateNamesTheFault) {
  auto with = [](auto change) {
    Graph g = triangle();
    change(g);
    return validate(g);
  };
  EXPECT_EQ(validate(triangle()), "");
  EXPECT_EQ(with([](Graph &g) { g.nodes[1].bytes = -2; }), "nodes[1]: negative bytes -2");
  EXPECT_EQ(with([](Graph &g) { g.nodes[1].bytes = std::numeric_limits<int64_t>::max(); }),
            "nodes[1]: the sizes add up to more than 2^60 bytes");
  EXPECT_EQ(with([](Graph &g) { g.nodes[2].cost = std::numeric_limits<double>::quiet_NaN(); }),
            "nodes[2]: cost must be finite and not negative");
  EXPECT_EQ(with([](Graph &g) { g.nodes[2].cost = 1e16; }), "nodes[2]: the costs add up to more than 2^53");
  EXPECT_EQ(with([](Graph &g) { g.nodes[0].inputs = {0}; }), "nodes[0]: reads node 0, which does not stand before it");
  EXPECT_EQ(with([](Graph &g) { g.nodes[1].inputs = {3}; }), "nodes[1]: reads unknown node 3");
  EXPECT_EQ(with([](Graph &g) { g.nodes[2].inputs = {1, 1}; }), "nodes[2]: reads node 1 twice");
  using K = Region::Kind;
  EXPECT_EQ(with([](Graph &g) { g.regions = {{K::Keep, "", {}}}; }), "regions[0]: names no node");
  EXPECT_EQ(with([](Graph &g) { g.regions = {{K::Keep, "", {5}}}; }), "regions[0]: unknown node 5");
  EXPECT_EQ(with([](Graph &g) { g.regions = {{K::Keep, "", {1}}, {K::Keep, "", {0, 1}}}; }),
            "regions[1]: node 1 is already in regions[0]");
}
