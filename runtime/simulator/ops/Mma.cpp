// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync. With e elements in a register, g = lane / 4 and q = lane % 4, element w of register r is
//   A: row g + 8 (r & 1), k = e q + w + 4 e (r >> 1);   B: k = e q + w + 4 e r, column g;
//   C and D: row g + 8 (i >> 1), column 2 q + (i & 1) for element i (f16 results are packed two a register).
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/TensorCore.h"
#include "runtime/simulator/ops/Aligned.h"
#include "runtime/simulator/ops/Fragments.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace stator::sim {

namespace {

struct Shape {
  unsigned m, k;
};
Shape shapeOf(const Instr &i) { return {i.tag >> 16, i.tag & 0xffff}; }

/// Fragments in the order D, A, B, C; counts of registers.
struct Counts {
  unsigned d, a, b, c;
};
Counts countsOf(const Instr &i) {
  Shape s = shapeOf(i);
  unsigned e = 32 / bitsOf(i.mods.types[1]), tall = s.m / 8;
  auto results = [tall](Type t) { return t == Type::f16 ? tall : 2 * tall; };
  return {results(i.mods.types[0]), s.k / (4 * e) * tall, s.k / (4 * e), results(i.mods.types[3])};
}

uint32_t poisonOf(Warp &w, const Slot *slots, unsigned count) {
  uint32_t poison = 0;
  for (unsigned r = 0; r < count; ++r) poison |= w.poison[slots[r].poison];
  return poison;
}

/// Undefined inputs: an undefined A element spoils its row, a B element its column, a C element itself.
void defineResults(Warp &w, const Instr &i, const Counts &n, const Slot *slots) {
  const Slot *d = slots, *a = d + n.d, *b = a + n.a, *c = b + n.b;
  uint32_t any = poisonOf(w, a, n.a) | poisonOf(w, b, n.b) | poisonOf(w, c, n.c);
  if (!any) {
    for (unsigned r = 0; r < n.d; ++r) w.define(d[r], kAllLanes, 0);
    return;
  }
  unsigned tall = shapeOf(i).m / 8;
  bool rowBad[16] = {}, columnBad[8] = {};
  for (unsigned r = 0; r < n.a; ++r)
    for (unsigned l = 0; l < kLanes; ++l)
      if (w.poison[a[r].poison] >> l & 1) rowBad[(l >> 2) + (tall > 1 ? 8 * (r & 1) : 0)] = true;
  for (unsigned r = 0; r < n.b; ++r)
    for (unsigned l = 0; l < kLanes; ++l)
      if (w.poison[b[r].poison] >> l & 1) columnBad[l >> 2] = true;
  uint32_t spoiled[4] = {}; // by element of the accumulator
  for (unsigned x = 0; x < 2 * tall; ++x) {
    unsigned cRegister = n.c == tall ? x / 2 : x;
    spoiled[x] = w.poison[c[cRegister].poison];
    for (unsigned l = 0; l < kLanes; ++l)
      if (rowBad[(l >> 2) + 8 * (x >> 1)] || columnBad[2 * (l & 3) + (x & 1)]) spoiled[x] |= 1u << l;
  }
  for (unsigned r = 0; r < n.d; ++r)
    w.define(d[r], kAllLanes, n.d == tall ? spoiled[2 * r] | spoiled[2 * r + 1] : spoiled[r]);
}

uint32_t readResult(Warp &w, const Slot *slots, bool half, unsigned x, unsigned lane) {
  if (!half) return w.lanes<uint32_t>(slots[x])[lane];
  return w.lanes<uint32_t>(slots[x / 2])[lane] >> 16 * (x & 1) & 0xffff;
}

void writeResult(Warp &w, const Slot *slots, bool half, unsigned x, unsigned lane, uint32_t bits) {
  if (!half) {
    w.lanes<uint32_t>(slots[x])[lane] = bits;
    return;
  }
  uint32_t &word = w.lanes<uint32_t>(slots[x / 2])[lane];
  word = x & 1 ? (word & 0xffff) | bits << 16 : (word & 0xffff0000) | bits;
}

void mmaFloat(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  const Slot *slots = &w.kernel.slots[i.list];
  Counts n = countsOf(i);
  const Slot *d = slots, *a = d + n.d, *b = a + n.a, *c = b + n.b;
  TensorTile tile;
  tile.k = shapeOf(i).k;
  tile.aType = i.mods.types[1];
  tile.bType = i.mods.types[2];
  elements(w, a, n.a, bitsOf(tile.aType), true, false,
           [&](unsigned row, unsigned k, uint32_t v) { tile.setA(row, k, v); });
  elements(w, b, n.b, bitsOf(tile.bType), false, false,
           [&](unsigned col, unsigned k, uint32_t v) { tile.setB(k, col, v); });
  bool halfC = i.mods.types[3] == Type::f16, halfD = i.mods.types[0] == Type::f16;
  uint32_t in[128], out[128];
  for (unsigned x = 0; x < 4; ++x)
    for (unsigned l = 0; l < kLanes; ++l)
      in[((l >> 2) + 8 * (x >> 1)) * 8 + 2 * (l & 3) + (x & 1)] = readResult(w, c, halfC, x, l);
  static const TensorMultiply multiply = tensorMultiply();
  multiply(w.block.launch.chip->tensor, tile, in, out, halfD);
  defineResults(w, i, n, slots);
  for (unsigned x = 0; x < 4; ++x)
    for (unsigned l = 0; l < kLanes; ++l)
      writeResult(w, d, halfD, x, l, out[((l >> 2) + 8 * (x >> 1)) * 8 + 2 * (l & 3) + (x & 1)]);
}

void mmaInteger(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  const Slot *slots = &w.kernel.slots[i.list];
  Counts n = countsOf(i);
  Shape s = shapeOf(i);
  const Slot *d = slots, *a = d + n.d, *b = a + n.a, *c = b + n.b;
  int32_t am[16][kTileK], bm[kTileK][8];
  auto extend = [](Type t, uint32_t v) {
    unsigned bits = bitsOf(t), shift = 32 - bits;
    return isSigned(t) ? static_cast<int32_t>(v << shift) >> shift : static_cast<int32_t>(v);
  };
  bool narrow = s.m == 8;
  elements(w, a, n.a, bitsOf(i.mods.types[1]), true, narrow,
           [&](unsigned row, unsigned k, uint32_t v) { am[row][k] = extend(i.mods.types[1], v); });
  elements(w, b, n.b, bitsOf(i.mods.types[2]), false, false,
           [&](unsigned col, unsigned k, uint32_t v) { bm[k][col] = extend(i.mods.types[2], v); });
  int32_t out[16][8];
  for (unsigned x = 0; x < s.m / 4; ++x)
    for (unsigned l = 0; l < kLanes; ++l) {
      unsigned row = (l >> 2) + 8 * (x >> 1), column = 2 * (l & 3) + (x & 1);
      int64_t sum = w.lanes<int32_t>(c[x])[l];
      for (unsigned k = 0; k < s.k; ++k) sum += int64_t{am[row][k]} * bm[k][column];
      if (i.mods.satfinite) sum = std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, sum));
      out[row][column] = static_cast<int32_t>(sum);
    }
  defineResults(w, i, n, slots);
  for (unsigned x = 0; x < s.m / 4; ++x)
    for (unsigned l = 0; l < kLanes; ++l)
      w.lanes<int32_t>(d[x])[l] = out[(l >> 2) + 8 * (x >> 1)][2 * (l & 3) + (x & 1)];
}

