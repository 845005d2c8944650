// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/CanonicalSearch.h"

#include "codegen/memory/Random.h"
#include "codegen/memory/SearchState.h"
#include "codegen/memory/SearchStrategy.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace stator::memory {
namespace {

/// One depth-first walk with one strategy, over the model's whole search space if it is not stopped.
class Walk {
public:
  Walk(SearchModel &model, SearchState &state, std::vector<double> &weight)
      : model(model), state(state), weight(weight) {
    key.resize(model.sections.count);
  }

  /// Adds its decisions to \p nodes and stops when they, or the state's steps, reach their limit. Leaves the state as
  /// it found it unless the outcome is Fits.
  SearchOutcome run(Strategy strategy, uint64_t seed, int64_t &nodes, int64_t nodeLimit, int64_t stepLimit);

private:
  /// Sections [first, last), connected by blocks to come. If it cannot be completed, choices from \c base on are
  /// undone: what was decided in between belongs to other, independent parts.
  struct Part {
    int first, last;
    size_t base;
    int next; ///< the part to complete after this one, or -1
  };
  /// A decision: which block of the section lies directly at its level, or none.
  struct Choice {
    int section;
    int64_t level;
    std::vector<int> candidates;
    size_t tried = 0;
    int64_t raiseTo; ///< where the section's next block begins if it is none of these, or -1: there must be one
    int part;
    SearchState::Mark mark;
    size_t parts, failTo;
  };

  void rankBlocks(uint64_t seed);
  double sectionKey(int s) const;
  int split(int first, int last, int next);
  bool isSplit(const Part &part) const;
  int lowerBeside(int s) const;
  int pickSection(const Part &part);
  Choice makeChoice(int part, bool first);
  bool advance(int64_t &nodes);

