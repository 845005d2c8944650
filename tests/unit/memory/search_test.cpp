// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/CanonicalSearch.h"
#include "codegen/memory/FirstFit.h"
#include "codegen/memory/LoadProfile.h"
#include "codegen/memory/SqueakyWheel.h"
#include "tests/unit/memory/BruteForce.h"
#include "tools/stator-plan/Generate.h"

#include <gtest/gtest.h>

#include <numeric>

using namespace stator::memory;

namespace {

std::vector<Block> toBlocks(const std::vector<Buffer> &buffers) {
  std::vector<Block> blocks;
  for (const Buffer &b : buffers)
    blocks.push_back({b.lower, b.upper, alignUp(b.size, b.alignment), b.alignment, b.fixedOffset});
  return blocks;
}

bool conflict(const Block &a, const Block &b) { return a.lower < b.upper && b.lower < a.upper; }

void expectValid(const std::vector<Block> &blocks, const Offsets &offsets) {
  for (size_t u = 0; u < blocks.size(); ++u) {
    ASSERT_GE(offsets[u], 0);
    ASSERT_EQ(offsets[u] % blocks[u].alignment, 0);
    if (blocks[u].isFixed()) {
      ASSERT_EQ(offsets[u], blocks[u].fixed);
    }
    for (size_t v = 0; v < u; ++v)
      if (conflict(blocks[u], blocks[v])) {
        ASSERT_TRUE(offsets[u] + blocks[u].size <= offsets[v] || offsets[v] + blocks[v].size <= offsets[u])
            << u << " and " << v;
      }
  }
}

SearchResult search(const std::vector<Block> &blocks, int64_t capacity, int64_t nodes) {
  return searchCanonical(blocks, findSections(blocks), findConflicts(blocks), capacity, nodes, int64_t(1) << 40);
}

} // namespace

TEST(Sections, AgreeWithPairwiseConflicts) {
  Random random(11);
  for (int round = 0; round < 500; ++round) {
    std::vector<Block> blocks = toBlocks(randomProblem(random, {12, 9, 4}).buffers);
    Sections sections = findSections(blocks);
    Conflicts conflicts = findConflicts(blocks);
    int64_t pairs = 0, load = 0;
    for (size_t u = 0; u < blocks.size(); ++u) {
      ASSERT_LT(sections.first[u], sections.last[u]);
      int64_t begun = 0;
      for (size_t v = 0; v < blocks.size(); ++v) {
        bool meet = sections.first[u] < sections.last[v] && sections.first[v] < sections.last[u];
        ASSERT_EQ(conflict(blocks[u], blocks[v]), meet);
        pairs += u < v && meet;
        if (blocks[v].lower <= blocks[u].lower && blocks[u].lower < blocks[v].upper) begun += blocks[v].size;
        auto row = std::make_pair(conflicts.other.begin() + conflicts.begin[u],
                                  conflicts.other.begin() + conflicts.begin[u + 1]);
        ASSERT_EQ(std::count(row.first, row.second, static_cast<int>(v)), u != v && meet);
      }
      load = std::max(load, begun);
    }
    ASSERT_EQ(countConflicts(blocks), pairs);
    ASSERT_EQ(liveLoad(blocks, sections), load);
  }
}

TEST(CanonicalSearch, AgreesWithBruteForceWithoutAnyHelp) {
  Random random(21);
  for (int round = 0; round < 4000; ++round) {
    RandomShape shape{6, 6, 4, round % 4 == 1, round % 4 >= 2};
    Problem problem = randomProblem(random, shape);
    std::vector<Block> blocks = toBlocks(problem.buffers);
    SCOPED_TRACE(describe(problem));
    const int64_t smallest = smallestByForce(problem);
    SearchResult fits = search(blocks, smallest, 1'000'000), less = search(blocks, smallest - 1, 1'000'000);
    ASSERT_EQ(fits.outcome, SearchOutcome::Fits);
    expectValid(blocks, fits.offsets);
    ASSERT_LE(arenaEnd(blocks, fits.offsets), smallest);
    ASSERT_EQ(less.outcome, SearchOutcome::Infeasible);
  }
}