/// m8n8k4 f64: A row g, k q; B k q, column g; fused multiply-adds in k order.
void mmaDouble(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  const Slot *s = &w.kernel.slots[i.list];
  const double *a = w.lanes<double>(s[2]), *b = w.lanes<double>(s[3]);
  double out[2][kLanes];
  uint32_t undefined[2] = {w.poison[s[4].poison], w.poison[s[5].poison]};
  for (unsigned x = 0; x < 2; ++x)
    for (unsigned l = 0; l < kLanes; ++l) {
      double sum = w.lanes<double>(s[4 + x])[l];
      for (unsigned k = 0; k < 4; ++k) {
        unsigned la = (l >> 2) * 4 + k, lb = (2 * (l & 3) + x) * 4 + k;
        sum = std::fma(a[la], b[lb], sum);
        if ((w.poison[s[2].poison] >> la & 1) || (w.poison[s[3].poison] >> lb & 1)) undefined[x] |= 1u << l;
      }
      out[x][l] = sum;
    }
  for (unsigned x = 0; x < 2; ++x) {
    std::memcpy(w.lanes<double>(s[x]), out[x], sizeof out[x]);
    w.define(s[x], kAllLanes, undefined[x]);
  }
}

void decodeMma(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 4, 4);
  unsigned m = 0, k = 0;
  for (const std::string &text : s.modifiers)
    if (text[0] == 'm' && text.find('k') != std::string::npos) {
      m = static_cast<unsigned>(std::stoul(text.substr(1)));
      k = static_cast<unsigned>(std::stoul(text.substr(text.find('k') + 1)));
    }
  instr.tag = m << 16 | k;
  bool wide = instr.mods.types[0] == Type::f64;
  if (instr.mods.types[0] != instr.mods.types[3]) decoder.fail("the types of D and C must be the same");
  Counts n = wide ? Counts{2, 1, 1, 2} : countsOf(instr);
  unsigned counts[] = {n.d, n.a, n.b, n.c};
  std::vector<Slot> slots;
  for (unsigned part = 0; part < 4; ++part) {
    const ptx::Operand &operand = s.operands[part];
    if (operand.kind != ptx::Operand::Kind::vector || operand.parts.size() != counts[part])
      decoder.fail("operand " + std::to_string(part) + " needs " + std::to_string(counts[part]) + " registers");
    for (const ptx::Operand &reg : operand.parts)
      slots.push_back(part == 0
                          ? decoder.destination(reg, wide ? 8 : 4)
                          : decoder.source(reg, wide ? 8 : 4, wide ? Decoder::Number::f64 : Decoder::Number::f32));
  }
  decoder.list(instr, slots);
}