  SearchModel &model;
  SearchState &state;
  std::vector<double> &weight; ///< for each section, how often it refused a decision, older refusals counting less
  double increment = 1;
  Strategy strategy;
  std::vector<double> key;
  std::vector<std::pair<int, double>> skipped;
  std::vector<Part> parts;
  std::vector<Choice> choices;
  int current = -1;
};

void Walk::rankBlocks(uint64_t seed) {
  std::vector<double> rank(model.blocks.size());
  const double capacity = static_cast<double>(model.capacity);
  Random random(seed);
  for (size_t u = 0; u < rank.size(); ++u) {
    double life = static_cast<double>(model.blocks[u].upper) - static_cast<double>(model.blocks[u].lower);
    double span = model.sections.last[u] - model.sections.first[u];
    double size = static_cast<double>(model.blocks[u].size);
    double degree = static_cast<double>(model.conflicts.begin[u + 1] - model.conflicts.begin[u]);
    switch (strategy.blocks) {
    case BlockOrder::Area: rank[u] = life * size; break;
    case BlockOrder::Size: rank[u] = size; break;
    case BlockOrder::SpanArea: rank[u] = span * size; break;
    case BlockOrder::SpanThenSize: rank[u] = span + size / (capacity + 1); break;
    case BlockOrder::SpanThenSmall: rank[u] = span - size / (capacity + 1); break;
    case BlockOrder::Degree: rank[u] = degree; break;
    }
    if (seed) rank[u] *= 0.7 + 0.6 * random.unit();
  }
  for (auto &members : model.members)
    std::sort(members.begin(), members.end(),
              [&](int a, int b) { return rank[a] != rank[b] ? rank[a] > rank[b] : a < b; });
}

double Walk::sectionKey(int s) const {
  const double capacity = static_cast<double>(model.capacity) + 1;
  const int64_t spare = model.capacity - state.sections[s].level - state.sections[s].rest;
  const double ways = static_cast<double>(state.sections[s].atLevel + (spare > 0));
  const double level = static_cast<double>(state.sections[s].level) / capacity;
  const double slack = static_cast<double>(spare) / capacity, full = 1 - slack;
  switch (strategy.sections) {
  case SectionOrder::FewestWays: return (ways + level * 1e-3) / weight[s];
  case SectionOrder::LowestAndFewest: return (ways + level) / weight[s];
  case SectionOrder::Lowest: return level * 1e6 + ways;
  case SectionOrder::Tightest: return ways / (weight[s] * full * full * full + 1e-9);
  case SectionOrder::LeastSlack: return ways + slack;
  case SectionOrder::MostToCome: return ways - static_cast<double>(state.sections[s].rest) / capacity;
  }
  return 0;
}

/// Adds the connected parts of [first, last) in front of the list \p next; returns the new head.
int Walk::split(int first, int last, int next) {
  for (int s = first; s < last;) {
    if (!state.sections[s].waiting) {
      ++s;
      continue;
    }
    int end = s + 1;
    while (end < last && state.sections[end].waiting && state.sections[end].crossing) ++end;
    parts.push_back({s, end, choices.size(), next});
    next = static_cast<int>(parts.size()) - 1;
    s = end;
  }
  return next;
}

bool Walk::isSplit(const Part &part) const {
  if (!state.sections[part.first].waiting || !state.sections[part.last - 1].waiting) return true;
  for (int s = part.first + 1; s < part.last; ++s)
    if (!state.sections[s].crossing) return true;
  return false;
}

/// A section of a lower level in which a block is live that could begin at the level of \p s: something could still
/// come to lie under that block, so \p s cannot be decided. -1 if there is none.
int Walk::lowerBeside(int s) const {
  int lower = -1;
  for (int u : model.members[s]) {
    if (state.isPlaced(u) || state.lowest[u] != state.sections[s].level) continue;
    for (int t = model.sections.first[u]; t < model.sections.last[u]; ++t)
      if (state.sections[t].level < state.sections[s].level && (lower < 0 || key[t] < key[lower])) lower = t;
    if (lower >= 0) break;
  }
  return lower;
}

int Walk::pickSection(const Part &part) {
  for (int s : state.changed)
    if (state.sections[s].waiting) key[s] = sectionKey(s);
  state.clearChanged();
  constexpr int kTries = 64;
  skipped.clear();
  int best = part.first, lower = -1;
  for (int tries = strategy.minimum == Minimum::Skip ? kTries : 1; tries > 0; --tries) {
    state.steps += part.last - part.first;
    auto candidate = std::min_element(key.begin() + part.first, key.begin() + part.last);
    best = static_cast<int>(candidate - key.begin());
    lower = lowerBeside(best);
    if (lower < 0) break;
    skipped.emplace_back(best, *candidate);
    *candidate = std::numeric_limits<double>::infinity();
  }
  for (auto [s, old] : skipped) key[s] = old;
  for (; lower >= 0; lower = lowerBeside(best)) best = lower;
  return best;
}

Walk::Choice Walk::makeChoice(int part, bool first) {
  const int s = pickSection(parts[part]);
  Choice choice;
  choice.section = s;
  choice.level = state.sections[s].level;
  choice.part = part;
  choice.mark = state.mark();
  choice.parts = parts.size();
  choice.failTo = first ? parts[part].base : choices.size();
  int64_t raiseTo = INT64_MAX;
  const bool mustFill = model.plain && choice.level + state.sections[s].rest == model.capacity;
  for (int u : model.members[s]) {
    if (state.isPlaced(u)) continue;
    if (state.lowest[u] > choice.level) {
      raiseTo = std::min(raiseTo, state.lowest[u]);
      continue;
    }
    if (state.rests(u, choice.level)) {
      // Of blocks that could trade places only the first is tried.
      bool twin = false;
      for (int v : choice.candidates)
        twin |= model.sections.first[u] == model.sections.first[v] &&
                model.sections.last[u] == model.sections.last[v] && model.blocks[u].size == model.blocks[v].size &&
                model.blocks[u].alignment == model.blocks[v].alignment;
      if (!twin) choice.candidates.push_back(u);
    }
    if (mustFill) continue;
    // If u comes higher up it will lie on something that is still to come and not in this section, or on one that is
    // and has a place above this level itself.
    state.steps += model.conflicts.begin[u + 1] - model.conflicts.begin[u];
    for (int64_t i = model.conflicts.begin[u]; i < model.conflicts.begin[u + 1]; ++i) {
      int v = model.conflicts.other[i];
      if (!state.isPlaced(v) && (s < model.sections.first[v] || s >= model.sections.last[v]))
        raiseTo = std::min(raiseTo, state.lowest[v] + model.blocks[v].size);
    }
  }
  choice.raiseTo = raiseTo == INT64_MAX || raiseTo + state.sections[s].rest > model.capacity ? -1 : raiseTo;
  return choice;
}

/// Takes the next untried way of the latest choice that has one. False if there is none: the space is exhausted.
bool Walk::advance(int64_t &nodes) {
  while (!choices.empty()) {
    Choice &choice = choices.back();
    state.undo(choice.mark);
    parts.resize(choice.parts);
    while (choice.tried <= choice.candidates.size()) {
      const size_t way = choice.tried++;
      bool good;
      if (way < choice.candidates.size())
        good = state.place(choice.candidates[way], choice.level);
      else if (choice.raiseTo >= 0)
        good = state.raise(choice.section, choice.raiseTo);
      else
        break;
      ++nodes;
      if (good) {
        current = choice.part;
        return true;
      }
      state.undo(choice.mark);
      weight[state.failedAt] += increment;
      increment /= 0.99;
      key[state.failedAt] = sectionKey(state.failedAt);
      if (increment > 1e100) {
        for (double &w : weight) w = std::max(w / increment, 1e-100);
        increment = 1;
      }
    }
    choices.resize(choice.failTo);
  }
  return false;
}

SearchOutcome Walk::run(Strategy how, uint64_t seed, int64_t &nodes, int64_t nodeLimit, int64_t stepLimit) {
  strategy = how;
  rankBlocks(seed);
  for (int s = 0; s < model.sections.count; ++s) key[s] = sectionKey(s);
  parts.clear();
  choices.clear();
  const SearchState::Mark start = state.mark();
  int next = split(0, model.sections.count, -1);
  current = -1;
  while (true) {
    bool first = current < 0;
    if (!first && isSplit(parts[current])) {
      next = split(parts[current].first, parts[current].last, parts[current].next);
      first = true;
    }
    if (first) {
      if (next < 0) return SearchOutcome::Fits;
      current = next;
    }
    choices.push_back(makeChoice(current, first));
    if (nodes >= nodeLimit || state.steps >= stepLimit || state.trailIsFull()) {
      state.undo(start);
      return SearchOutcome::NodeLimit;
    }
    if (!advance(nodes)) return SearchOutcome::Infeasible;
  }
}

} // namespace

