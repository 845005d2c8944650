// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Race.h"
#include "runtime/simulator/Access.h"
#include "runtime/simulator/Opcodes.h"
#include "runtime/simulator/RaceClock.h"

#include <algorithm>

namespace stator::sim {

void join(std::shared_ptr<Knowledge> &into, const std::shared_ptr<Knowledge> &from) {
  if (!from || into == from) return;
  if (!into) {
    into = from;
    return;
  }
  // Where one holds all of the other it is shared, not copied: equal pointers then tell that nothing is new.
  auto within = [](const Knowledge &small, const Knowledge &large) {
    if (small.size() > large.size()) return false;
    for (const auto &[key, segment] : small) {
      auto it = large.find(key);
      if (it == large.end() || it->second < segment) return false;
    }
    return true;
  };
  if (within(*into, *from)) {
    into = from;
    return;
  }
  if (within(*from, *into)) return;
  auto joined = std::make_shared<Knowledge>(*into);
  for (const auto &[key, segment] : *from) {
    uint32_t &known = (*joined)[key];
    known = std::max(known, segment);
  }
  into = std::move(joined);
}

void takeOwn(Warp &warp, const Knowledge &knowledge) {
  for (const auto &[key, segment] : knowledge)
    if (key >> kActorBits == warp.block.linear) {
      uint32_t &known = at(warp.order->known, key & ((1u << kActorBits) - 1));
      known = std::max(known, segment);
    }
}

namespace {

/// log2 of the bytes of the kernel's smallest access to global or shared memory, at most 2: what one cell stands for.
unsigned granuleOf(const Kernel &kernel) {
  unsigned granule = 2;
  for (const Instr &i : kernel.code) {
    OpClass kind = i.row->kind;
    bool memory = kind == OpClass::load || kind == OpClass::store || kind == OpClass::atomic;
    if (memory && i.bytes && i.bytes < 4 && i.mods.space != Space::param && i.mods.space != Space::local)
      granule = i.bytes == 1 ? 0 : std::min(granule, 1u);
  }
  return granule;
}

uint32_t strength(const Access &access, const Instr &instr) {
  bool strong = access.atomic || instr.mods.order != Order::weak;
  if (!strong) return kWeak;
  return instr.mods.scope == Scope::cta ? kStrongCta : kStrong;
}

} // namespace

std::string Races::describe(uint32_t stamp) const {
  if (stamp == kManyBlocks) return "several blocks";
  const Segment &s = segments[segmentOf(stamp)];
  const Dim3 &grid = worker.launch.grid;
  uint64_t x = s.block % grid.x, y = s.block / grid.x % grid.y, z = s.block / (uint64_t{grid.x} * grid.y);
  std::string where = "block (" + std::to_string(x) + "," + std::to_string(y) + "," + std::to_string(z) + ")";
  if (isEngine(stamp)) return "an asynchronous operation of " + where;
  return where + " warp " + std::to_string(s.warp) + " lane " + std::to_string(laneOf(stamp));
}

bool Races::isEngine(uint32_t stamp) const {
  return stamp != kManyBlocks && segments[segmentOf(stamp)].warp >= (worker.launch.threads() + kLanes - 1) / kLanes;
}

Races::Races(Worker &worker) : worker(worker), granule(granuleOf(*worker.launch.kernel)), segments(1) {}
Races::~Races() = default;

uint32_t Races::newSegment(Warp &warp) {
  // Past the last number all further segments share it: conflicts among them are missed, none is invented.
  if (segments.size() < kMostSegments) segments.push_back({warp.block.linear, warp.index});
  return static_cast<uint32_t>(segments.size() - 1);
}

void Races::start(Warp &warp) {
  if (!warp.order) warp.order = std::make_unique<WarpOrder>();
  WarpOrder &o = *warp.order;
  o = WarpOrder();
  o.known.assign(warp.block.warps.size(), 0);
  o.segment = newSegment(warp);
}

void Races::syncWarp(Warp &warp) {
  if (warp.order) warp.order->segment = newSegment(warp);
}

void Races::arrive(Warp &warp, BarrierKnowledge &barrier) {
  WarpOrder &o = *warp.order;
  join(barrier.known, o.known);
  for (unsigned s = 0; s < 2; ++s) join(barrier.proxied[s], o.proxied[s]);
  at(barrier.known, warp.index) = std::max(at(barrier.known, warp.index), o.segment);
  join(barrier.others, o.others);
  o.segment = newSegment(warp);
}

void Races::leave(Warp &warp, const BarrierKnowledge &barrier) {
  WarpOrder &o = *warp.order;
  join(o.known, barrier.known);
  for (unsigned s = 0; s < 2; ++s) join(o.proxied[s], barrier.proxied[s]);
  join(o.others, barrier.others);
  o.segment = newSegment(warp);
}

namespace {

/// An acquire: what strong reads have seen is known from here on.
void takeIn(Warp &warp, std::shared_ptr<Knowledge> &pending) {
  if (!pending) return;
  takeOwn(warp, *pending);
  join(warp.order->others, pending);
  pending.reset();
}

/// An acquire of `scope`: a fence of the block's scope does not synchronise with other blocks.
void takeIn(Warp &warp, Scope scope) {
  takeIn(warp, warp.order->pendingCta);
  if (scope != Scope::cta) takeIn(warp, warp.order->pending);
}

} // namespace

void Races::fence(Warp &warp, Scope scope) {
  takeIn(warp, scope);
  WarpOrder &o = *warp.order;
  auto all = std::make_shared<Knowledge>(o.others ? *o.others : Knowledge());
  for (size_t i = 0; i < o.known.size(); ++i)
    if (o.known[i]) (*all)[keyOf(warp.block.linear, static_cast<uint32_t>(i))] = o.known[i];
  (*all)[keyOf(warp.block.linear, warp.index)] = o.segment;
  o.preparedCta = all;
  if (scope != Scope::cta) o.prepared = all;
  o.segment = newSegment(warp);
}

void Races::strong(Warp &warp, uint64_t address, Order order, Scope scope, bool reads, bool writes) {
  WarpOrder &o = *warp.order;
  bool acquires = order == Order::acquire || order == Order::acqRel || order == Order::seqCst;
  bool releases = order == Order::release || order == Order::acqRel || order == Order::seqCst;
  // A loop that watches one place sees the same knowledge again and again.
  auto see = [&](std::shared_ptr<Knowledge> &pending, const std::shared_ptr<Knowledge> &k) {
    if (k != o.others && k != pending) join(pending, k);
  };
  if (reads) {
    if (auto it = released.find(address); it != released.end() && scope != Scope::cta) see(o.pending, it->second);
    if (auto it = releasedCta.find(address); it != releasedCta.end() && it->second.first == warp.block.linear)
      see(o.pendingCta, it->second.second);
  }
  // An operation with semantics of its own is a relaxed one with a fence at its side.
  if (acquires) takeIn(warp, scope);
  if (releases) fence(warp, scope);
  if (!writes) return;
  if (scope != Scope::cta && o.prepared) join(released[address], o.prepared);
  if (o.preparedCta) {
    auto &[block, knowledge] = releasedCta[address];
    if (block != warp.block.linear) knowledge.reset();
    block = warp.block.linear;
    join(knowledge, o.preparedCta);
  }
}

bool Races::ordered(const Warp &warp, uint32_t segment, bool &doubtful) const {
  const Segment &s = segments[segment];
  const WarpOrder &o = *warp.order;
  if (s.block == warp.block.linear) {
    if (s.warp == warp.index || (s.warp < o.known.size() && segment <= o.known[s.warp])) return true;
  }
  auto knows = [&](const std::shared_ptr<Knowledge> &k) {
    if (!k) return false;
    auto it = k->find(keyOf(s.block, s.warp));
    return it != k->end() && segment <= it->second;
  };
  if (knows(o.others)) return true;
  doubtful = knows(o.pending) || knows(o.pendingCta);
  return false;
}

template <class C>
bool Races::judge(Warp &warp, bool write, bool local, unsigned lane, const C &cell, uint32_t mine, bool &withWrite,
                  uint32_t &other, bool &doubtful) const {
  uint32_t segment = warp.order->segment;
  auto conflicts = [&](uint32_t stamp) {
    uint32_t s = segmentOf(stamp), theirs = strengthOf(stamp);
    if (s == segment) {
      if (laneOf(stamp) == lane && theirs != kManyWarps) return false;
    } else if (ordered(warp, s, doubtful)) {
      return false;
    }
    // Several readers are remembered without their strength.
    if (mine != kWeak && theirs == kManyWarps) return false;
    if (mine != kWeak && theirs != kWeak) {
      // Both strong: a race only where a scope leaves the other block out.
      bool sameBlock = segments[s].block == warp.block.linear;
      if (sameBlock || (mine == kStrong && theirs == kStrong)) return false;
    }
    return true;
  };
  if (cell.writer && conflicts(cell.writer)) {
    withWrite = true;
    other = cell.writer;
    return true;
  }
  if (!write || !cell.reader) return false;
  if (cell.reader == kManyBlocks) {
    withWrite = false;
    other = kManyBlocks;
    return mine == kWeak && !warp.order->others;
  }
  if (conflicts(cell.reader)) {
    withWrite = false;
    other = cell.reader;
    return true;
  }
  if constexpr (std::is_same_v<C, SharedCell>) {
    // Other warps that have read since `first`: certain only where nothing of them since then is known.
    for (uint32_t left = local ? cell.warps & ~(1u << warp.index) : 0; left; left &= left - 1) {
      auto w = static_cast<unsigned>(__builtin_ctz(left));
      if (w < warp.order->known.size() && warp.order->known[w] < cell.first && mine == kWeak) {
        withWrite = false;
        other = cell.reader;
        return true;
      }
    }
  }
  return false;
}

template bool Races::judge(Warp &, bool, bool, unsigned, const SharedCell &, uint32_t, bool &, uint32_t &,
                           bool &) const;
template bool Races::judge(Warp &, bool, bool, unsigned, const Cell &, uint32_t, bool &, uint32_t &, bool &) const;

void Races::record(Warp &warp, SharedCell &cell, const Block *owner, uint32_t stamp, bool write, bool &overlap) {
  if (write) {
    overlap |= cell.writer && segmentOf(cell.writer) == segmentOf(stamp) && laneOf(cell.writer) != laneOf(stamp);
    cell = {stamp, 0, 0, 0};
    return;
  }
  if (&warp.block != owner) { // of the readers of other blocks only the last is remembered
    cell.reader = stamp;
    return;
  }
  bool doubtful = false;
  if (cell.reader && segmentOf(cell.reader) != segmentOf(stamp) && ordered(warp, segmentOf(cell.reader), doubtful) &&
      !(cell.warps & (cell.warps - 1)))
    cell.warps = 0;
  // Warps leave a barrier with segments in any order, so the earliest number counts.
  cell.first = cell.warps ? std::min(cell.first, segmentOf(stamp)) : segmentOf(stamp);
  cell.warps |= 1u << (warp.index & 31);
  // A word that several lanes of one segment read is stamped so that no lane takes it for its own.
  bool shared = cell.reader && segmentOf(cell.reader) == segmentOf(stamp) && laneOf(cell.reader) != laneOf(stamp);
  cell.reader = shared ? (stamp & ~3u) | kManyWarps : stamp;
}

void Races::record(Warp &warp, Cell &cell, const Block *, uint32_t stamp, bool write, bool &overlap) {
  if (write) {
    overlap |= cell.writer && segmentOf(cell.writer) == segmentOf(stamp) && laneOf(cell.writer) != laneOf(stamp);
    cell.writer = stamp;
    cell.reader = 0;
    return;
  }
  if (cell.reader == kManyBlocks) return;
  uint32_t old = cell.reader;
  if (!old || segmentOf(old) == segmentOf(stamp)) {
    bool shared = old && (laneOf(old) != laneOf(stamp) || strengthOf(old) == kManyWarps);
    cell.reader = shared ? (stamp & ~3u) | kManyWarps : stamp;
    return;
  }
  bool doubtful = false;
  if (ordered(warp, segmentOf(old), doubtful))
    cell.reader = stamp;
  else if (segments[segmentOf(old)].block == warp.block.linear)
    cell.reader = (stamp & ~3u) | kManyWarps;
  else
    cell.reader = kManyBlocks;
}

Races::Page &Races::page(uint64_t number) {
  if (number == lastNumber) return *lastPage;
  std::unique_ptr<Page> &slot = pages[number];
  if (!slot) {
    slot = std::make_unique<Page>();
    slot->cells.resize(kPageBytes >> granule);
    tracked += slot->cells.size() * sizeof(Cell);
  }
  lastNumber = number;
  lastPage = slot.get();
  return *slot;
}

template <class C>
void Races::lane(Warp &warp, const Instr &instr, const Access &access, Places &places, unsigned lane, C *cells,
                 size_t count, uint32_t mine) {
  uint32_t stamp = warp.order->segment << 7 | lane << 2 | mine;
  bool overlap = false;
  for (size_t i = 0; i < count; ++i) {
    C &cell = cells[i];
    bool withWrite = false, doubtful = false;
    uint32_t other = 0;
    // What lanes of this very instruction have written is an overlap, which the store judges by value.
    if (instr.mods.nonCoherent && cell.writer) reportReadOnly(warp, instr, access, lane);
    bool ours = access.write && cell.writer && segmentOf(cell.writer) == warp.order->segment &&
                (places.stamped >> laneOf(cell.writer) & 1);
    if (!ours && (cell.writer || cell.reader) &&
        judge(warp, access.write, places.sharedOwner(lane) == &warp.block, lane, cell, mine, withWrite, other,
              doubtful)) {
      bool plainStore = access.write && !access.atomic && withWrite;
      if (plainStore) {
        places.conflict |= 1u << lane;
        places.conflictStamp = other;
        places.conflictDoubtful = doubtful;
      } else {
        report(warp, instr, access, lane, other, withWrite, doubtful);
      }
    }
    record(warp, cell, places.sharedOwner(lane), stamp, access.write, overlap);
  }
  if (overlap && !access.atomic) places.overlap = true;
}

void Races::access(Warp &warp, const Instr &instr, const Access &access, Places &places) {
  uint32_t mine = strength(access, instr);
  places.stamped = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(places.ok >> l & 1)) continue;
    const uint8_t *at = places.dense ? places.data + size_t{access.bytes} * l : places.lane[l];
    size_t count = std::max<size_t>(access.bytes >> granule, 1);
    Block *owner = places.sharedOwner(l);
    if (owner) {
      if (owner->sharedCells.empty()) owner->sharedCells.resize((owner->sharedData.size() >> granule) + 1);
      auto offset = static_cast<size_t>(at - owner->sharedData.data());
      lane(warp, instr, access, places, l, &owner->sharedCells[offset >> granule], count, mine);
    } else if (places.globalLanes >> l & 1) {
      uint64_t address = access.address[l];
      if (tracked > kMostTracked) return;
      Page &p = page(address / kPageBytes);
      (access.write ? p.writerInstr : p.readerInstr) = instr.index;
      lane(warp, instr, access, places, l, &p.cells[(address % kPageBytes) >> granule], count, mine);
    }
    places.stamped |= 1u << l;
  }
  const WarpOrder &o = *warp.order;
  bool plain = instr.mods.order == Order::relaxed || instr.mods.order == Order::isVolatile;
  if (mine != kWeak && access.ordering && !(plain && !o.preparedCta && released.empty() && releasedCta.empty())) {
    bool reads = !access.write || access.atomic;
    uint64_t previous = 0;
    bool any = false;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(places.ok >> l & 1) || (any && access.address[l] == previous)) continue;
      any = true;
      previous = access.address[l];
      strong(warp, previous, instr.mods.order, instr.mods.scope, reads, access.write);
    }
  }
}

