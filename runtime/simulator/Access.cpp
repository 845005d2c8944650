// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/Access.h"
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Traffic.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

namespace {

void complete(Finding *finding, const Access &access, uint32_t lanes, const std::string &where) {
  if (!finding) return;
  for (unsigned l = 0; l < kLanes && finding->addresses.size() < 8; ++l)
    if (lanes >> l & 1) finding->addresses.push_back(access.address[l]);
  finding->allocation = where;
}

const char *verb(const Access &access) { return access.atomic ? "atomic access" : access.write ? "store" : "load"; }

void reportFault(Warp &warp, const Instr &instr, const Access &access, unsigned lane, Fault fault) {
  Worker &worker = warp.worker;
  uint32_t bit = 1u << lane;
  std::string what = std::string(verb(access)) + " of " + std::to_string(access.bytes) + " bytes ";
  Kind kind = Kind::outOfBounds;
  switch (fault) {
  case Fault::freed:
    kind = Kind::useAfterFree;
    what += "in freed memory";
    break;
  case Fault::deadRegion:
    kind = Kind::useAfterFree;
    what += "in a tensor whose memory the plan has given away";
    break;
  case Fault::readOnly: what += "into constant memory"; break;
  case Fault::gap: what += "between tensors"; break;
  default: what += "outside every allocation"; break;
  }
  if (fault == Fault::pastEnd) what = std::string(verb(access)) + " runs past the end of an allocation";
  if (Finding *f = worker.report(warp, instr, kind, bit, Severity::error, what.c_str()))
    complete(f, access, bit, worker.launch.memory->describe(access.address[lane]));
}

void reportWindow(Warp &warp, const Instr &instr, const Access &access, unsigned lane, const std::string &where) {
  uint32_t bit = 1u << lane;
  std::string what = std::string(verb(access)) + " of " + std::to_string(access.bytes) + " bytes out of bounds";
  if (Finding *f = warp.worker.report(warp, instr, Kind::outOfBounds, bit, Severity::error, what.c_str()))
    complete(f, access, bit, where);
}

bool consecutive(const Access &access) {
  if (access.mask != kAllLanes) return false;
  uint64_t differs = 0, first = access.address[0];
  for (unsigned l = 0; l < kLanes; ++l) differs |= access.address[l] ^ (first + uint64_t{l} * access.bytes);
  return differs == 0;
}

void checkAlignment(Warp &warp, const Instr &instr, Access &access) {
  uint64_t low = 0;
  for (unsigned l = 0; l < kLanes; ++l) low |= access.mask >> l & 1 ? access.address[l] : 0;
  uint64_t most = access.bytes - 1;
  if (!(low & most)) return;
  uint32_t bad = 0;
  for (unsigned l = 0; l < kLanes; ++l)
    if ((access.mask >> l & 1) && (access.address[l] & most)) bad |= 1u << l;
  std::string what = std::string(verb(access)) + " of " + std::to_string(access.bytes) + " bytes is not aligned";
  if (Finding *f = warp.worker.report(warp, instr, Kind::misaligned, bad, Severity::error, what.c_str()))
    complete(f, access, bad, "");
  access.mask &= ~bad;
}

class Resolver {
public:
  Resolver(Warp &warp, const Instr &instr, Access &access, Places &places)
      : warp(warp), instr(instr), access(access), places(places) {}

  void run() {
    if (access.space == Space::generic) return generic();
    space(access.space, access.mask);
  }

private:
  void generic() {
    uint32_t todo = access.mask;
    while (todo) {
      auto first = static_cast<unsigned>(__builtin_ctz(todo));
      Space which = spaceOf(access.address[first]);
      uint32_t lanes = 0;
      for (unsigned l = first; l < kLanes; ++l)
        if ((todo >> l & 1) && spaceOf(access.address[l]) == which) lanes |= 1u << l;
      todo &= ~lanes;
      // A generic address of shared memory may lie in another block of the cluster.
      uint64_t window = windowOf(which);
      if (window)
        for (unsigned l = 0; l < kLanes; ++l)
          if (lanes >> l & 1) access.address[l] -= window;
      space(which, lanes);
      if (window)
        for (unsigned l = 0; l < kLanes; ++l)
          if (lanes >> l & 1) access.address[l] += window;
    }
  }

  void space(Space which, uint32_t lanes) {
    switch (which) {
    case Space::shared:
    case Space::sharedCluster: return shared(which, lanes);
    case Space::local: return local(lanes);
    case Space::param: return param(lanes);
    default: return global(lanes);
    }
  }

