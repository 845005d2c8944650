// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Approximate functions. PTX documents an error bound for each, no more; `nominal` numerics compute in f64 and round
// once, `adversarial` adds an error within the bound that depends on the argument and the seed, as a real unit's would.
#include "runtime/simulator/Launch.h"
#include "runtime/simulator/ops/FloatLane.h"

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

/// 2^x for |x| < 1000 with an error far below f32's: x = n + f, |f| <= 1/2, Taylor series of e^(f ln 2) to degree 12.
inline double exp2Wide(double x) {
  double n = __builtin_floor(x + 0.5), t = (x - n) * 0.69314718055994530942;
  double p = 1.0 / 479001600.0;
  p = p * t + 1.0 / 39916800.0;
  p = p * t + 1.0 / 3628800.0;
  p = p * t + 1.0 / 362880.0;
  p = p * t + 1.0 / 40320.0;
  p = p * t + 1.0 / 5040.0;
  p = p * t + 1.0 / 720.0;
  p = p * t + 1.0 / 120.0;
  p = p * t + 1.0 / 24.0;
  p = p * t + 1.0 / 6.0;
  p = p * t + 0.5;
  p = p * t + 1.0;
  p = p * t + 1.0;
  // The exponent is added with a magic number so that no scalar conversion stands in the loop.
  auto bits = bitCast<uint64_t>(n + 6755399441055744.0) << 52;
  return bitCast<double>(bitCast<uint64_t>(p) + bits);
}

struct Ex2 {
  double operator()(double x) const {
    double bounded = x < -300.0 ? -300.0 : x > 300.0 ? 300.0 : x;
    double r = exp2Wide(bounded);
    return x != x ? x : r;
  }
};
struct Lg2 {
  double operator()(double x) const { return std::log2(x); }
};
struct Sin {
  double operator()(double x) const { return std::sin(x); }
};
struct Cos {
  double operator()(double x) const { return std::cos(x); }
};
struct Tanh {
  double operator()(double x) const { return std::tanh(x); }
};
struct RcpWide {
  double operator()(double x) const { return 1.0 / x; }
};
struct Rsqrt {
  double operator()(double x) const { return 1.0 / __builtin_sqrt(x); }
};
struct SqrtWide {
  double operator()(double x) const { return __builtin_sqrt(x); }
};

/// An error bound: relative to the result, and absolute where |argument| or the range asks for it.
struct Bound {
  double relative, absolute;
};
struct Ex2Bound {
  static Bound at(double, double) { return {2 * 0x1p-24, 0}; }
};
struct Lg2Bound {
  static Bound at(double x, double) { return x > 0.5 && x < 2 ? Bound{0, 0x1p-22} : Bound{0x1p-22, 0}; }
};
struct TrigBound {
  static Bound at(double x, double) {
    double m = std::fabs(x);
    return {0, m <= 6.2831853071795862 ? 0x1p-21 * 1.4142135 : m <= 314.15926535 ? 0x1p-15 * 1.23 : 1.0};
  }
};
struct TanhBound {
  static Bound at(double, double) { return {0x1p-11, 0}; }
};
struct RcpBound {
  static Bound at(double, double) { return {0x1p-24, 0}; }
};
struct RsqrtBound {
  static Bound at(double, double) { return {0x1p-23 * 1.07, 0}; }
};
struct SqrtBound {
  static Bound at(double, double) { return {0x1p-23, 0}; }
};

/// A number in [-1, 1] that depends on the argument's bits and the seed.
inline double noise(uint64_t bits, uint64_t seed) {
  uint64_t h = (bits ^ seed * 0x9e3779b97f4a7c15u) * 0xbf58476d1ce4e5b9u;
  h = (h ^ h >> 29) * 0x94d049bb133111ebu;
  h ^= h >> 32;
  return static_cast<double>(static_cast<int64_t>(h)) * 0x1p-63;
}

inline float disturbed(double exact, Bound bound, uint64_t bits, uint64_t seed) {
  // Half a unit in the last place is left for the rounding to f32.
  double room = std::fabs(exact) * bound.relative + bound.absolute;
  double e = room > std::fabs(exact) * 0x1p-25 ? room - std::fabs(exact) * 0x1p-25 : 0;
  if (exact == 0 || !std::isfinite(exact)) return static_cast<float>(exact);
  return static_cast<float>(exact + e * noise(bits, seed));
}

