// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/AffineOffsets.h"
#include "codegen/memory/MemoryPlanner.h"
#include "tests/unit/memory/BruteForce.h"

#include <gtest/gtest.h>

#include <algorithm>

using namespace stator::memory;

namespace {

/// Random problems whose sizes follow one of \p symbols symbols, or none. Some sizes fall as the symbol grows.
Problem randomSymbolic(Random &random, int symbols, bool alignment) {
  Problem problem = randomProblem(random, {8, 6, 5, alignment});
  for (int i = 0; i < symbols; ++i) {
    int64_t low = static_cast<int64_t>(random.below(9)) - 3;
    problem.symbols.push_back({"s" + std::to_string(i), low, low + static_cast<int64_t>(random.below(12))});
  }
  for (Buffer &b : problem.buffers)
    if (random.below(4)) {
      b.symbol = static_cast<int>(random.below(static_cast<uint64_t>(symbols)));
      const Symbol &symbol = problem.symbols[b.symbol];
      b.scale = static_cast<int64_t>(random.below(7)) - 2;
      b.size -= std::min(b.scale * symbol.low, b.scale * symbol.high);
    }
  return problem;
}

/// The problem with all symbols replaced by their values.
Problem valued(Problem problem, const std::vector<int64_t> &values) {
  for (Buffer &b : problem.buffers)
    if (b.symbol != kNone) {
      b.size = b.size + b.scale * values[b.symbol];
      b.scale = 0;
      b.symbol = kNone;
    }
  return problem;
}

} // namespace

TEST(SymbolicSizes, ThePlanHoldsForAllValues) {
  Random random(61);
  for (int round = 0; round < 1500; ++round) {
    Problem problem = randomSymbolic(random, 2, round % 2);
    SCOPED_TRACE(describe(problem));
    Plan plan = planMemory(problem);
    ASSERT_EQ(verifyPlan(problem, plan), "");
    for (int64_t a = problem.symbols[0].low; a <= problem.symbols[0].high; ++a)
      for (int64_t b = problem.symbols[1].low; b <= problem.symbols[1].high; ++b)
        ASSERT_EQ(verifyPlan(valued(problem, {a, b}), plan), "") << a << ", " << b;
    // What is reported as needed at the lowest values is what a plan for these values alone has as its bound.
    Plan least = planMemory(valued(problem, {problem.symbols[0].low, problem.symbols[1].low}));
    ASSERT_EQ(plan.arenas[0].loadAtLow, least.arenas[0].bound);
  }
}

TEST(SymbolicSizes, OffsetsFollowTheSymbol) {
  Random random(71);
  int made = 0;
  for (int round = 0; round < 2000; ++round) {
    Problem problem = randomSymbolic(random, 1, round % 2);
    for (size_t u = 1; u < problem.buffers.size(); ++u)
      if (round % 4 == 0 && random.below(3) == 0) problem.buffers[u].shareWith = static_cast<int64_t>(random.below(u));
    SCOPED_TRACE(describe(problem));
    Plan plan = planMemory(problem);
    std::optional<AffinePlan> affine = affineOffsets(problem, plan, 0);
    bool any = std::any_of(problem.buffers.begin(), problem.buffers.end(),
                           [&](const Buffer &b) { return b.symbol != kNone && mostBytes(problem, b) > 0; });
    ASSERT_EQ(affine.has_value(), any);
    if (!affine) continue;
    ++made;
    for (int64_t value = problem.symbols[0].low; value <= problem.symbols[0].high; ++value) {
      Plan at = plan;
      for (size_t u = 0; u < at.offsets.size(); ++u) at.offsets[u] = affine->offsets[u].at(value);
      at.arenas[0].bytes = affine->bytes.at(value);
      ASSERT_EQ(verifyPlan(valued(problem, {value}), at), "") << value;
    }
    ASSERT_LE(affine->loadAtLow, affine->bytes.at(problem.symbols[0].low));
    ASSERT_LE(affine->loadAtHigh, affine->bytes.at(problem.symbols[0].high));
  }
  EXPECT_GT(made, 1000);
}

TEST(SymbolicSizes, ABatchOfOneTakesTheMemoryOfOne) {
  Problem problem;
  problem.symbols = {{"batch", 1, 64}};
  for (int i = 0; i < 6; ++i) {
    Buffer b;
    b.lower = i;
    b.upper = i + 2;
    b.alignment = 256;
    b.symbol = 0;
    b.scale = 1024 * (1 + i % 3);
    problem.buffers.push_back(b);
  }
  Plan plan = planMemory(problem);
  std::optional<AffinePlan> affine = affineOffsets(problem, plan, 0);
  ASSERT_TRUE(affine.has_value());
  EXPECT_EQ(plan.arenas[0].bytes, 64 * 5 * 1024);
  EXPECT_EQ(affine->bytes.at(64), 64 * 5 * 1024);
  EXPECT_EQ(affine->bytes.at(1), 5 * 1024);
  EXPECT_EQ(plan.arenas[0].loadAtLow, 5 * 1024);
}

TEST(SymbolicSizes, AffineOffsetsWantOneSymbolAndNoFixedOffset) {
  Problem problem;
  problem.symbols = {{"a", 1, 2}, {"b", 1, 2}};
  Buffer b;
  b.upper = 1;
  b.size = 1;
  problem.buffers = {b, b};
  EXPECT_FALSE(affineOffsets(problem, planMemory(problem), 0).has_value());
  problem.buffers[0].symbol = 0;
  problem.buffers[0].scale = 1;
  EXPECT_TRUE(affineOffsets(problem, planMemory(problem), 0).has_value());
  problem.buffers[1].fixedOffset = 0;
  EXPECT_FALSE(affineOffsets(problem, planMemory(problem), 0).has_value());
  problem.buffers[1].fixedOffset = kNone;
  problem.buffers[1].symbol = 1;
  EXPECT_FALSE(affineOffsets(problem, planMemory(problem), 0).has_value());
}
