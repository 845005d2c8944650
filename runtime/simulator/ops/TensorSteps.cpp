// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of a tensor core over eight columns at a time, as lane arithmetic.
#include "runtime/simulator/TensorCore.h"
#include "runtime/simulator/ops/HalfLane.h"

#include <algorithm>

namespace stator::sim::STATOR_SIM_LEVEL {

namespace {

constexpr unsigned kColumns = kTileColumns;
constexpr int32_t kNoTerm = TensorTile::kZeroExponent;

/// magnitude * 2^exponent cut to f32, subnormals kept.
uint32_t truncated(bool negative, uint64_t magnitude, int exponent) {
  if (magnitude == 0) return 0;
  int length = 64 - __builtin_clzll(magnitude), top = length - 1 + exponent;
  int shift = top < -126 ? -149 - exponent : length - 24;
  uint64_t kept = shift > 63 ? 0 : shift > 0 ? magnitude >> shift : magnitude << -shift;
  uint32_t sign = negative ? 0x80000000u : 0;
  if (top > 127) return sign | 0x7f800000u;
  if (top < -126) return sign | static_cast<uint32_t>(kept);
  return sign | static_cast<uint32_t>(top + 127) << 23 | (static_cast<uint32_t>(kept) & 0x7fffff);
}

bool infinite(uint32_t bits) { return (bits & 0x7f800000) == 0x7f800000; }

struct Rules {
  unsigned n;
  int guard, floor, resultBits;
  bool half, exact;
};

/// n products of one row with eight columns; `sum` holds f32 bits before and after.
void step(const Rules &r, const int32_t *aMagnitude, const int32_t *aExponent, const int32_t (*bMagnitude)[kColumns],
          const int32_t (*bExponent)[kColumns], uint32_t *sum) {
  int32_t align[kColumns], cMagnitude[kColumns], cExponent[kColumns];
  for (unsigned j = 0; j < kColumns; ++j) {
    auto e = static_cast<int32_t>(sum[j] >> 23 & 255), f = static_cast<int32_t>(sum[j] & 0x7fffff);
    int32_t m = e ? f | 0x800000 : f;
    cMagnitude[j] = static_cast<int32_t>(sum[j]) < 0 ? -m : m;
    cExponent[j] = m ? (e ? e - 127 : -126) : kNoTerm;
    align[j] = cExponent[j];
  }
  for (unsigned k = 0; k < r.n; ++k)
    for (unsigned j = 0; j < kColumns; ++j) {
      int32_t e = aExponent[k] + bExponent[k][j];
      align[j] = align[j] > e ? align[j] : e;
    }
  int32_t any[kColumns];
  for (unsigned j = 0; j < kColumns; ++j) {
    any[j] = align[j] > -40000;
    align[j] = align[j] > r.floor ? align[j] : r.floor;
  }
  // Sixteen terms below 2^27 overflow 32 bits, so even and odd ones are added apart.
  int32_t even[kColumns] = {}, odd[kColumns] = {};
  int up = r.guard > 0 ? r.guard : 0, down = r.guard < 0 ? -r.guard : 0;
  auto add = [&](unsigned k, int32_t *total) {
    int32_t am = aMagnitude[k] * 2, ae = aExponent[k];
    for (unsigned j = 0; j < kColumns; ++j) {
      int32_t p = am * bMagnitude[k][j], by = align[j] - (ae + bExponent[k][j]), sign = p >> 31;
      auto m = static_cast<uint32_t>((p ^ sign) - sign);
      m = m << up >> down >> (by < 31 ? by : 31);
      total[j] += (static_cast<int32_t>(m) ^ sign) - sign;
    }
  };
  for (unsigned k = 0; k + 1 < r.n; k += 2) {
    add(k, even);
    add(k + 1, odd);
  }
  if (r.n & 1) add(r.n - 1, even);
  for (unsigned j = 0; j < kColumns; ++j) {
    int64_t total = int64_t{even[j]} + odd[j];
    int by = align[j] - cExponent[j];
    auto c =
        static_cast<uint64_t>(cMagnitude[j] < 0 ? -cMagnitude[j] : cMagnitude[j]) << up >> down >> (by < 62 ? by : 62);
    total += cMagnitude[j] < 0 ? -static_cast<int64_t>(c) : static_cast<int64_t>(c);
    auto magnitude = static_cast<uint64_t>(total < 0 ? -total : total);
    int scale = align[j] - 23 - r.guard;
    if (!any[j]) {
      sum[j] = 0;
    } else if (r.half) {
      sum[j] =
          bitCast<uint32_t>(toFloat(narrowF16(std::ldexp(static_cast<double>(total), scale), Rounding::nearestEven)));
    } else {
      if (r.resultBits && magnitude) {
        int drop = 64 - __builtin_clzll(magnitude) - r.resultBits;
        if (drop > 0) magnitude = magnitude >> drop << drop;
      }
      sum[j] = truncated(total < 0, magnitude, scale);
    }
  }
}

/// Products of eight-bit floats, summed exactly and rounded once.
void exactStep(unsigned n, const float *a, const float (*b)[kColumns], uint32_t *sum) {
  for (unsigned j = 0; j < kColumns; ++j) {
    // Products are multiples of 2^-32 below 2^36, so f64 and then long double hold their sum exactly; what the addition
    // of the accumulator loses decides ties.
    long double products = 0;
    for (unsigned k = 0; k < n; ++k) products += static_cast<long double>(a[k]) * static_cast<long double>(b[k][j]);
    long double x = bitCast<float>(sum[j]), s = products + x, t = s - products;
    long double error = (products - (s - t)) + (x - t);
    auto rounded = static_cast<float>(s);
    if (error != 0 && std::isfinite(rounded)) {
      float next = std::nextafter(rounded, error > 0 ? INFINITY : -INFINITY);
      if (s == (static_cast<long double>(rounded) + next) / 2) rounded = next;
    }
    sum[j] = rounded == 0 ? 0 : bitCast<uint32_t>(rounded);
  }
}

} // namespace

void multiplyTile(const TensorCore &core, const TensorTile &tile, const uint32_t *c, uint32_t *d, bool half) {
  bool eight = tile.aType == Type::e4m3 || tile.aType == Type::e5m2, tf32 = tile.aType == Type::tf32;
  auto n = static_cast<unsigned>(std::max(eight ? core.products8 : tf32 ? core.productsTf32 : core.products16, 1));
  Rules rules{std::min(n, tile.k),
              eight && core.kept8 ? core.kept8 - 23 : core.guardBits,
              half ? core.alignFloorHalf : core.alignFloor,
              eight ? core.result8 : 0,
              half,
              eight && core.exactFp8 && !half};
  for (unsigned row = 0; row < tile.rows; ++row) {
    uint32_t sum[kColumns];
    for (unsigned j = 0; j < kColumns; ++j) {
      uint32_t bits = c[row * kColumns + j];
      sum[j] = half ? bitCast<uint32_t>(toFloat(F16{static_cast<uint16_t>(bits)})) : bits;
    }
    for (unsigned at = 0; at < tile.k; at += rules.n) {
      uint32_t before[kColumns];
      std::copy(sum, sum + kColumns, before);
      if (rules.exact)
        exactStep(rules.n, tile.aValue[row] + at, tile.bValue + at, sum);
      else
        step(rules, tile.aMagnitude[row] + at, tile.aExponent[row] + at, tile.bMagnitude + at, tile.bExponent + at,
             sum);
      for (unsigned j = 0; j < kColumns; ++j) {
        bool special = infinite(before[j]);
        if (tile.special)
          for (unsigned k = at; k < at + rules.n; ++k)
            special |= !std::isfinite(tile.aValue[row][k]) || !std::isfinite(tile.bValue[k][j]);
        if (!special) continue;
        // Not finite: the sum that IEEE arithmetic gives.
        float total = bitCast<float>(before[j]);
        for (unsigned k = at; k < at + rules.n; ++k) total += tile.aValue[row][k] * tile.bValue[k][j];
        sum[j] = total != total ? kNan32 : bitCast<uint32_t>(total);
      }
    }
    for (unsigned j = 0; j < kColumns; ++j) d[row * kColumns + j] = half ? toF16(bitCast<float>(sum[j])).bits : sum[j];
  }
}

} // namespace stator::sim::STATOR_SIM_LEVEL