constexpr OpClass kTensor = OpClass::tensor;
#define STATOR_SIM_MMA "mma.sync.aligned."

const Row kRows[] = {
    {STATOR_SIM_MMA "m16n8k8|m16n8k16.row.col.f16|f32.f16.f16.f16|f32", nullptr, mmaFloat, kTensor, decodeMma},
    {STATOR_SIM_MMA "m16n8k8|m16n8k16.row.col.f32.bf16.bf16.f32", nullptr, mmaFloat, kTensor, decodeMma},
    {STATOR_SIM_MMA "m16n8k4|m16n8k8.row.col.f32.tf32.tf32.f32", nullptr, mmaFloat, kTensor, decodeMma},
    {STATOR_SIM_MMA "m16n8k16|m16n8k32.row.col.kind::f8f6f4?.f16|f32.e4m3|e5m2.e4m3|e5m2.f16|f32", nullptr, mmaFloat,
     kTensor, decodeMma},
    {STATOR_SIM_MMA "m8n8k16|m16n8k16|m16n8k32.row.col.satfinite?.s32.s8|u8.s8|u8.s32", nullptr, mmaInteger, kTensor,
     decodeMma},
    {STATOR_SIM_MMA "m8n8k32|m16n8k32|m16n8k64.row.col.satfinite?.s32.s4|u4.s4|u4.s32", nullptr, mmaInteger, kTensor,
     decodeMma},
    {STATOR_SIM_MMA "m8n8k4.row.col.rn?.f64.f64.f64.f64", nullptr, mmaDouble, kTensor, decodeMma},
};

} // namespace

Rows mmaRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
