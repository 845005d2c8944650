// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers of the block, warp barriers, fences.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/ops/Aligned.h"
#include "runtime/simulator/ops/Tables.h"

namespace stator::sim {

namespace {

constexpr int64_t kAligned = 1, kArrive = 2, kReduce = 4;

/// The one value that all lanes of `mask` hold in `slot`; reports when they differ.
bool uniformValue(Warp &w, const Instr &i, Slot slot, uint32_t mask, uint32_t &value) {
  const auto *lanes = w.lanes<uint32_t>(slot);
  uint32_t bad = w.poison[slot.poison] & mask;
  value = lanes[__builtin_ctz(mask)];
  bool same = true;
  for (unsigned l = 0; l < kLanes; ++l) same &= !(mask >> l & 1) || lanes[l] == value;
  if (bad || !same) {
    w.worker.report(w, i, bad ? Kind::uninitialised : Kind::barrier, bad ? bad : mask, Severity::error,
                    bad ? "a barrier's number or count is undefined"
                        : "lanes of a warp name different barriers or counts");
    return false;
  }
  return true;
}

void barrier(Warp &w, const Instr &i, uint32_t mask) {
  bool aligned = i.offset & kAligned, arrive = i.offset & kArrive, reduce = i.offset & kReduce;
  if (aligned) {
    if (!convergeAligned(w, i, mask)) return;
  } else if (mask != w.live) {
    Parts parts;
    if (!w.gather(i, mask, 0, w.live, parts)) return;
    // The parts stand at different instructions; the block's barrier needs one group, which goes on behind this one.
    if (parts.count > 1) {
      bool same = true;
      for (unsigned k = 0; k < parts.count; ++k) same &= parts.part[k].instr == &i;
      if (!same) {
        w.worker.report(w, i, Kind::barrier, mask, Severity::error,
                        "lanes of a warp arrive at one barrier from different instructions");
        w.worker.abort();
        return;
      }
    }
    mask = parts.all();
    w.regroup(i, mask);
  }
  uint32_t id = 0, count = 0;
  if (!uniformValue(w, i, i.a, mask, id) || (i.tag & 0x100 && !uniformValue(w, i, i.b, mask, count))) return;
  if (id > 15) {
    w.worker.report(w, i, Kind::barrier, mask, Severity::error, "a block has barriers 0 to 15");
    return;
  }
  if (i.tag & 0x100 && (count == 0 || count % kLanes || count > w.block.warps.size() * kLanes)) {
    if (Finding *f = w.worker.report(w, i, Kind::barrier, mask, Severity::error, ""))
      f->message = "a barrier's thread count is " + std::to_string(count) +
                   "; it must be a positive multiple of 32 up to the block's size";
    return;
  }
  uint32_t p = 0;
  if (reduce) {
    uint32_t bad = w.poison[i.c.poison] & mask;
    if (bad) w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "a reduced predicate is undefined");
    p = w.predicate(i.c) ^ (i.negated & 1 ? kAllLanes : 0);
  }
  w.block.arrive(w, i, mask, id, count, !arrive, reduce ? BarrierState::Use::reduce : BarrierState::Use::sync, p);
}

void decodeBarrier(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  bool arrive = false, reduce = false, aligned = s.opcode == "bar";
  for (const std::string &m : s.modifiers) {
    arrive |= m == "arrive";
    reduce |= m == "red";
    aligned |= m == "aligned";
    if (m == "and") instr.tag = 1;
    if (m == "or") instr.tag = 2;
  }
  instr.offset = (aligned ? kAligned : 0) | (arrive ? kArrive : 0) | (reduce ? kReduce : 0);
  decoder.expectOperands(s, reduce ? 3 : arrive ? 2 : 1, reduce ? 4 : 2);
  size_t at = 0;
  if (reduce) {
    instr.d = instr.tag == 0 ? decoder.destination(s.operands[at], 4) : decoder.predicate(s.operands[at], true);
    ++at;
  }
  instr.a = decoder.source(s.operands[at++], 4);
  size_t left = s.operands.size() - at;
  if (left > (reduce ? 1u : 0u)) {
    instr.b = decoder.source(s.operands[at++], 4);
    instr.tag |= 0x100; // a count is given
  }
  if (reduce) {
    instr.c = decoder.predicate(s.operands[at], false);
    instr.negated = s.operands[at].negated;
  }
  decoder.result().usesPartialBarriers |= instr.tag & 0x100;
}

void warpBarrier(Warp &w, const Instr &i, uint32_t mask) {
  const auto *members = w.lanes<uint32_t>(i.d);
  uint32_t bad = w.poison[i.d.poison] & mask;
  if (bad) w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "a member mask is undefined");
  uint32_t todo = mask;
  while (todo) {
    auto first = static_cast<unsigned>(__builtin_ctz(todo));
    uint32_t key = members[first], lanes = 0;
    for (unsigned l = first; l < kLanes; ++l)
      if ((todo >> l & 1) && members[l] == key) lanes |= 1u << l;
    todo &= ~lanes;
    uint32_t outside = lanes & ~key;
    if (outside) {
      w.worker.report(w, i, Kind::barrier, outside, Severity::error, "a lane is not in its own member mask");
      continue;
    }
    if (uint32_t gone = key & ~w.live; gone)
      w.worker.report(w, i, Kind::barrier, gone, Severity::error,
                      gone & ~w.existing ? "the member mask names lanes that do not exist"
                                         : "the member mask names lanes that have exited");
    uint32_t need = key & w.live;
    if (lanes == need) {
      w.worker.orderLanes(w);
      continue;
    }
    w.isolate(mask, i.index + 1);
    Parts parts;
    if (w.gather(i, lanes, key, need, parts)) w.worker.orderLanes(w);
  }
}

void fence(Warp &w, const Instr &i, uint32_t) {
  if (w.order) w.worker.races->fence(w, i.mods.scope);
}
void decodePlain(Decoder &, const ptx::Statement &, Instr &) {}

void decodeWarpBarrier(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 1, 1);
  instr.d = decoder.source(s.operands[0], 4);
}

const Row kRows[] = {
    {"bar.cta?.sync|arrive", nullptr, barrier, OpClass::barrier, decodeBarrier},
    {"bar.cta?.red.popc.u32", nullptr, barrier, OpClass::barrier, decodeBarrier},
    {"bar.cta?.red.and|or.pred", nullptr, barrier, OpClass::barrier, decodeBarrier},
    {"barrier.cta?.sync|arrive.aligned?", nullptr, barrier, OpClass::barrier, decodeBarrier},
    {"barrier.cta?.red.popc.aligned?.u32", nullptr, barrier, OpClass::barrier, decodeBarrier},
    {"barrier.cta?.red.and|or.aligned?.pred", nullptr, barrier, OpClass::barrier, decodeBarrier},
    {"bar.warp.sync", nullptr, warpBarrier, OpClass::barrier, decodeWarpBarrier},
    {"membar.cta|gl|sys", nullptr, fence, OpClass::fence, decodePlain},
    {"fence.sc|acq_rel|acquire|release?.sync_restrict::shared::cta|sync_restrict::shared::cluster?.cta|cluster|gpu|sys",
     nullptr, fence, OpClass::fence, decodePlain},
};

} // namespace

Rows barrierRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
