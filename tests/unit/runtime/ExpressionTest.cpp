// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Expression.h"

#include "runtime/src/Failure.h"

#include <gtest/gtest.h>

using namespace stator::runtime;

namespace {

const std::vector<std::string> symbols = {"s0", "s1", "batch_size"};
const int64_t values[] = {7, -3, 1000};

int64_t evaluate(const std::string &text) {
  int64_t result = 0;
  const char *problem = nullptr;
  EXPECT_TRUE(Expression::parse(text, symbols).evaluate(values, result, problem)) << text << " " << problem;
  return result;
}

std::string problemOf(const std::string &text) {
  int64_t result = 0;
  const char *problem = nullptr;
  EXPECT_FALSE(Expression::parse(text, symbols).evaluate(values, result, problem)) << text << " = " << result;
  return problem ? problem : "";
}

void refuse(const std::string &text) { EXPECT_THROW(Expression::parse(text, symbols), Failure) << text.substr(0, 100); }

TEST(Expression, Arithmetic) {
  EXPECT_EQ(56, evaluate("4*s0*(1+1)"));
  EXPECT_EQ(1, evaluate("10 - 2 - s0"));
  EXPECT_EQ(7 + 6, evaluate("s0 + -2*s1"));
  EXPECT_EQ(7, evaluate("--s0"));
  EXPECT_EQ(-7, evaluate("-(s0)"));
  EXPECT_EQ(1000, evaluate("max(batch_size, min(s0, s1))"));
  EXPECT_EQ(INT64_MAX, evaluate("9223372036854775807"));
}

TEST(Expression, DivisionRoundsAsSaid) {
  // Expected values from the definitions: floor(a/b), ceil(a/b), a - b*floor(a/b).
  struct {
    int64_t a, b, floor, ceil, mod;
  } rows[] = {{7, 2, 3, 4, 1},    {-7, 2, -4, -3, 1}, {7, -2, -4, -3, -1}, {-7, -2, 3, 4, -1}, {6, 3, 2, 2, 0},
              {-6, 3, -2, -2, 0}, {0, 5, 0, 0, 0},    {5, -1, -5, -5, 0},  {1, 10, 0, 1, 1},   {-1, 10, -1, 0, 9}};
  for (auto &row : rows) {
    std::string arguments = "(" + std::to_string(row.a) + "," + std::to_string(row.b) + ")";
    EXPECT_EQ(row.floor, evaluate("floordiv" + arguments)) << arguments;
    EXPECT_EQ(row.ceil, evaluate("ceildiv" + arguments)) << arguments;
    EXPECT_EQ(row.mod, evaluate("mod" + arguments)) << arguments;
  }
}

TEST(Expression, OverflowAndZeroAreErrors) {
  for (const char *text : {"9223372036854775807 + 1", "9223372036854775807 * 2", "-9223372036854775807 - 2",
                           "-(-9223372036854775807 - 1)", "floordiv(-9223372036854775807 - 1, -1)"})
    EXPECT_EQ("overflows 64 bits", problemOf(text)) << text;
  for (const char *text : {"floordiv(1, 0)", "ceildiv(s0, s0 - 7)", "mod(1, s0 - 7)"})
    EXPECT_EQ("divides by zero", problemOf(text)) << text;
  EXPECT_EQ(0, evaluate("mod(-9223372036854775807 - 1, -1)"));
}

TEST(Expression, HostileText) {
  for (const char *text :
       {"", " ", "(", ")", "s0 s1", "s0 +", "* 2", "s9", "floordiv", "floordiv(1)", "floordiv(1,2,3)", "log(1,2)",
        "1..2", "0x10", "99999999999999999999", "s0;", "min(1,2", "é", "s0\n+1"})
    refuse(text);
  refuse(std::string("1\0", 2));
  refuse(std::string(5000, '1'));
  refuse(std::string(2000, '(') + "1" + std::string(2000, ')'));
  refuse(std::string(3000, '-') + "1");
  std::string nested = "1";
  for (int i = 0; i < 100; ++i) nested = "min(1," + nested + ")";
  refuse(nested);
}

TEST(Expression, DeepestAllowedEvaluates) {
  std::string nested = "1";
  for (int i = 0; i < 60; ++i) nested = "1+2*min(3,1+2*(" + nested + "))";
  // 60 levels of two parentheses each are too deep, 30 are not.
  refuse(nested);
  nested = "1";
  int64_t expected = 1;
  for (int i = 0; i < 30; ++i) {
    nested = "1+2*max(0,mod(" + nested + ",1000))";
    expected = 1 + 2 * (expected % 1000);
  }
  EXPECT_EQ(expected, evaluate(nested));
  std::string chain = "0";
  for (int i = 0; i < 1000; ++i) chain += "+s0";
  EXPECT_EQ(7000, evaluate(chain));
}

TEST(Expression, TableKeepsEachTextOnce) {
  ExpressionTable table(symbols);
  ExprId a = table.add("s0*2"), b = table.add(4), c = table.add("s0*2");
  EXPECT_EQ(a, c);
  EXPECT_NE(a, b);
  EXPECT_EQ("s0*2", table.text(a));
  EXPECT_EQ(std::vector<SymbolId>{0}, table[a].uses());
}

} // namespace
