// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/MemoryPlanner.h"
#include "codegen/memory/Sharing.h"
#include "tests/unit/memory/BruteForce.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace stator::memory;

namespace {

Buffer buffer(int64_t lower, int64_t upper, int64_t size, int64_t shareWith = kNone, int64_t shareAt = 0) {
  Buffer b;
  b.lower = lower;
  b.upper = upper;
  b.size = size;
  b.shareWith = shareWith;
  b.shareAt = shareAt;
  return b;
}

Plan planned(const Problem &problem) {
  Plan plan = planMemory(problem);
  EXPECT_EQ(verifyPlan(problem, plan), "") << describe(problem);
  return plan;
}

} // namespace

TEST(Sharing, AnOutputTakesTheDyingInputsPlace) {
  Problem problem; // a chain of elementwise ops: each output may overwrite its input
  problem.buffers = {buffer(0, 2, 100), buffer(1, 3, 100, 0), buffer(2, 4, 100, 1)};
  Plan plan = planned(problem);
  EXPECT_EQ(plan.arenas[0].bytes, 100);
  EXPECT_EQ(plan.arenas[0].outcome, Outcome::Optimal);
  EXPECT_TRUE(plan.shared[1] && plan.shared[2]);
  EXPECT_EQ(plan.offsets[0], plan.offsets[2]);
}

TEST(Sharing, OnlyOneOfTwoOutputsTakesThePlace) {
  Problem problem;
  problem.buffers = {buffer(0, 2, 100), buffer(1, 3, 100, 0), buffer(1, 3, 100, 0)};
  Plan plan = planned(problem);
  EXPECT_NE(plan.shared[1], plan.shared[2]);
  EXPECT_EQ(plan.arenas[0].bytes, 200);
}

TEST(Sharing, AnInputReadAgainLaterIsNotOverwrittenBySomethingElse) {
  // 1 is written over 0; 2 may be written over 1, but 0 is then still live in the place: that is not permitted.
  Problem problem;
  problem.buffers = {buffer(0, 9, 100), buffer(1, 3, 100, 0), buffer(2, 4, 100, 1)};
  Plan plan = planned(problem);
  EXPECT_FALSE(plan.shared[1] && plan.shared[2]);
}

TEST(Sharing, OperandsAreWrittenIntoTheConcatenation) {
  Problem problem; // three operands, 3 lives from step 3 on and is their concatenation
  problem.buffers = {buffer(0, 4, 40, 3, 0), buffer(1, 4, 20, 3, 40), buffer(2, 4, 40, 3, 60), buffer(3, 6, 100)};
  Plan plan = planned(problem);
  EXPECT_EQ(plan.arenas[0].bytes, 100); // without sharing operands and result are live at once: 200
  EXPECT_EQ(plan.offsets[1], plan.offsets[3] + 40);
}

TEST(Sharing, PiecesOfASplitStayWhereTheyAre) {
  Problem problem;
  problem.buffers = {buffer(0, 2, 100), buffer(1, 5, 60, 0, 0), buffer(1, 5, 40, 0, 60)};
  Plan plan = planned(problem);
  EXPECT_EQ(plan.arenas[0].bytes, 100);
}

TEST(Sharing, IsNotUsedWhereItCosts) {
  // In place of the large one, the small one would keep all of its bytes alive to the end.
  Problem problem;
  problem.buffers = {buffer(0, 2, 100), buffer(1, 9, 10, 0), buffer(3, 9, 95)};
  Plan plan = planned(problem);
  EXPECT_FALSE(plan.shared[1]);
  EXPECT_EQ(plan.arenas[0].bytes, 110);
}

TEST(Sharing, AFixedPlaceCanBeShared) {
  Problem problem;
  problem.buffers = {buffer(0, 2, 64), buffer(1, 5, 64, 0), buffer(0, 5, 64)};
  problem.buffers[0].fixedOffset = 128;
  Plan plan = planned(problem);
  EXPECT_TRUE(plan.shared[1]);
  EXPECT_EQ(plan.offsets[1], 128);
  // But not where the fixed place would grow into another fixed one.
  problem.buffers[2].lower = 3;
  problem.buffers[2].fixedOffset = 128;
  plan = planned(problem);
  EXPECT_FALSE(plan.shared[1]);
}

TEST(Sharing, ManyWantOnePlace) {
  Problem problem;
  problem.buffers.push_back(buffer(0, 5000, 8));
  for (int64_t i = 0; i < 3000; ++i) problem.buffers.push_back(buffer(i + 1, i + 2, 8, 0));
  Plan plan = planned(problem);
  EXPECT_EQ(std::count(plan.shared.begin(), plan.shared.end(), true), 1023); // a place takes in 1,024
}

TEST(Sharing, RandomPermissionsAlwaysGiveAPlanAndNeverCost) {
  Random random(51);
  int used = 0, proved = 0;
  for (int round = 0; round < 3000; ++round) {
    Problem problem = randomProblem(random, {6, 6, 4, round % 3 == 0, round % 5 == 0});
    Problem without = problem;
    for (size_t u = 1; u < problem.buffers.size(); ++u) {
      Buffer &b = problem.buffers[u];
      if (b.fixedOffset != kNone || random.below(2)) continue;
      b.shareWith = static_cast<int64_t>(random.below(u));
      b.shareAt = static_cast<int64_t>(random.below(3)) * b.alignment;
    }
    SCOPED_TRACE(describe(problem));
    Plan plan = planned(problem);
    ASSERT_LE(plan.arenas[0].bytes, smallestByForce(without));
    ASSERT_LE(plan.arenas[0].lowerBound, plan.arenas[0].bytes);
    ASSERT_LE(shareLoad(problem, 0), plan.arenas[0].bytes);
    used += std::count(plan.shared.begin(), plan.shared.end(), true) > 0;
    proved += plan.arenas[0].outcome == Outcome::Optimal;
    // A capacity that is said to be out of reach is below what every use of the permissions needs.
    problem.arenas[0].capacity = plan.arenas[0].bytes;
    ASSERT_EQ(planned(problem).arenas[0].outcome, Outcome::Feasible);
    if (plan.arenas[0].lowerBound > 0) {
      problem.arenas[0].capacity = plan.arenas[0].lowerBound - 1;
      ASSERT_EQ(planned(problem).arenas[0].outcome, Outcome::Infeasible);
    }
  }
  EXPECT_GT(used, 500);
  EXPECT_GT(proved, 1000);
}