  void global(uint32_t lanes) {
    Worker &worker = warp.worker;
    places.globalLanes |= lanes;
    uint64_t first = access.address[0];
    if (lanes == kAllLanes && consecutive(access)) {
      Allocation *a = worker.lookUp(first);
      uint64_t bytes = uint64_t{access.bytes} * kLanes;
      if (a && Memory::check(*a, first, bytes, access.write) == Fault::none) {
        places.dense = true;
        places.data = a->data + (first - a->base);
        places.defined = a->defined ? a->defined + (first - a->base) : nullptr;
        places.ok = lanes;
        countDense(worker.memoryCounts[instr.index], first, bytes);
        worker.footprint.touch(first, bytes, !access.write || access.atomic, access.write || access.atomic);
        return;
      }
    }
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      uint64_t address = access.address[l];
      Allocation *a = worker.lookUp(address);
      Fault fault = a ? Memory::check(*a, address, access.bytes, access.write) : Fault::unmapped;
      if (fault != Fault::none) {
        reportFault(warp, instr, access, l, fault);
        continue;
      }
      places.lane[l] = a->data + (address - a->base);
      places.laneDefined[l] = a->defined ? a->defined + (address - a->base) : nullptr;
      places.ok |= 1u << l;
      worker.footprint.touch(address, access.bytes, !access.write || access.atomic, access.write || access.atomic);
    }
    countGlobal(worker.memoryCounts[instr.index], access.address, lanes, access.bytes);
  }

  void shared(Space which, uint32_t lanes) {
    Block &block = warp.block;
    uint64_t size = block.sharedData.size();
    uint64_t own = uint64_t{block.clusterRank} << kClusterShift;
    uint64_t first = access.address[0] - own;
    countShared(warp.worker.memoryCounts[instr.index], access.address, lanes, access.bytes);
    if (lanes == kAllLanes && consecutive(access) && first < size && uint64_t{access.bytes} * kLanes <= size - first) {
      places.dense = true;
      for (unsigned l = 0; l < kLanes; ++l) places.owner[l] = &block;
      places.sharedLanes = lanes;
      places.data = block.sharedData.data() + first;
      places.defined = block.sharedDefined.data() + first;
      places.ok = lanes;
      return;
    }
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      Block *owner = block.peer(static_cast<uint32_t>(access.address[l] >> kClusterShift));
      uint64_t offset = access.address[l] & ((1u << kClusterShift) - 1);
      if (!owner || offset >= size || access.bytes > size - offset) {
        reportWindow(warp, instr, access, l, sharedPlace(offset, owner != nullptr));
        continue;
      }
      if (owner != &block) {
        if (which == Space::shared) {
          reportWindow(warp, instr, access, l, "the address is another block's; .shared names the block's own memory");
          continue;
        }
        if (!owner->visitedBy(warp, instr)) {
          if (Finding *f = warp.worker.report(warp, instr, Kind::useAfterFree, 1u << l, Severity::error, ""))
            complete(f, access, 1u << l, "shared memory of a block of the cluster"),
                f->message = std::string(verb(access)) + " in shared memory of a block that has exited";
          continue;
        }
      }
      places.owner[l] = owner;
      places.sharedLanes |= 1u << l;
      places.lane[l] = owner->sharedData.data() + offset;
      places.laneDefined[l] = owner->sharedDefined.data() + offset;
      places.ok |= 1u << l;
    }
  }

  std::string sharedPlace(uint64_t offset, bool known) {
    uint64_t size = warp.block.sharedData.size();
    if (!known) return "no block of this rank is in the cluster";
    std::string text = "byte " + std::to_string(offset) + " of " + std::to_string(size) + " bytes of shared memory";
    const SharedVariable *best = nullptr;
    for (const SharedVariable &v : warp.kernel.shared)
      if (v.offset <= offset && (!best || v.offset >= best->offset)) best = &v;
    return best ? text + ", beyond '" + best->name + "' (" + std::to_string(best->bytes) + " bytes)" : text;
  }

  void local(uint32_t lanes) {
    Block &block = warp.block;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      unsigned thread = warp.index * kLanes + l;
      uint8_t *p = block.local(thread, access.address[l], access.bytes);
      if (!p) {
        reportWindow(warp, instr, access, l,
                     "the thread has " + std::to_string(warp.kernel.localBytes) + " bytes of local memory");
        continue;
      }
      places.lane[l] = p;
      places.laneDefined[l] = block.localInit(thread, access.address[l]);
      places.ok |= 1u << l;
    }
  }

  void param(uint32_t lanes) {
    const auto &params = warp.block.launch.params;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(lanes >> l & 1)) continue;
      uint64_t at = access.address[l];
      if (access.write || at >= params.size() || access.bytes > params.size() - at) {
        reportWindow(warp, instr, access, l,
                     "the kernel has " + std::to_string(params.size()) +
                         " bytes of parameters, which cannot be written");
        continue;
      }
      places.lane[l] = const_cast<uint8_t *>(params.data()) + at;
      places.laneDefined[l] = nullptr;
      places.ok |= 1u << l;
    }
  }

  Warp &warp;
  const Instr &instr;
  Access &access;
  Places &places;
};

} // namespace

