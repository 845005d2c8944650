// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp collectives: shfl, vote, redux, match, activemask, elect. The lanes of a member mask meet here even when they
// come from different instructions; each part then writes its own destination.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>

namespace stator::sim {

namespace {

/// Can a group still come to an instruction of the same kind?
bool canMeet(Warp &w, const Instr &i, const Group &g) {
  if (g.wait == Wait::gather || w.kernel.reaches(g.pc, i.index)) return true;
  for (const Instr &other : w.kernel.code)
    if (other.row == i.row && other.index != i.index && w.kernel.reaches(g.pc, other.index)) return true;
  return false;
}

/// Calls `body(parts, members)` for each set of lanes whose member mask (in slot `maskSlot` of their instruction) is
/// complete; lanes of incomplete sets are parked.
template <class F> void meet(Warp &w, const Instr &i, uint32_t mask, Slot maskSlot, F body) {
  const auto *members = w.lanes<uint32_t>(maskSlot);
  uint32_t bad = w.poison[maskSlot.poison] & mask;
  if (bad) w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "a member mask is undefined");
  uint32_t todo = mask;
  while (todo) {
    auto first = static_cast<unsigned>(__builtin_ctz(todo));
    uint32_t key = members[first], lanes = 0;
    for (unsigned l = first; l < kLanes; ++l)
      if ((todo >> l & 1) && members[l] == key) lanes |= 1u << l;
    todo &= ~lanes;
    if (uint32_t outside = lanes & ~key; outside) {
      w.worker.report(w, i, Kind::shuffle, outside, Severity::error, "a lane is not in its own member mask");
      continue;
    }
    if (uint32_t missing = key & ~w.existing; missing)
      w.worker.report(w, i, Kind::shuffle, missing, Severity::error, "the member mask names lanes that do not exist");
    uint32_t need = key & w.live;
    if (lanes != need) {
      w.isolate(mask, i.index + 1);
      // A lane that can only run to its end will never come.
      uint32_t lost = 0;
      for (const Group &g : w.allGroups())
        if ((g.mask & need & ~lanes) && !canMeet(w, i, g)) lost |= g.mask & need & ~lanes;
      if (lost) {
        w.worker.report(w, i, Kind::shuffle, lost, Severity::error,
                        "lanes that the member mask names can never arrive at such an instruction");
        w.worker.abort();
        return;
      }
    }
    Parts parts;
    if (!w.gather(i, lanes, key, need, parts)) continue;
    body(parts, key);
  }
}

enum class Shuffle { up, down, bfly, idx };

template <Shuffle Mode> void shuffle(Warp &w, const Instr &i, uint32_t mask) {
  meet(w, i, mask, i.e, [&](const Parts &parts, uint32_t) {
    uint32_t all = parts.all(), value[kLanes], undefined = 0;
    uint32_t b[kLanes], c[kLanes], badControl = 0;
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      const auto *a = w.lanes<uint32_t>(p.a), *pb = w.lanes<uint32_t>(p.b), *pc = w.lanes<uint32_t>(p.c);
      undefined |= w.poison[p.a.poison] & parts.part[k].mask;
      badControl |= (w.poison[p.b.poison] | w.poison[p.c.poison]) & parts.part[k].mask;
      for (unsigned l = 0; l < kLanes; ++l)
        if (parts.part[k].mask >> l & 1) value[l] = a[l], b[l] = pb[l], c[l] = pc[l];
    }
    uint32_t result[kLanes], inRange = 0, poisoned = badControl;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(all >> l & 1)) continue;
      uint32_t bval = b[l] & 31, cval = c[l] & 31, segment = c[l] >> 8 & 31;
      uint32_t maxLane = (l & segment) | (cval & ~segment), minLane = l & segment;
      int32_t j = 0;
      bool p = false;
      auto lane = static_cast<int32_t>(l);
      auto top = static_cast<int32_t>(maxLane);
      switch (Mode) {
      case Shuffle::up:
        j = lane - static_cast<int32_t>(bval);
        p = j >= top;
        break;
      case Shuffle::down:
        j = lane + static_cast<int32_t>(bval);
        p = j <= top;
        break;
      case Shuffle::bfly:
        j = lane ^ static_cast<int32_t>(bval);
        p = j <= top;
        break;
      case Shuffle::idx:
        j = static_cast<int32_t>(minLane | (bval & ~segment & 31));
        p = j <= top;
        break;
      }
      if (!p)
        j = lane;
      else
        inRange |= 1u << l;
      // A source that is not among the executing lanes gives an undefined value.
      if (!(all >> j & 1)) {
        result[l] = 0;
        poisoned |= 1u << l;
      } else {
        result[l] = value[j];
        poisoned |= (undefined >> j & 1) << l;
      }
    }
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      uint32_t lanes = parts.part[k].mask;
      auto *d = w.lanes<uint32_t>(p.d);
      for (unsigned l = 0; l < kLanes; ++l)
        if (lanes >> l & 1) d[l] = result[l];
      w.define(p.d, lanes, poisoned);
      if (p.f.poison) {
        uint32_t &q = w.predicate(p.f);
        q = (q & ~lanes) | (inRange & lanes);
        w.define(p.f, lanes, badControl);
      }
    }
  });
}
void decodeShuffle(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 5, 5);
  instr.d = decoder.pair(s.operands[0], 4, instr.f);
  instr.a = decoder.source(s.operands[1], 4);
  instr.b = decoder.source(s.operands[2], 4);
  instr.c = decoder.source(s.operands[3], 4);
  instr.e = decoder.source(s.operands[4], 4);
}

