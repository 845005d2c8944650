// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/FirstFit.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

namespace stator::memory {
namespace {

/// Free ranges of an address space without an end, by address and by length. All operations are O(log n).
class FreeRanges {
public:
  explicit FreeRanges(int64_t base) : end(base) {}

  int64_t take(int64_t size, int64_t alignment, Fit fit) {
    // With an alignment a range may be long enough and yet not fit: a few candidates, then the open end.
    constexpr int kTries = 8;
    if (fit == Fit::Best) {
      auto it = byLength.lower_bound({size, 0});
      for (int i = 0; i < kTries && it != byLength.end(); ++i, ++it)
        if (int64_t at = alignUp(it->second, alignment); at + size <= it->second + it->first)
          return carve(it->second, it->first, at, size);
    } else if (int64_t at = lowest(size, alignment, kTries); at >= 0) {
      return at;
    }
    int64_t at = alignUp(end, alignment);
    if (!byAddress.empty())
      if (auto last = std::prev(byAddress.end()); last->first + last->second == end) {
        int64_t start = last->first;
        remove(start, last->second);
        end = start;
        at = alignUp(start, alignment);
      }
    if (at > end) give(end, at - end);
    end = at + size;
    return at;
  }

  void give(int64_t at, int64_t size) {
    auto next = byAddress.lower_bound(at);
    if (next != byAddress.end() && next->first == at + size) {
      size += next->second;
      next = remove(next->first, next->second);
    }
    if (next != byAddress.begin())
      if (auto before = std::prev(next); before->first + before->second == at) {
        at = before->first;
        size += before->second;
        remove(before->first, before->second);
      }
    byAddress[at] = size;
    byLength.insert({size, at});
  }

private:
  std::map<int64_t, int64_t>::iterator remove(int64_t at, int64_t size) {
    byLength.erase({size, at});
    return byAddress.erase(byAddress.find(at));
  }

  int64_t carve(int64_t start, int64_t length, int64_t at, int64_t size) {
    remove(start, length);
    if (at > start) give(start, at - start);
    if (start + length > at + size) give(at + size, start + length - at - size);
    return at;
  }

  /// The lowest of the ranges in the few smallest length classes that fit. True first-fit would need another index;
  /// this keeps low addresses in use, which is what it is for.
  int64_t lowest(int64_t size, int64_t alignment, int tries) {
    int64_t bestAt = -1, start = 0, length = 0;
    auto it = byLength.lower_bound({size, 0});
    for (int i = 0; i < tries && it != byLength.end(); ++i) {
      int64_t at = alignUp(it->second, alignment);
      if (at + size <= it->second + it->first && (bestAt < 0 || at < bestAt))
        bestAt = at, start = it->second, length = it->first;
      it = byLength.lower_bound({it->first + 1, 0});
    }
    return bestAt < 0 ? -1 : carve(start, length, bestAt, size);
  }

  std::map<int64_t, int64_t> byAddress;
  std::set<std::pair<int64_t, int64_t>> byLength;
  int64_t end; ///< everything from here up is free
};

} // namespace

void placeOnline(const std::vector<Block> &blocks, int64_t target, Offsets &best) {
  int64_t base = 0, bestEnd = INT64_MAX;
  std::vector<int> free;
  for (size_t u = 0; u < blocks.size(); ++u) {
    if (blocks[u].isFixed())
      base = std::max(base, blocks[u].fixed + blocks[u].size);
    else
      free.push_back(static_cast<int>(u));
  }
  for (bool backwards : {false, true}) {
    auto from = [&](int u) { return backwards ? -blocks[u].upper : blocks[u].lower; };
    auto to = [&](int u) { return backwards ? -blocks[u].lower : blocks[u].upper; };
    // Of those that begin together the large and long-lived go first.
    std::vector<int> begins = free, ends = free;
    std::sort(begins.begin(), begins.end(), [&](int a, int b) {
      if (from(a) != from(b)) return from(a) < from(b);
      return blocks[a].size != blocks[b].size ? blocks[a].size > blocks[b].size : a < b;
    });
    std::sort(ends.begin(), ends.end(), [&](int a, int b) { return to(a) != to(b) ? to(a) < to(b) : a < b; });
    for (Fit fit : {Fit::First, Fit::Best}) {
      Offsets offsets(blocks.size(), kUnplaced);
      for (size_t u = 0; u < blocks.size(); ++u)
        if (blocks[u].isFixed()) offsets[u] = blocks[u].fixed;
      FreeRanges ranges(base);
      size_t ended = 0;
      for (int u : begins) {
        for (; to(ends[ended]) <= from(u); ++ended) ranges.give(offsets[ends[ended]], blocks[ends[ended]].size);
        offsets[u] = ranges.take(blocks[u].size, blocks[u].alignment, fit);
      }
      if (int64_t end = arenaEnd(blocks, offsets); end < bestEnd) {
        bestEnd = end;
        best = std::move(offsets);
      }
      if (bestEnd <= target) return;
    }
  }
}

} // namespace stator::memory
