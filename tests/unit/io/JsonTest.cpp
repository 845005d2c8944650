// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Json.h"
#include <gtest/gtest.h>

using namespace stator::io;

namespace {

void expectError(const std::string &text, const std::string &part) {
  auto result = parseJson(text, "document");
  ASSERT_FALSE(result) << "accepted " << text.substr(0, 40);
  EXPECT_NE(result.error().find(part), std::string::npos) << result.error();
}

TEST(Json, Depth) {
  auto nested = [](size_t n) { return std::string(n, '[') + std::string(n, ']'); };
  EXPECT_TRUE(parseJson(nested(128), "document"));
  expectError(nested(129), "deeper");
  expectError(std::string(1'000'000, '['), "deeper");
  std::string objects;
  for (int i = 0; i < 1000; ++i) objects += "{\"a\":";
  expectError(objects, "deeper");
}

TEST(Json, IntegersStayIntegers) {
  auto result = parseJson("[9007199254740993, -9223372036854775808, 18446744073709551615, -0, 1.0]", "document");
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ((*result)[0].get<int64_t>(), 9007199254740993);
  EXPECT_EQ((*result)[1].get<int64_t>(), INT64_MIN);
  EXPECT_EQ((*result)[2].get<uint64_t>(), UINT64_MAX);
  EXPECT_TRUE((*result)[3].is_number_integer());
  EXPECT_TRUE((*result)[4].is_number_float());
  expectError("18446744073709551616", "64 bits");
  expectError("-9223372036854775809", "64 bits");
}

TEST(Json, RefusesWhatIsNotJson) {
  expectError("1e400", "");
  expectError("NaN", "");
  expectError("Infinity", "");
  expectError("01", "");
  expectError("\"\\ud800\"", "");
  expectError("\"\xff\"", "");
  expectError("[1] 2", "");
  expectError("[1,]", "");
  expectError("", "");
}

TEST(Json, DuplicateKeysInEveryObject) {
  expectError(R"({"a":1,"a":2})", "twice");
  expectError(R"([{"x":{"b":1,"c":2,"b":3}}])", "twice");
  EXPECT_TRUE(parseJson(R"([{"a":1},{"a":1}])", "document"));
}

TEST(Json, CountLimit) {
  EXPECT_TRUE(parseJson("[1,2,3]", "document", {8, 4}));
  EXPECT_FALSE(parseJson("[1,2,3,4]", "document", {8, 4}));
}

TEST(Json, SaysWhy) {
  expectError("99999999999999999999", "the integer 99999999999999999999 does not fit 64 bits");
  expectError(R"({"a":1,"a":2})", "document is not acceptable JSON: line 1: the key \"a\" stands twice in one object");
}

} // namespace
