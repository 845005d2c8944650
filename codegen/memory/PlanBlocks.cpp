// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/PlanBlocks.h"

#include "codegen/memory/CanonicalSearch.h"
#include "codegen/memory/FirstFit.h"
#include "codegen/memory/SqueakyWheel.h"

#include <algorithm>
#include <numeric>
#include <optional>

namespace stator::memory {
namespace {

/// One run of the ladder, in units of the largest number that divides all sizes, alignments and fixed offsets: then
/// most alignments are 1, and capacities in between need not be tried.
class Ladder {
public:
  Ladder(const std::vector<Block> &given, int64_t capacityBytes, const Effort &effort)
      : blocks(given), effort(effort), nodesLeft(effort.searchNodes), stepsLeft(effort.searchSteps) {
    for (const Block &block : blocks)
      unit = std::gcd(std::gcd(unit, block.size), std::gcd(block.alignment, std::max<int64_t>(block.fixed, 0)));
    unit = std::max<int64_t>(unit, 1);
    for (Block &block : blocks) {
      block.size /= unit;
      block.alignment /= unit;
      if (block.isFixed()) block.fixed /= unit;
    }
    if (capacityBytes != kNone) capacity = capacityBytes / unit;
  }

  BlockPlan run();

private:
  /// An arena of this size is as good as any.
  int64_t target() const { return capacity ? std::max(*capacity, lowerBound) : lowerBound; }
  bool done() const { return end <= target(); }
  void take(const char *method) {
    if (int64_t found = arenaEnd(blocks, best); found < end) end = found, summary.method = method;
  }
  void greedy();
  void search();
  void searchAt(int64_t size, int64_t share);

  std::vector<Block> blocks;
  const Effort &effort;
  int64_t nodesLeft, stepsLeft;
  int64_t unit = 0;
  std::optional<int64_t> capacity;
  int64_t lowerBound = 0;
  int64_t end = INT64_MAX; ///< of the best plan
  Offsets best;
  std::vector<int> order; ///< that led to the best greedy plan
  Sections sections;
  std::optional<Conflicts> conflicts;
  ArenaPlan summary;
};

void Ladder::greedy() {
  // The allocator's way costs next to nothing and gives the others a mark to beat, at which they stop early.
  placeOnline(blocks, target(), best);
  take("online");
  if (done() || summary.conflicts > effort.conflictPairs) return;
  conflicts = findConflicts(blocks);
  placeInClassicOrders(blocks, *conflicts, target(), effort.greedyVisits, best, order);
  take("greedy");
}

/// Spends up to one \p share-th of what is left.
void Ladder::searchAt(int64_t size, int64_t share) {
  SearchResult result = searchCanonical(blocks, sections, *conflicts, size, (nodesLeft + share - 1) / share,
                                        (stepsLeft + share - 1) / share);
  nodesLeft -= result.nodes;
  stepsLeft -= result.steps;
  summary.nodes += result.nodes;
  summary.steps += result.steps;
  if (result.outcome == SearchOutcome::Fits) {
    best = std::move(result.offsets);
    take("search");
  }
  if (result.outcome == SearchOutcome::Infeasible) lowerBound = std::max(lowerBound, size + 1);
}

void Ladder::search() {
  if (capacity) {
    searchAt(*capacity, 1);
    return;
  }
  // At the bound first: it is often reached. Then halve between what is refuted, or was given up, and the best plan.
  int64_t low = lowerBound;
  for (int64_t size = low; !done() && low < end && nodesLeft > 0 && stepsLeft > 0; size = low + (end - low) / 2) {
    searchAt(size, 2);
    low = end <= size ? low : size + 1;
  }
}

BlockPlan Ladder::run() {
  sections = findSections(blocks);
  lowerBound = liveLoad(blocks, sections);
  summary.bound = lowerBound * unit;
  summary.conflicts = countConflicts(blocks);
  greedy();
  const bool impossible = capacity && lowerBound > *capacity;
  if (!done() && !impossible && conflicts) {
    summary.rounds = squeakyWheel(blocks, *conflicts, target(), effort.squeakyVisits, order, best);
    take("squeaky wheel");
    if (!done() && summary.conflicts <= effort.searchPairs && nodesLeft > 0 && stepsLeft > 0) search();
  }
  if (capacity)
    summary.outcome = end <= *capacity         ? Outcome::Feasible
                      : lowerBound > *capacity ? Outcome::Infeasible
                                               : Outcome::NotFound;
  else
    summary.outcome = end <= lowerBound ? Outcome::Optimal : Outcome::Feasible;
  summary.bytes = end * unit;
  summary.lowerBound = lowerBound * unit;
  BlockPlan plan{std::move(best), summary};
  for (int64_t &offset : plan.offsets) offset *= unit;
  return plan;
}

} // namespace

BlockPlan planBlocks(const std::vector<Block> &blocks, int64_t capacity, const Effort &effort) {
  if (!blocks.empty()) return Ladder(blocks, capacity, effort).run();
  BlockPlan plan;
  plan.summary.outcome = capacity == kNone ? Outcome::Optimal : Outcome::Feasible;
  return plan;
}

} // namespace stator::memory
