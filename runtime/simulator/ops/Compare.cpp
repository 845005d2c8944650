// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// setp, set, selp, slct.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/FloatLane.h"

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

template <class T> uint32_t compareLanes(const T *a, const T *b, Compare how) {
  switch (how) {
  case Compare::eq: return bits([&](unsigned l) { return a[l] == b[l]; });
  case Compare::lt: return bits([&](unsigned l) { return a[l] < b[l]; });
  case Compare::le: return bits([&](unsigned l) { return a[l] <= b[l]; });
  case Compare::gt: return bits([&](unsigned l) { return a[l] > b[l]; });
  case Compare::ge: return bits([&](unsigned l) { return a[l] >= b[l]; });
  // Ordered: false when an operand is NaN (integers never are).
  case Compare::ne: return bits([&](unsigned l) { return a[l] < b[l] || a[l] > b[l]; });
  case Compare::equ: return ~bits([&](unsigned l) { return a[l] < b[l] || a[l] > b[l]; });
  case Compare::neu: return ~bits([&](unsigned l) { return a[l] == b[l]; });
  case Compare::ltu: return ~bits([&](unsigned l) { return a[l] >= b[l]; });
  case Compare::leu: return ~bits([&](unsigned l) { return a[l] > b[l]; });
  case Compare::gtu: return ~bits([&](unsigned l) { return a[l] <= b[l]; });
  case Compare::geu: return ~bits([&](unsigned l) { return a[l] < b[l]; });
  case Compare::num: return bits([&](unsigned l) { return a[l] == a[l] && b[l] == b[l]; });
  case Compare::nan: return bits([&](unsigned l) { return a[l] != a[l] || b[l] != b[l]; });
  case Compare::none: break;
  }
  return 0;
}

template <class T> uint32_t compared(Warp &w, const Instr &i) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  if constexpr (std::is_same_v<T, float>)
    if (i.mods.ftz) {
      float x[kLanes], y[kLanes];
      for (unsigned l = 0; l < kLanes; ++l) x[l] = flush(a[l]), y[l] = flush(b[l]);
      return compareLanes(x, y, i.mods.compare);
    }
  return compareLanes(a, b, i.mods.compare);
}

uint32_t combined(Warp &w, const Instr &i, uint32_t value) {
  uint32_t c = w.predicate(i.c) ^ (i.negated & 4 ? kAllLanes : 0);
  switch (i.mods.logic) {
  case Logic::andOp: return value & c;
  case Logic::orOp: return value | c;
  case Logic::xorOp: return value ^ c;
  case Logic::none: break;
  }
  return value;
}

template <class T> void setp(Warp &w, const Instr &i, uint32_t mask) {
  uint32_t value = compared<T>(w, i);
  uint32_t undefined = w.poison[i.a.poison] | w.poison[i.b.poison];
  if (i.mods.logic == Logic::none) {
    keepPredicate(w, i.d, value, mask, undefined);
    if (i.f.poison) keepPredicate(w, i.f, ~value, mask, undefined);
    return;
  }
  undefined |= w.poison[i.c.poison];
  // p and q are both functions of the comparison and c, so c is read before p is written.
  uint32_t p = combined(w, i, value), q = combined(w, i, ~value);
  keepPredicate(w, i.d, p, mask, undefined);
  if (i.f.poison) keepPredicate(w, i.f, q, mask, undefined);
}

/// set gives all ones (integer destinations) or 1.0f.
template <class T> void set(Warp &w, const Instr &i, uint32_t mask) {
  uint32_t value = compared<T>(w, i), undefined = w.poison[i.a.poison] | w.poison[i.b.poison];
  if (i.mods.logic != Logic::none) {
    value = combined(w, i, value);
    undefined |= w.poison[i.c.poison];
  }
  uint32_t yes = i.mods.types[0] == Type::f32 ? 0x3f800000u : 0xffffffffu, out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) out[l] = value & kBit[l] ? yes : 0;
  keep(w.lanes<uint32_t>(i.d), out, mask);
  w.define(i.d, mask, undefined);
}

template <class T> void selp(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  uint32_t p = w.predicate(i.c) ^ (i.negated & 4 ? kAllLanes : 0);
  alignas(64) T out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) out[l] = p & kBit[l] ? a[l] : b[l];
  keep(w.lanes<T>(i.d), out, mask);
  // Only the chosen operand decides.
  uint32_t undefined = w.poison[i.c.poison] | (p & w.poison[i.a.poison]) | (~p & w.poison[i.b.poison]);
  w.define(i.d, mask, undefined);
}

