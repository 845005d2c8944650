// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Regions.h"
#include "passes/rematerialize/Rematerialize.h"
#include "tools/stator-remat/Generate.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace stator::remat;

// x -> a -> b -> y -> z; the backward pass reads z, y, b, a, x in turn.
static Graph ladder() {
  Graph g{{{"x", {}, 1, 1, true, false},
           {"a", {0}, 10, 2, true, false},
           {"b", {1}, 10, 4, true, false},
           {"y", {2}, 1, 8, true, false},
           {"z", {3}, 1, 16, true, false},
           {"gz", {4}, 1, 1, false, false, true},
           {"gy", {3, 5}, 1, 1, false, false, true},
           {"gb", {2, 6}, 1, 1, false, false, true},
           {"ga", {1, 7}, 1, 1, false, true, true}},
          {}};
  return g;
}

TEST(Regions, CheckpointRecomputesForTheBackwardPass) {
  Graph g = ladder();
  g.regions = {{Region::Kind::Checkpoint, "block", {1, 2, 3}}};
  Options options;
  options.budget = 1000;
  Result r = solve(g, options);
  ASSERT_EQ(r.status, Status::Fits);
  // Even where memory is plenty: a and b again before gb; y is the region's output and stays.
  EXPECT_EQ(r.schedule, (std::vector<int32_t>{0, 1, 2, 3, 4, 5, 6, 1, 2, 7, 8}));
  EXPECT_EQ(r.extraCost, 6);
  EXPECT_EQ(r.bound, 6);
  EXPECT_FALSE(r.reordered);
  Result free = solve(ladder(), options);
  EXPECT_EQ(free.extraCost, 0);
}

TEST(Regions, KeepForbidsRecomputation) {
  Graph g = ladder();
  // Without regions a or b is recomputed to fit; kept, nothing can.
  Options options;
  options.budget = simulate(g, {0, 1, 2, 3, 4, 5, 6, 1, 2, 7, 8}).peak;
  ASSERT_LT(options.budget, simulate(g, givenOrder(g)).peak);
  EXPECT_EQ(solve(g, options).status, Status::Fits);
  g.regions = {{Region::Kind::Keep, "block", {1, 2}}};
  EXPECT_EQ(solve(g, options).status, Status::Infeasible);
}

TEST(Regions, BackwardNodesAreNoMembers) {
  Graph g = ladder();
  g.regions = {{Region::Kind::Checkpoint, "", {7}}};
  EXPECT_EQ(validate(g), "regions[0]: node 7 belongs to the backward pass");
}

// On networks: no value of a checkpoint region survives from the forward pass to a backward reader, and the schedule is
// sound.
TEST(Regions, NothingOfACheckpointRegionIsHeld) {
  for (const char *name : {"chain:20", "resnet:2:2", "transformer:2:1", "unet:2"}) {
    Graph g = generate::byName(name);
    int32_t forward = 0;
    while (!g.nodes[forward].backward) ++forward;
    for (int32_t at = 2; at + 12 < forward; at += 12) {
      Region r{Region::Kind::Checkpoint, "r", {}};
      for (int32_t v = at; v < at + 8; ++v) r.nodes.push_back(v);
      g.regions.push_back(r);
    }
    ASSERT_FALSE(g.regions.empty());
    ASSERT_EQ(validate(g), "");
    for (int percent : {100, 70, 50}) {
      Options options;
      options.budget = simulate(g, givenOrder(g)).peak * percent / 100;
      options.moves = 3000;
      Result r = solve(g, options);
      if (r.status != Status::Fits) continue;
      Usage u = simulate(g, r.schedule);
      ASSERT_EQ(u.error, "");
      ASSERT_LE(u.peak, options.budget);
      EXPECT_GE(r.extraCost, r.bound);
      EXPECT_GT(r.extraCost, 0) << name;
      // Which run of a member does a backward reader read?  Not the first, unless the member is an output.
      std::vector<int> runs(g.nodes.size(), 0);
      std::vector<uint8_t> interior(g.nodes.size(), 0);
      for (const Region &region : g.regions)
        for (int32_t v : region.nodes) {
          interior[v] = g.nodes[v].recomputable && !g.nodes[v].keep;
          for (size_t c = 0; c < g.nodes.size(); ++c) {
            const auto &in = g.nodes[c].inputs;
            bool member = std::find(region.nodes.begin(), region.nodes.end(), int32_t(c)) != region.nodes.end();
            if (!g.nodes[c].backward && !member && std::find(in.begin(), in.end(), v) != in.end()) interior[v] = 0;
          }
        }
      for (int32_t v : r.schedule) {
        if (g.nodes[v].backward)
          for (int32_t i : g.nodes[v].inputs)
            if (interior[i]) {
              EXPECT_GE(runs[i], 2) << name << " node " << v << " reads " << i;
            }
        ++runs[v];
      }
    }
  }
}
