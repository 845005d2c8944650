// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Logic, shifts, bit fields, permutation, dot products of bytes.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/Lanes.h"

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

struct And {
  template <class T> T operator()(T a, T b) const { return a & b; }
};
struct Or {
  template <class T> T operator()(T a, T b) const { return a | b; }
};
struct Xor {
  template <class T> T operator()(T a, T b) const { return a ^ b; }
};
struct Not {
  template <class T> T operator()(T a) const { return static_cast<T>(~a); }
};
struct CNot {
  template <class T> T operator()(T a) const { return a == 0 ? T{1} : T{0}; }
};

template <class F> void logicPredicate(Warp &w, const Instr &i, uint32_t mask) {
  uint32_t a = w.predicate(i.a) ^ (i.negated & 1 ? kAllLanes : 0),
           b = w.predicate(i.b) ^ (i.negated & 2 ? kAllLanes : 0);
  keepPredicate(w, i.d, F{}(a, b), mask, w.poison[i.a.poison] | w.poison[i.b.poison]);
}
void notPredicate(Warp &w, const Instr &i, uint32_t mask) {
  uint32_t a = w.predicate(i.a) ^ (i.negated & 1 ? kAllLanes : 0);
  keepPredicate(w, i.d, ~a, mask, w.poison[i.a.poison]);
}

/// Shift amounts clamp at the width.
template <class T> void shiftLeft(Warp &w, const Instr &i, uint32_t mask) {
  constexpr uint32_t width = sizeof(T) * 8;
  map2<T, T, uint32_t>(w, i, mask, [](T a, uint32_t n) {
    T shifted = static_cast<T>(a << (n & (width - 1)));
    return n < width ? shifted : T{0};
  });
}
template <class T> void shiftRight(Warp &w, const Instr &i, uint32_t mask) {
  constexpr uint32_t width = sizeof(T) * 8;
  map2<T, T, uint32_t>(w, i, mask, [](T a, uint32_t n) {
    if constexpr (std::is_signed_v<T>) return static_cast<T>(a >> (n < width ? n : width - 1));
    T shifted = static_cast<T>(a >> (n & (width - 1)));
    return n < width ? shifted : T{0};
  });
}

template <bool Left, bool Wrap> void funnel(Warp &w, const Instr &i, uint32_t mask) {
  map3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t lo, uint32_t hi, uint32_t c) {
    uint32_t n = Wrap ? c & 31 : (c > 32 ? 32 : c);
    uint64_t both = uint64_t{hi} << 32 | lo;
    return Left ? static_cast<uint32_t>(both << n >> 32) : static_cast<uint32_t>(both >> n);
  });
}

template <class T> void popc(Warp &w, const Instr &i, uint32_t mask) {
  map1<uint32_t, T>(w, i, mask, [](T a) { return static_cast<uint32_t>(__builtin_popcountll(a)); });
}
template <class T> void clz(Warp &w, const Instr &i, uint32_t mask) {
  map1<uint32_t, T>(w, i, mask, [](T a) {
    uint32_t leading = a ? static_cast<uint32_t>(__builtin_clzll(a)) : 64;
    return leading - (64 - sizeof(T) * 8);
  });
}
template <class T> T reversed(T a) {
  T out = 0;
  for (unsigned i = 0; i < sizeof(T) * 8; ++i) out = static_cast<T>(out << 1 | (a >> i & 1));
  return out;
}
struct Brev {
  template <class T> T operator()(T a) const { return reversed(a); }
};

/// Position of the most significant bit that is not a sign bit, or ~0; `.shiftamt` counts from the top.
template <class T, bool ShiftAmount> void bfind(Warp &w, const Instr &i, uint32_t mask) {
  using U = std::make_unsigned_t<T>;
  map1<uint32_t, T>(w, i, mask, [](T a) {
    U bitsOf = std::is_signed_v<T> && a < 0 ? static_cast<U>(~a) : static_cast<U>(a);
    if (!bitsOf) return 0xffffffffu;
    auto at = static_cast<uint32_t>(63 - __builtin_clzll(bitsOf));
    return ShiftAmount ? static_cast<uint32_t>(sizeof(T) * 8 - 1) - at : at;
  });
}

