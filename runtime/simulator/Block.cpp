// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Block.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/Wgmma.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

Block::Block(Worker &worker, const Launch &launch)
    : worker(worker), launch(launch), kernel(*launch.kernel), localBytes(kernel.localBytes) {
  uint32_t threads = launch.threads(), count = (threads + kLanes - 1) / kLanes;
  for (uint32_t i = 0; i < count; ++i) warps.push_back(std::make_unique<Warp>(*this, kernel, i));
  sharedData.resize(launch.sharedBytes());
  sharedDefined.resize(sharedData.size());
  localData.resize(localBytes * count * kLanes);
  localDefined.resize(localData.size());
}

Block::~Block() = default;

void Block::start(uint64_t linearIndex) {
  linear = linearIndex;
  const Dim3 &grid = launch.grid, &c = launch.cluster;
  if (c.count() == 1) {
    id = {static_cast<uint32_t>(linear % grid.x), static_cast<uint32_t>(linear / grid.x % grid.y),
          static_cast<uint32_t>(linear / (uint64_t{grid.x} * grid.y))};
    clusterRank = 0;
  } else {
    // Blocks are numbered cluster by cluster, so that a cluster's blocks start together.
    uint64_t cluster = linear / c.count();
    clusterRank = static_cast<uint32_t>(linear % c.count());
    uint64_t cx = grid.x / c.x, cy = grid.y / c.y;
    id = {static_cast<uint32_t>(cluster % cx * c.x + clusterRank % c.x),
          static_cast<uint32_t>(cluster / cx % cy * c.y + clusterRank / c.x % c.y),
          static_cast<uint32_t>(cluster / (cx * cy) * c.z + clusterRank / (c.x * c.y))};
  }
  std::fill(sharedDefined.begin(), sharedDefined.end(), 0);
  std::fill(localDefined.begin(), localDefined.end(), 0);
  if (!sharedCells.empty()) std::fill(sharedCells.begin(), sharedCells.end(), SharedCell());
  for (BarrierState &barrier : barriers) barrier = BarrierState();
  asyncReaders.clear();
  mbarriers.clear();
  enginesGiven = 0;
  visits.clear();
  warpgroups.clear();
  ++barrierEpoch;
  nextWarp = 0;
  uint32_t threads = launch.threads();
  for (uint32_t i = 0; i < warps.size(); ++i) warps[i]->start(threads - i * kLanes);
  if (worker.races)
    for (auto &warp : warps) worker.races->start(*warp);
}

bool Block::done() const {
  return std::all_of(warps.begin(), warps.end(), [](const auto &w) { return w->done(); });
}

bool Block::canRun() const {
  return std::any_of(warps.begin(), warps.end(), [](const auto &w) { return w->canRun(); });
}

bool Block::run(uint64_t budget) {
  auto count = static_cast<uint32_t>(warps.size());
  uint64_t turn = std::max<uint64_t>(budget / count, 1);
  uint32_t idle = 0;
  while (budget && idle < count && !worker.aborted) {
    uint32_t pick = nextWarp++ % count;
    uint64_t slice = std::min(budget, turn);
    if (launch.settings->schedule) {
      pick = static_cast<uint32_t>(worker.random() % count);
      slice = std::min<uint64_t>(slice, 1 + worker.random() % 256);
      if (!canRun()) break;
      while (!warps[pick]->canRun()) pick = (pick + 1) % count;
    }
    Warp &warp = *warps[pick];
    if (!warp.canRun()) {
      ++idle;
      continue;
    }
    idle = 0;
    uint64_t left = slice;
    warp.run(left);
    budget -= slice - left;
  }
  return done();
}

uint32_t Block::liveWarps() const {
  uint32_t count = 0;
  for (const auto &warp : warps) count += !warp->done();
  return count;
}

