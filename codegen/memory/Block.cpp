// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/Block.h"

#include <algorithm>
#include <numeric>

namespace stator::memory {
namespace {

/// Block indices in order of their start, and in order of their end.
std::vector<int> sortedBy(const std::vector<Block> &blocks, int64_t Block::*key) {
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int a, int b) { return blocks[a].*key != blocks[b].*key ? blocks[a].*key < blocks[b].*key : a < b; });
  return order;
}

} // namespace

Sections findSections(const std::vector<Block> &blocks) {
  Sections sections;
  sections.first.resize(blocks.size());
  sections.last.resize(blocks.size());
  std::vector<int> starts = sortedBy(blocks, &Block::lower), ends = sortedBy(blocks, &Block::upper);
  // A set of live blocks is maximal when a block has begun since the last end and now one ends.
  bool grown = false;
  size_t next = 0;
  for (int ending : ends) {
    for (; next < starts.size() && blocks[starts[next]].lower < blocks[ending].upper; ++next) {
      sections.first[starts[next]] = sections.count;
      grown = true;
    }
    if (grown) ++sections.count;
    grown = false;
    sections.last[ending] = sections.count;
  }
  return sections;
}

int64_t liveLoad(const std::vector<Block> &blocks, const Sections &sections) {
  std::vector<int64_t> change(sections.count + 1, 0);
  int64_t most = 0;
  for (size_t u = 0; u < blocks.size(); ++u) {
    change[sections.first[u]] += blocks[u].size;
    change[sections.last[u]] -= blocks[u].size;
    if (blocks[u].isFixed()) most = std::max(most, blocks[u].fixed + blocks[u].size);
  }
  int64_t live = 0;
  for (int s = 0; s < sections.count; ++s) most = std::max(most, live += change[s]);
  return most;
}

int64_t countConflicts(const std::vector<Block> &blocks) {
  std::vector<int> starts = sortedBy(blocks, &Block::lower), ends = sortedBy(blocks, &Block::upper);
  int64_t pairs = 0, ended = 0;
  for (size_t begun = 0; begun < starts.size(); ++begun) {
    while (blocks[ends[ended]].upper <= blocks[starts[begun]].lower) ++ended;
    pairs += static_cast<int64_t>(begun) - ended; // a start meets all that began before and have not ended
  }
  return pairs;
}

Conflicts findConflicts(const std::vector<Block> &blocks) {
  Conflicts conflicts;
  std::vector<int> starts = sortedBy(blocks, &Block::lower), live;
  conflicts.begin.assign(blocks.size() + 1, 0);
  auto sweep = [&](auto &&visit) {
    live.clear();
    for (int u : starts) {
      live.erase(std::remove_if(live.begin(), live.end(), [&](int v) { return blocks[v].upper <= blocks[u].lower; }),
                 live.end());
      for (int v : live) visit(u, v);
      live.push_back(u);
    }
  };
  sweep([&](int u, int v) { ++conflicts.begin[u + 1], ++conflicts.begin[v + 1]; });
  std::partial_sum(conflicts.begin.begin(), conflicts.begin.end(), conflicts.begin.begin());
  conflicts.other.resize(conflicts.begin.back());
  std::vector<int64_t> fill(conflicts.begin.begin(), conflicts.begin.end() - 1);
  sweep([&](int u, int v) { conflicts.other[fill[u]++] = v, conflicts.other[fill[v]++] = u; });
  return conflicts;
}

int64_t arenaEnd(const std::vector<Block> &blocks, const Offsets &offsets) {
  int64_t end = 0;
  for (size_t u = 0; u < blocks.size(); ++u) end = std::max(end, offsets[u] + blocks[u].size);
  return end;
}

} // namespace stator::memory
