// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-ptx/Element.h"

#include <cerrno>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace stator::ptxtool {

using sim::sizeOf;
using sim::Type;

namespace {

struct Named {
  const char *name;
  Type type;
};
const Named kElements[] = {{"b8", Type::b8},   {"b16", Type::b16}, {"b32", Type::b32}, {"b64", Type::b64},
                           {"u8", Type::u8},   {"u16", Type::u16}, {"u32", Type::u32}, {"u64", Type::u64},
                           {"s8", Type::s8},   {"s16", Type::s16}, {"s32", Type::s32}, {"s64", Type::s64},
                           {"f16", Type::f16}, {"f32", Type::f32}, {"f64", Type::f64}, {"bf16", Type::bf16}};

/// 16-bit floating formats: fraction bits and the exponent of the smallest normal number.
struct Half {
  int fraction, least;
};
Half halfOf(Type type) { return type == Type::f16 ? Half{10, -14} : Half{7, -126}; }

uint64_t encodeHalf(Half f, double value) {
  uint64_t sign = std::signbit(value) ? 0x8000 : 0, infinity = uint64_t{0x7fff} >> f.fraction << f.fraction;
  if (std::isnan(value)) return 0x7fff;
  double magnitude = std::fabs(value);
  if (std::isinf(magnitude)) return sign | infinity;
  if (magnitude == 0) return sign;
  int exponent = std::ilogb(magnitude);
  if (exponent < f.least) exponent = f.least;
  // With the leading bit where it is normal; rounding may carry into the exponent, which the addition lets it do.
  auto scaled = static_cast<uint64_t>(std::nearbyint(std::ldexp(magnitude, f.fraction - exponent)));
  uint64_t bits = scaled + (static_cast<uint64_t>(exponent - f.least) << f.fraction);
  return sign | (bits < infinity ? bits : infinity);
}

double decodeHalf(Half f, uint64_t bits) {
  uint64_t fraction = bits & ((uint64_t{1} << f.fraction) - 1), exponent = (bits & 0x7fff) >> f.fraction;
  uint64_t most = 0x7fffu >> f.fraction;
  double value = exponent == most ? (fraction ? NAN : INFINITY)
                 : exponent == 0  ? std::ldexp(static_cast<double>(fraction), f.least - f.fraction)
                                  : std::ldexp(static_cast<double>(fraction + (uint64_t{1} << f.fraction)),
                                               f.least - f.fraction + static_cast<int>(exponent) - 1);
  return bits & 0x8000 ? -value : value;
}

uint64_t wrap(Type type, uint64_t bits) {
  unsigned size = sizeOf(type);
  return size >= 8 ? bits : bits & ((uint64_t{1} << 8 * size) - 1);
}

} // namespace

Type elementNamed(const std::string &name) {
  for (const Named &n : kElements)
    if (name == n.name) return n.type;
  return Type::none;
}

std::string nameOf(Type type) {
  for (const Named &n : kElements)
    if (type == n.type) return n.name;
  return "?";
}

uint64_t encodeElement(Type type, double value) {
  switch (type) {
  case Type::f16:
  case Type::bf16: return encodeHalf(halfOf(type), value);
  case Type::f32: {
    auto f = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return bits;
  }
  case Type::f64: {
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    return bits;
  }
  default: {
    if (!(std::fabs(value) < 0x1p63)) return 0;
    return wrap(type, static_cast<uint64_t>(static_cast<int64_t>(value)));
  }
  }
}

double decodeFloat(Type type, uint64_t bits) {
  if (type == Type::f16 || type == Type::bf16) return decodeHalf(halfOf(type), bits);
  if (type == Type::f64) {
    double d;
    std::memcpy(&d, &bits, 8);
    return d;
  }
  auto low = static_cast<uint32_t>(bits);
  float f;
  std::memcpy(&f, &low, 4);
  return static_cast<double>(f);
}

bool parseElement(Type type, const std::string &text, uint64_t &bits) {
  if (text.empty() || text[0] == ' ') return false;
  const char *begin = text.c_str();
  char *end = nullptr;
  errno = 0;
  if (sim::isFloat(type)) {
    // 0x.. gives the bits themselves.
    if (text.rfind("0x", 0) == 0 && text.find_first_of(".p") == std::string::npos) {
      bits = std::strtoull(begin, &end, 16);
      return !errno && *end == '\0' && bits == wrap(type, bits);
    }
    double value = std::strtod(begin, &end);
    if (end == begin || *end) return false;
    bits = encodeElement(type, value);
    return true;
  }
  if (text[0] == '-') {
    long long value = std::strtoll(begin, &end, 0);
    if (errno || *end || end == begin) return false;
    unsigned size = sizeOf(type);
    if (type >= Type::u8 && type <= Type::u64) return false;
    if (size < 8 && value < -(1ll << (8 * size - 1))) return false;
    bits = wrap(type, static_cast<uint64_t>(value));
    return true;
  }
  bits = std::strtoull(begin, &end, 0);
  if (errno || *end || end == begin) return false;
  uint64_t most = wrap(type, ~uint64_t{0});
  if (sim::isSigned(type)) most >>= 1;
  return bits <= most;
}

std::string printElement(Type type, uint64_t bits) {
  char text[48];
  switch (type) {
  case Type::f16:
  case Type::bf16: std::snprintf(text, sizeof text, "%.5g", decodeFloat(type, bits)); break;
  case Type::f32: std::snprintf(text, sizeof text, "%.9g", decodeFloat(type, bits)); break;
  case Type::f64: std::snprintf(text, sizeof text, "%.17g", decodeFloat(type, bits)); break;
  case Type::s8: std::snprintf(text, sizeof text, "%d", static_cast<int8_t>(bits)); break;
  case Type::s16: std::snprintf(text, sizeof text, "%d", static_cast<int16_t>(bits)); break;
  case Type::s32: std::snprintf(text, sizeof text, "%d", static_cast<int32_t>(bits)); break;
  case Type::s64: std::snprintf(text, sizeof text, "%" PRId64, static_cast<int64_t>(bits)); break;
  case Type::u8:
  case Type::u16:
  case Type::u32:
  case Type::u64: std::snprintf(text, sizeof text, "%" PRIu64, bits); break;
  default: std::snprintf(text, sizeof text, "0x%0*" PRIx64, static_cast<int>(2 * sizeOf(type)), bits); break;
  }
  return text;
}

} // namespace stator::ptxtool
