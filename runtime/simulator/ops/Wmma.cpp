// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wmma: matrices that are loaded, multiplied and stored by a warp. Which lane holds which element is not specified;
// here the elements of a matrix lie in order, as many a lane as the lanes' share, and registers beyond that share
// repeat it. A and B are in the order of their memory (their layout is part of every instruction), C and D in rows.
#include "runtime/simulator/Access.h"
#include "runtime/simulator/AsyncCopy.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/TensorCore.h"
#include "runtime/simulator/ops/Aligned.h"
#include "runtime/simulator/ops/Fragments.h"
#include "runtime/simulator/ops/HalfLane.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace stator::sim {

namespace {

// Instr::tag: m, n, k, then flags.
constexpr uint32_t kColumnsFirst = 1u << 24, kBColumnsFirst = 1u << 25, kMatrixA = 1u << 26, kMatrixB = 1u << 27,
                   kHasStride = 1u << 28;
unsigned mOf(const Instr &i) { return i.tag & 0xff; }
unsigned nOf(const Instr &i) { return i.tag >> 8 & 0xff; }
unsigned kOf(const Instr &i) { return i.tag >> 16 & 0xff; }

unsigned bytesOf(Type type) { return type == Type::f64 ? 8 : bitsOf(type) / 8; }

/// A matrix in registers: `major` runs of `minor` elements.
struct Fragment {
  const Slot *slots;
  unsigned registers, bytes, elements; ///< registers, bytes of an element, elements a lane
  unsigned perRegister() const { return bytes >= 4 ? 1 : 4 / bytes; }
  unsigned registerBytes() const { return std::max(bytes, 4u); }
  /// Calls f(index, bits, defined).
  template <class F> void read(Warp &w, F f) const {
    for (unsigned l = 0; l < kLanes; ++l)
      for (unsigned e = 0; e < elements; ++e) {
        Slot slot = slots[e / perRegister()];
        uint64_t bits = 0;
        std::memcpy(&bits, w.data + slot.data + size_t{registerBytes()} * l + e % perRegister() * bytes, bytes);
        f(l * elements + e, bits, !(w.poison[slot.poison] >> l & 1));
      }
  }
  void put(Warp &w, unsigned index, uint64_t bits) const {
    unsigned l = index / elements, e = index % elements, capacity = registers * perRegister();
    for (; e < capacity; e += elements)
      std::memcpy(w.data + slots[e / perRegister()].data + size_t{registerBytes()} * l + e % perRegister() * bytes,
                  &bits, bytes);
  }
};

/// Elements of a matrix with `flags`, and the length of its runs in memory.
void extent(const Instr &i, uint32_t flags, bool columnsFirst, unsigned &count, unsigned &minor) {
  unsigned rows = flags & kMatrixB ? kOf(i) : mOf(i), columns = flags & kMatrixA ? kOf(i) : nOf(i);
  count = rows * columns;
  minor = columnsFirst ? rows : columns;
}

/// Loads and stores: pieces of at most 16 bytes a lane.
template <class F> void pieces(Warp &w, const Instr &i, bool write, F f) {
  unsigned count, minor, bytes = i.bytes;
  bool columnsFirst = i.tag & kColumnsFirst, operand = i.tag & (kMatrixA | kMatrixB);
  extent(i, i.tag, columnsFirst, count, minor);
  unsigned share = count / kLanes;
  // C and D are in rows: where memory is in columns each element is a piece.
  unsigned piece = !operand && columnsFirst ? 1 : std::min(share, 16 / bytes);
  piece = std::min(piece, minor);
  Access base;
  gatherAddresses(w, i, kAllLanes, base);
  const auto *strides = w.lanes<uint32_t>(i.b);
  uint64_t first = base.address[0];
  bool same = true;
  for (unsigned l = 1; l < kLanes; ++l) same &= base.address[l] == first && strides[l] == strides[0];
  if (!same || (i.tag & kHasStride && w.poison[i.b.poison]))
    w.worker.report(w, i, Kind::divergence, kAllLanes, Severity::error,
                    "lanes give different addresses or strides to a wmma instruction, or undefined ones");
  unsigned stride = i.tag & kHasStride ? strides[0] : minor;
  if (first % 32 || uint64_t{stride} * bytes % 16) {
    w.worker.report(w, i, Kind::misaligned, kAllLanes, Severity::error,
                    "wmma needs an address aligned to 32 bytes and a stride of a multiple of 16 bytes");
    return;
  }
  for (unsigned at = 0; at < share; at += piece) {
    Access access;
    access.space = i.mods.space;
    access.mask = base.mask;
    access.bytes = piece * bytes;
    access.write = write;
    for (unsigned l = 0; l < kLanes; ++l) {
      unsigned index = l * share + at;
      uint64_t place = !operand && columnsFirst ? uint64_t{index % nOf(i)} * stride + index / nOf(i)
                                                : uint64_t{index / minor} * stride + index % minor;
      access.address[l] = first + place * bytes;
    }
    Places p;
    resolve(w, i, access, p);
    if (p.conflict) reportStoreConflicts(w, i, access, p, 0);
    if (w.worker.usesAsync)
      if (uint32_t busy = inFlightLanes(p, access)) reportInFlight(w, i, access, p, busy);
    for (unsigned l = 0; l < kLanes; ++l) {
      if (!(p.ok >> l & 1)) continue;
      uint8_t *data = p.dense ? p.data + size_t{access.bytes} * l : p.lane[l];
      uint8_t *defined = p.dense ? (p.defined ? p.defined + size_t{access.bytes} * l : nullptr) : p.laneDefined[l];
      f(l, at, piece, data, defined, (p.globalLanes >> l & 1) != 0);
    }
  }
}

Fragment fragment(Warp &w, const Instr &i, uint32_t list, uint32_t registers, unsigned bytes, uint32_t flags) {
  unsigned count, minor;
  extent(i, flags, false, count, minor);
  return {&w.kernel.slots[list], registers, bytes, count / kLanes};
}

void load(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  Fragment d = fragment(w, i, i.list, i.listCount, i.bytes, i.tag);
  for (uint32_t r = 0; r < i.listCount; ++r) w.define(d.slots[r], kAllLanes, 0);
  pieces(w, i, false, [&](unsigned l, unsigned at, unsigned piece, const uint8_t *data, const uint8_t *defined, bool) {
    for (unsigned e = 0; e < piece; ++e) {
      uint64_t bits = 0;
      std::memcpy(&bits, data + size_t{e} * i.bytes, i.bytes);
      d.put(w, l * d.elements + at + e, bits);
      if (allDefined(defined ? defined + size_t{e} * i.bytes : nullptr, i.bytes)) continue;
      for (unsigned x = at + e; x < d.registers * d.perRegister(); x += d.elements)
        w.poison[d.slots[x / d.perRegister()].poison] |= 1u << l;
    }
  });
}

void store(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  Fragment d = fragment(w, i, i.list, i.listCount, i.bytes, i.tag);
  std::vector<uint64_t> values(size_t{d.elements} * kLanes);
  std::vector<bool> known(values.size());
  d.read(w, [&](unsigned index, uint64_t bits, bool defined) { values[index] = bits, known[index] = defined; });
  ++w.worker.changes;
  pieces(w, i, true, [&](unsigned l, unsigned at, unsigned piece, uint8_t *data, uint8_t *defined, bool global) {
    for (unsigned e = 0; e < piece; ++e) {
      size_t index = size_t{l} * d.elements + at + e;
      std::memcpy(data + size_t{e} * i.bytes, &values[index], i.bytes);
      if (!known[index] && global)
        w.worker.report(w, i, Kind::uninitialised, 1u << l, Severity::error,
                        "an undefined value is stored to global memory");
      if (defined) std::memset(defined + size_t{e} * i.bytes, known[index] || global, i.bytes);
    }
  });
}

/// Matrices taken out of their fragments.
struct Matrices {
  uint64_t a[32][32], b[32][32], c[32][32]; ///< a by row, k; b by column, k; c by row, column
  bool badRow[32] = {}, badColumn[32] = {}, bad[32][32] = {};
};

/// Registers of the four fragments in the order D, A, B, C follow each other in the list.
struct Counts {
  unsigned d, a, b, c;
};
unsigned registersFor(const Instr &i, Type type, uint32_t flags) {
  unsigned count, minor, share;
  extent(i, flags, false, count, minor);
  share = count / kLanes;
  // Halves of A and B always take eight registers.
  if (type == Type::f16 && (flags & (kMatrixA | kMatrixB))) return 8;
  return std::max(1u, share * bytesOf(type) / std::max(bytesOf(type), 4u));
}

Type aType(const Instr &i) { return i.mods.typeCount == 2 ? Type::f16 : i.mods.types[1]; }
Type bType(const Instr &i) { return i.mods.typeCount == 2 ? Type::f16 : i.mods.types[2]; }
Type cType(const Instr &i) { return i.mods.typeCount == 2 ? i.mods.types[1] : i.mods.types[3]; }
Counts countsOf(const Instr &i) {
  return {registersFor(i, i.mods.types[0], 0), registersFor(i, aType(i), kMatrixA), registersFor(i, bType(i), kMatrixB),
          registersFor(i, cType(i), 0)};
}

void gather(Warp &w, const Instr &i, const Counts &n, Matrices &x) {
  unsigned k = kOf(i), columns = nOf(i), rows = mOf(i);
  fragment(w, i, i.list + n.d, n.a, bytesOf(aType(i)), kMatrixA).read(w, [&](unsigned at, uint64_t v, bool defined) {
    unsigned row = i.tag & kColumnsFirst ? at % rows : at / k, p = i.tag & kColumnsFirst ? at / rows : at % k;
    x.a[row][p] = v;
    x.badRow[row] |= !defined;
  });
  fragment(w, i, i.list + n.d + n.a, n.b, bytesOf(bType(i)), kMatrixB)
      .read(w, [&](unsigned at, uint64_t v, bool defined) {
        unsigned column = i.tag & kBColumnsFirst ? at / k : at % columns,
                 p = i.tag & kBColumnsFirst ? at % k : at / columns;
        x.b[column][p] = v;
        x.badColumn[column] |= !defined;
      });
  fragment(w, i, i.list + n.d + n.a + n.b, n.c, bytesOf(cType(i)), 0)
      .read(w, [&](unsigned at, uint64_t v, bool defined) {
        x.c[at / columns][at % columns] = v;
        x.bad[at / columns][at % columns] = !defined;
      });
}

void floats(Warp &w, const Instr &i, Matrices &x) {
  bool halfC = cType(i) == Type::f16, halfD = i.mods.types[0] == Type::f16, half = halfC && halfD;
  static const TensorMultiply multiply = tensorMultiply();
  auto tile = std::make_unique<TensorTile>();
  tile->k = kOf(i);
  tile->aType = aType(i);
  tile->bType = bType(i);
  tile->rows = std::min(mOf(i), 16u);
  for (unsigned top = 0; top < mOf(i); top += tile->rows)
    for (unsigned left = 0; left < nOf(i); left += 8) {
      tile->special = false;
      uint32_t in[128], out[128];
      for (unsigned k = 0; k < tile->k; ++k) {
        for (unsigned r = 0; r < tile->rows; ++r) tile->setA(r, k, static_cast<uint32_t>(x.a[top + r][k]));
        for (unsigned j = 0; j < 8; ++j) tile->setB(k, j, static_cast<uint32_t>(x.b[left + j][k]));
      }
      for (unsigned e = 0; e < tile->rows * 8; ++e) {
        auto bits = static_cast<uint32_t>(x.c[top + e / 8][left + e % 8]);
        in[e] = halfC && !half
                    ? baseline::bitCast<uint32_t>(baseline::toFloat(baseline::F16{static_cast<uint16_t>(bits)}))
                    : bits;
      }
      multiply(w.block.launch.chip->tensor, *tile, in, out, half);
      for (unsigned e = 0; e < tile->rows * 8; ++e)
        x.c[top + e / 8][left + e % 8] =
            halfD && !half ? baseline::toF16(baseline::bitCast<float>(out[e])).bits : out[e];
    }
}

void integers(const Instr &i, Matrices &x) {
  auto extend = [](Type t, uint64_t v) { return t == Type::s8 ? static_cast<int8_t>(v) : static_cast<int32_t>(v); };
  for (unsigned r = 0; r < mOf(i); ++r)
    for (unsigned j = 0; j < nOf(i); ++j) {
      int64_t sum = static_cast<int32_t>(x.c[r][j]);
      for (unsigned k = 0; k < kOf(i); ++k) sum += int64_t{extend(aType(i), x.a[r][k])} * extend(bType(i), x.b[j][k]);
      if (i.mods.satfinite) sum = std::max<int64_t>(INT32_MIN, std::min<int64_t>(INT32_MAX, sum));
      x.c[r][j] = static_cast<uint32_t>(sum);
    }
}

void doubles(const Instr &i, Matrices &x) {
  using baseline::bitCast;
  for (unsigned r = 0; r < mOf(i); ++r)
    for (unsigned j = 0; j < nOf(i); ++j) {
      auto sum = bitCast<double>(x.c[r][j]);
      for (unsigned k = 0; k < kOf(i); ++k) sum = std::fma(bitCast<double>(x.a[r][k]), bitCast<double>(x.b[j][k]), sum);
      x.c[r][j] = bitCast<uint64_t>(sum);
    }
}

void multiply(Warp &w, const Instr &i, uint32_t mask) {
  if (!convergeFull(w, i, mask)) return;
  Counts n = countsOf(i);
  auto x = std::make_unique<Matrices>();
  gather(w, i, n, *x);
  Type d = i.mods.types[0];
  if (d == Type::s32)
    integers(i, *x);
  else if (d == Type::f64)
    doubles(i, *x);
  else
    floats(w, i, *x);
  Fragment out = fragment(w, i, i.list, n.d, bytesOf(d), 0);
  for (unsigned r = 0; r < n.d; ++r) w.define(out.slots[r], kAllLanes, 0);
  for (unsigned at = 0; at < mOf(i) * nOf(i); ++at) {
    unsigned r = at / nOf(i), j = at % nOf(i);
    out.put(w, at, x->c[r][j]);
    if (x->bad[r][j] || x->badRow[r] || x->badColumn[j])
      w.poison[out.slots[at % out.elements / out.perRegister()].poison] |= 1u << at / out.elements;
  }
}

void readShape(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  for (const std::string &text : s.modifiers) {
    unsigned m = 0, n = 0, k = 0;
    if (std::sscanf(text.c_str(), "m%un%uk%u", &m, &n, &k) == 3 && m <= 32 && n <= 32 && k <= 16)
      instr.tag |= m | n << 8 | k << 16;
  }
  if (!instr.tag) decoder.fail("no such shape");
}

void takeRegisters(Decoder &decoder, const ptx::Operand &operand, unsigned count, Type type, bool result,
                   std::vector<Slot> &slots) {
  if (operand.kind != ptx::Operand::Kind::vector || operand.parts.size() != count)
    decoder.fail("expected a vector of " + std::to_string(count) + " registers");
  bool wide = type == Type::f64;
  for (const ptx::Operand &part : operand.parts)
    slots.push_back(result ? decoder.destination(part, wide ? 8 : 4)
                           : decoder.source(part, wide ? 8 : 4, wide ? Decoder::Number::f64 : Decoder::Number::f32));
}

void decodeMove(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  bool loads = s.modifiers[0] == "load";
  readShape(decoder, s, instr);
  const std::string &which = s.modifiers[1];
  instr.tag |= which == "a" ? kMatrixA : which == "b" ? kMatrixB : 0;
  for (const std::string &m : s.modifiers)
    if (m == "col") instr.tag |= kColumnsFirst;
  decoder.expectOperands(s, 2, 3);
  Type type = instr.mods.types[0];
  instr.bytes = static_cast<uint8_t>(bytesOf(type));
  std::vector<Slot> slots;
  takeRegisters(decoder, s.operands[loads ? 0 : 1], registersFor(instr, type, instr.tag), type, loads, slots);
  decoder.list(instr, slots);
  decoder.address(s.operands[loads ? 1 : 0], instr);
  if (s.operands.size() == 3) {
    instr.b = decoder.source(s.operands[2], 4);
    instr.tag |= kHasStride;
  }
}

void decodeMultiply(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  readShape(decoder, s, instr);
  std::vector<std::string> layouts;
  for (const std::string &m : s.modifiers)
    if (m == "row" || m == "col") layouts.push_back(m);
  if (layouts[0] == "col") instr.tag |= kColumnsFirst;
  if (layouts[1] == "col") instr.tag |= kBColumnsFirst;
  decoder.expectOperands(s, 4, 4);
  Counts n = countsOf(instr);
  std::vector<Slot> slots;
  takeRegisters(decoder, s.operands[0], n.d, instr.mods.types[0], true, slots);
  takeRegisters(decoder, s.operands[1], n.a, aType(instr), false, slots);
  takeRegisters(decoder, s.operands[2], n.b, bType(instr), false, slots);
  takeRegisters(decoder, s.operands[3], n.c, cType(instr), false, slots);
  decoder.list(instr, slots);
}

#define STATOR_SIM_WMMA_SPACE "global|shared|shared::cta|shared::cluster?"
#define STATOR_SIM_WMMA_SHAPES "m16n16k16|m8n32k16|m32n8k16"
constexpr OpClass kTensor = OpClass::tensor;

const Row kRows[] = {
    {"wmma.load.a|b.sync.aligned.row|col." STATOR_SIM_WMMA_SHAPES "." STATOR_SIM_WMMA_SPACE ".f16|bf16|s8|u8", nullptr,
     load, OpClass::load, decodeMove},
    {"wmma.load.a|b.sync.aligned.row|col.m16n16k8." STATOR_SIM_WMMA_SPACE ".tf32", nullptr, load, OpClass::load,
     decodeMove},
    {"wmma.load.a|b|c.sync.aligned.row|col.m8n8k4." STATOR_SIM_WMMA_SPACE ".f64", nullptr, load, OpClass::load,
     decodeMove},
    {"wmma.load.c.sync.aligned.row|col." STATOR_SIM_WMMA_SHAPES "|m16n16k8." STATOR_SIM_WMMA_SPACE ".f16|f32|s32",
     nullptr, load, OpClass::load, decodeMove},
    {"wmma.store.d.sync.aligned.row|col." STATOR_SIM_WMMA_SHAPES "|m16n16k8." STATOR_SIM_WMMA_SPACE ".f16|f32|s32",
     nullptr, store, OpClass::store, decodeMove},
    {"wmma.store.d.sync.aligned.row|col.m8n8k4." STATOR_SIM_WMMA_SPACE ".f64", nullptr, store, OpClass::store,
     decodeMove},
    {"wmma.mma.sync.aligned.row|col.row|col." STATOR_SIM_WMMA_SHAPES ".f16|f32.f16|f32", nullptr, multiply, kTensor,
     decodeMultiply},
    {"wmma.mma.sync.aligned.row|col.row|col." STATOR_SIM_WMMA_SHAPES ".f32.bf16.bf16.f32", nullptr, multiply, kTensor,
     decodeMultiply},
    {"wmma.mma.sync.aligned.row|col.row|col.m16n16k8.f32.tf32.tf32.f32", nullptr, multiply, kTensor, decodeMultiply},
    {"wmma.mma.sync.aligned.row|col.row|col." STATOR_SIM_WMMA_SHAPES ".s32.s8|u8.s8|u8.s32.satfinite?", nullptr,
     multiply, kTensor, decodeMultiply},
    {"wmma.mma.sync.aligned.row|col.row|col.m8n8k4.rn|rz|rm|rp?.f64.f64.f64.f64", nullptr, multiply, kTensor,
     decodeMultiply},
};

} // namespace

Rows wmmaRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
