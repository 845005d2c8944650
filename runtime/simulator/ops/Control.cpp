// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Branches, calls, exits; the refresh of changing special registers.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstring>

namespace stator::sim {

namespace {

void branch(Warp &w, const Instr &i, uint32_t mask) {
  w.worker.divergentBranches += mask != w.active;
  w.jump(mask, i.target);
}
void decodeBranch(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 1, 1);
  if (s.operands[0].kind != ptx::Operand::Kind::symbol) decoder.fail("a branch needs a label");
  decoder.branchTo(instr, s.operands[0].name);
}

/// brx.idx: each lane goes to the target its index names.
void branchIndexed(Warp &w, const Instr &i, uint32_t mask) {
  const auto *index = w.lanes<uint32_t>(i.a);
  uint32_t bad = w.poison[i.a.poison] & mask;
  if (bad) w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "a branch index is undefined");
  w.isolate(mask, i.index + 1);
  uint32_t todo = mask;
  bool counted = false;
  while (todo) {
    auto first = static_cast<unsigned>(__builtin_ctz(todo));
    uint32_t lanes = 0;
    for (unsigned l = first; l < kLanes; ++l)
      if ((todo >> l & 1) && index[l] == index[first]) lanes |= 1u << l;
    todo &= ~lanes;
    if (todo && !counted) ++w.worker.divergentBranches, counted = true;
    if (index[first] >= i.listCount) {
      if (Finding *f = w.worker.report(w, i, Kind::outOfBounds, lanes, Severity::error, ""))
        f->message = "branch index " + std::to_string(index[first]) + " of " + std::to_string(i.listCount) + " targets";
      w.exit(lanes);
      continue;
    }
    w.jump(lanes, w.kernel.slots[i.list + index[first]].data);
  }
}
void decodeIndexed(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 2, 2);
  instr.a = decoder.source(s.operands[0], 4);
  decoder.branchTable(instr, s.operands[1].name);
}

void exitLanes(Warp &w, const Instr &i, uint32_t mask) {
  w.isolate(mask, i.index + 1);
  w.exit(mask);
}

void trap(Warp &w, const Instr &i, uint32_t mask) {
  w.worker.report(w, i, Kind::trap, mask, Severity::error, "trap was executed");
  w.worker.abort();
}

void copyParams(Warp &w, const Instr &i, uint32_t mask, bool before) {
  for (uint32_t k = 0; k + 1 < i.listCount; k += 2) {
    Slot places = w.kernel.slots[i.list + k], size = w.kernel.slots[i.list + k + 1];
    if ((size.poison != 0) != before) continue;
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(mask >> l & 1)) continue;
      unsigned thread = w.index * kLanes + l;
      std::memcpy(w.block.local(thread, places.data, size.data), w.block.local(thread, places.poison, size.data),
                  size.data);
      std::memcpy(w.block.localInit(thread, places.data), w.block.localInit(thread, places.poison), size.data);
    }
  }
}

/// The return address is the index of the call plus one; results are copied when the callee returns.
void callFunction(Warp &w, const Instr &i, uint32_t mask) {
  copyParams(w, i, mask, true);
  auto *to = w.lanes<uint32_t>(i.a);
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask >> l & 1) to[l] = i.index;
  w.define(i.a, mask, 0);
  if (mask != w.active) w.isolate(mask, i.tag);
  w.jump(mask, i.target);
}
void decodeCall(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  using Kind = ptx::Operand::Kind;
  const ptx::Operand *results = nullptr, *arguments = nullptr;
  size_t at = 0;
  if (at < s.operands.size() && s.operands[at].kind == Kind::list) results = &s.operands[at++];
  if (at >= s.operands.size() || s.operands[at].kind != Kind::symbol) decoder.fail("indirect calls are not supported");
  const std::string &name = s.operands[at++].name;
  if (at < s.operands.size() && s.operands[at].kind == Kind::list) arguments = &s.operands[at++];
  if (name == "__assertfail") {
    instr.execute = trap;
    return;
  }
  if (name == "vprintf") return decodePrint(decoder, results, arguments, instr);
  decoder.call(instr, name, results, arguments);
}

/// In a kernel `ret` ends the lanes; in a function it goes back to each lane's caller.
void returnLanes(Warp &w, const Instr &i, uint32_t mask) {
  if (!i.tag) return exitLanes(w, i, mask);
  w.isolate(mask, i.index + 1);
  const auto *to = w.lanes<uint32_t>(i.a);
  uint32_t todo = mask;
  while (todo) {
    auto first = static_cast<unsigned>(__builtin_ctz(todo));
    uint32_t lanes = 0;
    for (unsigned l = first; l < kLanes; ++l)
      if ((todo >> l & 1) && to[l] == to[first]) lanes |= 1u << l;
    todo &= ~lanes;
    const Instr &call = w.kernel.code[to[first]];
    copyParams(w, call, lanes, false);
    w.jump(lanes, call.tag);
  }
}
void decodeReturn(Decoder &decoder, const ptx::Statement &, Instr &instr) {
  instr.last = true;
  decoder.returnFrom(instr);
}
void decodeEnd(Decoder &, const ptx::Statement &, Instr &instr) { instr.last = true; }
void decodePlain(Decoder &, const ptx::Statement &, Instr &) {}

void nothing(Warp &, const Instr &, uint32_t) {}

void refreshSpecial(Warp &w, const Instr &i, uint32_t) { w.refresh({static_cast<Special>(i.tag), i.d, i.bytes}); }

const Row kRows[] = {
    {"bra.uni?", nullptr, branch, OpClass::control, decodeBranch},
    {"brx.idx.uni?", nullptr, branchIndexed, OpClass::control, decodeIndexed},
    {"ret.uni?", nullptr, returnLanes, OpClass::control, decodeReturn},
    {"exit", nullptr, exitLanes, OpClass::control, decodeEnd},
    {"trap", nullptr, trap, OpClass::control, decodePlain},
    {"brkpt", nullptr, nothing, OpClass::control, decodePlain},
    {"call.uni?", nullptr, callFunction, OpClass::control, decodeCall},
    {"nanosleep.u32", nullptr, nothing, OpClass::special, decodePlain},
    {"pmevent.mask?", nullptr, nothing, OpClass::special, decodePlain},
};
const Row kJump = {"jump", nullptr, branch, OpClass::internal};
const Row kRefresh = {"refresh", nullptr, refreshSpecial, OpClass::internal};

} // namespace

Rows controlRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }
const Row &jumpRow() { return kJump; }
const Row &refreshRow() { return kRefresh; }
bool isReturn(const Instr &instr) { return instr.row->execute == returnLanes; }
bool isExit(const Instr &instr) { return instr.row->execute == exitLanes; }
bool isJump(const Instr &instr) { return instr.row->execute == branch; }

} // namespace stator::sim
