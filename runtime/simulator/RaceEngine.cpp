// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The race detector's side of asynchronous operations, mbarriers and proxies. An operation is an actor of its own: it
// inherits what its issuer knows, and only who waits for its completion knows that it is over.
#include "runtime/simulator/Access.h"
#include "runtime/simulator/RaceClock.h"

namespace stator::sim {

void Races::proxyFence(Warp &warp, bool shared, bool global) {
  WarpOrder &o = *warp.order;
  at(o.known, warp.index) = std::max(at(o.known, warp.index), o.segment);
  if (shared) join(o.proxied[0], o.known);
  if (global) join(o.proxied[1], o.known);
  o.segment = newSegment(warp);
}

void Races::release(Warp &warp, BarrierKnowledge &to, const Block &home) {
  if (&home == &warp.block) return arrive(warp, to);
  publish(warp, to);
}

void Races::publish(Warp &warp, BarrierKnowledge &to) {
  WarpOrder &o = *warp.order;
  auto all = std::make_shared<Knowledge>(o.others ? *o.others : Knowledge());
  for (size_t i = 0; i < o.known.size(); ++i)
    if (o.known[i]) (*all)[keyOf(warp.block.linear, static_cast<uint32_t>(i))] = o.known[i];
  (*all)[keyOf(warp.block.linear, warp.index)] = o.segment;
  join(to.others, all);
  o.segment = newSegment(warp);
}

void Races::acquire(Warp &warp, const BarrierKnowledge &from, const Block &home) {
  if (&home == &warp.block) leave(warp, from);
  learn(warp, from);
}

void Races::learn(Warp &warp, const BarrierKnowledge &from) {
  if (!from.others) return;
  takeOwn(warp, *from.others);
  join(warp.order->others, from.others);
}

bool Races::knows(const Warp &warp, uint64_t block, uint32_t actor, uint32_t segment) {
  if (!warp.order || !warp.order->others) return false;
  auto it = warp.order->others->find(keyOf(block, actor));
  return it != warp.order->others->end() && segment <= it->second;
}

uint32_t Races::engineSegment(const Block &home, uint32_t engine) {
  if (segments.size() < kMostSegments) segments.push_back({home.linear, engine});
  return static_cast<uint32_t>(segments.size() - 1);
}

void Races::finish(BarrierKnowledge &to, uint32_t engine, uint32_t segment) {
  at(to.known, engine) = std::max(at(to.known, engine), segment);
}

template <class C>
void Races::engineCell(Warp &issuer, const Instr &instr, const EngineAccess &access, C &cell, uint64_t place) {
  bool withWrite = false, doubtful = false;
  uint32_t other = 0, strength = access.atomic ? kStrong : kWeak;
  // Parts of one operation may share a cell.
  bool own = cell.writer && segmentOf(cell.writer) == access.segment;
  if (!own && (cell.writer || cell.reader) &&
      judge(issuer, access.write, access.owner == &issuer.block, access.lane, cell, strength, withWrite, other,
            doubtful)) {
    if (Finding *f = worker.report(issuer, instr, isEngine(other) ? Kind::asyncCopy : Kind::race, 1u << access.lane,
                                   doubtful ? Severity::warning : Severity::error, "")) {
      f->addresses.push_back(place);
      f->message = std::string("asynchronous ") + (access.write ? "write" : "read") + " is not ordered with a " +
                   (withWrite ? "store" : "load") + " of the same bytes by " + describe(other);
      if (!access.owner) f->allocation = worker.launch.memory->describe(place);
    }
  } else if (cell.writer && !own) {
    // A write by the generic proxy needs a proxy fence on the way to the asynchronous one.
    uint32_t written = segmentOf(cell.writer);
    const Segment &s = segments[written];
    const std::vector<uint32_t> &proxied = issuer.order->proxied[access.owner ? 0 : 1];
    if (s.block == issuer.block.linear && s.warp < issuer.block.warps.size() &&
        (s.warp >= proxied.size() || written > proxied[s.warp]))
      if (Finding *f = worker.report(issuer, instr, Kind::proxy, 1u << access.lane, Severity::error, "")) {
        f->addresses.push_back(place);
        f->message = std::string("asynchronous ") + (access.write ? "write" : "read") + " of bytes that " +
                     describe(cell.writer) + " has stored; no fence.proxy.async lies between";
      }
  }
  uint32_t stamp = access.segment << 7 | access.lane << 2 | strength;
  if (access.write) {
    cell = C();
    cell.writer = stamp;
  } else {
    cell.reader = stamp;
  }
}

void Races::engineAccess(Warp &issuer, const Instr &instr, const EngineAccess &access) {
  uint64_t step = uint64_t{1} << granule, end = access.at + access.bytes;
  if (access.owner) {
    Block &owner = *access.owner;
    if (owner.sharedCells.empty()) owner.sharedCells.resize((owner.sharedData.size() >> granule) + 1);
    for (uint64_t a = access.at; a < end; a += step)
      engineCell(issuer, instr, access, owner.sharedCells[a >> granule], a);
    return;
  }
  if (tracked > kMostTracked) return;
  for (uint64_t a = access.at; a < end; a += step) {
    Page &p = page(a / kPageBytes);
    (access.write ? p.writerInstr : p.readerInstr) = instr.index;
    engineCell(issuer, instr, access, p.cells[(a % kPageBytes) >> granule], a);
  }
}

} // namespace stator::sim
