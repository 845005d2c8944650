// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier.* and cp.async.mbarrier.arrive.
#include "runtime/simulator/Access.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/AsyncEngine.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstring>

namespace stator::sim {

namespace {

constexpr uint32_t kDrop = 1, kExpect = 2, kNoComplete = 4, kHasCount = 8, kParity = 16, kTry = 32, kNoIncrement = 64,
                   kRelaxed = 128;

/// Checks the eight bytes of the lanes' objects like an atomic access, and calls `f(lane, place)` for each lane whose
/// object exists. `write`: an ordinary write instead, for init and inval; objects need not exist.
template <class F> void each(Warp &w, const Instr &i, uint32_t mask, bool plain, F f) {
  Access access;
  Places p;
  gatherAddresses(w, i, mask, access);
  access.bytes = 8;
  access.write = true;
  access.atomic = !plain;
  access.ordering = false;
  resolve(w, i, access, p);
  if (p.conflict) reportStoreConflicts(w, i, access, p, 0);
  if (uint32_t outside = p.ok & ~p.sharedLanes)
    w.worker.report(w, i, Kind::mbarrier, outside, Severity::error, "an mbarrier lies in shared memory");
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(p.ok & p.sharedLanes & 1u << l)) continue;
    const uint8_t *at = p.dense ? p.data + 8 * l : p.lane[l];
    MbarrierPlace place{p.owner[l], static_cast<uint32_t>(at - p.owner[l]->sharedData.data()), nullptr};
    if (!plain && !(place.object = mbarrierAt(w, i, l, *place.home, place.offset))) continue;
    f(l, place);
  }
}

void init(Warp &w, const Instr &i, uint32_t mask) {
  each(w, i, mask, true, [&](unsigned l, MbarrierPlace place) {
    uint32_t count = w.lanes<uint32_t>(i.b)[l];
    if (w.poison[i.b.poison] >> l & 1)
      w.worker.report(w, i, Kind::uninitialised, 1u << l, Severity::error, "an arrival count is undefined");
    if (place.home->mbarriers.count(place.offset))
      w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error,
                      "an mbarrier is initialised again without mbarrier.inval before");
    if (count == 0 || count > Mbarrier::kMost)
      w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error, "an arrival count is outside 1..2^20-1");
    Mbarrier &m = place.home->mbarriers[place.offset];
    m = Mbarrier();
    m.expected = m.pending = count ? count : 1;
    m.engine = place.home->barrierEngine();
    ++place.home->enginesGiven;
    std::memset(place.home->sharedDefined.data() + place.offset, kMbarrierByte, 8);
  });
  ++w.worker.changes;
}

void invalidate(Warp &w, const Instr &i, uint32_t mask) {
  each(w, i, mask, true, [&](unsigned l, MbarrierPlace place) {
    if (!mbarrierAt(w, i, l, *place.home, place.offset)) return;
    for (auto &op : place.home->group->operations)
      for (const AsyncOp::Signal &s : op->signals)
        if (s.barrier.home == place.home && s.barrier.offset == place.offset)
          w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error,
                          "an mbarrier is made invalid while an asynchronous operation will still signal it");
    place.home->mbarriers.erase(place.offset);
    std::memset(place.home->sharedDefined.data() + place.offset, 0, 8);
  });
  ++w.worker.changes;
}

void arrive(Warp &w, const Instr &i, uint32_t mask) {
  uint32_t used = (i.tag & (kExpect | kHasCount) ? w.poison[i.b.poison] : 0) & mask;
  if (used) w.worker.report(w, i, Kind::uninitialised, used, Severity::error, "a count is undefined");
  bool returns = i.d.data != 0;
  each(w, i, mask, false, [&](unsigned l, MbarrierPlace place) {
    uint32_t operand = w.lanes<uint32_t>(i.b)[l], count = i.tag & kHasCount ? operand : 1;
    uint64_t token = place.object->token();
    if (!(i.tag & kRelaxed) && w.order) w.worker.races->release(w, place.object->arriving, *place.home);
    if (i.tag & kExpect) addBytes(w, i, l, place, operand);
    if (i.tag & kNoComplete && count >= place.object->pending)
      w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error, "an arrival .noComplete completes the phase");
    arriveAt(w, i, l, place, count, i.tag & kDrop);
    if (returns) w.lanes<uint64_t>(i.d)[l] = token;
  });
  if (returns) w.define(i.d, mask, 0);
}

