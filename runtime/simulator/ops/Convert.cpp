// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cvt. Registers may be wider than the types: sources are cut, integer results are extended.
// Instr::registerBytes is the source register's width, Instr::bytes the destination's.
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/ops/HalfLane.h"

#include <limits>

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

template <class T> constexpr bool kHalf = std::is_same_v<T, F16> || std::is_same_v<T, BF16>;
template <class T> constexpr bool kFloating = std::is_floating_point_v<T> || kHalf<T>;

/// The value of a lane in a type that holds it exactly.
template <class S> auto widen(S s) {
  if constexpr (kHalf<S>)
    return toFloat(s);
  else
    return s;
}

template <class T> T roundIntegral(T x, Rounding round) {
  switch (round) {
  case Rounding::nearestEven: return std::nearbyint(x);
  case Rounding::zero: return std::trunc(x);
  case Rounding::down: return std::floor(x);
  case Rounding::up: return std::ceil(x);
  default: return x;
  }
}

template <class D, class S> D floatToInt(S value, Rounding round) {
  using W = decltype(widen(value));
  W x = widen(value);
  using L = std::numeric_limits<D>;
  if (x != x) {
    // Only small sources with at most 32-bit results give zero; the others give the "indefinite" integer.
    bool zero = sizeof(D) <= 4 && !std::is_same_v<S, double>;
    return zero ? D{0} : static_cast<D>(std::make_unsigned_t<D>{1} << (sizeof(D) * 8 - 1));
  }
  x = roundIntegral(x, round);
  // The bounds as floats: lowest is exact, highest + 1 is a power of two.
  W low = static_cast<W>(L::lowest()), high = std::ldexp(W{1}, L::digits);
  if (x < low) return L::lowest();
  if (x >= high) return L::max();
  return static_cast<D>(x);
}

template <class D, class S> D intToInt(S value, bool sat) {
  if (!sat) return static_cast<D>(value);
  using L = std::numeric_limits<D>;
  __int128 wide = value;
  if (wide < static_cast<__int128>(L::lowest())) return L::lowest();
  if (wide > static_cast<__int128>(L::max())) return L::max();
  return static_cast<D>(value);
}

template <class D, class W> D toFloating(W value, Rounding round) {
  if constexpr (std::is_same_v<D, F16>) {
    if constexpr (std::is_same_v<W, float>)
      if (round == Rounding::none || round == Rounding::nearestEven) return toF16(value);
    return narrowF16(static_cast<long double>(value), round);
  } else if constexpr (std::is_same_v<D, BF16>) {
    if constexpr (std::is_same_v<W, float>)
      if (round == Rounding::none || round == Rounding::nearestEven) return toBF16(value);
    return narrowBF16(static_cast<long double>(value), round);
  } else {
    return static_cast<D>(value); // under a RoundingScope
  }
}

template <class D, class S> struct Lane {
  Rounding round;
  bool ftz, sat, relu;
  D operator()(S s) const {
    if constexpr (!kFloating<D> && !kFloating<S>) {
      return intToInt<D>(s, sat);
    } else if constexpr (!kFloating<D>) {
      if constexpr (std::is_same_v<S, float>)
        if (ftz) s = flush(s);
      return floatToInt<D>(s, round);
    } else if constexpr (!kFloating<S>) {
      if constexpr (kHalf<D>) {
        D d = toFloating<D>(s, round);
        if (sat) d = toFloating<D>(saturate(toFloat(d)), Rounding::nearestEven);
        return d;
      } else {
        auto d = static_cast<D>(s);
        return sat ? saturate(d) : d;
      }
    } else {
      auto x = widen(s);
      if constexpr (std::is_same_v<S, float>)
        if (ftz) x = flush(x);
      // Same size: the suffix rounds to an integral value.
      if constexpr (std::is_same_v<D, S>) x = roundIntegral(x, round);
      if (sat) x = saturate(x);
      if (relu) x = x != x ? x : x > 0 ? x : 0;
      D d = toFloating<D>(x, round);
      if constexpr (std::is_same_v<D, float>) {
        d = canonical(d);
        if (ftz) d = flush(d);
      }
      return d;
    }
  }
};

