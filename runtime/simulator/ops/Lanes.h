// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lane loops: the executor of a pure instruction is one of these templates around a function of one lane. All lanes are
// computed, the mask chooses which are kept, so the compiler turns each loop into a few vector instructions. A result
// is undefined where any operand is.
#pragma once

#include "runtime/simulator/Warp.h"
#include "runtime/simulator/ops/LaneTables.h"

#include <cstring>
#include <type_traits>

namespace stator::sim::STATOR_SIM_LEVEL {

inline constexpr uint32_t kBit[kLanes] = {
    1u << 0,  1u << 1,  1u << 2,  1u << 3,  1u << 4,  1u << 5,  1u << 6,  1u << 7,  1u << 8,  1u << 9,  1u << 10,
    1u << 11, 1u << 12, 1u << 13, 1u << 14, 1u << 15, 1u << 16, 1u << 17, 1u << 18, 1u << 19, 1u << 20, 1u << 21,
    1u << 22, 1u << 23, 1u << 24, 1u << 25, 1u << 26, 1u << 27, 1u << 28, 1u << 29, 1u << 30, 1u << 31};

/// Writes `value` to the lanes of `mask`.
template <class T> inline void keep(T *d, const T *value, uint32_t mask) {
  if (mask == kAllLanes) {
    std::memcpy(d, value, sizeof(T) * kLanes);
    return;
  }
  if constexpr (sizeof(T) == 4) {
    for (unsigned l = 0; l < kLanes; ++l) d[l] = mask & kBit[l] ? value[l] : d[l];
  } else {
    for (unsigned l = 0; l < kLanes; ++l)
      if (mask & kBit[l]) d[l] = value[l];
  }
}

template <class D, class A, class F> inline void map1(Warp &w, const Instr &i, uint32_t mask, F f) {
  alignas(64) D out[kLanes];
  const A *a = w.lanes<A>(i.a);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = f(a[l]);
  keep(w.lanes<D>(i.d), out, mask);
  w.define(i.d, mask, w.poison[i.a.poison]);
}

template <class D, class A, class B, class F> inline void map2(Warp &w, const Instr &i, uint32_t mask, F f) {
  alignas(64) D out[kLanes];
  const A *a = w.lanes<A>(i.a);
  const B *b = w.lanes<B>(i.b);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = f(a[l], b[l]);
  keep(w.lanes<D>(i.d), out, mask);
  w.define(i.d, mask, w.poison[i.a.poison] | w.poison[i.b.poison]);
}

template <class D, class A, class B, class C, class F> inline void map3(Warp &w, const Instr &i, uint32_t mask, F f) {
  alignas(64) D out[kLanes];
  const A *a = w.lanes<A>(i.a);
  const B *b = w.lanes<B>(i.b);
  const C *c = w.lanes<C>(i.c);
  for (unsigned l = 0; l < kLanes; ++l) out[l] = f(a[l], b[l], c[l]);
  keep(w.lanes<D>(i.d), out, mask);
  w.define(i.d, mask, w.poison[i.a.poison] | w.poison[i.b.poison] | w.poison[i.c.poison]);
}

/// Executors for rows: `unary<uint32_t, Negate>` applies Negate{}(a).
template <class T, class F> void unary(Warp &w, const Instr &i, uint32_t mask) { map1<T, T>(w, i, mask, F{}); }
template <class T, class F> void binary(Warp &w, const Instr &i, uint32_t mask) { map2<T, T, T>(w, i, mask, F{}); }
template <class T, class F> void ternary(Warp &w, const Instr &i, uint32_t mask) { map3<T, T, T, T>(w, i, mask, F{}); }

/// A predicate result: bit l is f(lane l).
template <class F> inline uint32_t bits(F f) {
  uint32_t out = 0;
  for (unsigned l = 0; l < kLanes; ++l) out |= f(l) ? kBit[l] : 0;
  return out;
}

inline void keepPredicate(Warp &w, Slot d, uint32_t value, uint32_t mask, uint32_t undefined) {
  uint32_t &p = w.predicate(d);
  p = (p & ~mask) | (value & mask);
  w.define(d, mask, undefined);
}

template <class To, class From> inline To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From));
  To to;
  std::memcpy(&to, &from, sizeof to);
  return to;
}

#define STATOR_SIM_ROWS(name, ...)                                                                                     \
  Rows name() {                                                                                                        \
    static const Row rows[] = {__VA_ARGS__};                                                                           \
    return {rows, sizeof rows / sizeof rows[0]};                                                                       \
  }

} // namespace stator::sim::STATOR_SIM_LEVEL