void Block::arrive(Warp &warp, const Instr &instr, uint32_t mask, unsigned barrierId, uint32_t count, bool wait,
                   BarrierState::Use use, uint32_t predicateMask) {
  BarrierState &b = barriers[barrierId];
  if (warp.live != warp.existing && !warp.bothExited) {
    warp.bothExited = true;
    if (Finding *f = worker.report(warp, instr, Kind::barrier, warp.existing & ~warp.live, Severity::warning,
                                   "lanes of this warp had exited before this barrier; they count as arrived"))
      f->allocation.clear();
  }
  if (b.arrivedWarps == 0) {
    b.use = use;
    b.expected = count;
  } else {
    if (b.use != use) {
      worker.report(warp, instr, Kind::barrier, mask, Severity::error,
                    "barrier.red is mixed with barrier.sync or barrier.arrive on one active barrier");
    } else if (b.expected != count) {
      worker.report(warp, instr, Kind::barrier, mask, Severity::error,
                    "warps name different thread counts for one active barrier");
    }
  }
  if (warp.order) worker.races->arrive(warp, b.knowledge);
  ++b.arrivedWarps;
  b.arrived += kLanes;
  b.trueCount += static_cast<uint32_t>(__builtin_popcount(predicateMask & mask));
  b.threadCount += static_cast<uint32_t>(__builtin_popcount(mask));
  if (wait) {
    b.waiting.emplace_back(&warp, &instr);
    warp.park(instr, mask, Wait::barrier, barrierId);
  }
  if (b.expected ? b.arrived >= b.expected : b.arrivedWarps >= liveWarps()) complete(barrierId);
}

void Block::complete(unsigned barrierId) {
  BarrierState done = std::move(barriers[barrierId]);
  barriers[barrierId] = BarrierState();
  bool full = done.expected == 0 || done.expected >= warps.size() * kLanes;
  if (full) ++barrierEpoch;
  ++worker.changes; // warps that waited can go on
  for (auto &[warp, instr] : done.waiting) {
    if (warp->order) worker.races->leave(*warp, done.knowledge);
    uint32_t lanes = warp->release(Wait::barrier, barrierId);
    if (done.use != BarrierState::Use::reduce) continue;
    // tag of barrier.red rows: 0 popc, 1 and, 2 or; the result goes to d.
    if (instr->tag == 0) {
      auto *d = warp->lanes<uint32_t>(instr->d);
      for (unsigned l = 0; l < kLanes; ++l)
        if (lanes >> l & 1) d[l] = done.trueCount;
    } else {
      bool value = instr->tag == 1 ? done.trueCount == done.threadCount : done.trueCount != 0;
      uint32_t &p = warp->predicate(instr->d);
      p = value ? p | lanes : p & ~lanes;
    }
    warp->define(instr->d, lanes, 0);
  }
}

bool Block::visitedBy(Warp &visitor, const Instr &instr) {
  if (done()) return false;
  if (visitor.order)
    visits[{visitor.block.linear, visitor.index}] = {visitor.block.linear, visitor.index, visitor.order->segment,
                                                     &instr, &visitor};
  return true;
}

void Block::checkVisits() {
  // The exit is behind an access if some thread of this block knew that it was over.
  for (auto &[key, visit] : visits) {
    bool known = std::any_of(warps.begin(), warps.end(),
                             [&, &v = visit](const auto &w) { return Races::knows(*w, v.block, v.warp, v.segment); });
    if (!known)
      worker.report(*visit.visitor, *visit.instr, Kind::useAfterFree, visit.visitor->active, Severity::error,
                    "nothing keeps the owner of this shared memory from exiting before the access: no barrier of the "
                    "cluster lies behind it");
  }
  visits.clear();
}

void Block::warpExited(Warp &) {
  if (done() && !visits.empty()) checkVisits();
  for (unsigned i = 0; i < 16; ++i) {
    BarrierState &b = barriers[i];
    if (b.arrivedWarps && b.expected == 0 && b.arrivedWarps >= liveWarps()) complete(i);
  }
}

} // namespace stator::sim
