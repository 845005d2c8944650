// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/simulator/TensorModel.h"

#include <algorithm>
#include <climits>

namespace stator::sim::test {

namespace {

/// A 512-bit two's complement integer: enough for f32's whole range in units of 2^-200.
class Wide {
public:
  static Wide of(uint64_t magnitude, int shift, bool negative) {
    Wide w;
    for (int bit = 0; bit < 64; ++bit)
      if (magnitude >> bit & 1 && bit + shift >= 0) w.limbs[(bit + shift) / 32] |= 1u << (bit + shift) % 32;
    if (negative) w.negate();
    return w;
  }
  void add(const Wide &o) {
    uint64_t carry = 0;
    for (int i = 0; i < kLimbs; ++i) {
      carry += uint64_t{limbs[i]} + o.limbs[i];
      limbs[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
  }
  void negate() {
    for (uint32_t &limb : limbs) limb = ~limb;
    add(of(1, 0, false));
  }
  bool negative() const { return limbs[kLimbs - 1] >> 31; }
  bool bit(int at) const { return at >= 0 && at < 32 * kLimbs && (limbs[at / 32] >> at % 32 & 1); }
  /// Position of the highest bit of a non-negative number; -1 for zero.
  int top() const {
    for (int at = 32 * kLimbs - 1; at >= 0; --at)
      if (bit(at)) return at;
    return -1;
  }

private:
  static constexpr int kLimbs = 16;
  uint32_t limbs[kLimbs] = {};
};

/// Units of sums: 2^-kUnit.
constexpr int kUnit = 200;

struct Term {
  bool negative;
  int exponent;
  uint64_t significand; ///< value = significand * 2^(exponent - fraction)
};

Term takeApart(Format f, uint32_t bits) {
  uint32_t sign = bits >> (f.width - 1) & 1, magnitude = bits & ((1u << (f.width - 1)) - 1);
  uint32_t biased = magnitude >> f.fraction, fraction = magnitude & ((1u << f.fraction) - 1);
  return {sign != 0, biased ? static_cast<int>(biased) - 1 + f.least : f.least,
          biased ? fraction | 1u << f.fraction : fraction};
}

/// The sum as bits of a format: cut, or rounded to nearest even; subnormals kept; too large gives infinity.
uint32_t pack(Wide sum, Format f, bool nearest, int significant) {
  bool negative = sum.negative();
  if (negative) sum.negate();
  int top = sum.top();
  if (top < 0) return 0;
  int exponent = std::max(top - kUnit, f.least), low = exponent - f.fraction + kUnit;
  // `low` is the position of the last bit of the result.
  uint64_t kept = 0;
  for (int at = top; at >= low && at >= 0; --at) kept |= uint64_t{sum.bit(at)} << (at - low);
  if (significant && top - low + 1 > significant)
    kept = kept >> (top - low + 1 - significant) << (top - low + 1 - significant);
  if (nearest && low > 0 && sum.bit(low - 1)) {
    bool above = false;
    for (int at = low - 2; at >= 0 && !above; --at) above = sum.bit(at);
    kept += above || (kept & 1);
  }
  uint64_t bits = kept + (static_cast<uint64_t>(exponent - f.least) << f.fraction);
  uint64_t infinity = ((uint64_t{1} << (f.width - 1 - f.fraction)) - 1) << f.fraction;
  return static_cast<uint32_t>(std::min(bits, infinity)) | (negative ? 1u << (f.width - 1) : 0);
}

constexpr Format kF32{23, -126, 32}, kF16{10, -14, 16};

uint32_t block(const ModelRules &rules, Format f, const uint32_t *a, const uint32_t *b, unsigned n, uint32_t c,
               bool half) {
  std::vector<Term> terms;
  for (unsigned i = 0; i < n; ++i) {
    Term x = takeApart(f, a[i]), y = takeApart(f, b[i]);
    // 23 fraction bits hold every product.
    if (x.significand && y.significand)
      terms.push_back(
          {x.negative != y.negative, x.exponent + y.exponent, x.significand * y.significand << (23 - 2 * f.fraction)});
  }
  Term start = takeApart(half ? kF16 : kF32, c);
  if (start.significand) {
    if (half) {
      // The exponent of the accumulator is that of its value as f32.
      start.significand <<= 13;
      while (start.significand < 1u << 23) start.significand <<= 1, --start.exponent;
    }
    terms.push_back(start);
  }
  if (terms.empty()) return 0;
  Wide sum;
  if (rules.exact) {
    for (const Term &t : terms) sum.add(Wide::of(t.significand, t.exponent - 23 + kUnit, t.negative));
    return pack(sum, kF32, true, 0);
  }
  int align = INT_MIN;
  for (const Term &t : terms) align = std::max(align, t.exponent);
  align = std::max(align, rules.floor);
  for (const Term &t : terms) {
    uint64_t m = rules.guard >= 0 ? t.significand << rules.guard : t.significand >> -rules.guard;
    int by = align - t.exponent;
    m = by > 63 ? 0 : m >> by;
    sum.add(Wide::of(m, align - 23 - rules.guard + kUnit, t.negative));
  }
  return half ? pack(sum, kF16, true, 0) : pack(sum, kF32, false, rules.significant);
}

} // namespace

Format formatOf(Type type) {
  switch (type) {
  case Type::f16: return kF16;
  case Type::bf16: return {7, -126, 16};
  case Type::tf32: return {10, -126, 19};
  case Type::e4m3: return {3, -6, 8};
  case Type::e5m2: return {2, -14, 8};
  default: return kF32;
  }
}

bool modelRules(const std::string &chip, Type type, bool half, ModelRules &rules) {
  bool eight = type == Type::e4m3 || type == Type::e5m2, tf32 = type == Type::tf32,
       hopper = chip == "h100" || chip == "h200";
  if (half && type != Type::f16) return false;
  if (chip == "t4") {
    rules = {4, 0, -1000, 0, false};
    return type == Type::f16;
  }
  if (chip == "a100" || chip == "a10" || chip == "l40s") {
    if (eight && chip != "l40s") return false;
    rules = {tf32 ? 4u : 8u, 1, half ? -20 : -132, 0, false};
    if (eight) rules = {16, 13 - 23, -132, 14, false};
    return true;
  }
  if (!hopper && chip != "b200" && chip != "rtx5090") return false;
  rules = {tf32 ? 8u : 16u, 2, half ? -21 : -133, 0, false};
  if (eight) rules = {32, 13 - 23, -133, 0, !hopper};
  return true;
}

uint32_t modelDot(const ModelRules &rules, Type type, const std::vector<uint32_t> &a, const std::vector<uint32_t> &b,
                  uint32_t c, bool half) {
  auto k = static_cast<unsigned>(a.size());
  uint32_t infinity = half ? 0x7c00 : 0x7f800000, sign = half ? 0x8000 : 0x80000000;
  for (unsigned at = 0; at < k && (c & ~sign) < infinity; at += rules.step)
    c = block(rules, formatOf(type), &a[at], &b[at], std::min(rules.step, k - at), c, half);
  return c;
}

} // namespace stator::sim::test
