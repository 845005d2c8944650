// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/simulator/TensorTiles.h"

#include "runtime/simulator/TensorCore.h"

#include <algorithm>
#include <random>

namespace stator::sim::test {

namespace {

/// Finite numbers of a format whose exponents lie around a centre.
class Numbers {
public:
  Numbers(std::mt19937_64 &random, Format format, bool topIsFinite, int centre, int spread)
      : random(random), f(format), topIsFinite(topIsFinite) {
    int most = (1 << (f.width - 1 - f.fraction)) - (topIsFinite ? 1 : 2); // the largest biased exponent
    auto biased = [&](int exponent) { return std::clamp(exponent - f.least + 1, 0, most); };
    low = biased(centre - spread);
    high = biased(centre + spread);
  }
  uint32_t operator()() {
    uint64_t r = random();
    auto sign = static_cast<uint32_t>(r & 1) << (f.width - 1);
    if ((r >> 1) % 16 == 0) return sign;
    auto exponent = static_cast<uint32_t>(low + static_cast<int>((r >> 8) % static_cast<uint64_t>(high - low + 1)));
    uint32_t fraction = static_cast<uint32_t>(r >> 32) & ((1u << f.fraction) - 1), all = (1u << (f.width - 1)) - 1;
    // Few bits as often as many: then sums cancel.
    if ((r >> 5) % 4 == 0) fraction &= ~((1u << (f.fraction / 2 + 1)) - 1);
    uint32_t magnitude = exponent << f.fraction | fraction;
    if (topIsFinite && magnitude == all) --magnitude; // the only NaN of e4m3
    return sign | magnitude;
  }

private:
  std::mt19937_64 &random;
  Format f;
  bool topIsFinite;
  int low, high;
};

} // namespace

Exactness compareTiles(const Chip &chip, Type type, bool half, uint64_t tiles, uint64_t seed) {
  Exactness e;
  ModelRules rules;
  if (!modelRules(chip.name, type, half, rules)) return e;
  std::mt19937_64 random(seed);
  unsigned k = type == Type::tf32 ? 8 : sizeOf(type) == 1 ? 32 : 16;
  Format f = formatOf(type), result = half ? formatOf(Type::f16) : formatOf(Type::f32);
  int reach = (1 << (f.width - 2 - f.fraction)) + f.fraction; // exponents from the smallest to the largest, halved
  // Operands of tf32 are f32 registers whose low bits are ignored.
  unsigned shift = type == Type::tf32 ? 13 : 0;
  for (; e.tiles < tiles; ++e.tiles) {
    static const int spreads[] = {1, 3, 8, 20, 60, 130};
    int spread = spreads[random() % 6];
    auto centre = [&] { return static_cast<int>(random() % static_cast<uint64_t>(2 * reach)) - reach; };
    int ca = random() % 2 ? 0 : centre(), cb = random() % 2 ? 0 : random() % 2 ? -ca : centre();
    bool topIsFinite = type == Type::e4m3;
    Numbers as(random, f, topIsFinite, ca, spread), bs(random, f, topIsFinite, cb, spread),
        cs(random, result, false, random() % 4 ? ca + cb : -static_cast<int>(random() % 150), 2 * spread);
    std::vector<std::vector<uint32_t>> a(16, std::vector<uint32_t>(k)), b(8, std::vector<uint32_t>(k));
    TensorTile tile;
    tile.k = k;
    tile.aType = tile.bType = type;
    for (unsigned r = 0; r < 16; ++r)
      for (unsigned i = 0; i < k; ++i) tile.setA(r, i, (a[r][i] = as()) << shift);
    for (unsigned n = 0; n < 8; ++n)
      for (unsigned i = 0; i < k; ++i) tile.setB(i, n, (b[n][i] = bs()) << shift);
    uint32_t c[128], d[128];
    for (uint32_t &x : c) x = cs();
    tensorMultiply()(chip.tensor, tile, c, d, half);
    for (unsigned at = 0; at < 128; ++at) {
      // What overflows on the way is no longer described by the model.
      uint32_t want = modelDot(rules, type, a[at / 8], b[at % 8], c[at], half);
      uint32_t magnitude = want & ((1u << (result.width - 1)) - 1);
      uint32_t infinity = ((1u << (result.width - 1 - result.fraction)) - 1) << result.fraction;
      if (magnitude >= infinity) continue;
      ++e.elements;
      e.zero += magnitude == 0;
      e.subnormal += magnitude && magnitude < 1u << result.fraction;
      e.mismatches += d[at] != want;
    }
  }
  return e;
}

} // namespace stator::sim::test