SearchResult searchCanonical(const std::vector<Block> &blocks, const Sections &sections, const Conflicts &conflicts,
                             int64_t capacity, int64_t nodeLimit, int64_t stepLimit) {
  SearchResult result;
  SearchModel model(blocks, sections, conflicts, capacity);
  SearchState state(model);
  for (size_t u = 0; u < blocks.size(); ++u)
    if ((blocks[u].isFixed() ? blocks[u].fixed : state.lowest[u]) + blocks[u].size > capacity) {
      result.outcome = SearchOutcome::Infeasible;
      return result;
    }
  if (!state.checkAll()) {
    result.outcome = SearchOutcome::Infeasible;
    return result;
  }
  // How long a walk takes is a lottery with a heavy tail: many short walks, each of another kind, then longer ones.
  // What one learns about where it is tight (the weights) the next one starts with.
  std::vector<double> weight(sections.count, 1);
  double slice = 4.0 * static_cast<double>(blocks.size()) + 200;
  for (uint64_t round = 0;; ++round) {
    for (const Strategy &strategy : kStrategies) {
      Walk walk(model, state, weight);
      int64_t limit = nodeLimit - result.nodes < slice ? nodeLimit : result.nodes + static_cast<int64_t>(slice);
      result.outcome = walk.run(strategy, round, result.nodes, limit, stepLimit);
      if (result.outcome == SearchOutcome::Fits) result.offsets = state.offset;
      result.steps = state.steps;
      if (result.outcome != SearchOutcome::NodeLimit || result.nodes >= nodeLimit || state.steps >= stepLimit)
        return result;
    }
    slice *= 1.5;
  }
}

} // namespace stator::memory