template <class T, class C> void slct(Warp &w, const Instr &i, uint32_t mask) {
  map3<T, T, T, C>(w, i, mask, [](T a, T b, C c) { return c >= 0 ? a : b; });
}

#define STATOR_SIM_INT_COMPARE "eq|ne|lt|le|gt|ge|lo|ls|hi|hs"
#define STATOR_SIM_FLOAT_COMPARE "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define STATOR_SIM_LOGIC "and|or|xor"

constexpr OpClass kCmp = OpClass::compare;

} // namespace

STATOR_SIM_ROWS(compareRows, {"setp." STATOR_SIM_INT_COMPARE ".u16|b16", "Phh", setp<uint16_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE ".s16", "Phh", setp<int16_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE ".u32|b32", "Pww", setp<uint32_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE ".s32", "Pww", setp<int32_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE ".u64|b64", "Pdd", setp<uint64_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE ".s64", "Pdd", setp<int64_t>, kCmp},
                {"setp." STATOR_SIM_FLOAT_COMPARE ".ftz?.f32", "Pff", setp<float>, kCmp},
                {"setp." STATOR_SIM_FLOAT_COMPARE ".f64", "Pee", setp<double>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE "." STATOR_SIM_LOGIC ".u16|b16", "Phhp", setp<uint16_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE "." STATOR_SIM_LOGIC ".s16", "Phhp", setp<int16_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE "." STATOR_SIM_LOGIC ".u32|b32", "Pwwp", setp<uint32_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE "." STATOR_SIM_LOGIC ".s32", "Pwwp", setp<int32_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE "." STATOR_SIM_LOGIC ".u64|b64", "Pddp", setp<uint64_t>, kCmp},
                {"setp." STATOR_SIM_INT_COMPARE "." STATOR_SIM_LOGIC ".s64", "Pddp", setp<int64_t>, kCmp},
                {"setp." STATOR_SIM_FLOAT_COMPARE "." STATOR_SIM_LOGIC ".ftz?.f32", "Pffp", setp<float>, kCmp},
                {"setp." STATOR_SIM_FLOAT_COMPARE "." STATOR_SIM_LOGIC ".f64", "Peep", setp<double>, kCmp},
                {"set." STATOR_SIM_INT_COMPARE ".u32|s32|f32.u32|b32", "www", set<uint32_t>, kCmp},
                {"set." STATOR_SIM_INT_COMPARE ".u32|s32|f32.s32", "www", set<int32_t>, kCmp},
                {"set." STATOR_SIM_INT_COMPARE ".u32|s32|f32.u64|b64", "wdd", set<uint64_t>, kCmp},
                {"set." STATOR_SIM_INT_COMPARE ".u32|s32|f32.s64", "wdd", set<int64_t>, kCmp},
                {"set." STATOR_SIM_FLOAT_COMPARE ".ftz?.u32|s32|f32.f32", "wff", set<float>, kCmp},
                {"set." STATOR_SIM_FLOAT_COMPARE ".u32|s32|f32.f64", "wee", set<double>, kCmp},
                {"set." STATOR_SIM_FLOAT_COMPARE "." STATOR_SIM_LOGIC ".ftz?.u32|s32|f32.f32", "wffp", set<float>,
                 kCmp},
                {"selp.b16|u16|s16|f16|bf16", "hhhp", selp<uint16_t>, kCmp},
                {"selp.b32|u32|s32|f32", "wwwp", selp<uint32_t>, kCmp},
                {"selp.b64|u64|s64", "dddp", selp<uint64_t>, kCmp}, {"selp.f64", "eeep", selp<uint64_t>, kCmp},
                {"slct.b32|u32|s32|f32.s32", "wwww", slct<uint32_t, int32_t>, kCmp},
                {"slct.b64|u64|s64|f64.s32", "dddw", slct<uint64_t, int32_t>, kCmp},
                {"slct.b32|u32|s32|f32.f32", "wwwf", slct<uint32_t, float>, kCmp},
                {"slct.b64|u64|s64|f64.f32", "dddf", slct<uint64_t, float>, kCmp})

} // namespace stator::sim::STATOR_SIM_LEVEL
