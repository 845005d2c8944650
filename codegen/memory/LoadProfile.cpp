// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/memory/LoadProfile.h"

#include <algorithm>

namespace stator::memory {

LoadProfile::LoadProfile(const std::vector<Block> &blocks) {
  for (const Block &block : blocks) {
    times.push_back(block.lower);
    times.push_back(block.upper);
  }
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  while (leaves < times.size()) leaves *= 2;
  maximum.assign(2 * leaves, 0);
  pending.assign(2 * leaves, 0);
  for (const Block &block : blocks) add(block.lower, block.upper, block.size);
}

size_t LoadProfile::indexOf(int64_t time) const {
  return std::lower_bound(times.begin(), times.end(), time) - times.begin();
}

void LoadProfile::add(int64_t lower, int64_t upper, int64_t bytes) {
  size_t left = indexOf(lower) + leaves, right = indexOf(upper) + leaves;
  const size_t first = left, last = right - 1;
  for (; left < right; left /= 2, right /= 2) {
    auto apply = [&](size_t node) { maximum[node] += bytes, pending[node] += bytes; };
    if (left & 1) apply(left++);
    if (right & 1) apply(--right);
  }
  for (size_t leaf : {first, last})
    for (size_t node = leaf / 2; node; node /= 2)
      maximum[node] = std::max(maximum[2 * node], maximum[2 * node + 1]) + pending[node];
}

int64_t LoadProfile::most(int64_t lower, int64_t upper) const {
  // Climb from both ends; on the way up what is pending at an ancestor is added to what was found below it.
  size_t left = indexOf(lower) + leaves, right = indexOf(upper) + leaves - 1;
  int64_t fromLeft = maximum[left], fromRight = maximum[right];
  while (left / 2 != right / 2) {
    if (!(left & 1)) fromLeft = std::max(fromLeft, maximum[left + 1]);
    if (right & 1) fromRight = std::max(fromRight, maximum[right - 1]);
    left /= 2, right /= 2;
    fromLeft += pending[left];
    fromRight += pending[right];
  }
  int64_t most = std::max(fromLeft, fromRight);
  for (size_t node = left / 2; node; node /= 2) most += pending[node];
  return most;
}

} // namespace stator::memory
