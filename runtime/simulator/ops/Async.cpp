// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async and its groups.
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Tables.h"

namespace stator::sim {

namespace {

/// a + offset: destination in shared memory; b + c's offset (tag): source; e: source size; f: ignore-src predicate.
void copyAsync(Warp &w, const Instr &i, uint32_t mask) {
  WarpAsync::Copy copy;
  copy.instr = &i;
  copy.bytes = i.bytes;
  gatherAddresses(w, i, mask, copy.access);
  copy.access.bytes = i.bytes;
  copy.access.space = Space::shared;
  copy.access.write = true;
  Access source;
  if (uint32_t bad = w.poison[i.b.poison] & mask) {
    w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "a source address is undefined");
    copy.access.mask &= ~bad;
  }
  const auto *from = w.lanes<uint64_t>(i.b);
  const auto *sizes = w.lanes<uint32_t>(i.e);
  uint32_t ignored = i.f.data ? w.predicate(i.f) : 0;
  source.mask = 0;
  source.bytes = i.bytes;
  source.space = Space::global;
  auto offset = static_cast<uint64_t>(static_cast<int64_t>(static_cast<int32_t>(i.target)));
  uint32_t partial = 0;
  for (unsigned l = 0; l < kLanes; ++l) {
    source.address[l] = from[l] + offset;
    copy.sourceBytes[l] = i.tag ? sizes[l] : i.bytes;
    if (ignored >> l & 1) copy.sourceBytes[l] = 0;
    if (!(copy.access.mask >> l & 1)) continue;
    if (copy.sourceBytes[l] > i.bytes) {
      w.worker.report(w, i, Kind::asyncCopy, 1u << l, Severity::error, "src-size is larger than cp-size");
      copy.sourceBytes[l] = i.bytes;
    }
    if (copy.sourceBytes[l] == i.bytes)
      source.mask |= 1u << l;
    else if (copy.sourceBytes[l])
      partial |= 1u << l;
  }
  Places &to = copy.to;
  uint32_t wanted = source.mask | partial;
  resolve(w, i, copy.access, to);
  resolve(w, i, source, copy.from);
  // Tails read only the bytes they ask for.
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(partial >> l & 1)) continue;
    Access one = source;
    Places p;
    one.mask = 1u << l;
    one.bytes = 1;
    for (uint32_t b = 0; b < copy.sourceBytes[l]; ++b) {
      Access byte = one;
      byte.address[l] += b;
      resolve(w, i, byte, p);
      if (!p.ok) break;
      if (b) continue;
      copy.from.lane[l] = p.lane[l];
      copy.from.laneDefined[l] = p.laneDefined[l];
    }
    if (p.ok) copy.from.ok |= 1u << l;
    if (copy.from.dense) copy.from.dense = false;
  }
  copy.pending = to.ok & (copy.from.ok | ~wanted);
  if (to.conflict) reportStoreConflicts(w, i, copy.access, to, 0);
  if (uint32_t busy = inFlightLanes(to, copy.access) & copy.pending) reportInFlight(w, i, copy.access, to, busy);
  issueCopy(w, copy);
}

void decodeCopyAsync(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 3, 5);
  int64_t bytes = decoder.immediate(s.operands[2]);
  bool cg = s.modifiers[1] == "cg";
  if (cg ? bytes != 16 : (bytes != 4 && bytes != 8 && bytes != 16))
    decoder.fail("cp.async copies 4, 8 or 16 bytes, .cg only 16");
  Instr source = instr;
  source.mods.space = Space::global;
  decoder.address(s.operands[1], source);
  if (!source.wideAddress) decoder.fail("the source address has 64 bits");
  instr.b = source.a;
  if (source.offset != static_cast<int32_t>(source.offset)) decoder.fail("offset is too large");
  instr.target = static_cast<uint32_t>(source.offset);
  instr.mods.space = Space::shared;
  decoder.address(s.operands[0], instr);
  instr.bytes = instr.registerBytes = static_cast<uint8_t>(bytes);
  bool hint = s.modifiers.back() == "cache_hint" || s.mnemonic().find("L2::cache_hint") != std::string::npos;
  size_t extra = s.operands.size() - 3 - hint;
  if (extra > 1) decoder.fail("too many operands");
  if (extra == 1) {
    const ptx::Operand &operand = s.operands[3];
    if (operand.kind == ptx::Operand::Kind::reg && decoder.registerBytes(operand) == 0) {
      instr.f = decoder.predicate(operand, false);
    } else {
      instr.e = decoder.source(operand, 4);
      instr.tag = 1;
    }
  }
}

void commit(Warp &w, const Instr &, uint32_t mask) {
  if (!w.async) w.async = std::make_unique<WarpAsync>();
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask >> l & 1) ++w.async->committed[l];
}
void waitGroup(Warp &w, const Instr &i, uint32_t mask) {
  completeCopies(w, mask, static_cast<uint32_t>(i.offset), false);
}
void waitAll(Warp &w, const Instr &, uint32_t mask) { completeCopies(w, mask, 0, true); }

void decodePlain(Decoder &decoder, const ptx::Statement &s, Instr &) { decoder.expectOperands(s, 0, 0); }
void decodeWait(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 1, 1);
  instr.offset = decoder.immediate(s.operands[0]);
  if (instr.offset < 0) decoder.fail("a group count is not negative");
}

const Row kRows[] = {
    {"cp.async.ca|cg.shared|shared::cta.global.L2::cache_hint?.L2::64B|L2::128B|L2::256B?", nullptr, copyAsync,
     OpClass::asyncCopy, decodeCopyAsync},
    {"cp.async.commit_group", nullptr, commit, OpClass::asyncCopy, decodePlain},
    {"cp.async.wait_group", nullptr, waitGroup, OpClass::asyncCopy, decodeWait},
    {"cp.async.wait_all", nullptr, waitAll, OpClass::asyncCopy, decodePlain},
};

} // namespace

Rows asyncRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