/// mbarrier.expect_tx and complete_tx (offset: sign).
void changeBytes(Warp &w, const Instr &i, uint32_t mask) {
  if (uint32_t bad = w.poison[i.b.poison] & mask)
    w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "a byte count is undefined");
  each(w, i, mask, false, [&](unsigned l, MbarrierPlace place) {
    addBytes(w, i, l, place, int64_t{w.lanes<uint32_t>(i.b)[l]} * (i.tag & kExpect ? 1 : -1));
  });
}

/// mbarrier.test_wait and try_wait. All lanes that ask must be answered alike before a try waits.
void test(Warp &w, const Instr &i, uint32_t mask) {
  if (uint32_t bad = w.poison[i.b.poison] & mask)
    w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "a phase is undefined");
  uint32_t done = 0, asked = 0, key = 0;
  bool onePlace = true;
  each(w, i, mask, false, [&](unsigned l, MbarrierPlace place) {
    Mbarrier &m = *place.object;
    if (place.home != &w.block) {
      w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error, "a block waits at its own mbarriers only");
      return;
    }
    bool over;
    if (i.tag & kParity) {
      uint32_t parity = w.lanes<uint32_t>(i.b)[l];
      if (parity > 1) w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error, "a parity is 0 or 1");
      over = (m.phase & 1) != (parity & 1);
    } else {
      uint64_t phase = w.lanes<uint64_t>(i.b)[l] >> 20;
      over = phase < m.phase;
      if (phase > m.phase || phase + 1 < m.phase)
        w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error,
                        "a wait names a phase that is neither the current nor the preceding one");
    }
    onePlace &= !asked || key == place.offset;
    key = place.offset;
    asked |= 1u << l;
    if (!over) return;
    if (!(i.tag & kRelaxed) && w.order && !done) w.worker.races->acquire(w, m.completed, w.block);
    done |= 1u << l;
  });
  bool waits = (i.tag & kTry) && onePlace && asked == mask && !done;
  if (waits && w.lastTry == i.index && !(w.block.launch.settings->schedule && w.worker.random() % 4 == 0)) {
    w.isolate(mask, i.index + 1);
    return w.parkAt(i, mask, Wait::mbarrier, key);
  }
  w.lastTry = done ? kAllLanes : i.index;
  uint32_t &p = w.predicate(i.d);
  p = (p & ~mask) | done;
  w.define(i.d, mask, 0);
}

/// cp.async.mbarrier.arrive: arrives when the lane's copies so far are over.
void arriveCopies(Warp &w, const Instr &i, uint32_t mask) {
  each(w, i, mask, false, [&](unsigned l, MbarrierPlace place) {
    if (!(i.tag & kNoIncrement)) {
      // The arrival to come is one more than the phase was told to expect.
      if (place.object->pending == Mbarrier::kMost)
        w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error, "the pending count leaves its range");
      else
        ++place.object->pending;
    }
    auto op = std::make_unique<AsyncOp>();
    op->instr = &i;
    op->lane = l;
    op->arrivals = 1u << l;
    op->serial = w.async ? w.async->issued : 0;
    op->signals.push_back({place, 1, 0});
    issue(w, std::move(op));
  });
}

void pendingCount(Warp &w, const Instr &i, uint32_t mask) {
  const auto *state = w.lanes<uint64_t>(i.a);
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask >> l & 1) w.lanes<uint32_t>(i.d)[l] = static_cast<uint32_t>(state[l] & Mbarrier::kMost);
  w.define(i.d, mask, w.poison[i.a.poison]);
}

