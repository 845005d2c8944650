// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16, f16x2, bf16, bf16x2 arithmetic, comparison and approximations; each operation is correctly rounded once.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/HalfLane.h"

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

/// a + b in f64 with the inexact bit kept in the last place (round to odd): a later rounding to fewer bits is then
/// exact.
inline double addOdd(double a, double b) {
  double s = a + b, t = s - a, error = (a - (s - t)) + (b - t);
  if (error == 0 || !std::isfinite(s)) return s;
  auto bits = bitCast<uint64_t>(s);
  if (bits & 1) return s;
  // Towards the error when it points away from zero, else one step back; either way the last bit becomes one.
  bool away = (error > 0) == (s > 0);
  return bitCast<double>(away ? bits | 1 : bits - 1);
}
/// f64 to f32 by rounding to odd.
inline float oddFloat(double d) {
  auto f = static_cast<float>(d);
  if (!std::isfinite(d) || static_cast<double>(f) == d) return f;
  auto bits = bitCast<uint32_t>(f);
  if (std::fabs(static_cast<double>(f)) > std::fabs(d)) --bits;
  return bitCast<float>(bits | 1);
}

inline F16 narrow(double d, F16) { return toF16(oddFloat(d)); }
inline BF16 narrow(double d, BF16) { return toBF16(oddFloat(d)); }
template <class H> constexpr uint16_t kInfBits = std::is_same_v<H, F16> ? 0x7c00 : 0x7f80;
template <class H> constexpr uint16_t kOneBits = std::is_same_v<H, F16> ? 0x3c00 : 0x3f80;
template <class H> bool isNan(uint16_t h) { return (h & 0x7fff) > kInfBits<H>; }
template <class H> uint16_t flushHalf(uint16_t h) { return h & kInfBits<H> ? h : h & 0x8000; }

template <class H> uint16_t finish(double d, const Modifiers &m) {
  uint16_t r = narrow(d, H{}).bits;
  if (m.ftz) r = flushHalf<H>(r);
  if (m.sat) {
    if (isNan<H>(r) || r & 0x8000)
      r = 0;
    else if (r > kOneBits<H>)
      r = kOneBits<H>;
  }
  if (m.relu && !isNan<H>(r) && (r & 0x8000)) r = 0;
  return r;
}

template <class H> double value(uint16_t h, const Modifiers &m) { return toFloat(H{m.ftz ? flushHalf<H>(h) : h}); }

template <class H> struct Add {
  uint16_t operator()(uint16_t a, uint16_t b, const Modifiers &m) const {
    return finish<H>(addOdd(value<H>(a, m), value<H>(b, m)), m);
  }
};
template <class H> struct Sub {
  uint16_t operator()(uint16_t a, uint16_t b, const Modifiers &m) const {
    return finish<H>(addOdd(value<H>(a, m), -value<H>(b, m)), m);
  }
};
template <class H> struct Mul {
  uint16_t operator()(uint16_t a, uint16_t b, const Modifiers &m) const {
    return finish<H>(value<H>(a, m) * value<H>(b, m), m); // exact in f64
  }
};
template <class H> struct Fma {
  uint16_t operator()(uint16_t a, uint16_t b, uint16_t c, const Modifiers &m) const {
    return finish<H>(addOdd(value<H>(a, m) * value<H>(b, m), value<H>(c, m)), m);
  }
};
template <class H, bool Most> struct Extreme {
  uint16_t operator()(uint16_t a, uint16_t b, const Modifiers &m) const {
    if (m.ftz) a = flushHalf<H>(a), b = flushHalf<H>(b);
    if (m.nan && (isNan<H>(a) || isNan<H>(b))) return 0x7fff;
    uint16_t sign = m.xorsign ? (a ^ b) & 0x8000 : 0;
    if (m.xorsign) a &= 0x7fff, b &= 0x7fff;
    float x = toFloat(H{a}), y = toFloat(H{b});
    uint16_t r;
    if (x != x)
      r = y != y ? 0x7fff : b;
    else if (y != y)
      r = a;
    else if (x == y)
      r = Most ? a & b : a | b;
    else
      r = (x < y) == Most ? b : a;
    return isNan<H>(r) ? 0x7fff : r | sign;
  }
};
template <class H> struct Neg {
  uint16_t operator()(uint16_t a, const Modifiers &m) const { return (m.ftz ? flushHalf<H>(a) : a) ^ 0x8000; }
};
template <class H> struct Abs {
  uint16_t operator()(uint16_t a, const Modifiers &m) const { return (m.ftz ? flushHalf<H>(a) : a) & 0x7fff; }
};
template <class H> struct Ex2 {
  uint16_t operator()(uint16_t a, const Modifiers &m) const { return narrow(std::exp2(value<H>(a, m)), H{}).bits; }
};
template <class H> struct Tanh {
  uint16_t operator()(uint16_t a, const Modifiers &m) const { return narrow(std::tanh(value<H>(a, m)), H{}).bits; }
};

