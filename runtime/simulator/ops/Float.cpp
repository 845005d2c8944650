// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Correctly rounded f32 and f64 arithmetic, minimum, maximum, signs.
#include "runtime/simulator/ops/FloatLane.h"

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

struct Add {
  template <class T> T operator()(T a, T b) const { return a + b; }
};
struct Sub {
  template <class T> T operator()(T a, T b) const { return a - b; }
};
struct Mul {
  template <class T> T operator()(T a, T b) const { return a * b; }
};
struct Div {
  template <class T> T operator()(T a, T b) const { return a / b; }
};
struct Rcp {
  template <class T> T operator()(T a) const { return T{1} / a; }
};
struct Sqrt {
  float operator()(float a) const { return __builtin_sqrtf(a); }
  double operator()(double a) const { return __builtin_sqrt(a); }
};
struct Fma {
  float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
  double operator()(double a, double b, double c) const { return __builtin_fma(a, b, c); }
};

template <class T> struct BitsOf {
  using type = uint32_t;
};
template <> struct BitsOf<double> {
  using type = uint64_t;
};
template <class T> using Bits = typename BitsOf<T>::type;
template <class T> constexpr Bits<T> kSign = Bits<T>{1} << (sizeof(T) * 8 - 1);

/// NaN loses; of two zeros the larger is +0.
struct Max {
  template <class T> T operator()(T a, T b) const {
    T both = a == b ? bitCast<T>(bitCast<Bits<T>>(a) & bitCast<Bits<T>>(b)) : (a > b ? a : b);
    return a != a ? b : b != b ? a : both;
  }
};
struct Min {
  template <class T> T operator()(T a, T b) const {
    T both = a == b ? bitCast<T>(bitCast<Bits<T>>(a) | bitCast<Bits<T>>(b)) : (a < b ? a : b);
    return a != a ? b : b != b ? a : both;
  }
};
template <class F> void minMax(Warp &w, const Instr &i, uint32_t mask) {
  bool ftz = i.mods.ftz, nan = i.mods.nan, xorsign = i.mods.xorsign;
  map2<float, float, float>(w, i, mask, [ftz, nan, xorsign](float a, float b) {
    if (ftz) a = flush(a), b = flush(b);
    bool anyNan = a != a || b != b;
    uint32_t sign = 0;
    if (xorsign) {
      sign = (bitCast<uint32_t>(a) ^ bitCast<uint32_t>(b)) & kSign<float>;
      a = __builtin_fabsf(a);
      b = __builtin_fabsf(b);
    }
    float r = F{}(a, b);
    if (nan && anyNan) return bitCast<float>(kNan32);
    if (r != r) return bitCast<float>(kNan32);
    return bitCast<float>(bitCast<uint32_t>(r) | sign);
  });
}

template <class T> struct Abs {
  T operator()(T a) const { return bitCast<T>(bitCast<Bits<T>>(a) & ~kSign<T>); }
};
template <class T> struct Neg {
  T operator()(T a) const { return bitCast<T>(bitCast<Bits<T>>(a) ^ kSign<T>); }
};
template <class F> void sign32(Warp &w, const Instr &i, uint32_t mask) {
  if (i.mods.ftz) return map1<float, float>(w, i, mask, [](float a) { return F{}(flush(a)); });
  map1<float, float>(w, i, mask, F{});
}

/// d = b with the sign of a.
template <class T> void copysign(Warp &w, const Instr &i, uint32_t mask) {
  using U = Bits<T>;
  map2<U, U, U>(w, i, mask, [](U a, U b) { return static_cast<U>((b & ~kSign<T>) | (a & kSign<T>)); });
}

enum class Test { finite, infinite, number, notanumber, normal, subnormal };
template <class T, Test Which> void testp(Warp &w, const Instr &i, uint32_t mask) {
  const T *a = w.lanes<T>(i.a);
  uint32_t out = bits([&](unsigned l) {
    int kind = std::fpclassify(a[l]);
    switch (Which) {
    case Test::finite: return kind != FP_INFINITE && kind != FP_NAN;
    case Test::infinite: return kind == FP_INFINITE;
    case Test::number: return kind != FP_NAN;
    case Test::notanumber: return kind == FP_NAN;
    case Test::normal: return kind == FP_NORMAL;
    case Test::subnormal: return kind == FP_SUBNORMAL;
    }
    return false;
  });
  keepPredicate(w, i.d, out, mask, w.poison[i.a.poison]);
}