/// Position of the n-th set bit from `base`, upwards for n > 0, downwards for n < 0; n = 0 asks about `base` itself.
void fns(Warp &w, const Instr &i, uint32_t mask) {
  map3<uint32_t, uint32_t, uint32_t, int32_t>(w, i, mask, [](uint32_t m, uint32_t base, int32_t n) {
    if (base > 31) return 0xffffffffu;
    if (n == 0) return m >> base & 1 ? base : 0xffffffffu;
    int32_t step = n > 0 ? 1 : -1, left = n > 0 ? n : -n;
    for (auto at = static_cast<int32_t>(base); at >= 0 && at < 32; at += step)
      if ((m >> at & 1) && --left == 0) return static_cast<uint32_t>(at);
    return 0xffffffffu;
  });
}

template <class T> T extract(T a, uint32_t b, uint32_t c) {
  using U = std::make_unsigned_t<T>;
  constexpr uint32_t top = sizeof(T) * 8 - 1;
  uint32_t pos = b & 0xff, len = c & 0xff;
  bool sign = false;
  if (std::is_signed_v<T> && len != 0) {
    uint32_t signAt = pos + len - 1 < top ? pos + len - 1 : top;
    sign = static_cast<U>(a) >> signAt & 1;
  }
  U out = 0;
  for (uint32_t i = 0; i <= top; ++i) {
    bool bit = i < len && pos + i <= top ? static_cast<U>(a) >> (pos + i) & 1 : sign;
    out |= static_cast<U>(bit) << i;
  }
  return static_cast<T>(out);
}
template <class T> void bfe(Warp &w, const Instr &i, uint32_t mask) {
  map3<T, T, uint32_t, uint32_t>(w, i, mask, [](T a, uint32_t b, uint32_t c) { return extract<T>(a, b, c); });
}

/// d, a (bits to insert), b (base), c (position), e (length)
template <class T> void bfi(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a), *b = w.lanes<T>(i.b);
  const uint32_t *c = w.lanes<uint32_t>(i.c), *e = w.lanes<uint32_t>(i.e);
  constexpr uint32_t width = sizeof(T) * 8;
  T out[kLanes];
  for (unsigned l = 0; l < kLanes; ++l) {
    uint32_t pos = c[l] & 0xff, len = e[l] & 0xff;
    T field = len >= width ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << len) - 1);
    T place = pos >= width ? T{0} : static_cast<T>(field << pos);
    out[l] = static_cast<T>((b[l] & ~place) | (pos >= width ? T{0} : static_cast<T>(a[l] << pos) & place));
  }
  keep(w.lanes<T>(i.d), out, mask);
  w.define(i.d, mask, w.poison[i.a.poison] | w.poison[i.b.poison] | w.poison[i.c.poison] | w.poison[i.e.poison]);
}

template <bool Clamp> void bmsk(Warp &w, const Instr &i, uint32_t mask) {
  map2<uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t a, uint32_t b) {
    uint32_t pos = Clamp ? a : a & 31, len = Clamp ? b : b & 31;
    if (pos >= 32 || len == 0) return 0u;
    uint32_t field = len >= 32 ? 0xffffffffu : (1u << len) - 1;
    return field << pos;
  });
}

/// szext.mode.type: sign- or zero-extend from bit b-1.
template <bool Signed, bool Clamp> void szext(Warp &w, const Instr &i, uint32_t mask) {
  map2<uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t a, uint32_t b) {
    uint32_t n = Clamp ? b : b & 31;
    if (n >= 32) return a;
    uint32_t low = n ? a & ((1u << n) - 1) : 0;
    return Signed && n && (a >> (n - 1) & 1) ? low | ~((1u << n) - 1) : low;
  });
}

/// Any function of three bits: bit (a<<2|b<<1|c) of `table` is its value.
void lop3(Warp &w, const Instr &i, uint32_t mask) {
  auto table = static_cast<uint32_t>(i.offset);
  map3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, mask, [table](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t out = 0;
    if (table & 0x01) out |= ~a & ~b & ~c;
    if (table & 0x02) out |= ~a & ~b & c;
    if (table & 0x04) out |= ~a & b & ~c;
    if (table & 0x08) out |= ~a & b & c;
    if (table & 0x10) out |= a & ~b & ~c;
    if (table & 0x20) out |= a & ~b & c;
    if (table & 0x40) out |= a & b & ~c;
    if (table & 0x80) out |= a & b & c;
    return out;
  });
}
void decodeLop3(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 5, 5);
  instr.d = decoder.destination(s.operands[0], 4);
  instr.a = decoder.source(s.operands[1], 4);
  instr.b = decoder.source(s.operands[2], 4);
  instr.c = decoder.source(s.operands[3], 4);
  instr.offset = decoder.immediate(s.operands[4]);
}