/// One or two halves a register.
template <class T, class F> T each(T a, const Modifiers &m) {
  if constexpr (sizeof(T) == 2)
    return F{}(a, m);
  else
    return static_cast<uint32_t>(F{}(static_cast<uint16_t>(a >> 16), m)) << 16 | F{}(static_cast<uint16_t>(a), m);
}
template <class T, class F> T each(T a, T b, const Modifiers &m) {
  if constexpr (sizeof(T) == 2)
    return F{}(a, b, m);
  else
    return static_cast<uint32_t>(F{}(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16), m)) << 16 |
           F{}(static_cast<uint16_t>(a), static_cast<uint16_t>(b), m);
}
template <class T, class F> T each(T a, T b, T c, const Modifiers &m) {
  if constexpr (sizeof(T) == 2)
    return F{}(a, b, c, m);
  else
    return static_cast<uint32_t>(
               F{}(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16), static_cast<uint16_t>(c >> 16), m))
               << 16 |
           F{}(static_cast<uint16_t>(a), static_cast<uint16_t>(b), static_cast<uint16_t>(c), m);
}
template <class T, class F> void half1(Warp &w, const Instr &i, uint32_t mask) {
  map1<T, T>(w, i, mask, [&i](T a) { return each<T, F>(a, i.mods); });
}
template <class T, class F> void half2(Warp &w, const Instr &i, uint32_t mask) {
  map2<T, T, T>(w, i, mask, [&i](T a, T b) { return each<T, F>(a, b, i.mods); });
}
template <class T, class F> void half3(Warp &w, const Instr &i, uint32_t mask) {
  map3<T, T, T, T>(w, i, mask, [&i](T a, T b, T c) { return each<T, F>(a, b, c, i.mods); });
}

bool holds(Compare how, float a, float b) {
  bool unordered = a != a || b != b;
  switch (how) {
  case Compare::eq: return a == b;
  case Compare::ne: return !unordered && a != b;
  case Compare::lt: return a < b;
  case Compare::le: return a <= b;
  case Compare::gt: return a > b;
  case Compare::ge: return a >= b;
  case Compare::equ: return unordered || a == b;
  case Compare::neu: return a != b;
  case Compare::ltu: return unordered || a < b;
  case Compare::leu: return unordered || a <= b;
  case Compare::gtu: return unordered || a > b;
  case Compare::geu: return unordered || a >= b;
  case Compare::num: return !unordered;
  case Compare::nan: return unordered;
  case Compare::none: break;
  }
  return false;
}
template <class H> bool compareHalf(uint16_t a, uint16_t b, const Modifiers &m) {
  if (m.ftz) a = flushHalf<H>(a), b = flushHalf<H>(b);
  return holds(m.compare, toFloat(H{a}), toFloat(H{b}));
}
uint32_t combine(Logic logic, uint32_t value, uint32_t c) {
  return logic == Logic::andOp   ? value & c
         : logic == Logic::orOp  ? value | c
         : logic == Logic::xorOp ? value ^ c
                                 : value;
}

/// setp on halves: q is the complement. On pairs: p compares the lower halves, q the upper ones.
template <class H, class T> void setpHalf(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  const Modifiers &m = i.mods;
  uint32_t p =
      bits([&](unsigned l) { return compareHalf<H>(static_cast<uint16_t>(a[l]), static_cast<uint16_t>(b[l]), m); });
  uint32_t q = ~p;
  if constexpr (sizeof(T) == 4)
    q = bits([&](unsigned l) {
      return compareHalf<H>(static_cast<uint16_t>(a[l] >> 16), static_cast<uint16_t>(b[l] >> 16), m);
    });
  uint32_t undefined = w.poison[i.a.poison] | w.poison[i.b.poison];
  if (m.logic != Logic::none) {
    uint32_t c = w.predicate(i.c) ^ (i.negated & 4 ? kAllLanes : 0);
    undefined |= w.poison[i.c.poison];
    p = combine(m.logic, p, c);
    q = combine(m.logic, q, c);
  }
  keepPredicate(w, i.d, p, mask, undefined);
  if (i.f.poison) keepPredicate(w, i.f, q, mask, undefined);
}

/// set.cmp.f16.f16 gives 1.0; set.cmp.f16x2.f16x2 a pair of them; integer destinations all ones.
template <class H> void setHalf(Warp &w, const Instr &i, uint32_t mask) {
  bool integer = !isFloat(i.mods.types[0]);
  map2<uint16_t, uint16_t, uint16_t>(w, i, mask, [&i, integer](uint16_t a, uint16_t b) -> uint16_t {
    return compareHalf<H>(a, b, i.mods) ? (integer ? 0xffff : kOneBits<H>) : 0;
  });
}
template <class H> void setPair(Warp &w, const Instr &i, uint32_t mask) {
  bool integer = !isFloat(i.mods.types[0]);
  map2<uint32_t, uint32_t, uint32_t>(w, i, mask, [&i, integer](uint32_t a, uint32_t b) {
    uint32_t yes = integer ? 0xffff : kOneBits<H>;
    return (compareHalf<H>(static_cast<uint16_t>(a >> 16), static_cast<uint16_t>(b >> 16), i.mods) ? yes << 16 : 0) |
           (compareHalf<H>(static_cast<uint16_t>(a), static_cast<uint16_t>(b), i.mods) ? yes : 0);
  });
}

