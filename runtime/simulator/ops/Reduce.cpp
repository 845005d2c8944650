// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/ops/Reduce.h"
#include "runtime/simulator/ops/HalfLane.h"

#include <algorithm>
#include <cstring>

namespace stator::sim {

namespace {

template <class T, T (*F)(T, T)> void each(uint8_t *to, const uint8_t *from, uint32_t bytes) {
  for (uint32_t at = 0; at + sizeof(T) <= bytes; at += sizeof(T)) {
    T a, b;
    std::memcpy(&a, to + at, sizeof(T));
    std::memcpy(&b, from + at, sizeof(T));
    a = F(a, b);
    std::memcpy(to + at, &a, sizeof(T));
  }
}

template <class T> T plus(T a, T b) { return static_cast<T>(a + b); }
template <class T> T least(T a, T b) { return std::min(a, b); }
template <class T> T most(T a, T b) { return std::max(a, b); }
template <class T> T both(T a, T b) { return a & b; }
template <class T> T either(T a, T b) { return a | b; }
template <class T> T differ(T a, T b) { return a ^ b; }
uint32_t increment(uint32_t a, uint32_t b) { return a >= b ? 0 : a + 1; }
uint32_t decrement(uint32_t a, uint32_t b) { return a == 0 || a > b ? b : a - 1; }
int32_t plusSigned(int32_t a, int32_t b) {
  return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b));
}
int64_t plusWide(int64_t a, int64_t b) {
  return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
float plusFloat(float a, float b) {
  using namespace baseline;
  return flush(canonical(flush(a) + flush(b)));
}
double plusDouble(double a, double b) { return a + b; }

template <class H> uint16_t plusHalf(uint16_t a, uint16_t b) {
  float sum = baseline::toFloat(H{a}) + baseline::toFloat(H{b});
  if constexpr (std::is_same_v<H, baseline::F16>)
    return baseline::toF16(sum).bits;
  else
    return baseline::toBF16(sum).bits;
}
template <class H, bool Most> uint16_t extremeHalf(uint16_t a, uint16_t b) {
  float x = baseline::toFloat(H{a}), y = baseline::toFloat(H{b});
  if (x != x) return b;
  if (y != y) return a;
  if (x == y) return Most ? (a & b) : (a | b);
  return (x < y) == Most ? b : a;
}

template <class T> Reduce bitwise(const std::string &name) {
  if (name == "and") return each<T, both<T>>;
  if (name == "or") return each<T, either<T>>;
  if (name == "xor") return each<T, differ<T>>;
  return nullptr;
}
template <class T, T (*Plus)(T, T)> Reduce integer(const std::string &name) {
  if (name == "add") return each<T, Plus>;
  if (name == "min") return each<T, least<T>>;
  if (name == "max") return each<T, most<T>>;
  return bitwise<T>(name);
}
template <class H> Reduce half(const std::string &name) {
  if (name == "add") return each<uint16_t, plusHalf<H>>;
  if (name == "min") return each<uint16_t, extremeHalf<H, false>>;
  if (name == "max") return each<uint16_t, extremeHalf<H, true>>;
  return nullptr;
}

} // namespace

Reduce reductionOf(const std::string &name, Type type) {
  switch (type) {
  case Type::u32:
    if (name == "inc") return each<uint32_t, increment>;
    if (name == "dec") return each<uint32_t, decrement>;
    return integer<uint32_t, plus<uint32_t>>(name);
  case Type::s32: return integer<int32_t, plusSigned>(name);
  case Type::u64: return integer<uint64_t, plus<uint64_t>>(name);
  case Type::s64: return integer<int64_t, plusWide>(name);
  case Type::b32: return bitwise<uint32_t>(name);
  case Type::b64: return bitwise<uint64_t>(name);
  case Type::f16: return half<baseline::F16>(name);
  case Type::bf16: return half<baseline::BF16>(name);
  case Type::f32: return name == "add" ? each<float, plusFloat> : nullptr;
  case Type::f64: return name == "add" ? each<double, plusDouble> : nullptr;
  default: return nullptr;
  }
}

} // namespace stator::sim