void decode(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  auto has = [&](const char *text) {
    for (const std::string &m : s.modifiers)
      if (m == text) return true;
    return false;
  };
  decoder.result().usesAsync = true;
  decoder.result().usesPartialBarriers = true;
  const std::string &what = s.opcode == "cp" ? s.opcode : s.modifiers[0];
  instr.mods.order = Order::weak; // the phases keep the order, not the addresses
  instr.tag = has("relaxed") ? kRelaxed : 0;
  if (has("noinc")) instr.tag |= kNoIncrement;
  if (has("noComplete")) instr.tag |= kNoComplete;
  if (what == "init") {
    decoder.expectOperands(s, 2, 2);
    instr.b = decoder.source(s.operands[1], 4);
  } else if (what == "inval" || what == "cp") {
    decoder.expectOperands(s, 1, 1);
  } else if (what == "expect_tx" || what == "complete_tx") {
    decoder.expectOperands(s, 2, 2);
    if (what == "expect_tx") instr.tag |= kExpect;
    instr.b = decoder.source(s.operands[1], 4);
  } else if (what == "arrive" || what == "arrive_drop") {
    if (what == "arrive_drop") instr.tag |= kDrop;
    bool expect = has("expect_tx");
    // With a result first, or without one (then the first operand is the address).
    size_t at = !s.operands.empty() && s.operands[0].kind != ptx::Operand::Kind::address;
    decoder.expectOperands(s, at + 1 + expect, at + 2);
    if (at && s.operands[0].kind != ptx::Operand::Kind::sink) instr.d = decoder.destination(s.operands[0], 8);
    if (s.operands.size() > at + 1) {
      instr.b = decoder.source(s.operands[at + 1], 4);
      instr.tag |= expect ? kExpect : kHasCount;
    }
    decoder.address(s.operands[at], instr);
    instr.bytes = 8;
    return;
  } else {
    instr.tag |= (what == "try_wait" ? kTry : 0) | (has("parity") ? kParity : 0);
    decoder.expectOperands(s, 3, what == "try_wait" ? 4 : 3);
    instr.d = decoder.predicate(s.operands[0], true);
    decoder.address(s.operands[1], instr);
    instr.b = decoder.source(s.operands[2], has("parity") ? 4 : 8);
    instr.bytes = 8;
    return;
  }
  decoder.address(s.operands[0], instr);
  instr.bytes = 8;
}

constexpr OpClass kBarrier = OpClass::barrier;
#define STATOR_SIM_SHARED "shared|shared::cta?"
#define STATOR_SIM_ANY "shared|shared::cta|shared::cluster?"

const Row kRows[] = {
    {"mbarrier.init." STATOR_SIM_SHARED ".b64", nullptr, init, kBarrier, decode},
    {"mbarrier.inval." STATOR_SIM_SHARED ".b64", nullptr, invalidate, kBarrier, decode},
    {"mbarrier.arrive|arrive_drop.expect_tx?.noComplete?.release|relaxed?.cta|cluster?." STATOR_SIM_ANY ".b64", nullptr,
     arrive, kBarrier, decode},
    {"mbarrier.expect_tx|complete_tx.relaxed?.cta|cluster?." STATOR_SIM_ANY ".b64", nullptr, changeBytes, kBarrier,
     decode},
    {"mbarrier.test_wait|try_wait.parity?.acquire|relaxed?.cta|cluster?." STATOR_SIM_SHARED ".b64", nullptr, test,
     kBarrier, decode},
    {"mbarrier.pending_count.b64", "wd", pendingCount, OpClass::integer},
    {"cp.async.mbarrier.arrive.noinc?." STATOR_SIM_SHARED ".b64", nullptr, arriveCopies, OpClass::asyncCopy, decode},
};

} // namespace

Rows mbarrierRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
