// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// atom and red. Lanes take their turns in lane order (reversed under odd schedule seeds).
#include "runtime/simulator/Access.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/HalfLane.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>

namespace stator::sim {

namespace {

using baseline::BF16;
using baseline::bitCast;
using baseline::F16;
using baseline::toBF16;
using baseline::toF16;
using baseline::toFloat;

struct Bits128 {
  uint64_t low, high;
  bool operator==(const Bits128 &o) const { return low == o.low && high == o.high; }
};

/// What an operation sees: the old value, the operands, and whether the place is in global memory.
template <class T> struct Turn {
  T old, b, c;
  bool global;
};

struct Add {
  template <class T> T operator()(Turn<T> t) const { return static_cast<T>(t.old + t.b); }
};
struct Min {
  template <class T> T operator()(Turn<T> t) const { return std::min(t.old, t.b); }
};
struct Max {
  template <class T> T operator()(Turn<T> t) const { return std::max(t.old, t.b); }
};
struct And {
  template <class T> T operator()(Turn<T> t) const { return t.old & t.b; }
};
struct Or {
  template <class T> T operator()(Turn<T> t) const { return t.old | t.b; }
};
struct Xor {
  template <class T> T operator()(Turn<T> t) const { return t.old ^ t.b; }
};
struct Inc {
  uint32_t operator()(Turn<uint32_t> t) const { return t.old >= t.b ? 0 : t.old + 1; }
};
struct Dec {
  uint32_t operator()(Turn<uint32_t> t) const { return t.old == 0 || t.old > t.b ? t.b : t.old - 1; }
};
struct Exch {
  template <class T> T operator()(Turn<T> t) const { return t.b; }
};
struct Cas {
  template <class T> T operator()(Turn<T> t) const { return t.old == t.b ? t.c : t.old; }
};
/// Global memory's f32 adder flushes subnormals, shared memory's does not.
struct AddF32 {
  float operator()(Turn<float> t) const {
    if (!t.global) return baseline::canonical(t.old + t.b);
    return baseline::flush(baseline::canonical(baseline::flush(t.old) + baseline::flush(t.b)));
  }
};
template <class H> uint16_t addHalf(uint16_t a, uint16_t b) {
  float sum = toFloat(H{a}) + toFloat(H{b});
  if constexpr (std::is_same_v<H, F16>)
    return toF16(sum).bits;
  else
    return toBF16(sum).bits;
}
template <class H> struct AddHalf {
  uint16_t operator()(Turn<uint16_t> t) const { return addHalf<H>(t.old, t.b); }
};
template <class H> struct AddPair {
  uint32_t operator()(Turn<uint32_t> t) const {
    return uint32_t{addHalf<H>(static_cast<uint16_t>(t.old >> 16), static_cast<uint16_t>(t.b >> 16))} << 16 |
           addHalf<H>(static_cast<uint16_t>(t.old), static_cast<uint16_t>(t.b));
  }
};
template <class H, bool Most> uint16_t extremeHalf(uint16_t a, uint16_t b) {
  float x = toFloat(H{a}), y = toFloat(H{b});
  if (x != x) return b;
  if (y != y) return a;
  if (x == y) return Most ? (a & b) : (a | b);
  return (x < y) == Most ? b : a;
}
template <class H, bool Most> struct ExtremeHalf {
  uint16_t operator()(Turn<uint16_t> t) const { return extremeHalf<H, Most>(t.old, t.b); }
};
/// d, a: address, then b and c in slots b and c; vectors take their elements from the list (results first).
template <class T, class F> void atomic(Warp &w, const Instr &i, uint32_t mask) {
  Access access;
  Places p;
  gatherAddresses(w, i, mask, access);
  access.write = access.atomic = true;
  resolve(w, i, access, p);
  unsigned n = i.mods.vector;
  bool reverse = w.block.launch.settings->schedule & 1;
  for (unsigned e = 0; e < n; ++e) {
    Slot bSlot = n == 1 ? i.b : w.kernel.slots[i.list + n + e], dSlot = n == 1 ? i.d : w.kernel.slots[i.list + e];
    const T *b = w.lanes<T>(bSlot), *c = w.lanes<T>(i.c);
    T *d = w.lanes<T>(dSlot), result[kLanes] = {};
    uint32_t operands = w.poison[bSlot.poison] | w.poison[i.c.poison], undefined = 0;
    if (uint32_t bad = operands & p.ok & p.globalLanes)
      w.worker.report(w, i, Kind::uninitialised, bad, Severity::error, "an undefined value goes to global memory");
    for (unsigned k = 0; k < kLanes; ++k) {
      unsigned l = reverse ? kLanes - 1 - k : k;
      if (!(p.ok >> l & 1)) continue;
      uint8_t *at = (p.dense ? p.data + size_t{access.bytes} * l : p.lane[l]) + sizeof(T) * e;
      uint8_t *defined = p.dense ? (p.defined ? p.defined + size_t{access.bytes} * l : nullptr) : p.laneDefined[l];
      if (defined) defined += sizeof(T) * e;
      T old, now;
      std::memcpy(&old, at, sizeof(T));
      if (!allDefined(defined, sizeof(T))) undefined |= 1u << l;
      now = F{}(Turn<T>{old, b[l], c[l], (p.globalLanes >> l & 1) != 0});
      if (std::memcmp(&now, &old, sizeof(T)) != 0) ++w.worker.changes;
      std::memcpy(at, &now, sizeof(T));
      // An exchange defines the place; everything else keeps what the old value was.
      bool exchange = std::is_same_v<F, Exch>;
      if (defined && (exchange || (operands >> l & 1)))
        std::memset(defined, operands >> l & 1 && !(p.globalLanes >> l & 1) ? 0 : 1, sizeof(T));
      result[l] = old;
    }
    if (!dSlot.data && !dSlot.poison) continue; // red
    for (unsigned l = 0; l < kLanes; ++l)
      if (mask >> l & 1) d[l] = result[l];
    w.define(dSlot, mask, undefined);
  }
}

void decodeAtomic(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  bool reduces = s.opcode == "red", cas = false;
  for (const std::string &m : s.modifiers) cas |= m == "cas";
  size_t at = 0, least = (reduces ? 2u : 3u) + cas;
  decoder.expectOperands(s, least, least + 1); // a cache policy may follow
  Type type = instr.mods.types[0];
  instr.bytes = instr.registerBytes = static_cast<uint8_t>(sizeOf(type));
  // Atomics are relaxed at GPU scope unless they say otherwise.
  if (instr.mods.order == Order::weak) instr.mods.order = Order::relaxed;
  if (instr.mods.scope == Scope::none) instr.mods.scope = Scope::gpu;
  auto number = type == Type::f32   ? Decoder::Number::f32
                : type == Type::f64 ? Decoder::Number::f64
                                    : Decoder::Number::integer;
  if (instr.mods.vector > 1) {
    std::vector<Slot> slots;
    auto take = [&](const ptx::Operand &operand, bool destination) {
      if (operand.kind != ptx::Operand::Kind::vector || operand.parts.size() != instr.mods.vector)
        decoder.fail("a vector operand is expected");
      for (const ptx::Operand &part : operand.parts)
        slots.push_back(destination ? decoder.destination(part, instr.bytes)
                                    : decoder.source(part, instr.bytes, number));
    };
    if (reduces)
      slots.resize(instr.mods.vector);
    else
      take(s.operands[at++], true);
    decoder.address(s.operands[at++], instr);
    take(s.operands[at++], false);
    decoder.list(instr, slots);
    return;
  }
  if (!reduces) instr.d = decoder.destination(s.operands[at++], instr.bytes);
  decoder.address(s.operands[at++], instr);
  instr.b = decoder.source(s.operands[at++], instr.bytes, number);
  instr.c = cas ? decoder.source(s.operands[at++], instr.bytes, number) : instr.b;
}

using MinF16 = ExtremeHalf<F16, false>;
using MaxF16 = ExtremeHalf<F16, true>;

#define STATOR_SIM_ATOM_HEAD                                                                                           \
  ".relaxed|acquire|release|acq_rel?.cta|cluster|gpu|sys?.global|shared|shared::cta|shared::cluster?."
#define STATOR_SIM_ATOM(op, types, T, F)                                                                               \
  {"atom" STATOR_SIM_ATOM_HEAD op ".L2::cache_hint?." types, nullptr, atomic<T, F>, OpClass::atomic, decodeAtomic}, {  \
    "red" STATOR_SIM_ATOM_HEAD op ".L2::cache_hint?." types, nullptr, atomic<T, F>, OpClass::atomic, decodeAtomic      \
  }

const Row kRows[] = {
    STATOR_SIM_ATOM("add", "u32|s32", uint32_t, Add),
    STATOR_SIM_ATOM("add", "u64|s64", uint64_t, Add),
    STATOR_SIM_ATOM("add", "v2|v4?.f32", float, AddF32),
    STATOR_SIM_ATOM("add", "f64", double, Add),
    STATOR_SIM_ATOM("add.noftz", "v2|v4|v8?.f16", uint16_t, AddHalf<F16>),
    STATOR_SIM_ATOM("add.noftz", "v2|v4|v8?.bf16", uint16_t, AddHalf<BF16>),
    STATOR_SIM_ATOM("add.noftz", "v2|v4?.f16x2", uint32_t, AddPair<F16>),
    STATOR_SIM_ATOM("add.noftz", "v2|v4?.bf16x2", uint32_t, AddPair<BF16>),
    STATOR_SIM_ATOM("min.noftz", "f16", uint16_t, MinF16),
    STATOR_SIM_ATOM("max.noftz", "f16", uint16_t, MaxF16),
    STATOR_SIM_ATOM("min", "u32", uint32_t, Min),
    STATOR_SIM_ATOM("min", "s32", int32_t, Min),
    STATOR_SIM_ATOM("min", "u64", uint64_t, Min),
    STATOR_SIM_ATOM("min", "s64", int64_t, Min),
    STATOR_SIM_ATOM("max", "u32", uint32_t, Max),
    STATOR_SIM_ATOM("max", "s32", int32_t, Max),
    STATOR_SIM_ATOM("max", "u64", uint64_t, Max),
    STATOR_SIM_ATOM("max", "s64", int64_t, Max),
    STATOR_SIM_ATOM("and", "b32", uint32_t, And),
    STATOR_SIM_ATOM("and", "b64", uint64_t, And),
    STATOR_SIM_ATOM("or", "b32", uint32_t, Or),
    STATOR_SIM_ATOM("or", "b64", uint64_t, Or),
    STATOR_SIM_ATOM("xor", "b32", uint32_t, Xor),
    STATOR_SIM_ATOM("xor", "b64", uint64_t, Xor),
    STATOR_SIM_ATOM("inc", "u32", uint32_t, Inc),
    STATOR_SIM_ATOM("dec", "u32", uint32_t, Dec),
    STATOR_SIM_ATOM("exch", "b32|u32|s32|f32", uint32_t, Exch),
    STATOR_SIM_ATOM("exch", "b64|u64|s64", uint64_t, Exch),
    STATOR_SIM_ATOM("exch", "b128", Bits128, Exch),
    STATOR_SIM_ATOM("cas", "b16", uint16_t, Cas),
    STATOR_SIM_ATOM("cas", "b32|u32|s32", uint32_t, Cas),
    STATOR_SIM_ATOM("cas", "b64|u64|s64", uint64_t, Cas),
    STATOR_SIM_ATOM("cas", "b128", Bits128, Cas),
};

} // namespace

Rows atomicRows() { return {kRows, sizeof kRows / sizeof kRows[0]}; }

} // namespace stator::sim
