// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/MemoryPlanner.h"

#include "codegen/memory/Overlap.h"

#include <algorithm>

namespace stator::memory {
namespace {

/// For each buffer the buffer at the end of its chain of used shares: they lie in one place.
std::vector<int> findPlaces(const Problem &problem, const Plan &plan) {
  std::vector<int> place(problem.buffers.size(), -1), chain;
  for (size_t u = 0; u < place.size(); ++u) {
    int at = static_cast<int>(u);
    chain.clear();
    for (; place[at] < 0 && plan.shared[at]; at = static_cast<int>(problem.buffers[at].shareWith)) chain.push_back(at);
    int root = place[at] < 0 ? place[at] = at : place[at];
    for (int v : chain) place[v] = root;
  }
  return place;
}

std::string name(int u) { return "buffer " + std::to_string(u); }

} // namespace

std::string verifyPlan(const Problem &problem, const Plan &plan) {
  if (!plan.error.empty()) return "the planner refused: " + plan.error;
  const size_t count = problem.buffers.size();
  if (plan.offsets.size() != count || plan.shared.size() != count || plan.arenas.size() != problem.arenas.size())
    return "it is not a plan for as many buffers and arenas";
  for (size_t u = 0; u < count; ++u) {
    const Buffer &b = problem.buffers[u];
    const int64_t at = plan.offsets[u], bytes = mostBytes(problem, b);
    std::string who = name(static_cast<int>(u));
    if (at < 0 || at % b.alignment) return who + ": its offset is negative or not aligned";
    if (b.fixedOffset != kNone && at != b.fixedOffset) return who + ": it has been moved from its fixed offset";
    if (at > INT64_MAX - bytes || at + bytes > plan.arenas[b.arena].bytes) return who + ": it ends beyond its arena";
    if (plan.shared[u] && (b.shareWith == kNone || at != plan.offsets[b.shareWith] + b.shareAt))
      return who + ": it does not lie where it may share";
  }
  // A place keeps all its bytes from the first birth to the last death in it; places of one arena lie apart.
  std::vector<int> place = findPlaces(problem, plan);
  std::vector<std::vector<int>> members(count);
  for (size_t u = 0; u < count; ++u)
    if (mostBytes(problem, problem.buffers[u]) > 0) members[place[u]].push_back(static_cast<int>(u));
  for (size_t arena = 0; arena < problem.arenas.size(); ++arena) {
    std::vector<Rectangle> rectangles;
    std::vector<int> owner;
    for (size_t root = 0; root < count; ++root) {
      if (members[root].empty() || problem.buffers[root].arena != static_cast<int>(arena)) continue;
      Rectangle hull = {INT64_MAX, INT64_MIN, INT64_MAX, INT64_MIN};
      for (int u : members[root]) {
        const Buffer &b = problem.buffers[u];
        hull.lower = std::min(hull.lower, b.lower);
        hull.upper = std::max(hull.upper, b.upper);
        hull.start = std::min(hull.start, plan.offsets[u]);
        hull.end = std::max(hull.end, plan.offsets[u] + mostBytes(problem, b));
      }
      rectangles.push_back(hull);
      owner.push_back(static_cast<int>(root));
    }
    if (auto pair = findOverlap(rectangles))
      return name(owner[pair->first]) + " and " + name(owner[pair->second]) + " (or what shares with them) overlap";
  }
  // Within a place only those may overlap that share with one another directly.
  for (const std::vector<int> &place : members)
    for (size_t i = 0; i < place.size(); ++i)
      for (size_t j = i + 1; j < place.size(); ++j) {
        const Buffer &a = problem.buffers[place[i]], &b = problem.buffers[place[j]];
        int64_t atA = plan.offsets[place[i]], atB = plan.offsets[place[j]];
        bool apart = a.upper <= b.lower || b.upper <= a.lower || atA + mostBytes(problem, a) <= atB ||
                     atB + mostBytes(problem, b) <= atA;
        bool direct =
            (plan.shared[place[i]] && a.shareWith == place[j]) || (plan.shared[place[j]] && b.shareWith == place[i]);
        if (!apart && !direct)
          return name(place[i]) + " and " + name(place[j]) + " overlap within the place they share";
      }
  return "";
}

} // namespace stator::memory
