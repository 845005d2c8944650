// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fuzzer's corpus, and random damage to every PTX text of the tests: nothing crashes.
// STATOR_MALFORMED_SEEDS=FROM:COUNT runs other damage.
#include "tests/fuzz/PtxInput.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

namespace stator::fuzz {
namespace {

std::vector<std::pair<std::string, std::string>> texts(const std::vector<std::string> &folders) {
  std::vector<std::pair<std::string, std::string>> all;
  for (const std::string &folder : folders)
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      if (!entry.is_regular_file() || (folder != "tests/fuzz/corpus" && entry.path().extension() != ".ptx")) continue;
      std::ifstream file(entry.path(), std::ios::binary);
      std::ostringstream text;
      text << file.rdbuf();
      all.emplace_back(entry.path().string(), text.str());
    }
  std::sort(all.begin(), all.end());
  return all;
}

PtxOutcome run(const std::string &text) { return runPtx(reinterpret_cast<const uint8_t *>(text.data()), text.size()); }

TEST(Malformed, CorpusDoesNotCrash) {
  auto all = texts({"tests/fuzz/corpus"});
  EXPECT_GE(all.size(), 10u);
  for (const auto &[name, text] : all) {
    PtxOutcome outcome = run(text);
    EXPECT_TRUE(outcome.loaded || !outcome.why.empty()) << name;
  }
}

/// Text with one to four pieces of damage: characters, tokens, lines, numbers.
std::string damage(std::string text, std::mt19937_64 &random) {
  static const char *const tokens[] = {"{",
                                       "}",
                                       "(",
                                       ")",
                                       "[",
                                       "]",
                                       ",",
                                       ";",
                                       ":",
                                       "<",
                                       ">",
                                       ".",
                                       "@",
                                       "%r1",
                                       "0",
                                       "-1",
                                       "_",
                                       "4294967296",
                                       "99999999999999999999",
                                       "0x",
                                       "0f",
                                       "0d1",
                                       "%p",
                                       "\"",
                                       "/*",
                                       "//",
                                       "=",
                                       ".reg",
                                       ".b32",
                                       ".align",
                                       ".shared",
                                       ".param",
                                       ".entry",
                                       ".func",
                                       "+",
                                       "|",
                                       "!"};
  auto pick = [&](size_t n) { return n ? static_cast<size_t>(random() % n) : 0; };
  for (size_t times = 1 + pick(4); times; --times) {
    size_t at = pick(text.size()), other = pick(text.size());
    auto lineOf = [&](size_t p) {
      size_t from = text.rfind('\n', p), to = text.find('\n', p);
      from = from == std::string::npos ? 0 : from + 1;
      return std::make_pair(from, (to == std::string::npos ? text.size() : to + 1) - std::min(from, text.size()));
    };
    switch (pick(8)) {
    case 0: text.insert(at, 1, static_cast<char>(random())); break;
    case 1: text.erase(at, 1 + pick(8)); break;
    case 2: text.insert(at, tokens[pick(sizeof tokens / sizeof tokens[0])]); break;
    case 3: text.resize(at); break;
    case 4: { // a line again somewhere else
      auto [from, length] = lineOf(at);
      text.insert(lineOf(other).first, text.substr(from, length));
      break;
    }
    case 5: { // a line less
      auto [from, length] = lineOf(at);
      if (from < text.size()) text.erase(from, length);
      break;
    }
    case 6: { // another number
      size_t digit = text.find_first_of("0123456789", at);
      if (digit == std::string::npos) break;
      static const char *const numbers[] = {"0", "1", "7", "33", "255", "65536", "2147483648", "4294967295", "-5"};
      text.replace(digit, 1, numbers[pick(sizeof numbers / sizeof numbers[0])]);
      break;
    }
    default: // a piece of one place in another
      text.replace(at, std::min<size_t>(4, text.size() - at), text.substr(other, 1 + pick(12)));
    }
  }
  return text;
}

TEST(Malformed, DamagedTextsDoNotCrash) {
  uint64_t from = 1, count = 1500;
  if (const char *seeds = std::getenv("STATOR_MALFORMED_SEEDS")) {
    char *end = nullptr;
    from = std::strtoull(seeds, &end, 10);
    count = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 1;
  }
  auto all = texts({"tests/simulator/litmus", "tests/simulator/kernels", "tests/fuzz/corpus"});
  size_t loaded = 0, refused = 0;
  for (uint64_t seed = from; seed < from + count; ++seed) {
    std::mt19937_64 random(seed);
    const auto &[name, text] = all[random() % all.size()];
    SCOPED_TRACE(name + " seed " + std::to_string(seed));
    PtxOutcome outcome = run(damage(text, random));
    EXPECT_TRUE(outcome.loaded || !outcome.why.empty());
    (outcome.loaded ? loaded : refused) += 1;
  }
  // Both sides are exercised.
  EXPECT_TRUE(count < 500 || (loaded > count / 20 && refused > count / 20)) << loaded << " of " << count << " load";
}

} // namespace
} // namespace stator::fuzz
