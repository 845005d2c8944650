// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/MemoryPlanner.h"

#include "codegen/memory/PlanBlocks.h"
#include "codegen/memory/Sharing.h"

#include <algorithm>

namespace stator::memory {
namespace {

bool satisfied(Outcome outcome) { return outcome == Outcome::Optimal || outcome == Outcome::Feasible; }

/// The live load of an arena's blocks if every symbol has its lowest value: a block is then what its buffers need.
int64_t loadAtLow(const Problem &problem, int arena, const Places &places) {
  std::vector<Block> blocks = places.blocks;
  for (Block &block : blocks) block.size = 0, block.fixed = -1;
  for (size_t u = 0; u < problem.buffers.size(); ++u) {
    const Buffer &b = problem.buffers[u];
    if (b.arena != arena || places.blockOf[u] < 0) continue;
    Block &block = blocks[places.blockOf[u]];
    int64_t bytes = bytesAt(b, b.symbol == kNone ? 0 : problem.symbols[b.symbol].low);
    block.size = std::max(block.size, places.within[u] + bytes);
  }
  return liveLoad(blocks, findSections(blocks));
}

void planArena(const Problem &problem, int arena, const Effort &effort, Plan &plan) {
  const int64_t capacity = problem.arenas[arena].capacity;
  Places places = makeSharedPlaces(problem, arena);
  BlockPlan best = planBlocks(places.blocks, capacity, effort);
  bool mayShare = false;
  for (const Buffer &b : problem.buffers) mayShare |= b.arena == arena && b.shareWith != kNone;
  if (mayShare) {
    // What was proved is proved for this use of the permissions only; the load with every overlap saved holds for all.
    ArenaPlan &summary = best.summary;
    const int64_t floor = shareLoad(problem, arena);
    if (places.anyShared && (capacity == kNone ? summary.bytes > floor : !satisfied(summary.outcome))) {
      // Sharing ties buffers together, which can also make the arena larger.
      Places apart = makePlaces(problem, arena);
      Effort rest = effort;
      rest.searchNodes -= summary.nodes;
      rest.searchSteps -= summary.steps;
      BlockPlan other = planBlocks(apart.blocks, capacity, rest);
      other.summary.nodes += summary.nodes;
      other.summary.steps += summary.steps;
      if (other.summary.bytes < summary.bytes) {
        best = std::move(other);
        places = std::move(apart);
      } else {
        summary.nodes = other.summary.nodes;
        summary.steps = other.summary.steps;
      }
    }
    summary.lowerBound = floor;
    if (capacity == kNone)
      summary.outcome = summary.bytes <= floor ? Outcome::Optimal : Outcome::Feasible;
    else if (!satisfied(summary.outcome))
      summary.outcome = floor > capacity ? Outcome::Infeasible : Outcome::NotFound;
  }
  best.summary.loadAtLow = loadAtLow(problem, arena, places);
  for (size_t u = 0; u < problem.buffers.size(); ++u) {
    const Buffer &b = problem.buffers[u];
    if (b.arena != arena) continue;
    if (places.blockOf[u] >= 0)
      plan.offsets[u] = best.offsets[places.blockOf[u]] + places.within[u];
    else
      plan.offsets[u] = std::max<int64_t>(b.fixedOffset, 0); // no bytes: anywhere
    plan.shared[u] = places.shared[u];
  }
  plan.arenas[arena] = best.summary;
}

} // namespace

bool Plan::good() const {
  return error.empty() &&
         std::all_of(arenas.begin(), arenas.end(), [](const ArenaPlan &arena) { return satisfied(arena.outcome); });
}

Plan planMemory(const Problem &problem, const Effort &effort) {
  Plan plan;
  plan.error = checkProblem(problem);
  if (!plan.error.empty()) return plan;
  plan.offsets.assign(problem.buffers.size(), 0);
  plan.shared.assign(problem.buffers.size(), false);
  plan.arenas.resize(problem.arenas.size());
  for (size_t arena = 0; arena < problem.arenas.size(); ++arena)
    planArena(problem, static_cast<int>(arena), effort, plan);
  return plan;
}

} // namespace stator::memory
