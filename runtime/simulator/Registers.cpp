// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How many 32-bit registers a thread would need: what a compiler's linear scan over the blocks' order would give.
#include "runtime/simulator/Flow.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>

namespace stator::sim {

uint32_t estimateRegisters(const Kernel &k, const std::map<uint32_t, unsigned> &widths) {
  struct Range {
    uint32_t first, last;
    unsigned words;
  };
  std::map<uint32_t, Range> ranges; // by register file offset
  auto mention = [&](uint32_t data, uint32_t at) {
    auto width = widths.find(data);
    if (width == widths.end()) return;
    unsigned words = std::max(1u, (width->second + 3) / 4);
    auto [it, isNew] = ranges.try_emplace(data, Range{at, at, words});
    if (!isNew) it->second.last = at;
  };
  std::vector<std::pair<uint32_t, uint32_t>> loops;
  for (const Instr &i : k.code) {
    for (Slot slot : {i.d, i.a, i.b, i.c, i.e, i.f}) mention(slot.data, i.index);
    bool jumps = i.row->kind == OpClass::control || i.row->kind == OpClass::internal;
    for (uint32_t n = 0; n < i.listCount && !jumps; ++n) mention(k.slots[i.list + n].data, i.index);
    if (isJump(i) && i.target <= i.index) loops.emplace_back(i.target, i.index);
  }
  for (const AddressOperand &a : k.addresses) mention(a.base.data, 0);
  // What lives into a loop and is used there lives to its end. Inner loops come before outer ones.
  std::sort(loops.begin(), loops.end(), [](auto a, auto b) { return a.second - a.first < b.second - b.first; });
  std::vector<int32_t> change(k.code.size() + 1);
  for (auto &[data, r] : ranges) {
    for (auto [head, end] : loops)
      if (r.first < head && r.last >= head && r.last < end) r.last = end;
    change[r.first] += static_cast<int32_t>(r.words);
    change[r.last + 1] -= static_cast<int32_t>(r.words);
  }
  int32_t live = 0, most = 0;
  for (int32_t c : change) most = std::max(most, live += c);
  // A few more for addresses and the stack; no thread has more than 255.
  auto count = std::min<uint32_t>(255, static_cast<uint32_t>(most) + 6);
  const ptx::Function &f = *k.function;
  if (f.maxRegisters) count = std::min(count, f.maxRegisters);
  // Launch bounds make the compiler spill rather than exceed the register file.
  const uint32_t *bound = f.requiredThreads[0] ? f.requiredThreads : f.maxThreads;
  uint64_t threads = uint64_t{bound[0]} * std::max(bound[1], 1u) * std::max(bound[2], 1u);
  if (threads) {
    uint64_t all = (threads + kLanes - 1) / kLanes * kLanes * std::max(f.minBlocksPerSm, 1u);
    count = std::min(count, std::max<uint32_t>(16, static_cast<uint32_t>(65536 / all / 8 * 8)));
  }
  return count;
}

} // namespace stator::sim