constexpr OpClass kF32 = OpClass::floating, kF64 = OpClass::fp64;

} // namespace

STATOR_SIM_ROWS(
    floatRows, {"add.rn|rz|rm|rp?.ftz?.sat?.f32", "fff", float2<Add>, kF32},
    {"sub.rn|rz|rm|rp?.ftz?.sat?.f32", "fff", float2<Sub>, kF32},
    {"mul.rn|rz|rm|rp?.ftz?.sat?.f32", "fff", float2<Mul>, kF32},
    {"fma.rn|rz|rm|rp.ftz?.sat?.f32", "ffff", float3<Fma>, kF32},
    {"mad.rn|rz|rm|rp.ftz?.sat?.f32", "ffff", float3<Fma>, kF32},
    {"div.rn|rz|rm|rp.ftz?.f32", "fff", float2<Div>, kF32}, {"rcp.rn|rz|rm|rp.ftz?.f32", "ff", float1<Rcp>, kF32},
    {"sqrt.rn|rz|rm|rp.ftz?.f32", "ff", float1<Sqrt>, kF32}, {"add.rn|rz|rm|rp?.f64", "eee", double2<Add>, kF64},
    {"sub.rn|rz|rm|rp?.f64", "eee", double2<Sub>, kF64}, {"mul.rn|rz|rm|rp?.f64", "eee", double2<Mul>, kF64},
    {"fma.rn|rz|rm|rp.f64", "eeee", double3<Fma>, kF64}, {"mad.rn|rz|rm|rp.f64", "eeee", double3<Fma>, kF64},
    {"div.rn|rz|rm|rp.f64", "eee", double2<Div>, kF64}, {"rcp.rn|rz|rm|rp.f64", "ee", double1<Rcp>, kF64},
    {"sqrt.rn|rz|rm|rp.f64", "ee", double1<Sqrt>, kF64}, {"min.ftz?.NaN?.xorsign?.abs?.f32", "fff", minMax<Min>, kF32},
    {"max.ftz?.NaN?.xorsign?.abs?.f32", "fff", minMax<Max>, kF32}, {"min.f64", "eee", double2<Min>, kF64},
    {"max.f64", "eee", double2<Max>, kF64}, {"abs.ftz?.f32", "ff", sign32<Abs<float>>, kF32},
    {"neg.ftz?.f32", "ff", sign32<Neg<float>>, kF32}, {"abs.f64", "ee", double1<Abs<double>>, kF64},
    {"neg.f64", "ee", double1<Neg<double>>, kF64}, {"copysign.f32", "fff", copysign<float>, kF32},
    {"copysign.f64", "eee", copysign<double>, kF64}, {"testp.finite.f32", "pf", testp<float, Test::finite>, kF32},
    {"testp.infinite.f32", "pf", testp<float, Test::infinite>, kF32},
    {"testp.number.f32", "pf", testp<float, Test::number>, kF32},
    {"testp.notanumber.f32", "pf", testp<float, Test::notanumber>, kF32},
    {"testp.normal.f32", "pf", testp<float, Test::normal>, kF32},
    {"testp.subnormal.f32", "pf", testp<float, Test::subnormal>, kF32},
    {"testp.finite.f64", "pe", testp<double, Test::finite>, kF64},
    {"testp.infinite.f64", "pe", testp<double, Test::infinite>, kF64},
    {"testp.number.f64", "pe", testp<double, Test::number>, kF64},
    {"testp.notanumber.f64", "pe", testp<double, Test::notanumber>, kF64},
    {"testp.normal.f64", "pe", testp<double, Test::normal>, kF64},
    {"testp.subnormal.f64", "pe", testp<double, Test::subnormal>, kF64})

} // namespace stator::sim::STATOR_SIM_LEVEL