/// The eight bytes of b:a, chosen by four selectors; bit 3 of a selector replicates the byte's sign.
uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors) {
  uint64_t bytes = uint64_t{b} << 32 | a;
  uint32_t out = 0;
  for (unsigned i = 0; i < 4; ++i) {
    uint32_t s = selectors >> (4 * i) & 15;
    auto byte = static_cast<uint32_t>(bytes >> (8 * (s & 7)) & 0xff);
    if (s & 8) byte = byte & 0x80 ? 0xff : 0;
    out |= byte << (8 * i);
  }
  return out;
}
enum class Prmt { plain, f4e, b4e, rc8, ecl, ecr, rc16 };
template <Prmt Mode> void prmt(Warp &w, const Instr &i, uint32_t mask) {
  map3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t a, uint32_t b, uint32_t c) {
    uint32_t n = c & 3, s = 0;
    for (unsigned k = 0; k < 4; ++k) {
      uint32_t pick = 0;
      switch (Mode) {
      case Prmt::plain: pick = c >> (4 * k) & 15; break;
      case Prmt::f4e: pick = n + k; break;
      case Prmt::b4e: pick = (n - k) & 7; break;
      case Prmt::rc8: pick = n; break;
      case Prmt::ecl: pick = k < n ? n : k; break;
      case Prmt::ecr: pick = k > n ? n : k; break;
      case Prmt::rc16: pick = (n & 1) * 2 + (k & 1); break;
      }
      s |= pick << (4 * k);
    }
    return permute(a, b, s);
  });
}

template <class T> int32_t part(uint32_t word, unsigned index) {
  return static_cast<int32_t>(static_cast<T>(word >> (index * sizeof(T) * 8)));
}
template <class A, class B> void dp4a(Warp &w, const Instr &i, uint32_t mask) {
  map3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned k = 0; k < 4; ++k) c += static_cast<uint32_t>(part<A>(a, k) * part<B>(b, k));
    return c;
  });
}
template <class A, class B, bool High> void dp2a(Warp &w, const Instr &i, uint32_t mask) {
  using Wide = std::conditional_t<std::is_signed_v<A>, int16_t, uint16_t>;
  map3<uint32_t, uint32_t, uint32_t, uint32_t>(w, i, mask, [](uint32_t a, uint32_t b, uint32_t c) {
    for (unsigned k = 0; k < 2; ++k) c += static_cast<uint32_t>(part<Wide>(a, k) * part<B>(b, k + (High ? 2 : 0)));
    return c;
  });
}

constexpr OpClass kInt = OpClass::integer;

} // namespace

