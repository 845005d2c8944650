// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/Overlap.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

namespace stator::memory {

std::optional<std::pair<int, int>> findOverlap(const std::vector<Rectangle> &rectangles) {
  // Sweep over time, ends before starts. As long as the live rectangles are apart, a new one overlaps one of them if
  // and only if it overlaps its neighbour below or above.
  std::vector<std::tuple<int64_t, bool, int>> events;
  for (size_t i = 0; i < rectangles.size(); ++i) {
    const Rectangle &r = rectangles[i];
    if (r.lower < r.upper && r.start < r.end) {
      events.emplace_back(r.lower, true, static_cast<int>(i));
      events.emplace_back(r.upper, false, static_cast<int>(i));
    }
  }
  std::sort(events.begin(), events.end());
  std::set<std::pair<int64_t, int>> live;
  for (auto [time, begins, i] : events) {
    if (!begins) {
      live.erase({rectangles[i].start, i});
      continue;
    }
    auto it = live.insert({rectangles[i].start, i}).first;
    if (it != live.begin())
      if (int below = std::prev(it)->second; rectangles[below].end > rectangles[i].start)
        return std::make_pair(below, i);
    if (auto above = std::next(it); above != live.end() && rectangles[i].end > above->first)
      return std::make_pair(i, above->second);
  }
  return std::nullopt;
}

} // namespace stator::memory
