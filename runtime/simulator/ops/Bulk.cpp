// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async.bulk, cp.reduce.async.bulk and their groups.
#include "runtime/simulator/ops/Bulk.h"
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/Traffic.h"
#include "runtime/simulator/ops/Reduce.h"
#include "runtime/simulator/ops/Tables.h"

namespace stator::sim {

uint32_t definedLanes(Warp &w, const Instr &i, Slot slot, uint32_t mask, const char *what) {
  uint32_t bad = w.poison[slot.poison] & mask;
  if (bad) w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, what);
  return mask & ~bad;
}

bool barrierPlace(Warp &w, const Instr &i, unsigned lane, Space space, uint64_t address, MbarrierPlace &place) {
  AsyncRange range;
  if (!locate(w, i, lane, space, address, 8, false, range)) return false;
  if (!range.owner || range.at % 8) {
    w.worker.report(w, i, Kind::mbarrier, 1u << lane, Severity::error,
                    "an mbarrier is eight aligned bytes of shared memory");
    return false;
  }
  place = {range.owner, static_cast<uint32_t>(range.at), nullptr};
  place.object = mbarrierAt(w, i, lane, *range.owner, place.offset);
  return place.object != nullptr;
}

bool hasSuffix(const ptx::Statement &s, const char *text) {
  for (const std::string &m : s.modifiers)
    if (m == text) return true;
  return false;
}

namespace {

constexpr uint32_t kBarrier = 1, kMulticast = 2, kByteMask = 4, kPrefetch = 8;

/// addresses: destination, source, mbarrier; a: size; b: blocks of a multicast, or the byte mask.
void copyBulk(Warp &w, const Instr &i, uint32_t mask) {
  const AddressOperand *at = &w.kernel.addresses[i.addresses];
  bool prefetch = i.tag & kPrefetch;
  unsigned count = prefetch ? 1 : i.tag & kBarrier ? 3 : 2;
  for (unsigned k = 0; k < count; ++k) mask = definedLanes(w, i, at[k].base, mask, "an address is undefined");
  mask = definedLanes(w, i, i.a, mask, "a size is undefined");
  if (i.tag & (kMulticast | kByteMask)) mask = definedLanes(w, i, i.b, mask, "a mask is undefined");
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    uint32_t bytes = w.lanes<uint32_t>(i.a)[l];
    AsyncRange to, from;
    const AddressOperand &source = at[prefetch ? 0 : 1];
    uint64_t target = w.addressOf(at[0], l), origin = w.addressOf(source, l);
    if (bytes % 16 || target % 16 || origin % 16) {
      if (Finding *f = w.worker.report(w, i, Kind::misaligned, 1u << l, Severity::error, ""))
        f->message = "a bulk copy's addresses and size are multiples of 16 (size " + std::to_string(bytes) + ")",
        f->addresses = {target, origin};
      continue;
    }
    if (!bytes) continue;
    if (!locate(w, i, l, source.space, origin, bytes, false, from) || prefetch) continue;
    auto op = std::make_unique<AsyncOp>();
    op->instr = &i;
    op->lane = l;
    op->reduce = i.reduce;
    MbarrierPlace barrier;
    if ((i.tag & kBarrier) && !barrierPlace(w, i, l, at[2].space, w.addressOf(at[2], l), barrier)) continue;
    if (i.tag & kMulticast) {
      // Every named block gets the bytes at the same offset, and its mbarrier there is signalled.
      uint32_t blocks = w.lanes<uint16_t>(i.b)[l];
      bool good = true;
      for (uint32_t rank = 0; rank < 16 && good; ++rank) {
        if (!(blocks >> rank & 1)) continue;
        uint64_t place = uint64_t{rank} << kClusterShift, low = (1u << kClusterShift) - 1;
        MbarrierPlace theirs;
        good = locate(w, i, l, Space::sharedCluster, place | (target & low), bytes, true, to) &&
               barrierPlace(w, i, l, Space::sharedCluster, place | barrier.offset, theirs);
        if (!good) break;
        op->chunks.push_back({to, from, bytes});
        op->signals.push_back({theirs, bytes, 0});
      }
      if (!good || op->chunks.empty()) continue;
    } else {
      if (!locate(w, i, l, at[0].space, target, bytes, true, to)) continue;
      if (i.tag & kByteMask) {
        uint32_t keep = w.lanes<uint16_t>(i.b)[l];
        for (uint32_t b = 0; b < bytes; ++b)
          if (keep >> (b % 16) & 1) {
            AsyncRange one = to, its = from;
            one.data += b, one.at += b, its.data += b, its.at += b;
            if (one.defined) one.defined += b;
            if (its.defined) its.defined += b;
            op->chunks.push_back({one, its, 1});
          }
        if (op->chunks.empty()) continue;
      } else {
        op->chunks.push_back({to, from, bytes});
      }
      if (i.tag & kBarrier) {
        if (to.owner != barrier.home) {
          w.worker.report(w, i, Kind::mbarrier, 1u << l, Severity::error,
                          "the mbarrier of a copy lies in the shared memory of its destination");
          continue;
        }
        op->signals.push_back({barrier, bytes, 0});
      }
    }
    if (!from.owner || !to.owner) countDense(w.worker.memoryCounts[i.index], from.owner ? target : origin, bytes);
    issue(w, std::move(op));
  }
}

