// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor-core arithmetic against vectors of tests/simulator/tensor-core/model.py, bit by bit. STATOR_TENSOR_VECTORS
// names another folder of vectors (generate.py writes them): the exactness of each file is printed.
#include "runtime/simulator/TensorCore.h"
#include "tests/unit/simulator/TensorTiles.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

namespace stator::sim::test {
namespace {

/// The bits of `value` (f32 bits) in an operand type that holds it exactly.
uint32_t encode(Type type, uint32_t bits) {
  float value;
  std::memcpy(&value, &bits, 4);
  uint32_t sign = bits >> 31;
  if (type == Type::tf32) return bits;
  if (type == Type::bf16) return bits >> 16;
  int fraction = type == Type::f16 ? 10 : type == Type::e4m3 ? 3 : 2, least = type == Type::e4m3 ? -6 : -14;
  int width = type == Type::f16 ? 16 : 8;
  float magnitude = std::fabs(value);
  uint32_t out = sign << (width - 1);
  if (magnitude == 0) return out;
  int e = std::max(std::ilogb(magnitude), least);
  auto scaled = static_cast<uint32_t>(std::ldexp(magnitude, fraction - e)); // with the leading bit where it is normal
  uint32_t biased = scaled >> fraction ? static_cast<uint32_t>(e - least + 1) : 0;
  return out | biased << fraction | (scaled & ((1u << fraction) - 1));
}

struct Outcome {
  size_t total = 0, wrong = 0;
};

Outcome runFile(const std::filesystem::path &path, TensorMultiply multiply) {
  std::string stem = path.stem().string();
  bool half = stem.size() > 5 && stem.substr(stem.size() - 5) == "-half";
  if (half) stem.resize(stem.size() - 5);
  const Chip *chip = findChip(stem.substr(0, stem.find('-')));
  Type type = typeNamed(stem.substr(stem.find('-') + 1));
  ModelRules rules;
  if (!modelRules(chip->name, type, half, rules)) ADD_FAILURE() << path << ": unknown to the model";
  auto accumulator = [&](uint32_t bits) { return half ? encode(Type::f16, bits) : bits; };
  unsigned k = type == Type::tf32 ? 8 : sizeOf(type) == 1 ? 32 : 16;
  Outcome outcome;
  std::ifstream file(path);
  // Eight lines share a tile: row r and column r hold line r's operands, so the diagonal holds the results.
  std::vector<std::vector<uint32_t>> lines;
  for (std::string line; std::getline(file, line);) {
    std::istringstream in(line);
    std::vector<uint32_t> words;
    for (uint32_t word; in >> std::hex >> word;) words.push_back(word);
    if (words.size() != 2 * k + 2) ADD_FAILURE() << path << ": a line has " << words.size() << " words";
    lines.push_back(words);
  }
  for (size_t first = 0; first < lines.size(); first += 8) {
    TensorTile tile;
    tile.k = k;
    tile.rows = 8;
    tile.aType = tile.bType = type;
    uint32_t c[128] = {}, d[128];
    size_t count = std::min<size_t>(8, lines.size() - first);
    for (unsigned r = 0; r < 8; ++r) {
      const auto &line = lines[first + std::min<size_t>(r, count - 1)];
      for (unsigned i = 0; i < k; ++i) {
        tile.setA(r, i, encode(type, line[i]));
        tile.setB(i, r, encode(type, line[k + i]));
      }
      c[r * 8 + r] = accumulator(line[2 * k]);
    }
    multiply(chip->tensor, tile, c, d, half);
    for (unsigned r = 0; r < count; ++r) {
      ++outcome.total;
      const auto &line = lines[first + r];
      outcome.wrong += d[r * 8 + r] != accumulator(line[2 * k + 1]);
      // The restatement of the model in this folder agrees with the model.
      std::vector<uint32_t> a, b;
      for (unsigned i = 0; i < 2 * k; ++i)
        (i < k ? a : b).push_back(encode(type, line[i]) >> (type == Type::tf32 ? 13 : 0));
      EXPECT_EQ(modelDot(rules, type, a, b, accumulator(line[2 * k]), half), accumulator(line[2 * k + 1])) << path;
    }
  }
  return outcome;
}

TEST(TensorCore, MatchesTheModelBitByBit) {
  const char *folder = std::getenv("STATOR_TENSOR_VECTORS");
  size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder ? folder : "tests/simulator/tensor-core")) {
    if (entry.path().extension() != ".txt") continue;
    ++files;
    for (TensorMultiply multiply : {tensorMultiply(), static_cast<TensorMultiply>(baseline::multiplyTile)}) {
      Outcome o = runFile(entry.path(), multiply);
      EXPECT_EQ(o.wrong, 0u) << entry.path() << ": " << o.wrong << " of " << o.total << " differ";
      if (folder) std::printf("%-12s %zu of %zu differ\n", entry.path().stem().c_str(), o.wrong, o.total);
    }
  }
  EXPECT_GE(files, folder ? 1u : 24u);
}

// stator-tensor-exactness does the same with more tiles.
TEST(TensorCore, RandomTilesMatchTheModel) {
  for (const Chip &chip : allChips())
    for (Type type : {Type::f16, Type::bf16, Type::tf32, Type::e4m3, Type::e5m2})
      for (bool half : {false, true}) {
        Exactness e = compareTiles(chip, type, half, 300, 7);
        EXPECT_EQ(e.mismatches, 0u) << chip.name << " " << static_cast<int>(type) << " of " << e.elements;
      }
}

TEST(TensorCore, SpecialValues) {
  TensorTile tile;
  tile.k = 16;
  tile.aType = tile.bType = Type::f16;
  for (unsigned k = 0; k < 16; ++k) {
    for (unsigned r = 0; r < 16; ++r) tile.setA(r, k, 0x3c00);
    for (unsigned c = 0; c < 8; ++c) tile.setB(k, c, 0x3c00);
  }
  tile.setA(1, 3, 0x7c00); // Inf
  tile.setA(2, 3, 0x7e01); // NaN
  tile.setA(3, 3, 0x7c00);
  tile.setA(3, 12, 0xfc00); // Inf and -Inf
  uint32_t c[128] = {}, d[128];
  tensorMultiply()(findChip("a100")->tensor, tile, c, d, false);
  EXPECT_EQ(d[0], 0x41800000u); // 16
  EXPECT_EQ(d[8], 0x7f800000u);
  EXPECT_EQ(d[16], 0x7fffffffu);
  EXPECT_EQ(d[24], 0x7fffffffu);
}

} // namespace
} // namespace stator::sim::test
