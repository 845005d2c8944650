// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// ldmatrix, stmatrix, movmatrix: 8x8 matrices of 16-bit elements spread over a warp. Lane t holds row t/4, elements
// 2(t%4) and 2(t%4)+1; transposed, rows 2(t%4) and 2(t%4)+1 of column t/4.
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Traffic.h"
#include "runtime/simulator/ops/Aligned.h"
#include "runtime/simulator/ops/Tables.h"

#include <cstring>

namespace stator::sim {

namespace {

/// Addresses of the rows that the lanes of matrix 0..count-1 supply. Rows are 16 bytes, so their lanes' accesses are
/// ordinary 16-byte accesses, judged as such.
bool rows(Warp &w, const Instr &i, bool write, Access &access, Places &p) {
  uint32_t users = i.tag >= 4 ? kAllLanes : (1u << 8 * i.tag) - 1;
  gatherAddresses(w, i, users, access);
  access.bytes = 16;
  access.write = write;
  resolve(w, i, access, p);
  return p.ok == users;
}

uint8_t *rowAt(const Places &p, unsigned lane) { return p.dense ? p.data + 16 * lane : p.lane[lane]; }
uint8_t *stateAt(const Places &p, unsigned lane) { return p.dense ? p.defined + 16 * lane : p.laneDefined[lane]; }

void loadMatrix(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  Access access;
  Places p;
  if (!rows(w, i, false, access, p)) {
    for (unsigned m = 0; m < i.tag; ++m) w.define(w.kernel.slots[i.list + m], mask, 0);
    return;
  }
  if (w.worker.usesAsync)
    if (uint32_t busy = inFlightLanes(p, access)) reportInFlight(w, i, access, p, busy);
  for (unsigned m = 0; m < i.tag; ++m) {
    Slot slot = w.kernel.slots[i.list + m];
    auto *d = w.lanes<uint32_t>(slot);
    uint32_t undefined = 0, out[kLanes];
    for (unsigned t = 0; t < kLanes; ++t) {
      uint16_t half[2];
      for (unsigned k = 0; k < 2; ++k) {
        unsigned row = i.mods.trans ? 2 * (t % 4) + k : t / 4, column = i.mods.trans ? t / 4 : 2 * (t % 4) + k;
        std::memcpy(&half[k], rowAt(p, 8 * m + row) + 2 * column, 2);
        const uint8_t *state = stateAt(p, 8 * m + row);
        if (state && (!state[2 * column] || !state[2 * column + 1])) undefined |= 1u << t;
      }
      out[t] = uint32_t{half[1]} << 16 | half[0];
    }
    std::memcpy(d, out, sizeof out);
    w.define(slot, kAllLanes, undefined);
  }
}

void storeMatrix(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  Access access;
  Places p;
  if (!rows(w, i, true, access, p)) return;
  ++w.worker.changes;
  if (p.conflict) reportStoreConflicts(w, i, access, p, 0);
  if (w.worker.usesAsync)
    if (uint32_t busy = inFlightLanes(p, access)) reportInFlight(w, i, access, p, busy);
  for (unsigned m = 0; m < i.tag; ++m) {
    Slot slot = w.kernel.slots[i.list + m];
    const auto *a = w.lanes<uint32_t>(slot);
    for (unsigned t = 0; t < kLanes; ++t)
      for (unsigned k = 0; k < 2; ++k) {
        unsigned row = i.mods.trans ? 2 * (t % 4) + k : t / 4, column = i.mods.trans ? t / 4 : 2 * (t % 4) + k;
        auto half = static_cast<uint16_t>(a[t] >> 16 * k);
        std::memcpy(rowAt(p, 8 * m + row) + 2 * column, &half, 2);
        if (uint8_t *state = stateAt(p, 8 * m + row))
          std::memset(state + 2 * column, !(w.poison[slot.poison] >> t & 1), 2);
      }
  }
}

void decodeMatrix(Decoder &decoder, const ptx::Statement &s, Instr &instr, bool load) {
  decoder.expectOperands(s, 2, 2);
  for (const std::string &m : s.modifiers)
    if (m == "x1" || m == "x2" || m == "x4") instr.tag = static_cast<uint32_t>(m[1] - '0');
  const ptx::Operand &data = s.operands[load ? 0 : 1];
  if (data.kind != ptx::Operand::Kind::vector || data.parts.size() != instr.tag)
    decoder.fail("expected a vector of " + std::to_string(instr.tag) + " registers");
  std::vector<Slot> slots;
  for (const ptx::Operand &part : data.parts)
    slots.push_back(load ? decoder.destination(part, 4) : decoder.source(part, 4));
  decoder.list(instr, slots);
  instr.bytes = 16;
  decoder.address(s.operands[load ? 1 : 0], instr);
}
void decodeLoadMatrix(Decoder &decoder, const ptx::Statement &s, Instr &i) { decodeMatrix(decoder, s, i, true); }
void decodeStoreMatrix(Decoder &decoder, const ptx::Statement &s, Instr &i) { decodeMatrix(decoder, s, i, false); }

void moveMatrix(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  const auto *a = w.lanes<uint32_t>(i.a);
  uint32_t out[kLanes], poison = w.poison[i.a.poison], undefined = 0;
  for (unsigned t = 0; t < kLanes; ++t) {
    uint32_t half[2];
    for (unsigned k = 0; k < 2; ++k) {
      // Element (row 2(t%4)+k, column t/4) lies in lane row*4 + column/2.
      unsigned row = 2 * (t % 4) + k, column = t / 4, lane = row * 4 + column / 2;
      half[k] = a[lane] >> 16 * (column % 2) & 0xffff;
      undefined |= (poison >> lane & 1) << t;
    }
    out[t] = half[1] << 16 | half[0];
  }
  std::memcpy(w.lanes<uint32_t>(i.d), out, sizeof out);
  w.define(i.d, kAllLanes, undefined);
}

const Row kRows[] = {
    {"ldmatrix.sync.aligned.m8n8.x1|x2|x4.trans?.shared|shared::cta?.b16", nullptr, loadMatrix, OpClass::load,
     decodeLoadMatrix},
    {"stmatrix.sync.aligned.m8n8.x1|x2|x4.trans?.shared|shared::cta?.b16", nullptr, storeMatrix, OpClass::store,
     decodeStoreMatrix},
    {"movmatrix.sync.aligned.m8n8.trans.b16", "ww", moveMatrix, OpClass::move},
};

} // namespace

Rows matrixRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
