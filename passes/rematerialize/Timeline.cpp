// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/rematerialize/Timeline.h"

#include <algorithm>
#include <limits>

namespace stator::remat {

void Timeline::refresh(Block &b) {
  int64_t top = std::numeric_limits<int64_t>::min();
  for (int i = 0; i < b.count; ++i) top = std::max(top, b.bytes[i]);
  b.max = b.count ? top + b.add : std::numeric_limits<int64_t>::min();
  double over = 0;
  if (b.count && b.max > budget)
    for (int i = 0; i < b.count; ++i) over += double(std::max<int64_t>(0, b.bytes[i] + b.add - budget));
  totalOver += over - b.over;
  b.over = over;
}

int32_t Timeline::freshBlock(size_t at) {
  int32_t id;
  if (spare.empty()) {
    id = int32_t(blocks.size());
    blocks.emplace_back();
  } else {
    id = spare.back();
    spare.pop_back();
    blocks[id].count = 0;
    blocks[id].add = 0;
    blocks[id].over = 0;
  }
  order.insert(order.begin() + at, id);
  for (size_t r = at; r < order.size(); ++r) blocks[order[r]].rank = int32_t(r);
  return id;
}

void Timeline::place(Block &b, int32_t id, int slot, int32_t step, int64_t bytes) {
  for (int i = b.count; i > slot; --i) {
    b.step[i] = b.step[i - 1];
    b.bytes[i] = b.bytes[i - 1];
    slotOf[b.step[i]] = i;
  }
  ++b.count;
  b.step[slot] = step;
  b.bytes[slot] = bytes - b.add;
  if (size_t(step) >= blockOf.size()) {
    blockOf.resize(step + 1, -1);
    slotOf.resize(step + 1, 0);
  }
  blockOf[step] = id;
  slotOf[step] = slot;
  refresh(b);
}

void Timeline::split(int32_t id) {
  int32_t right = freshBlock(size_t(blocks[id].rank) + 1);
  Block &a = blocks[id], &b = blocks[right];
  int half = a.count / 2;
  b.add = a.add;
  for (int i = half; i < a.count; ++i) {
    b.step[i - half] = a.step[i];
    b.bytes[i - half] = a.bytes[i];
    blockOf[a.step[i]] = right;
    slotOf[a.step[i]] = i - half;
  }
  b.count = a.count - half;
  a.count = half;
  refresh(a);
  refresh(b);
}

void Timeline::pushBack(int32_t step, int64_t bytes) {
  int32_t id = order.empty() ? freshBlock(0) : order.back();
  if (blocks[id].count >= kBlock * 3 / 4) id = freshBlock(order.size());
  place(blocks[id], id, blocks[id].count, step, bytes);
}

void Timeline::insertBefore(int32_t step, int32_t next, int64_t bytes) {
  if (blocks[blockOf[next]].count == kBlock) split(blockOf[next]);
  int32_t id = blockOf[next];
  place(blocks[id], id, slotOf[next], step, bytes);
}

void Timeline::erase(int32_t step) {
  int32_t id = blockOf[step];
  Block &b = blocks[id];
  for (int i = slotOf[step]; i + 1 < b.count; ++i) {
    b.step[i] = b.step[i + 1];
    b.bytes[i] = b.bytes[i + 1];
    slotOf[b.step[i]] = i;
  }
  --b.count;
  blockOf[step] = -1;
  refresh(b);
  if (b.count == 0 && order.size() > 1) {
    size_t at = size_t(b.rank);
    order.erase(order.begin() + at);
    for (size_t r = at; r < order.size(); ++r) blocks[order[r]].rank = int32_t(r);
    spare.push_back(id);
  }
}

int32_t Timeline::next(int32_t step) const {
  const Block &b = blocks[blockOf[step]];
  if (slotOf[step] + 1 < b.count) return b.step[slotOf[step] + 1];
  return size_t(b.rank) + 1 < order.size() ? blocks[order[b.rank + 1]].step[0] : -1;
}

int32_t Timeline::prev(int32_t step) const {
  const Block &b = blocks[blockOf[step]];
  if (slotOf[step] > 0) return b.step[slotOf[step] - 1];
  if (b.rank == 0) return -1;
  const Block &a = blocks[order[b.rank - 1]];
  return a.step[a.count - 1];
}

void Timeline::add(int64_t from, int64_t to, int64_t delta) {
  if (from >= to || delta == 0) return;
  auto part = [&](Block &b, int lo, int hi) {
    hi = std::min(hi, int(b.count));
    if (lo >= hi) return;
    for (int i = lo; i < hi; ++i) b.bytes[i] += delta;
    refresh(b);
  };
  size_t r0 = size_t(from >> 8), r1 = size_t(to >> 8);
  int lo = int(from & 255), hi = int(to & 255);
  if (r0 == r1) return part(blocks[order[r0]], lo, hi);
  part(blocks[order[r0]], lo, kBlock);
  for (size_t r = r0 + 1; r < r1; ++r) {
    Block &b = blocks[order[r]];
    int64_t top = b.max + delta;
    b.add += delta;
    if (b.max > budget || top > budget)
      refresh(b);
    else
      b.max = top;
  }
  if (r1 < order.size()) part(blocks[order[r1]], 0, hi);
}

int64_t Timeline::peak() const {
  int64_t top = std::numeric_limits<int64_t>::min();
  for (int32_t id : order) top = std::max(top, blocks[id].max);
  return top;
}

int32_t Timeline::peakStep() const {
  int64_t top = peak();
  for (int32_t id : order) {
    const Block &b = blocks[id];
    if (b.max != top) continue;
    for (int i = 0; i < b.count; ++i)
      if (b.bytes[i] + b.add == top) return b.step[i];
  }
  return -1;
}

std::vector<int32_t> Timeline::steps() const {
  std::vector<int32_t> all;
  for (int32_t id : order) all.insert(all.end(), blocks[id].step, blocks[id].step + blocks[id].count);
  return all;
}

} // namespace stator::remat