void decodeBulk(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  Kernel &k = decoder.result();
  k.usesAsync = true;
  instr.addresses = static_cast<uint32_t>(k.addresses.size());
  bool prefetch = hasSuffix(s, "prefetch"), barrier = hasSuffix(s, "mbarrier::complete_tx::bytes");
  bool multicast = hasSuffix(s, "multicast::cluster"), bytes = hasSuffix(s, "cp_mask");
  size_t at = 0, extra = multicast + bytes + hasSuffix(s, "L2::cache_hint");
  size_t count = prefetch ? 2 : barrier ? 4 : 3;
  decoder.expectOperands(s, count + extra, count + extra);
  instr.tag =
      (prefetch ? kPrefetch : 0) | (barrier ? kBarrier : 0) | (multicast ? kMulticast : 0) | (bytes ? kByteMask : 0);
  if (!prefetch) decoder.addAddress(s.operands[at++], instr.mods.space);
  decoder.addAddress(s.operands[at++], prefetch ? Space::global : instr.mods.space2);
  instr.a = decoder.source(s.operands[at++], 4);
  if (barrier) {
    // In the form for the block's own memory the mbarrier is there as well.
    decoder.addAddress(s.operands[at++], instr.mods.space);
    k.usesPartialBarriers = true;
  }
  if (multicast) instr.b = decoder.source(s.operands[at++], 2);
  if (bytes) instr.b = decoder.source(s.operands.back(), 2);
  if (s.opcode != "cp" || s.modifiers[0] != "reduce") return;
  const std::string &type = s.modifiers.back(), &before = s.modifiers[s.modifiers.size() - 2];
  const std::string &name = before == "noftz" ? s.modifiers[s.modifiers.size() - 3] : before;
  instr.reduce = reductionOf(name, typeNamed(type));
  if (!instr.reduce) decoder.fail("no reduction " + name + " of " + type);
}

void commit(Warp &w, const Instr &, uint32_t mask) { commitBulk(w, mask); }
void waitGroup(Warp &w, const Instr &i, uint32_t mask) {
  waitBulk(w, mask, static_cast<uint32_t>(i.offset), i.tag != 0);
}
void decodePlain(Decoder &decoder, const ptx::Statement &s, Instr &) { decoder.expectOperands(s, 0, 0); }
void decodeWait(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 1, 1);
  instr.offset = decoder.immediate(s.operands[0]);
  instr.tag = hasSuffix(s, "read");
  if (instr.offset < 0) decoder.fail("a group count is not negative");
}

constexpr OpClass kAsync = OpClass::asyncCopy;
#define STATOR_SIM_REDUCTIONS "add|min|max|inc|dec|and|or|xor.noftz?.u32|s32|u64|s64|b32|b64|f16|bf16|f32|f64"

const Row kRows[] = {
    {"cp.async.bulk.shared::cluster|shared::cta.global.mbarrier::complete_tx::bytes.multicast::cluster?.L2::cache_"
     "hint?",
     nullptr, copyBulk, kAsync, decodeBulk},
    {"cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes", nullptr, copyBulk, kAsync, decodeBulk},
    {"cp.async.bulk.global.shared::cta.bulk_group.L2::cache_hint?.cp_mask?", nullptr, copyBulk, kAsync, decodeBulk},
    {"cp.async.bulk.prefetch.L2.global.L2::cache_hint?", nullptr, copyBulk, kAsync, decodeBulk},
    {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." STATOR_SIM_REDUCTIONS, nullptr,
     copyBulk, kAsync, decodeBulk},
    {"cp.reduce.async.bulk.global.shared::cta.bulk_group.L2::cache_hint?." STATOR_SIM_REDUCTIONS, nullptr, copyBulk,
     kAsync, decodeBulk},
    {"cp.async.bulk.commit_group", nullptr, commit, kAsync, decodePlain},
    {"cp.async.bulk.wait_group.read?", nullptr, waitGroup, kAsync, decodeWait},
};

} // namespace

Rows bulkRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
