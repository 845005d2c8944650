// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Cache policies and hints: caches are not simulated, so a policy is a value that nobody looks at, and hints only have
// their addresses checked where they can change memory.
#include "runtime/simulator/Access.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstring>

namespace stator::sim {

namespace {

void createPolicy(Warp &w, const Instr &i, uint32_t mask) {
  auto *d = w.lanes<uint64_t>(i.d);
  for (unsigned l = 0; l < kLanes; ++l)
    if (mask >> l & 1) d[l] = 0;
  w.define(i.d, mask, 0);
}
void decodePolicy(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 1, 4);
  instr.d = decoder.destination(s.operands[0], 8);
}

/// discard: the bytes may be lost, so they are undefined from here on.
void discard(Warp &w, const Instr &i, uint32_t mask) {
  Access access;
  Places p;
  gatherAddresses(w, i, mask, access);
  access.bytes = 128;
  access.write = true;
  resolve(w, i, access, p);
  for (unsigned l = 0; l < kLanes; ++l) {
    if (!(p.ok >> l & 1)) continue;
    uint8_t *defined = p.dense ? (p.defined ? p.defined + size_t{128} * l : nullptr) : p.laneDefined[l];
    if (defined) std::memset(defined, 0, 128);
  }
  ++w.worker.changes;
}
void nothing(Warp &, const Instr &, uint32_t) {}
void decodeRange(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 2, 2);
  if (decoder.immediate(s.operands[1]) != 128) decoder.fail("the size is 128");
  instr.bytes = 128;
  decoder.address(s.operands[0], instr);
}

const Row kRows[] = {
    {"createpolicy.fractional.L2::*.L2::*?.b64", nullptr, createPolicy, OpClass::move, decodePolicy},
    {"createpolicy.range.global?.L2::*.L2::*?.b64", nullptr, createPolicy, OpClass::move, decodePolicy},
    {"createpolicy.cvt.L2.b64", nullptr, createPolicy, OpClass::move, decodePolicy},
    {"discard.global?.L2", nullptr, discard, OpClass::store, decodeRange},
    {"applypriority.global?.L2::evict_normal", nullptr, nothing, OpClass::special, decodeRange},
};

} // namespace

Rows cachePolicyRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