constexpr OpClass kHalf = OpClass::half;
#define STATOR_SIM_CMP "eq|ne|lt|le|gt|ge|equ|neu|ltu|leu|gtu|geu|num|nan"
#define STATOR_SIM_HALVES(form, letters, Loop, F)                                                                      \
  {form ".f16", letters, Loop<uint16_t, F<F16>>, kHalf}, { form ".bf16", letters, Loop<uint16_t, F<BF16>>, kHalf }
#define STATOR_SIM_PAIRS(form, letters, Loop, F)                                                                       \
  {form ".f16x2", letters, Loop<uint32_t, F<F16>>, kHalf}, { form ".bf16x2", letters, Loop<uint32_t, F<BF16>>, kHalf }
template <class H> using Least = Extreme<H, false>;
template <class H> using Greatest = Extreme<H, true>;

} // namespace

STATOR_SIM_ROWS(halfRows, STATOR_SIM_HALVES("add.rn?.ftz?.sat?", "hhh", half2, Add),
                STATOR_SIM_PAIRS("add.rn?.ftz?.sat?", "www", half2, Add),
                STATOR_SIM_HALVES("sub.rn?.ftz?.sat?", "hhh", half2, Sub),
                STATOR_SIM_PAIRS("sub.rn?.ftz?.sat?", "www", half2, Sub),
                STATOR_SIM_HALVES("mul.rn?.ftz?.sat?", "hhh", half2, Mul),
                STATOR_SIM_PAIRS("mul.rn?.ftz?.sat?", "www", half2, Mul),
                STATOR_SIM_HALVES("fma.rn.ftz?.sat?.relu?", "hhhh", half3, Fma),
                STATOR_SIM_PAIRS("fma.rn.ftz?.sat?.relu?", "wwww", half3, Fma),
                STATOR_SIM_HALVES("min.ftz?.NaN?.xorsign?.abs?", "hhh", half2, Least),
                STATOR_SIM_PAIRS("min.ftz?.NaN?.xorsign?.abs?", "www", half2, Least),
                STATOR_SIM_HALVES("max.ftz?.NaN?.xorsign?.abs?", "hhh", half2, Greatest),
                STATOR_SIM_PAIRS("max.ftz?.NaN?.xorsign?.abs?", "www", half2, Greatest),
                STATOR_SIM_HALVES("neg.ftz?", "hh", half1, Neg), STATOR_SIM_PAIRS("neg.ftz?", "ww", half1, Neg),
                STATOR_SIM_HALVES("abs.ftz?", "hh", half1, Abs), STATOR_SIM_PAIRS("abs.ftz?", "ww", half1, Abs),
                STATOR_SIM_HALVES("ex2.approx.ftz?", "hh", half1, Ex2),
                STATOR_SIM_PAIRS("ex2.approx.ftz?", "ww", half1, Ex2),
                STATOR_SIM_HALVES("tanh.approx", "hh", half1, Tanh), STATOR_SIM_PAIRS("tanh.approx", "ww", half1, Tanh),
                {"setp." STATOR_SIM_CMP ".ftz?.f16", "Phh", setpHalf<F16, uint16_t>, kHalf},
                {"setp." STATOR_SIM_CMP ".ftz?.bf16", "Phh", setpHalf<BF16, uint16_t>, kHalf},
                {"setp." STATOR_SIM_CMP ".ftz?.f16x2", "Pww", setpHalf<F16, uint32_t>, kHalf},
                {"setp." STATOR_SIM_CMP ".ftz?.bf16x2", "Pww", setpHalf<BF16, uint32_t>, kHalf},
                {"setp." STATOR_SIM_CMP ".and|or|xor.ftz?.f16", "Phhp", setpHalf<F16, uint16_t>, kHalf},
                {"setp." STATOR_SIM_CMP ".and|or|xor.ftz?.bf16", "Phhp", setpHalf<BF16, uint16_t>, kHalf},
                {"setp." STATOR_SIM_CMP ".and|or|xor.ftz?.f16x2", "Pwwp", setpHalf<F16, uint32_t>, kHalf},
                {"set." STATOR_SIM_CMP ".ftz?.f16|u16|s16.f16", "hhh", setHalf<F16>, kHalf},
                {"set." STATOR_SIM_CMP ".ftz?.bf16|u16|s16.bf16", "hhh", setHalf<BF16>, kHalf},
                {"set." STATOR_SIM_CMP ".ftz?.f16x2|u32|s32.f16x2", "www", setPair<F16>, kHalf},
                {"set." STATOR_SIM_CMP ".ftz?.bf16x2|u32|s32.bf16x2", "www", setPair<BF16>, kHalf})

} // namespace stator::sim::STATOR_SIM_LEVEL