void Races::report(Warp &warp, const Instr &instr, const Access &access, unsigned lane, uint32_t other, bool withWrite,
                   bool doubtful) {
  uint32_t bit = 1u << lane;
  Kind kind = isEngine(other) ? Kind::asyncCopy : Kind::race;
  Finding *f = worker.report(warp, instr, kind, bit, doubtful ? Severity::warning : Severity::error, "");
  if (!f) return;
  f->addresses.push_back(access.address[lane]);
  f->message = std::string(access.atomic  ? "atomic access"
                           : access.write ? "store"
                                          : "load") +
               " is not ordered with a " + (withWrite ? "store" : "load") + " of the same bytes by " + describe(other);
  if (doubtful) f->message += "; an acquire fence between the synchronising read and this access is missing";
  bool shared = instr.mods.space == Space::shared || spaceOf(access.address[lane]) == Space::sharedCluster;
  if (!shared) f->allocation = worker.launch.memory->describe(access.address[lane]);
}

void Races::reportReadOnly(Warp &warp, const Instr &instr, const Access &access, unsigned lane) {
  Finding *f = worker.report(warp, instr, Kind::readonlyCache, 1u << lane, Severity::error,
                             "a non-coherent load reads memory that this kernel has written");
  if (!f) return;
  f->addresses.push_back(access.address[lane]);
  f->allocation = worker.launch.memory->describe(access.address[lane]);
}