template <class F, class B> void approximate(Warp &w, const Instr &i, uint32_t mask) {
  bool ftz = i.mods.ftz;
  const Settings &settings = *w.worker.launch.settings;
  if (settings.numerics == Settings::Numerics::nominal) {
    if (ftz)
      return map1<float, float>(w, i, mask,
                                [](float a) { return flush(canonical(static_cast<float>(F{}(flush(a))))); });
    return map1<float, float>(w, i, mask, [](float a) { return canonical(static_cast<float>(F{}(a))); });
  }
  uint64_t seed = settings.schedule + 1;
  map1<float, float>(w, i, mask, [ftz, seed](float a) {
    if (ftz) a = flush(a);
    float r = canonical(disturbed(F{}(a), B::at(a, 0), bitCast<uint32_t>(a), seed));
    return ftz ? flush(r) : r;
  });
}

/// div.full: 2 ulp everywhere. div.approx: 2 ulp for |b| in [2^-126, 2^126]; beyond, the quotient is 0 (NaN for Inf/b).
template <bool Full> void divide(Warp &w, const Instr &i, uint32_t mask) {
  bool ftz = i.mods.ftz;
  const Settings &settings = *w.worker.launch.settings;
  uint64_t seed = settings.numerics == Settings::Numerics::adversarial ? settings.schedule + 1 : 0;
  map2<float, float, float>(w, i, mask, [ftz, seed](float a, float b) {
    if (ftz) a = flush(a), b = flush(b);
    double exact = static_cast<double>(a) / static_cast<double>(b), m = std::fabs(static_cast<double>(b));
    auto r = static_cast<float>(exact);
    if (seed) r = disturbed(exact, {0x1p-23, 0}, uint64_t{bitCast<uint32_t>(a)} << 32 | bitCast<uint32_t>(b), seed);
    if (!Full && m > 0x1p126 && !std::isinf(m)) r = std::isinf(a) ? bitCast<float>(kNan32) : std::copysign(0.0f, r);
    r = canonical(r);
    return ftz ? flush(r) : r;
  });
}

/// The upper 20 bits of the f64 result; subnormals flush.
template <class F> void approximate64(Warp &w, const Instr &i, uint32_t mask) {
  map1<double, double>(w, i, mask, [](double a) {
    auto bits = bitCast<uint64_t>(a);
    if (!(bits & 0x7ff0000000000000)) a = bitCast<double>(bits & 0x8000000000000000);
    auto r = bitCast<uint64_t>(F{}(a)) & 0xffffffff00000000;
    if (!(r & 0x7ff0000000000000)) r &= 0x8000000000000000;
    return bitCast<double>(r);
  });
}

constexpr OpClass kSpecial = OpClass::special;

} // namespace

STATOR_SIM_ROWS(approximateRows, {"ex2.approx.ftz?.f32", "ff", approximate<Ex2, Ex2Bound>, kSpecial},
                {"lg2.approx.ftz?.f32", "ff", approximate<Lg2, Lg2Bound>, kSpecial},
                {"sin.approx.ftz?.f32", "ff", approximate<Sin, TrigBound>, kSpecial},
                {"cos.approx.ftz?.f32", "ff", approximate<Cos, TrigBound>, kSpecial},
                {"tanh.approx.f32", "ff", approximate<Tanh, TanhBound>, kSpecial},
                {"rcp.approx.ftz?.f32", "ff", approximate<RcpWide, RcpBound>, kSpecial},
                {"rsqrt.approx.ftz?.f32", "ff", approximate<Rsqrt, RsqrtBound>, kSpecial},
                {"sqrt.approx.ftz?.f32", "ff", approximate<SqrtWide, SqrtBound>, kSpecial},
                {"div.approx.ftz?.f32", "fff", divide<false>, kSpecial},
                {"div.full.ftz?.f32", "fff", divide<true>, kSpecial},
                {"rcp.approx.ftz.f64", "ee", approximate64<RcpWide>, kSpecial},
                {"rsqrt.approx.ftz?.f64", "ee", approximate64<Rsqrt>, kSpecial})

} // namespace stator::sim::STATOR_SIM_LEVEL
