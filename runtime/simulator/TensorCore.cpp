// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/TensorCore.h"
#include "runtime/simulator/ops/HalfLane.h"

#include <cstring>

namespace stator::sim {

namespace {

using baseline::bitCast;

float valueOf(Type type, uint32_t bits) {
  switch (type) {
  case Type::f16: return baseline::toFloat(baseline::F16{static_cast<uint16_t>(bits)});
  case Type::bf16: return bitCast<float>(bits << 16);
  case Type::tf32: return bitCast<float>(bits & 0xffffe000); // the low bits are ignored
  case Type::e4m3: return baseline::fromE4M3(static_cast<uint8_t>(bits));
  case Type::e5m2: return baseline::fromE5M2(static_cast<uint8_t>(bits));
  default: return 0;
  }
}

int smallestExponent(Type type) {
  switch (type) {
  case Type::f16:
  case Type::e5m2: return -14;
  case Type::e4m3: return -6;
  default: return -126;
  }
}

bool takeApart(Type type, uint32_t bits, int32_t &magnitude, int32_t &exponent, float &value) {
  if (type == Type::f16) { // the common case, without a way through f32
    auto e = static_cast<int32_t>(bits >> 10 & 31), f = static_cast<int32_t>(bits & 1023);
    bool normal = e != 0;
    int32_t m = f | static_cast<int32_t>(normal) << 10;
    exponent = m ? e - 15 + !normal : TensorTile::kZeroExponent;
    magnitude = bits & 0x8000 ? -2 * m : 2 * m;
    auto scale = bitCast<float>(static_cast<uint32_t>(e - 25 + !normal + 127) << 23);
    value = static_cast<float>(m) * scale;
    if (bits & 0x8000) value = -value;
    if (e != 31) return false;
    value = valueOf(type, bits);
    return true;
  }
  value = valueOf(type, bits);
  auto u = bitCast<uint32_t>(value);
  if (!(u & 0x7fffffff)) {
    magnitude = 0;
    exponent = TensorTile::kZeroExponent;
    return false;
  }
  auto e = static_cast<int32_t>(u >> 23 & 255);
  auto m = static_cast<int32_t>(e ? (u & 0x7fffff) | 0x800000 : u & 0x7fffff) >> 12;
  exponent = e ? e - 127 : -126;
  if (int least = smallestExponent(type); exponent < least) {
    m >>= least - exponent;
    exponent = least;
  }
  magnitude = u >> 31 ? -m : m;
  return e == 255;
}

} // namespace

void TensorTile::setA(unsigned row, unsigned at, uint32_t bits) {
  special |= takeApart(aType, bits, aMagnitude[row][at], aExponent[row][at], aValue[row][at]);
}
void TensorTile::setB(unsigned at, unsigned column, uint32_t bits) {
  special |= takeApart(bType, bits, bMagnitude[at][column], bExponent[at][column], bValue[at][column]);
}

TensorMultiply tensorMultiply() {
#ifdef STATOR_SIM_HAS_V3
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    return v3::multiplyTile;
#endif
  return baseline::multiplyTile;
}

} // namespace stator::sim