void Races::compare(Races &other) {
  for (auto &[number, page] : pages) {
    auto it = other.pages.find(number);
    if (it == other.pages.end()) continue;
    const Page &mine = *page, &theirs = *it->second;
    for (size_t i = 0; i < mine.cells.size(); ++i) {
      const Cell &a = mine.cells[i], &b = theirs.cells[i];
      bool writes = a.writer && (b.writer || b.reader), reads = b.writer && a.reader;
      if (!writes && !reads) continue;
      bool bothWrite = a.writer && b.writer;
      uint32_t at = a.writer ? mine.writerInstr : theirs.writerInstr;
      const Instr &instr = worker.launch.kernel->code[at];
      bool isNew = false;
      // Where each worker alone saw blocks store equal values only, so did both together.
      Finding &f = worker.findings.at(Kind::race, instr.index, isNew);
      if (!isNew) break;
      f.kind = Kind::race;
      f.kernel = worker.launch.kernel->name;
      f.line = instr.line;
      f.text = worker.launch.kernel->texts[instr.index];
      uint64_t address = number * kPageBytes + (i << granule);
      f.addresses.push_back(address);
      f.allocation = worker.launch.memory->describe(address);
      uint32_t sa = a.writer ? a.writer : a.reader, sb = b.writer ? b.writer : b.reader;
      f.message = std::string(bothWrite ? "two stores" : "a store and a load") +
                  " of the same bytes by different blocks are not ordered: " + describe(sa) + " and " +
                  other.describe(sb);
      break;
    }
  }
}

} // namespace stator::sim
