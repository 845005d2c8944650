// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/AsyncEngine.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Wgmma.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

namespace {

uint32_t readEngine(const Warp &w) { return w.block.groupEngine(w.index, 0); }
uint32_t writeEngine(const Warp &w) { return w.block.groupEngine(w.index, 1); }

void move(AsyncOp &op) {
  if (op.moved) return;
  op.moved = true;
  for (const AsyncOp::Chunk &c : op.chunks) {
    if (op.reduce) {
      op.reduce(c.to.data, c.from.data, c.bytes);
    } else if (c.from.data) {
      std::memmove(c.to.data, c.from.data, c.bytes);
    } else {
      for (uint32_t at = 0; at < c.bytes; at += op.fillSize)
        std::memcpy(c.to.data + at, &op.fill, std::min(op.fillSize, c.bytes - at));
    }
  }
  ++op.warp->worker.changes;
}

/// The sources are read: their marks go.
void endReading(AsyncOp &op) {
  if (op.readOver) return;
  op.readOver = true;
  for (const AsyncOp::Chunk &c : op.chunks) markReading(c.from, c.bytes, false);
}

/// The destination's bytes become ordinary ones.
void define(AsyncOp &op) {
  for (const AsyncOp::Chunk &c : op.chunks) {
    if (!c.to.defined) continue;
    for (uint32_t b = 0; b < c.bytes; ++b) {
      bool source = !c.from.data || !c.from.defined || (c.from.defined[b] & 1);
      bool before = !op.reduce || (c.to.defined[b] & kWasDefined);
      c.to.defined[b] = c.to.owner ? source && before : 1;
    }
  }
}

void finish(AsyncOp &op) {
  Worker &worker = op.warp->worker;
  if (op.arrivals) {
    completeCopiesBefore(*op.warp, op.arrivals, op.serial);
    for (AsyncOp::Signal &s : op.signals) {
      if (op.warp->order) worker.races->release(*op.warp, s.barrier.object->arriving, *s.barrier.home);
      arriveAt(*op.warp, *op.instr, op.lane, s.barrier, s.bytes, false);
    }
    return;
  }
  move(op);
  endReading(op);
  define(op);
  for (AsyncOp::Signal &s : op.signals) {
    // The object may have been made invalid, or new, in the meantime.
    s.barrier.object = mbarrierAt(*op.warp, *op.instr, op.lane, *s.barrier.home, s.barrier.offset);
    if (!s.barrier.object) continue;
    if (op.warp->order) Races::finish(s.barrier.object->arriving, s.barrier.object->engine, s.segment);
    addBytes(*op.warp, *op.instr, op.lane, s.barrier, -int64_t{s.bytes});
  }
}

void reportAsync(Warp &warp, const Instr &instr, unsigned lane, uint64_t address, const char *what) {
  if (Finding *f = warp.worker.report(warp, instr, Kind::asyncCopy, 1u << lane, Severity::error, what))
    f->addresses.push_back(address);
}

/// Marks of other operations on the bytes that this one wants.
void checkMarks(Warp &warp, const AsyncOp &op) {
  for (const AsyncOp::Chunk &c : op.chunks) {
    if (c.to.owner) {
      uint8_t all = 0;
      for (uint32_t b = 0; b < c.bytes; ++b) all |= c.to.defined[b];
      if (all & kInFlight)
        reportAsync(warp, *op.instr, op.lane, c.to.at, "bytes that another asynchronous operation is still writing");
      if (all & kMbarrierByte)
        reportAsync(warp, *op.instr, op.lane, c.to.at, "an asynchronous write over an mbarrier object");
      if (c.to.owner->beingRead(c.to.at, c.bytes))
        reportAsync(warp, *op.instr, op.lane, c.to.at,
                    "an asynchronous write over bytes that another asynchronous operation is still reading");
    }
    if (c.from.data && c.from.owner) {
      uint8_t all = 0;
      for (uint32_t b = 0; b < c.bytes; ++b) all |= c.from.defined[b];
      if (all & (kInFlight | kMbarrierByte))
        reportAsync(warp, *op.instr, op.lane, c.from.at,
                    "an asynchronous read of bytes that another one is still writing, or of an mbarrier object");
    }
    if (c.from.data && c.from.defined && !c.to.owner && !allDefined(c.from.defined, c.bytes))
      if (Finding *f = warp.worker.report(warp, *op.instr, Kind::uninitialised, 1u << op.lane, Severity::error,
                                          "an undefined value is copied to global memory"))
        f->addresses.push_back(c.from.at);
  }
}

void recordAccesses(Warp &warp, AsyncOp &op) {
  Races &races = *warp.worker.races;
  if (op.signals.empty()) {
    op.readSegment = races.engineSegment(warp.block, readEngine(warp));
    op.writeSegment = races.engineSegment(warp.block, writeEngine(warp));
  }
  for (AsyncOp::Signal &s : op.signals) s.segment = races.engineSegment(*s.barrier.home, s.barrier.object->engine);
  for (const AsyncOp::Chunk &c : op.chunks) {
    EngineAccess access;
    access.lane = op.lane;
    access.bytes = c.bytes;
    // A copy to several blocks signals each block's own mbarrier.
    access.segment = op.writeSegment;
    for (const AsyncOp::Signal &s : op.signals)
      if (access.segment == 0 || s.barrier.home == c.to.owner) access.segment = s.segment;
    uint32_t writeSegment = access.segment;
    if (c.from.data && op.own.empty()) {
      if (op.signals.empty()) access.segment = op.readSegment;
      access.owner = c.from.owner;
      access.at = c.from.at;
      races.engineAccess(warp, *op.instr, access);
    }
    access.segment = writeSegment;
    access.owner = c.to.owner;
    access.at = c.to.at;
    // Reductions are atomic with each other.
    access.write = true;
    access.atomic = op.reduce != nullptr;
    races.engineAccess(warp, *op.instr, access);
  }
}

} // namespace

