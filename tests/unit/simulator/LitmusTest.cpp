// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every file of tests/simulator/litmus must be judged as it expects, under every schedule and asynchronous mode it
// names; and the table of items is complete.
#include "tests/unit/simulator/Litmus.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

namespace stator::sim::test {
namespace {

class LitmusTest : public testing::TestWithParam<std::string> {};

TEST_P(LitmusTest, IsJudgedAsExpected) {
  EXPECT_EQ(judgeLitmus(readLitmus(std::string(kLitmusFolder) + "/" + GetParam() + ".ptx")).wrong, "");
}

INSTANTIATE_TEST_SUITE_P(All, LitmusTest, testing::ValuesIn(allLitmus()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

bool isClean(const std::string &name) { return name.size() > 6 && name.substr(name.size() - 6) == "-clean"; }

// Every defect has a twin without it, which must stay silent.
TEST(LitmusFiles, HaveCleanTwins) {
  for (const std::string &name : allLitmus()) {
    std::string folder = std::string(kLitmusFolder) + "/";
    if (isClean(name)) {
      EXPECT_TRUE(readLitmus(folder + name + ".ptx").expected.empty()) << name;
    } else {
      EXPECT_TRUE(std::filesystem::exists(folder + name + "-clean.ptx")) << name;
      Litmus litmus = readLitmus(folder + name + ".ptx");
      EXPECT_FALSE(litmus.expected.empty()) << name;
      // Where a finding belongs is part of the judgement.
      EXPECT_FALSE(litmus.lines.empty()) << name << " marks no line with //! KIND";
    }
  }
}

TEST(LitmusTable, NamesEveryItemAndFile) {
  std::set<std::string> named;
  unsigned number = 0;
  for (const LitmusItem &item : litmusTable()) {
    EXPECT_GT(item.number, number);
    number = item.number;
    EXPECT_FALSE(item.files.empty()) << item.title;
    named.insert(item.files.begin(), item.files.end());
  }
  EXPECT_EQ(number, 40u);
  for (const std::string &name : allLitmus())
    EXPECT_TRUE(isClean(name) || named.count(name)) << name << " is in no line of table.txt";
}

} // namespace
} // namespace stator::sim::test
