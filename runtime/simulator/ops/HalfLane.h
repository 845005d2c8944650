// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16, bf16 and fp8 values of one lane.
#pragma once

#include "runtime/simulator/ops/FloatLane.h"

namespace stator::sim::STATOR_SIM_LEVEL {

struct F16 {
  uint16_t bits;
};
struct BF16 {
  uint16_t bits;
};

inline float toFloat(F16 h) {
  uint32_t magnitude = h.bits & 0x7fff, sign = uint32_t{h.bits & 0x8000u} << 16;
  auto scaled = bitCast<uint32_t>(bitCast<float>(magnitude << 13) * 0x1p112f);
  return bitCast<float>(sign | (magnitude >= 0x7c00 ? 0x7f800000u | magnitude << 13 : scaled));
}
inline float toFloat(BF16 h) { return bitCast<float>(uint32_t{h.bits} << 16); }

/// Nearest even; NaN becomes the canonical one.
inline F16 toF16(float f) {
  auto u = bitCast<uint32_t>(f);
  uint32_t sign = u >> 16 & 0x8000;
  u &= 0x7fffffff;
  uint32_t subnormal = bitCast<uint32_t>(bitCast<float>(u) + 0.5f) - 0x3f000000u;
  uint32_t normal = (u + 0xc8000fffu + (u >> 13 & 1)) >> 13;
  uint32_t r = u < 0x38800000 ? subnormal : normal;
  r = u >= 0x477ff000 ? 0x7c00 : r;
  return {static_cast<uint16_t>(u > 0x7f800000 ? 0x7fff : r | sign)};
}
inline BF16 toBF16(float f) {
  auto u = bitCast<uint32_t>(f);
  uint32_t r = (u + 0x7fff + (u >> 16 & 1)) >> 16;
  return {static_cast<uint16_t>((u & 0x7fffffff) > 0x7f800000 ? 0x7fff : r)};
}

/// x to `precision` significant bits with exponents from `emin`, in any direction; no overflow handling.
template <class W> inline W roundTo(W x, int precision, int emin, Rounding round) {
  if (x == 0 || !std::isfinite(x)) return x;
  int e;
  std::frexp(x, &e);
  e = e - 1 < emin ? emin : e - 1;
  W ulp = std::ldexp(W{1}, e - (precision - 1)), q = x / ulp;
  switch (round) {
  case Rounding::zero: q = std::trunc(q); break;
  case Rounding::down: q = std::floor(q); break;
  case Rounding::up: q = std::ceil(q); break;
  case Rounding::nearestAway: q = std::round(q); break;
  default: q = std::rint(q); break;
  }
  return q * ulp;
}

/// Overflow of a format whose largest value is `most`: infinity, or `most` where the direction points to zero.
template <class W> inline W overflow(W x, W most, Rounding round) {
  if (!(std::fabs(x) > most) || std::isinf(x)) return x;
  bool toMost = round == Rounding::zero || (round == Rounding::down && x > 0) || (round == Rounding::up && x < 0);
  return std::copysign(toMost ? most : static_cast<W>(INFINITY), x);
}

template <class W> inline F16 narrowF16(W x, Rounding round) {
  if (x != x) return {0x7fff};
  return toF16(static_cast<float>(overflow(roundTo(x, 11, -14, round), W{65504}, round)));
}
template <class W> inline BF16 narrowBF16(W x, Rounding round) {
  if (x != x) return {0x7fff};
  return toBF16(static_cast<float>(overflow(roundTo(x, 8, -126, round), static_cast<W>(0x1.fep127), round)));
}

/// fp8 with satfinite: nearest even, overflow and infinity to the largest value, NaN to 0x7f.
inline uint8_t toE4M3(double x) {
  if (x != x) return 0x7f;
  double r = std::fabs(roundTo(x, 4, -6, Rounding::nearestEven));
  uint8_t sign = std::signbit(x) ? 0x80 : 0;
  if (r > 448) r = 448;
  if (r < 0x1p-6) return static_cast<uint8_t>(sign | static_cast<int>(r * 0x1p9));
  int e;
  double m = std::frexp(r, &e); // m in [0.5, 1)
  return static_cast<uint8_t>(sign | (e - 1 + 7) << 3 | (static_cast<int>(m * 16) & 7));
}
inline uint8_t toE5M2(double x) {
  if (x != x) return 0x7f;
  double r = std::fabs(roundTo(x, 3, -14, Rounding::nearestEven));
  uint8_t sign = std::signbit(x) ? 0x80 : 0;
  if (r > 57344) r = 57344;
  if (r < 0x1p-14) return static_cast<uint8_t>(sign | static_cast<int>(r * 0x1p16));
  int e;
  double m = std::frexp(r, &e);
  return static_cast<uint8_t>(sign | (e - 1 + 15) << 2 | (static_cast<int>(m * 8) & 3));
}
inline float fromE4M3(uint8_t b) {
  int e = b >> 3 & 15, m = b & 7;
  if (e == 15 && m == 7) return bitCast<float>(kNan32);
  float v = e ? std::ldexp(static_cast<float>(8 + m), e - 10) : std::ldexp(static_cast<float>(m), -9);
  return b & 0x80 ? -v : v;
}
inline float fromE5M2(uint8_t b) {
  return (b & 0x7f) > 0x7c ? bitCast<float>(kNan32) : toFloat(F16{static_cast<uint16_t>(b << 8)});
}

} // namespace stator::sim::STATOR_SIM_LEVEL