enum class Vote { all, any, uni, ballot };

template <Vote Mode> void vote(Warp &w, const Instr &i, uint32_t mask) {
  meet(w, i, mask, i.b, [&](const Parts &parts, uint32_t) {
    uint32_t all = parts.all(), value = 0, undefined = 0;
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      value |= (w.predicate(p.a) ^ (p.negated & 1 ? kAllLanes : 0)) & parts.part[k].mask;
      undefined |= w.poison[p.a.poison] & parts.part[k].mask;
    }
    bool result = Mode == Vote::all ? value == all : Mode == Vote::any ? value != 0 : value == all || value == 0;
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      uint32_t lanes = parts.part[k].mask;
      if (Mode == Vote::ballot) {
        auto *d = w.lanes<uint32_t>(p.d);
        for (unsigned l = 0; l < kLanes; ++l)
          if (lanes >> l & 1) d[l] = value;
      } else {
        uint32_t &d = w.predicate(p.d);
        d = result ? d | lanes : d & ~lanes;
      }
      w.define(p.d, lanes, undefined ? kAllLanes : 0);
    }
  });
}
void decodeVote(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 3, 3);
  bool ballot = instr.mods.types[0] == Type::b32;
  instr.d = ballot ? decoder.destination(s.operands[0], 4) : decoder.predicate(s.operands[0], true);
  instr.a = decoder.predicate(s.operands[1], false);
  instr.negated = s.operands[1].negated;
  instr.b = decoder.source(s.operands[2], 4);
}

struct Plus {
  template <class T> T operator()(T a, T b) const {
    return static_cast<T>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
  }
};
struct Least {
  template <class T> T operator()(T a, T b) const { return std::min(a, b); }
};
struct Most {
  template <class T> T operator()(T a, T b) const { return std::max(a, b); }
};
struct AndBits {
  template <class T> T operator()(T a, T b) const { return a & b; }
};
struct OrBits {
  template <class T> T operator()(T a, T b) const { return a | b; }
};
struct XorBits {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};

template <class T, class F> void redux(Warp &w, const Instr &i, uint32_t mask) {
  meet(w, i, mask, i.b, [&](const Parts &parts, uint32_t) {
    bool first = true;
    T total{};
    uint32_t undefined = 0;
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      const T *a = w.lanes<T>(p.a);
      undefined |= w.poison[p.a.poison] & parts.part[k].mask;
      for (unsigned l = 0; l < kLanes; ++l)
        if (parts.part[k].mask >> l & 1) {
          total = first ? a[l] : F{}(total, a[l]);
          first = false;
        }
    }
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      T *d = w.lanes<T>(p.d);
      for (unsigned l = 0; l < kLanes; ++l)
        if (parts.part[k].mask >> l & 1) d[l] = total;
      w.define(p.d, parts.part[k].mask, undefined ? kAllLanes : 0);
    }
  });
}