void markReading(const AsyncRange &range, uint32_t bytes, bool begins) {
  if (!range.owner || !range.data) return;
  std::vector<uint16_t> &readers = range.owner->asyncReaders;
  if (readers.empty()) readers.resize(range.owner->sharedData.size() / 16 + 1);
  for (uint64_t g = range.at / 16; g <= (range.at + bytes - 1) / 16; ++g)
    readers[g] = static_cast<uint16_t>(readers[g] + (begins ? 1 : -1));
}

void issue(Warp &warp, std::unique_ptr<AsyncOp> op) {
  Cluster &cluster = *warp.block.group;
  op->warp = &warp;
  if (op->signals.empty()) op->group = warp.bulkCommitted[op->lane];
  checkMarks(warp, *op);
  if (warp.order && !op->arrivals) recordAccesses(warp, *op);
  for (const AsyncOp::Chunk &c : op->chunks) {
    markReading(c.from, c.bytes, true);
    if (c.to.owner)
      for (uint32_t b = 0; b < c.bytes; ++b)
        c.to.defined[b] = static_cast<uint8_t>(kInFlight | (c.to.defined[b] & 1 ? kWasDefined : 0));
  }
  Settings::Async mode = warp.block.launch.settings->async;
  bool now = mode == Settings::Async::early || (mode == Settings::Async::random && warp.worker.random() & 1);
  if (now) {
    if (!op->signals.empty()) return finish(*op);
    move(*op);
    for (const AsyncOp::Chunk &c : op->chunks)
      if (c.to.defined && !c.to.owner) std::memset(c.to.defined, 1, c.bytes);
  }
  cluster.operations.push_back(std::move(op));
  ++warp.worker.changes;
}

void commitBulk(Warp &warp, uint32_t mask) {
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask >> l & 1) ++warp.bulkCommitted[l];
}

void waitBulk(Warp &warp, uint32_t mask, uint32_t keep, bool readOnly) {
  auto &operations = warp.block.group->operations;
  BarrierKnowledge learnt;
  for (auto &op : operations) {
    if (op->warp != &warp || !op->signals.empty() || !(mask >> op->lane & 1)) continue;
    uint32_t committed = warp.bulkCommitted[op->lane];
    if (op->group + keep >= committed) continue;
    move(*op);
    endReading(*op);
    Races::finish(learnt, readEngine(warp), op->readSegment);
    if (readOnly) continue;
    define(*op);
    Races::finish(learnt, writeEngine(warp), op->writeSegment);
    op.reset();
  }
  operations.erase(std::remove(operations.begin(), operations.end(), nullptr), operations.end());
  if (warp.order) warp.worker.races->leave(warp, learnt);
  ++warp.worker.changes;
}

bool deliver(Cluster &cluster, Worker &worker) {
  auto &operations = cluster.operations;
  size_t count = static_cast<size_t>(
      std::count_if(operations.begin(), operations.end(), [](const auto &op) { return !op->signals.empty(); }));
  if (!count) return false;
  size_t pick = worker.launch.settings->async == Settings::Async::random ? worker.random() % count : 0;
  for (auto it = operations.begin(); it != operations.end(); ++it) {
    if ((*it)->signals.empty() || pick--) continue;
    std::unique_ptr<AsyncOp> op = std::move(*it);
    operations.erase(it);
    for (const AsyncOp::Chunk &c : op->chunks)
      if (c.to.owner && c.to.owner->done())
        reportAsync(*op->warp, *op->instr, op->lane, c.to.at,
                    "an asynchronous write into shared memory of a block that has exited");
    finish(*op);
    return true;
  }
  return false;
}

void finishCluster(Cluster &cluster, Worker &worker) {
  while (!worker.aborted && deliver(cluster, worker)) {
  }
  for (Block *block : cluster.blocks) finishWgmma(*block);
  for (auto &op : cluster.operations) {
    if (!op->readOver)
      for (const AsyncOp::Chunk &c : op->chunks)
        if (c.from.data && c.from.owner) {
          reportAsync(*op->warp, *op->instr, op->lane, c.from.at,
                      "the block exits while its shared memory is still being read: nobody has waited for the copy");
          break;
        }
    move(*op);
    endReading(*op);
    define(*op);
  }
  cluster.operations.clear();
}

} // namespace stator::sim