STATOR_SIM_ROWS(
    bitRows, {"and.pred", "ppp", logicPredicate<And>, kInt}, {"or.pred", "ppp", logicPredicate<Or>, kInt},
    {"xor.pred", "ppp", logicPredicate<Xor>, kInt}, {"not.pred", "pp", notPredicate, kInt},
    {"and.b16", "hhh", binary<uint16_t, And>, kInt}, {"and.b32", "www", binary<uint32_t, And>, kInt},
    {"and.b64", "ddd", binary<uint64_t, And>, kInt}, {"or.b16", "hhh", binary<uint16_t, Or>, kInt},
    {"or.b32", "www", binary<uint32_t, Or>, kInt}, {"or.b64", "ddd", binary<uint64_t, Or>, kInt},
    {"xor.b16", "hhh", binary<uint16_t, Xor>, kInt}, {"xor.b32", "www", binary<uint32_t, Xor>, kInt},
    {"xor.b64", "ddd", binary<uint64_t, Xor>, kInt}, {"not.b16", "hh", unary<uint16_t, Not>, kInt},
    {"not.b32", "ww", unary<uint32_t, Not>, kInt}, {"not.b64", "dd", unary<uint64_t, Not>, kInt},
    {"cnot.b16", "hh", unary<uint16_t, CNot>, kInt}, {"cnot.b32", "ww", unary<uint32_t, CNot>, kInt},
    {"cnot.b64", "dd", unary<uint64_t, CNot>, kInt}, {"shl.b16", "hhw", shiftLeft<uint16_t>, kInt},
    {"shl.b32", "www", shiftLeft<uint32_t>, kInt}, {"shl.b64", "ddw", shiftLeft<uint64_t>, kInt},
    {"shr.b16|u16", "hhw", shiftRight<uint16_t>, kInt}, {"shr.b32|u32", "www", shiftRight<uint32_t>, kInt},
    {"shr.b64|u64", "ddw", shiftRight<uint64_t>, kInt}, {"shr.s16", "hhw", shiftRight<int16_t>, kInt},
    {"shr.s32", "www", shiftRight<int32_t>, kInt}, {"shr.s64", "ddw", shiftRight<int64_t>, kInt},
    {"shf.l.wrap.b32", "wwww", funnel<true, true>, kInt}, {"shf.l.clamp.b32", "wwww", funnel<true, false>, kInt},
    {"shf.r.wrap.b32", "wwww", funnel<false, true>, kInt}, {"shf.r.clamp.b32", "wwww", funnel<false, false>, kInt},
    {"popc.b32", "ww", popc<uint32_t>, kInt}, {"popc.b64", "wd", popc<uint64_t>, kInt},
    {"clz.b32", "ww", clz<uint32_t>, kInt}, {"clz.b64", "wd", clz<uint64_t>, kInt},
    {"brev.b32", "ww", unary<uint32_t, Brev>, kInt}, {"brev.b64", "dd", unary<uint64_t, Brev>, kInt},
    {"bfind.u32", "ww", bfind<uint32_t, false>, kInt}, {"bfind.s32", "ww", bfind<int32_t, false>, kInt},
    {"bfind.u64", "wd", bfind<uint64_t, false>, kInt}, {"bfind.s64", "wd", bfind<int64_t, false>, kInt},
    {"bfind.shiftamt.u32", "ww", bfind<uint32_t, true>, kInt}, {"bfind.shiftamt.s32", "ww", bfind<int32_t, true>, kInt},
    {"bfind.shiftamt.u64", "wd", bfind<uint64_t, true>, kInt}, {"bfind.shiftamt.s64", "wd", bfind<int64_t, true>, kInt},
    {"fns.b32", "wwww", fns, kInt}, {"bfe.u32", "wwww", bfe<uint32_t>, kInt}, {"bfe.s32", "wwww", bfe<int32_t>, kInt},
    {"bfe.u64", "ddww", bfe<uint64_t>, kInt}, {"bfe.s64", "ddww", bfe<int64_t>, kInt},
    {"bfi.b32", "wwwww", bfi<uint32_t>, kInt}, {"bfi.b64", "dddww", bfi<uint64_t>, kInt},
    {"bmsk.clamp.b32", "www", bmsk<true>, kInt}, {"bmsk.wrap.b32", "www", bmsk<false>, kInt},
    {"szext.clamp.s32", "www", szext<true, true>, kInt}, {"szext.clamp.u32", "www", szext<false, true>, kInt},
    {"szext.wrap.s32", "www", szext<true, false>, kInt}, {"szext.wrap.u32", "www", szext<false, false>, kInt},
    {"lop3.b32", nullptr, lop3, kInt, decodeLop3}, {"prmt.b32", "wwww", prmt<Prmt::plain>, kInt},
    {"prmt.b32.f4e", "wwww", prmt<Prmt::f4e>, kInt}, {"prmt.b32.b4e", "wwww", prmt<Prmt::b4e>, kInt},
    {"prmt.b32.rc8", "wwww", prmt<Prmt::rc8>, kInt}, {"prmt.b32.ecl", "wwww", prmt<Prmt::ecl>, kInt},
    {"prmt.b32.ecr", "wwww", prmt<Prmt::ecr>, kInt}, {"prmt.b32.rc16", "wwww", prmt<Prmt::rc16>, kInt},
    {"dp4a.s32.s32", "wwww", dp4a<int8_t, int8_t>, kInt}, {"dp4a.s32.u32", "wwww", dp4a<int8_t, uint8_t>, kInt},
    {"dp4a.u32.s32", "wwww", dp4a<uint8_t, int8_t>, kInt}, {"dp4a.u32.u32", "wwww", dp4a<uint8_t, uint8_t>, kInt},
    {"dp2a.lo.s32.s32", "wwww", dp2a<int8_t, int8_t, false>, kInt},
    {"dp2a.lo.s32.u32", "wwww", dp2a<int8_t, uint8_t, false>, kInt},
    {"dp2a.lo.u32.s32", "wwww", dp2a<uint8_t, int8_t, false>, kInt},
    {"dp2a.lo.u32.u32", "wwww", dp2a<uint8_t, uint8_t, false>, kInt},
    {"dp2a.hi.s32.s32", "wwww", dp2a<int8_t, int8_t, true>, kInt},
    {"dp2a.hi.s32.u32", "wwww", dp2a<int8_t, uint8_t, true>, kInt},
    {"dp2a.hi.u32.s32", "wwww", dp2a<uint8_t, int8_t, true>, kInt},
    {"dp2a.hi.u32.u32", "wwww", dp2a<uint8_t, uint8_t, true>, kInt})

} // namespace stator::sim::STATOR_SIM_LEVEL
