// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every file of tests/simulator/litmus is run as its directives say (runtime/simulator/README.md describes them) and
// must be judged as it expects, under every schedule and asynchronous mode it names.
#include "tests/unit/simulator/Machine.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>

namespace stator::sim::test {
namespace {

const std::string kFolder = "tests/simulator/litmus";

struct Argument {
  bool isBuffer = false;
  std::string type, fill;
  size_t count = 1;
  uint64_t bits = 0;
};

unsigned widthOf(const std::string &type) {
  return type == "b8" || type == "u8" ? 1 : type.substr(1) == "16" ? 2 : type.substr(1) == "64" ? 8 : 4;
}

uint64_t bitsOf(const std::string &type, double value) {
  if (type == "f32") {
    auto f = static_cast<float>(value);
    uint32_t bits;
    std::memcpy(&bits, &f, 4);
    return bits;
  }
  if (type == "f64") {
    uint64_t bits;
    std::memcpy(&bits, &value, 8);
    return bits;
  }
  return static_cast<uint64_t>(static_cast<int64_t>(value));
}

struct Litmus {
  std::string text, chip = "a100";
  Dim3 grid, block, cluster;
  uint32_t shared = 0;
  bool cooperative = false;
  std::vector<Argument> arguments;
  std::vector<uint64_t> seeds{0};
  std::vector<Settings::Async> modes{Settings::Async::early};
  std::set<std::string> expected;
  size_t resultArgument = 0;
  std::string resultType;
  std::vector<double> result;
};

Litmus read(const std::string &path) {
  Litmus litmus;
  std::ifstream file(path);
  std::string line, word;
  while (std::getline(file, line)) {
    litmus.text += line + "\n";
    if (line.rfind("// ", 0) != 0) continue;
    std::istringstream in(line.substr(3));
    in >> word;
    if (word == "launch:") {
      in >> word >> litmus.grid.x >> litmus.block.x;
      while (in >> word) {
        std::string value = word.substr(word.find('=') + 1);
        if (word.rfind("shared=", 0) == 0)
          litmus.shared = static_cast<uint32_t>(std::stoul(value));
        else if (word.rfind("chip=", 0) == 0)
          litmus.chip = value;
        else if (word.rfind("cluster=", 0) == 0)
          litmus.cluster.x = static_cast<uint32_t>(std::stoul(value));
        else if (word == "cooperative")
          litmus.cooperative = true;
        else
          throw std::runtime_error(path + ": unknown word " + word);
      }
    } else if (word == "arg:") {
      Argument a;
      in >> a.type;
      a.isBuffer = a.type == "buffer";
      if (a.isBuffer)
        in >> a.type >> a.count >> a.fill;
      else {
        double value = 0;
        in >> value;
        a.bits = bitsOf(a.type, value);
      }
      litmus.arguments.push_back(a);
    } else if (word == "seeds:") {
      litmus.seeds.clear();
      for (uint64_t seed; in >> seed;) litmus.seeds.push_back(seed);
    } else if (word == "async:") {
      litmus.modes.clear();
      while (in >> word)
        litmus.modes.push_back(word == "early"  ? Settings::Async::early
                               : word == "late" ? Settings::Async::late
                                                : Settings::Async::random);
    } else if (word == "expect:") {
      while (in >> word)
        if (word != "clean") litmus.expected.insert(word);
    } else if (word == "result:") {
      in >> litmus.resultArgument >> litmus.resultType;
      for (double value; in >> value;) litmus.result.push_back(value);
    }
  }
  return litmus;
}

class LitmusTest : public testing::TestWithParam<std::string> {};

TEST_P(LitmusTest, IsJudgedAsExpected) {
  Litmus litmus = read(kFolder + "/" + GetParam() + ".ptx");
  for (uint64_t seed : litmus.seeds)
    for (Settings::Async mode : litmus.modes) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " async " + std::to_string(static_cast<int>(mode)));
      Machine machine(litmus.chip.c_str());
      machine.settings.schedule = seed;
      machine.settings.async = mode;
      machine.cluster = litmus.cluster;
      machine.dynamicShared = litmus.shared;
      machine.cooperative = litmus.cooperative;
      std::vector<uint8_t> params;
      std::vector<uint64_t> addresses;
      for (const Argument &a : litmus.arguments) {
        uint64_t value = a.bits;
        unsigned width = a.isBuffer ? 8 : widthOf(a.type);
        if (a.isBuffer) {
          unsigned element = widthOf(a.type);
          std::vector<uint8_t> bytes(a.count * element);
          for (size_t i = 0; i < a.count; ++i) {
            uint64_t bits = bitsOf(a.type, a.fill == "iota"                            ? static_cast<double>(i)
                                           : a.fill == "zero" || a.fill == "undefined" ? 0
                                                                                       : std::stod(a.fill));
            std::memcpy(bytes.data() + i * element, &bits, element);
          }
          value = a.fill == "undefined" ? machine.allocate(bytes.size()) : machine.upload(bytes);
        }
        addresses.push_back(value);
        params.resize((params.size() + width - 1) / width * width);
        params.insert(params.end(), reinterpret_cast<uint8_t *>(&value), reinterpret_cast<uint8_t *>(&value) + width);
      }
      LaunchResult result = machine.runBytes(litmus.text, litmus.grid, litmus.block, params);
      std::set<std::string> found;
      std::istringstream kinds(kindsOf(result));
      for (std::string kind; kinds >> kind;) found.insert(kind);
      std::string details;
      for (const Finding &f : result.findings) details += toText(f) + "\n";
      EXPECT_EQ(found, litmus.expected) << details;
      for (size_t i = 0; i < litmus.result.size(); ++i) {
        unsigned element = widthOf(litmus.resultType);
        uint64_t got = 0, want = bitsOf(litmus.resultType, litmus.result[i]);
        std::memcpy(&got, machine.memory.host(addresses[litmus.resultArgument] + i * element, element), element);
        if (element < 8) want &= (uint64_t{1} << (8 * element)) - 1;
        EXPECT_EQ(got, want) << "element " << i;
      }
    }
}

std::vector<std::string> allLitmus() {
  std::vector<std::string> names;
  for (const auto &entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == ".ptx") names.push_back(entry.path().stem().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(All, LitmusTest, testing::ValuesIn(allLitmus()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

// Every defect has a twin without it.
TEST(LitmusFiles, HaveCleanTwins) {
  for (const std::string &name : allLitmus()) {
    if (name.size() > 6 && name.substr(name.size() - 6) == "-clean") continue;
    EXPECT_TRUE(std::filesystem::exists(kFolder + "/" + name + "-clean.ptx")) << name;
  }
}

} // namespace
} // namespace stator::sim::test