// Pieces of a cut rectangle fill it to the last byte, so nothing but a complete search is likely to put them back.
TEST(CanonicalSearch, PutsCutRectanglesTogether) {
  for (int count : {20, 60, 120, 200})
    for (int trim : {0, 30})
      for (uint64_t seed = 1; seed <= 3; ++seed) {
        std::vector<Block> blocks = toBlocks(cutRectangle(count, 1 << 20, trim, seed));
        ASSERT_EQ(static_cast<int>(blocks.size()), count);
        SearchResult result = search(blocks, 1 << 20, 400'000);
        ASSERT_EQ(result.outcome, SearchOutcome::Fits) << count << " pieces, trim " << trim << ", seed " << seed;
        expectValid(blocks, result.offsets);
        ASSERT_LE(arenaEnd(blocks, result.offsets), 1 << 20);
      }
}

TEST(CanonicalSearch, HeedsItsLimits) {
  std::vector<Block> blocks = toBlocks(cutRectangle(400, 1 << 20, 70, 3));
  for (int64_t limit : {0, 1, 10, 1000, 5000}) {
    SearchResult result = search(blocks, 1 << 20, limit);
    EXPECT_EQ(result.outcome, SearchOutcome::NodeLimit);
    EXPECT_LE(result.nodes, limit + 64); // the ways of one decision are not cut short
    EXPECT_GE(result.nodes, limit);
  }
  SearchResult steps = searchCanonical(blocks, findSections(blocks), findConflicts(blocks), 1 << 20, 1 << 30, 100'000);
  EXPECT_EQ(steps.outcome, SearchOutcome::NodeLimit);
  EXPECT_LT(steps.steps, 200'000);
}

TEST(CanonicalSearch, DeepProblemsDoNotRecurse) {
  // A staircase: each block conflicts with the next only, 20,000 decisions deep.
  std::vector<Block> blocks;
  for (int64_t i = 0; i < 20'000; ++i) blocks.push_back({i, i + 2, 1 + i % 3, 1, -1});
  SearchResult result = search(blocks, 5, 1'000'000);
  ASSERT_EQ(result.outcome, SearchOutcome::Fits);
  EXPECT_LE(arenaEnd(blocks, result.offsets), 5);
}

TEST(FirstFit, EveryOrderAndFitGivesAPlan) {
  Random random(31);
  for (int round = 0; round < 1000; ++round) {
    std::vector<Block> blocks = toBlocks(randomProblem(random, {10, 8, 6, round % 2 == 0, round % 3 == 0}).buffers);
    Conflicts conflicts = findConflicts(blocks);
    std::vector<int> order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
    FirstFit firstFit(blocks, conflicts);
    Offsets offsets;
    for (Fit fit : {Fit::First, Fit::Best}) {
      ASSERT_TRUE(firstFit.place(order, fit, offsets));
      expectValid(blocks, offsets);
    }
    Offsets best;
    placeOnline(blocks, 0, best);
    expectValid(blocks, best);
    const int64_t online = arenaEnd(blocks, best);
    placeInClassicOrders(blocks, conflicts, 0, 1 << 20, best, order);
    expectValid(blocks, best);
    const int64_t classic = arenaEnd(blocks, best);
    ASSERT_LE(classic, online);
    squeakyWheel(blocks, conflicts, 0, 2000, order, best);
    expectValid(blocks, best);
    ASSERT_LE(arenaEnd(blocks, best), classic);
  }
}

TEST(LoadProfile, AgreesWithAPlainArray) {
  Random random(41);
  for (int round = 0; round < 300; ++round) {
    std::vector<Block> blocks = toBlocks(randomProblem(random, {10, 12, 9}).buffers);
    LoadProfile profile(blocks);
    std::vector<int64_t> plain(32, 0);
    for (const Block &b : blocks)
      for (int64_t t = b.lower; t < b.upper; ++t) plain[t] += b.size;
    for (int step = 0; step < 30; ++step) {
      const Block &a = blocks[random.below(blocks.size())], &b = blocks[random.below(blocks.size())];
      int64_t lower = std::min(a.lower, b.lower), upper = std::max(a.upper, b.upper);
      int64_t bytes = static_cast<int64_t>(random.below(20)) - 10;
      if (step % 2) {
        profile.add(lower, upper, bytes);
        for (int64_t t = lower; t < upper; ++t) plain[t] += bytes;
      }
      ASSERT_EQ(profile.most(lower, upper), *std::max_element(plain.begin() + lower, plain.begin() + upper));
    }
  }
}