void gatherAddresses(Warp &warp, const Instr &instr, uint32_t mask, Access &access) {
  uint32_t bad = warp.poison[instr.a.poison] & mask;
  if (bad) {
    warp.worker.report(warp, instr, Kind::uninitialised, bad, Severity::error, "an address is undefined");
    mask &= ~bad;
  }
  access.mask = mask;
  if (instr.wideAddress) {
    const auto *base = warp.lanes<uint64_t>(instr.a);
    for (unsigned l = 0; l < kLanes; ++l) access.address[l] = base[l] + static_cast<uint64_t>(instr.offset);
  } else {
    const auto *base = warp.lanes<uint32_t>(instr.a);
    auto offset = static_cast<uint32_t>(instr.offset);
    for (unsigned l = 0; l < kLanes; ++l) access.address[l] = static_cast<uint32_t>(base[l] + offset);
  }
  access.space = instr.mods.space;
  access.bytes = uint32_t{instr.bytes} * instr.mods.vector;
}

void resolve(Warp &warp, const Instr &instr, Access &access, Places &places) {
  checkAlignment(warp, instr, access);
  places.ok = 0;
  if (!access.mask) return;
  Resolver(warp, instr, access, places).run();
  if (warp.order) warp.worker.races->access(warp, instr, access, places);
}

uint32_t inFlightLanes(const Places &p, const Access &access) {
  uint32_t lanes = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(p.ok & p.sharedLanes & 1u << l)) continue;
    const uint8_t *defined = p.dense ? p.defined + size_t{access.bytes} * l : p.laneDefined[l];
    for (uint32_t b = 0; b < access.bytes; ++b)
      if (defined[b] & (kInFlight | kMbarrierByte)) lanes |= 1u << l;
    Block *owner = p.owner[l];
    if (access.write && !owner->asyncReaders.empty()) {
      const uint8_t *at = p.dense ? p.data + size_t{access.bytes} * l : p.lane[l];
      if (owner->beingRead(static_cast<uint64_t>(at - owner->sharedData.data()), access.bytes)) lanes |= 1u << l;
    }
  }
  return lanes;
}

void reportInFlight(Warp &warp, const Instr &instr, const Access &access, const Places &p, uint32_t lanes) {
  auto l = static_cast<unsigned>(__builtin_ctz(lanes));
  const uint8_t *defined = p.dense ? p.defined + size_t{access.bytes} * l : p.laneDefined[l];
  uint8_t all = 0;
  for (uint32_t b = 0; b < access.bytes; ++b) all |= defined[b];
  std::string what = std::string(verb(access));
  Kind kind = all & kMbarrierByte ? Kind::mbarrier : Kind::asyncCopy;
  if (all & kMbarrierByte)
    what += " of bytes of an mbarrier object";
  else if (all & kInFlight)
    what += " of bytes that an asynchronous copy is writing: its completion has not been waited for";
  else
    what += " of bytes that an asynchronous operation is still reading";
  if (Finding *f = warp.worker.report(warp, instr, kind, lanes, Severity::error, what.c_str()))
    complete(f, access, lanes, "");
}

void reportStoreConflicts(Warp &warp, const Instr &instr, const Access &access, const Places &places, uint32_t same) {
  if (uint32_t differ = places.conflict & ~same) {
    Kind kind = warp.worker.races->isEngine(places.conflictStamp) ? Kind::asyncCopy : Kind::race;
    if (Finding *f = warp.worker.report(warp, instr, kind, differ, Severity::error, ""))
      complete(f, access, differ,
               places.globalLanes & differ ? warp.worker.launch.memory->describe(access.address[__builtin_ctz(differ)])
                                           : ""),
          f->message = "store is not ordered with a store of the same bytes by " +
                       warp.worker.races->describe(places.conflictStamp);
  } else if (places.conflict) {
    if (Finding *f = warp.worker.report(warp, instr, Kind::race, places.conflict, Severity::warning, ""))
      complete(f, access, places.conflict, ""),
          f->message = "unordered stores of one value to the same bytes, the other by " +
                       warp.worker.races->describe(places.conflictStamp);
  }
}

} // namespace stator::sim