template <class T, bool All> void match(Warp &w, const Instr &i, uint32_t mask) {
  meet(w, i, mask, i.b, [&](const Parts &parts, uint32_t) {
    T value[kLanes];
    uint32_t all = parts.all(), undefined = 0;
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      const T *a = w.lanes<T>(p.a);
      undefined |= w.poison[p.a.poison] & parts.part[k].mask;
      for (unsigned l = 0; l < kLanes; ++l)
        if (parts.part[k].mask >> l & 1) value[l] = a[l];
    }
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      uint32_t lanes = parts.part[k].mask;
      auto *d = w.lanes<uint32_t>(p.d);
      uint32_t same = 0;
      for (unsigned l = 0; l < kLanes; ++l) {
        if (!(lanes >> l & 1)) continue;
        uint32_t equal = 0;
        for (unsigned m = 0; m < kLanes; ++m) equal |= (all >> m & 1) && value[m] == value[l] ? 1u << m : 0;
        if (equal == all) same |= 1u << l;
        d[l] = All && equal != all ? 0 : equal;
      }
      w.define(p.d, lanes, undefined ? kAllLanes : 0);
      if (p.f.poison) {
        uint32_t &q = w.predicate(p.f);
        q = (q & ~lanes) | (same & lanes);
        w.define(p.f, lanes, undefined ? kAllLanes : 0);
      }
    }
  });
}
void decodeMatch(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 3, 3);
  unsigned bytes = instr.mods.types[0] == Type::b64 ? 8 : 4;
  instr.d = decoder.pair(s.operands[0], 4, instr.f);
  instr.a = decoder.source(s.operands[1], bytes);
  instr.b = decoder.source(s.operands[2], 4);
}

void activemask(Warp &w, const Instr &i, uint32_t mask) {
  auto *d = w.lanes<uint32_t>(i.d);
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask >> l & 1) d[l] = mask;
  w.define(i.d, mask, 0);
}

/// elect.sync d|p, membermask: the lowest lane is the leader.
void elect(Warp &w, const Instr &i, uint32_t mask) {
  meet(w, i, mask, i.a, [&](const Parts &parts, uint32_t) {
    auto leader = static_cast<uint32_t>(__builtin_ctz(parts.all()));
    for (unsigned k = 0; k < parts.count; ++k) {
      const Instr &p = *parts.part[k].instr;
      uint32_t lanes = parts.part[k].mask;
      auto *d = w.lanes<uint32_t>(p.d);
      for (unsigned l = 0; l < kLanes; ++l)
        if (lanes >> l & 1) d[l] = leader;
      w.define(p.d, lanes, 0);
      uint32_t &q = w.predicate(p.f);
      q = (q & ~lanes) | (1u << leader & lanes);
      w.define(p.f, lanes, 0);
    }
  });
}
void decodeElect(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 2, 2);
  instr.d = decoder.pair(s.operands[0], 4, instr.f);
  instr.a = decoder.source(s.operands[1], 4);
}

constexpr OpClass kWarp = OpClass::collective;

const Row kRows[] = {
    {"shfl.sync.up.b32", nullptr, shuffle<Shuffle::up>, kWarp, decodeShuffle},
    {"shfl.sync.down.b32", nullptr, shuffle<Shuffle::down>, kWarp, decodeShuffle},
    {"shfl.sync.bfly.b32", nullptr, shuffle<Shuffle::bfly>, kWarp, decodeShuffle},
    {"shfl.sync.idx.b32", nullptr, shuffle<Shuffle::idx>, kWarp, decodeShuffle},
    {"vote.sync.all.pred", nullptr, vote<Vote::all>, kWarp, decodeVote},
    {"vote.sync.any.pred", nullptr, vote<Vote::any>, kWarp, decodeVote},
    {"vote.sync.uni.pred", nullptr, vote<Vote::uni>, kWarp, decodeVote},
    {"vote.sync.ballot.b32", nullptr, vote<Vote::ballot>, kWarp, decodeVote},
    {"redux.sync.add.u32|s32", "www", redux<uint32_t, Plus>, kWarp},
    {"redux.sync.min.u32", "www", redux<uint32_t, Least>, kWarp},
    {"redux.sync.min.s32", "www", redux<int32_t, Least>, kWarp},
    {"redux.sync.max.u32", "www", redux<uint32_t, Most>, kWarp},
    {"redux.sync.max.s32", "www", redux<int32_t, Most>, kWarp},
    {"redux.sync.and.b32", "www", redux<uint32_t, AndBits>, kWarp},
    {"redux.sync.or.b32", "www", redux<uint32_t, OrBits>, kWarp},
    {"redux.sync.xor.b32", "www", redux<uint32_t, XorBits>, kWarp},
    {"match.any.sync.b32", nullptr, match<uint32_t, false>, kWarp, decodeMatch},
    {"match.any.sync.b64", nullptr, match<uint64_t, false>, kWarp, decodeMatch},
    {"match.all.sync.b32", nullptr, match<uint32_t, true>, kWarp, decodeMatch},
    {"match.all.sync.b64", nullptr, match<uint64_t, true>, kWarp, decodeMatch},
    {"activemask.b32", "w", activemask, kWarp},
    {"elect.sync", nullptr, elect, kWarp, decodeElect},
};

} // namespace

Rows collectiveRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