template <class D, class S> void convert(Warp &w, const Instr &i, uint32_t mask) {
  // Host rounding serves narrowing to f32 and f64 and integers to floats; roundIntegral never needs it.
  constexpr bool narrows = kFloating<D> && !kHalf<D> && !std::is_same_v<D, S>;
  RoundingScope scope(narrows ? i.mods.round : Rounding::none);
  alignas(64) S from[kLanes];
  alignas(64) D out[kLanes];
  const uint8_t *a = w.data + i.a.data;
  if (i.registerBytes == sizeof(S))
    std::memcpy(from, a, sizeof from);
  else
    for (unsigned l = 0; l < kLanes; ++l) std::memcpy(&from[l], a + size_t{i.registerBytes} * l, sizeof(S));
  Lane<D, S> lane{i.mods.round, i.mods.ftz, i.mods.sat, i.mods.relu};
  for (unsigned l = 0; l < kLanes; ++l) out[l] = lane(from[l]);
  if (i.bytes == sizeof(D)) {
    keep(w.lanes<D>(i.d), out, mask);
  } else if constexpr (!kFloating<D>) {
    auto extend = [&](auto zero) {
      using R = decltype(zero);
      R wide[kLanes];
      for (unsigned l = 0; l < kLanes; ++l)
        wide[l] = static_cast<R>(static_cast<std::conditional_t<std::is_signed_v<D>, int64_t, uint64_t>>(out[l]));
      keep(w.lanes<R>(i.d), wide, mask);
    };
    if (i.bytes == 2)
      extend(uint16_t{0});
    else if (i.bytes == 4)
      extend(uint32_t{0});
    else
      extend(uint64_t{0});
  } else {
    uint8_t *d = w.data + i.d.data;
    for (unsigned l = 0; l < kLanes; ++l)
      if (mask & kBit[l]) {
        std::memset(d + size_t{i.bytes} * l, 0, i.bytes);
        std::memcpy(d + size_t{i.bytes} * l, &out[l], sizeof(D));
      }
  }
  w.define(i.d, mask, w.poison[i.a.poison]);
}

template <class D> Execute bySource(Type s) {
  switch (s) {
  case Type::u8: return convert<D, uint8_t>;
  case Type::s8: return convert<D, int8_t>;
  case Type::u16: return convert<D, uint16_t>;
  case Type::s16: return convert<D, int16_t>;
  case Type::u32: return convert<D, uint32_t>;
  case Type::s32: return convert<D, int32_t>;
  case Type::u64: return convert<D, uint64_t>;
  case Type::s64: return convert<D, int64_t>;
  case Type::f16: return convert<D, F16>;
  case Type::bf16: return convert<D, BF16>;
  case Type::f32: return convert<D, float>;
  case Type::f64: return convert<D, double>;
  default: return nullptr;
  }
}
Execute converter(Type d, Type s) {
  switch (d) {
  case Type::u8: return bySource<uint8_t>(s);
  case Type::s8: return bySource<int8_t>(s);
  case Type::u16: return bySource<uint16_t>(s);
  case Type::s16: return bySource<int16_t>(s);
  case Type::u32: return bySource<uint32_t>(s);
  case Type::s32: return bySource<int32_t>(s);
  case Type::u64: return bySource<uint64_t>(s);
  case Type::s64: return bySource<int64_t>(s);
  case Type::f16: return bySource<F16>(s);
  case Type::bf16: return bySource<BF16>(s);
  case Type::f32: return bySource<float>(s);
  case Type::f64: return bySource<double>(s);
  default: return nullptr;
  }
}

void decodeConvert(Decoder &decoder, const ptx::Statement &s, Instr &instr) {
  decoder.expectOperands(s, 2, 2);
  Type d = instr.mods.types[0], from = instr.mods.types[1];
  instr.execute = converter(d, from);
  instr.d = decoder.wideDestination(s.operands[0], sizeOf(d), instr.bytes);
  auto number = from == Type::f32   ? Decoder::Number::f32
                : from == Type::f64 ? Decoder::Number::f64
                                    : Decoder::Number::integer;
  instr.a = decoder.wideSource(s.operands[1], sizeOf(from), number, instr.registerBytes);
}

/// Two f32 to a packed pair; the first source goes to the upper half.
template <class H> void packPair(Warp &w, const Instr &i, uint32_t mask) {
  Rounding round = i.mods.round;
  bool relu = i.mods.relu, satfinite = i.mods.satfinite, ftz = i.mods.ftz;
  auto one = [=](float x) -> uint32_t {
    if (ftz) x = flush(x);
    if (relu) x = x != x ? x : x > 0 ? x : 0;
    H h = toFloating<H>(x, round);
    uint16_t inf = std::is_same_v<H, F16> ? 0x7c00 : 0x7f80;
    if (satfinite && (h.bits & 0x7fff) == inf) h.bits = static_cast<uint16_t>(h.bits - 1);
    return h.bits;
  };
  map2<uint32_t, float, float>(w, i, mask, [one](float a, float b) { return one(a) << 16 | one(b); });
}

