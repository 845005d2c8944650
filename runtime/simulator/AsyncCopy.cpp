// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/AsyncCopy.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

namespace {

uint8_t *place(const Places &p, unsigned lane, uint32_t bytes) {
  return p.dense ? p.data + size_t{bytes} * lane : p.lane[lane];
}
uint8_t *definedPlace(const Places &p, unsigned lane, uint32_t bytes) {
  if (p.dense) return p.defined ? p.defined + size_t{bytes} * lane : nullptr;
  return p.laneDefined[lane];
}

void move(WarpAsync::Copy &copy, uint32_t lanes) {
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(lanes >> l & 1)) continue;
    uint8_t *to = place(copy.to, l, copy.bytes);
    std::memset(to, 0, copy.bytes);
    if (copy.sourceBytes[l]) std::memcpy(to, place(copy.from, l, copy.bytes), copy.sourceBytes[l]);
  }
}

} // namespace

void issueCopy(Warp &warp, WarpAsync::Copy &copy) {
  Settings::Async mode = warp.block.launch.settings->async;
  copy.moved = mode == Settings::Async::early || (mode == Settings::Async::random && warp.worker.random() & 1);
  if (copy.moved) move(copy, copy.pending);
  for (unsigned l = 0; l < kLanes; ++l)
    if (copy.pending >> l & 1) std::memset(definedPlace(copy.to, l, copy.bytes), kInFlight, copy.bytes);
  if (!warp.async) warp.async = std::make_unique<WarpAsync>();
  std::copy(warp.async->committed, warp.async->committed + kLanes, copy.group);
  copy.serial = warp.async->issued++;
  warp.async->copies.push_back(copy);
}

namespace {

/// Completes lanes `chosen(copy)` of every copy.
template <class F> void complete(Warp &warp, F chosen) {
  WarpAsync &async = *warp.async;
  for (WarpAsync::Copy &copy : async.copies) {
    uint32_t lanes = chosen(copy);
    if (!lanes) continue;
    copy.pending &= ~lanes;
    if (!copy.moved) move(copy, lanes);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      uint8_t *defined = definedPlace(copy.to, l, copy.bytes), *source = definedPlace(copy.from, l, copy.bytes);
      std::memset(defined, 1, copy.bytes);
      if (source && copy.sourceBytes[l])
        for (uint32_t b = 0; b < copy.sourceBytes[l]; ++b) defined[b] = source[b] & 1;
    }
    if (warp.order) {
      // Now it is a write of the waiting lanes.
      Places to = copy.to;
      to.ok = lanes;
      warp.worker.races->access(warp, *copy.instr, copy.access, to);
    }
  }
  async.copies.erase(std::remove_if(async.copies.begin(), async.copies.end(), [](const auto &c) { return !c.pending; }),
                     async.copies.end());
  ++warp.worker.changes;
}

} // namespace

void completeCopies(Warp &warp, uint32_t mask, uint32_t keep, bool all) {
  if (!warp.async) return;
  const WarpAsync &async = *warp.async;
  complete(warp, [&](const WarpAsync::Copy &copy) {
    uint32_t lanes = 0;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(copy.pending & mask & 1u << l)) continue;
      bool closed = copy.group[l] < async.committed[l];
      if (all || (closed && copy.group[l] + keep < async.committed[l])) lanes |= 1u << l;
    }
    return lanes;
  });
}

void completeCopiesBefore(Warp &warp, uint32_t mask, uint64_t serial) {
  if (!warp.async) return;
  complete(warp, [&](const WarpAsync::Copy &copy) { return copy.serial < serial ? copy.pending & mask : 0; });
}

} // namespace stator::sim
