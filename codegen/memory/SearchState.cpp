// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/SearchState.h"

#include <algorithm>

namespace stator::memory {
namespace {

void mergeRanges(std::vector<SearchModel::Range> &ranges) {
  std::sort(ranges.begin(), ranges.end(), [](auto &a, auto &b) { return a.start < b.start; });
  size_t kept = 0;
  for (auto &range : ranges) {
    if (kept && range.start <= ranges[kept - 1].end)
      ranges[kept - 1].end = std::max(ranges[kept - 1].end, range.end);
    else
      ranges[kept++] = range;
  }
  ranges.resize(kept);
}

} // namespace

SearchModel::SearchModel(const std::vector<Block> &blocks, const Sections &sections, const Conflicts &conflicts,
                         int64_t capacity)
    : blocks(blocks), sections(sections), conflicts(conflicts), capacity(capacity), members(sections.count),
      forbidden(blocks.size()), occupied(sections.count) {
  for (int u = 0; u < static_cast<int>(blocks.size()); ++u) {
    const Block &block = blocks[u];
    plain &= !block.isFixed() && block.alignment == 1;
    for (int s = sections.first[u]; s < sections.last[u]; ++s) {
      if (block.isFixed())
        occupied[s].push_back({block.fixed, block.fixed + block.size});
      else
        members[s].push_back(u);
    }
    for (int64_t i = conflicts.begin[u]; i < conflicts.begin[u + 1]; ++i)
      if (const Block &other = blocks[conflicts.other[i]]; other.isFixed() && !block.isFixed())
        forbidden[u].push_back({other.fixed - block.size + 1, other.fixed + other.size});
    mergeRanges(forbidden[u]);
  }
  for (auto &ranges : occupied) mergeRanges(ranges);
}

int64_t SearchModel::lift(int u, int64_t at) const {
  if (plain) return at;
  at = alignUp(at, blocks[u].alignment);
  for (const Range &range : forbidden[u])
    if (at >= range.start && at < range.end) at = alignUp(range.end, blocks[u].alignment);
  return at;
}

int64_t SearchModel::occupiedAbove(int s, int64_t floor) const {
  int64_t bytes = 0;
  for (const Range &range : occupied[s]) bytes += std::max<int64_t>(0, range.end - std::max(range.start, floor));
  return bytes;
}

SearchState::SearchState(const SearchModel &model)
    : lowest(model.blocks.size(), 0), offset(model.blocks.size(), kUnplaced), sections(model.sections.count),
      model(model), placed(model.blocks.size(), 0), isTouched(model.sections.count, 0),
      inChanged(model.sections.count, 0) {
  for (int s = 0; s < model.sections.count; ++s)
    for (int u : model.members[s]) {
      sections[s].rest += model.blocks[u].size;
      ++sections[s].waiting;
      sections[s].crossing += model.sections.first[u] < s;
    }
  for (int u = 0; u < static_cast<int>(model.blocks.size()); ++u) {
    if (model.blocks[u].isFixed())
      placed[u] = 1, offset[u] = model.blocks[u].fixed;
    else
      lowest[u] = model.lift(u, 0);
  }
}

void SearchState::clearChanged() {
  for (int s : changed) inChanged[s] = 0;
  changed.clear();
}

/// Comes before any change of section \p s.
void SearchState::touch(int s) {
  if (isTouched[s]) return;
  isTouched[s] = 1;
  touched.push_back(s);
  sectionTrail.emplace_back(s, sections[s]);
  noteChanged(s);
}

void SearchState::undo(Mark mark) {
  while (blockTrail.size() > mark.blocks) {
    auto [u, old] = blockTrail.back();
    blockTrail.pop_back();
    if (u < 0)
      placed[~u] = 0;
    else
      lowest[u] = old;
  }
  while (sectionTrail.size() > mark.sections) {
    sections[sectionTrail.back().first] = sectionTrail.back().second;
    noteChanged(sectionTrail.back().first);
    sectionTrail.pop_back();
  }
}

/// Block \p v will not begin at lowest[v]: sections whose level this is lose a candidate.
void SearchState::leaveLevel(int v) {
  steps += model.sections.last[v] - model.sections.first[v];
  for (int s = model.sections.first[v]; s < model.sections.last[v]; ++s)
    if (sections[s].level == lowest[v]) {
      touch(s);
      --sections[s].atLevel;
    }
}

void SearchState::lift(int v, int64_t to) {
  if (placed[v] || lowest[v] >= to) return;
  leaveLevel(v);
  blockTrail.emplace_back(v, lowest[v]);
  lowest[v] = model.lift(v, to);
  if (lowest[v] + model.blocks[v].size > model.capacity) tooHigh = v;
}

bool SearchState::place(int u, int64_t at) {
  const Block &block = model.blocks[u];
  const int64_t end = at + block.size;
  steps += model.conflicts.begin[u + 1] - model.conflicts.begin[u];
  leaveLevel(u);
  blockTrail.emplace_back(~u, 0);
  placed[u] = 1;
  offset[u] = at;
  for (int s = model.sections.first[u]; s < model.sections.last[u]; ++s) {
    touch(s);
    sections[s].top = end;
    sections[s].rest -= block.size;
    --sections[s].waiting;
    sections[s].crossing -= s > model.sections.first[u];
  }
  for (int64_t i = model.conflicts.begin[u]; i < model.conflicts.begin[u + 1]; ++i) lift(model.conflicts.other[i], end);
  return refresh();
}

bool SearchState::raise(int s, int64_t to) {
  for (int u : model.members[s]) lift(u, to);
  return refresh();
}

bool SearchState::checkAll() {
  for (int s = 0; s < model.sections.count; ++s) touch(s);
  return refresh();
}

/// Finds the new levels of the sections touched and whether they still have room.
bool SearchState::refresh() {
  failedAt = tooHigh < 0 ? -1 : model.sections.first[tooHigh];
  tooHigh = -1;
  for (int s : touched) {
    isTouched[s] = 0;
    SectionState &section = sections[s];
    if (failedAt >= 0 || !section.waiting) continue;
    if (section.atLevel == 0) {
      steps += static_cast<int64_t>(model.members[s].size());
      int64_t least = INT64_MAX;
      for (int u : model.members[s]) {
        if (placed[u] || lowest[u] > least) continue;
        section.atLevel = lowest[u] < least ? 1 : section.atLevel + 1;
        least = lowest[u];
      }
      section.level = least;
    }
    int64_t above = model.plain ? 0 : model.occupiedAbove(s, section.level);
    if (section.level + section.rest + above > model.capacity) failedAt = s;
  }
  touched.clear();
  return failedAt < 0;
}

bool SearchState::rests(int u, int64_t at) const {
  int64_t support = 0;
  for (int s = model.sections.first[u]; s < model.sections.last[u]; ++s) support = std::max(support, sections[s].top);
  return model.lift(u, support) == at;
}

} // namespace stator::memory
