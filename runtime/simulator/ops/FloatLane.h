// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating point of one lane: flushing, saturation, canonical NaN, rounding direction.
#pragma once

#include "runtime/simulator/ops/Lanes.h"

#include <cfenv>
#include <cmath>

namespace stator::sim::STATOR_SIM_LEVEL {

inline constexpr uint32_t kNan32 = 0x7fffffff;

/// Subnormals become zero, the sign stays.
inline float flush(float x) {
  auto bits = bitCast<uint32_t>(x);
  return bitCast<float>(bits & 0x7f800000 ? bits : bits & 0x80000000);
}
/// f32 arithmetic gives one NaN only; f64 keeps payloads.
inline float canonical(float x) { return x == x ? x : bitCast<float>(kNan32); }
inline double canonical(double x) { return x; }
/// Clamps to [0, 1]; NaN becomes +0.
template <class T> inline T saturate(T x) {
  x = x > T{0} ? x : T{0};
  return x < T{1} ? x : T{1};
}

/// Sets the host's rounding direction while it lives. Results must be stored to the warp before it ends: then the
/// compiler cannot move the arithmetic past the calls.
class RoundingScope {
public:
  explicit RoundingScope(Rounding round) : changed(round != Rounding::none && round != Rounding::nearestEven) {
    if (!changed) return;
    std::fesetround(round == Rounding::zero ? FE_TOWARDZERO : round == Rounding::down ? FE_DOWNWARD : FE_UPWARD);
  }
  ~RoundingScope() {
    if (changed) std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope &) = delete;
  RoundingScope &operator=(const RoundingScope &) = delete;

private:
  bool changed;
};

template <class F> void float1(Warp &w, const Instr &i, uint32_t mask) {
  RoundingScope scope(i.mods.round);
  bool ftz = i.mods.ftz;
  if (!ftz) return map1<float, float>(w, i, mask, [](float a) { return canonical(F{}(a)); });
  map1<float, float>(w, i, mask, [](float a) { return flush(canonical(F{}(flush(a)))); });
}
template <class F> void float2(Warp &w, const Instr &i, uint32_t mask) {
  RoundingScope scope(i.mods.round);
  bool ftz = i.mods.ftz, sat = i.mods.sat;
  if (!ftz && !sat) return map2<float, float, float>(w, i, mask, [](float a, float b) { return canonical(F{}(a, b)); });
  map2<float, float, float>(w, i, mask, [ftz, sat](float a, float b) {
    float r = F{}(ftz ? flush(a) : a, ftz ? flush(b) : b);
    r = sat ? saturate(r) : canonical(r);
    return ftz ? flush(r) : r;
  });
}
template <class F> void float3(Warp &w, const Instr &i, uint32_t mask) {
  RoundingScope scope(i.mods.round);
  bool ftz = i.mods.ftz, sat = i.mods.sat;
  if (!ftz && !sat)
    return map3<float, float, float, float>(w, i, mask,
                                            [](float a, float b, float c) { return canonical(F{}(a, b, c)); });
  map3<float, float, float, float>(w, i, mask, [ftz, sat](float a, float b, float c) {
    float r = F{}(ftz ? flush(a) : a, ftz ? flush(b) : b, ftz ? flush(c) : c);
    r = sat ? saturate(r) : canonical(r);
    return ftz ? flush(r) : r;
  });
}
template <class F> void double1(Warp &w, const Instr &i, uint32_t mask) {
  RoundingScope scope(i.mods.round);
  map1<double, double>(w, i, mask, F{});
}
template <class F> void double2(Warp &w, const Instr &i, uint32_t mask) {
  RoundingScope scope(i.mods.round);
  map2<double, double, double>(w, i, mask, F{});
}
template <class F> void double3(Warp &w, const Instr &i, uint32_t mask) {
  RoundingScope scope(i.mods.round);
  map3<double, double, double, double>(w, i, mask, F{});
}

} // namespace stator::sim::STATOR_SIM_LEVEL