template <bool E4M3> uint16_t narrow8(float x, bool relu) {
  if (relu && x < 0) x = 0;
  return E4M3 ? toE4M3(x) : toE5M2(x);
}
template <bool E4M3> void packFp8(Warp &w, const Instr &i, uint32_t mask) {
  bool relu = i.mods.relu;
  map2<uint16_t, float, float>(w, i, mask, [relu](float a, float b) {
    return static_cast<uint16_t>(narrow8<E4M3>(a, relu) << 8 | narrow8<E4M3>(b, relu));
  });
}
template <bool E4M3> void halfToFp8(Warp &w, const Instr &i, uint32_t mask) {
  bool relu = i.mods.relu;
  map1<uint16_t, uint32_t>(w, i, mask, [relu](uint32_t a) {
    float low = toFloat(F16{static_cast<uint16_t>(a)}), high = toFloat(F16{static_cast<uint16_t>(a >> 16)});
    return static_cast<uint16_t>(narrow8<E4M3>(high, relu) << 8 | narrow8<E4M3>(low, relu));
  });
}
template <bool E4M3> void fp8ToHalf(Warp &w, const Instr &i, uint32_t mask) {
  bool relu = i.mods.relu;
  map1<uint32_t, uint16_t>(w, i, mask, [relu](uint16_t a) {
    auto one = [relu](uint8_t b) -> uint32_t {
      float x = E4M3 ? fromE4M3(b) : fromE5M2(b);
      return toF16(relu && x < 0 ? 0 : x).bits;
    };
    return one(static_cast<uint8_t>(a >> 8)) << 16 | one(static_cast<uint8_t>(a));
  });
}

/// f32 to tf32: ten fraction bits; `.rna` rounds half away from zero.
void toTf32(Warp &w, const Instr &i, uint32_t mask) {
  Rounding round = i.mods.round;
  bool relu = i.mods.relu, satfinite = i.mods.satfinite;
  map1<uint32_t, float>(w, i, mask, [=](float x) {
    if (relu) x = x != x ? x : x > 0 ? x : 0;
    auto u = bitCast<uint32_t>(x);
    if (x != x) return kNan32;
    if ((u & 0x7fffffff) == 0x7f800000) return satfinite ? (u & 0x80000000) | 0x7f7fe000 : u;
    uint32_t r = u;
    if (round == Rounding::nearestAway)
      r = u + 0x1000;
    else if (round == Rounding::nearestEven)
      r = u + 0xfff + (u >> 13 & 1);
    r &= 0xffffe000;
    if (satfinite && (r & 0x7fffffff) >= 0x7f800000) r = (u & 0x80000000) | 0x7f7fe000;
    return r;
  });
}

constexpr OpClass kCvt = OpClass::convert;

#define STATOR_SIM_INTS "u8|s8|u16|s16|u32|s32|u64|s64"
#define STATOR_SIM_FLOATS "f16|bf16|f32|f64"

} // namespace

STATOR_SIM_ROWS(convertRows,
                {"cvt.sat?." STATOR_SIM_INTS "." STATOR_SIM_INTS, nullptr, convert<uint32_t, uint32_t>, kCvt,
                 decodeConvert},
                {"cvt.rni|rzi|rmi|rpi.ftz?.sat?." STATOR_SIM_INTS "." STATOR_SIM_FLOATS, nullptr,
                 convert<int32_t, float>, kCvt, decodeConvert},
                {"cvt.rn|rz|rm|rp.sat?." STATOR_SIM_FLOATS "." STATOR_SIM_INTS, nullptr, convert<float, int32_t>, kCvt,
                 decodeConvert},
                {"cvt.rn|rz|rm|rp|rni|rzi|rmi|rpi?.ftz?.relu?.sat?." STATOR_SIM_FLOATS "." STATOR_SIM_FLOATS, nullptr,
                 convert<float, float>, kCvt, decodeConvert},
                {"cvt.rn|rz.ftz?.relu?.satfinite?.f16x2.f32", "wff", packPair<F16>, kCvt},
                {"cvt.rn|rz.relu?.satfinite?.bf16x2.f32", "wff", packPair<BF16>, kCvt},
                {"cvt.rn.satfinite.relu?.e4m3x2.f32", "hff", packFp8<true>, kCvt},
                {"cvt.rn.satfinite.relu?.e5m2x2.f32", "hff", packFp8<false>, kCvt},
                {"cvt.rn.satfinite.relu?.e4m3x2.f16x2", "hw", halfToFp8<true>, kCvt},
                {"cvt.rn.satfinite.relu?.e5m2x2.f16x2", "hw", halfToFp8<false>, kCvt},
                {"cvt.rn.relu?.f16x2.e4m3x2", "wh", fp8ToHalf<true>, kCvt},
                {"cvt.rn.relu?.f16x2.e5m2x2", "wh", fp8ToHalf<false>, kCvt},
                {"cvt.rna.satfinite?.tf32.f32", "wf", toTf32, kCvt},
                {"cvt.rn|rz.satfinite?.relu?.satfinite?.tf32.f32", "wf", toTf32, kCvt})

} // namespace stator::sim::STATOR_SIM_LEVEL
