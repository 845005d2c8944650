// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/graph/GraphTest.h"

using namespace stator;
using namespace stator::graph;

namespace {

class ReduceTest : public GraphTest {
protected:
  /// One op over one operand.
  HostTensor reduce(const std::string &op, const HostTensor &x, const std::string &dims,
                    const std::string &resultType) {
    std::string sizes;
    for (int64_t size : x.shape) sizes += std::to_string(size) + "x";
    std::string element;
    llvm::raw_string_ostream(element) << x.elementType;
    std::string type = "tensor<" + sizes + element + ">";
    return runOp("%x: " + type, "graph." + op + " %x dims = " + dims + " : " + type, resultType, {x});
  }
};

TEST_F(ReduceTest, SumsAlongOneAndSeveralDimensions) {
  HostTensor x = f32({2, 3, 2}, counting(12));
  EXPECT_EQ(numbers(reduce("sum", x, "[1]", "tensor<2x2xf32>")), (std::vector<double>{6, 9, 24, 27}));
  EXPECT_EQ(numbers(reduce("sum", x, "[0, 2]", "tensor<3xf32>")), (std::vector<double>{14, 22, 30}));
  EXPECT_EQ(numbers(reduce("sum", x, "[0, 1, 2]", "tensor<f32>")), (std::vector<double>{66}));
  EXPECT_EQ(numbers(reduce("sum", x, "[]", "tensor<2x3x2xf32>")), counting(12));
  EXPECT_EQ(numbers(reduce("prod", f32({2, 3}, {1, 2, 3, 4, 5, 6}), "[1]", "tensor<2xf32>")),
            (std::vector<double>{6, 120}));
}

TEST_F(ReduceTest, IntegersWrap) {
  EXPECT_EQ(numbers(reduce("sum", tensor("i8", {2}, {100, 100}), "[0]", "tensor<i8>")), (std::vector<double>{-56}));
  EXPECT_EQ(numbers(reduce("prod", tensor("i8", {3}, {20, 20, 2}), "[0]", "tensor<i8>")),
            (std::vector<double>{32})); // 800 - 3 * 256
  EXPECT_EQ(numbers(reduce("sum", tensor("ui8", {2}, {200, 100}), "[0]", "tensor<ui8>")), (std::vector<double>{44}));
}

// Rounding at every addition would stop at 256 (bf16) and 2048 (f16), where adding 1 no longer changes the sum.
TEST_F(ReduceTest, SumsRoundOnce) {
  EXPECT_EQ(reduce("sum", tensor("bf16", {300}, std::vector<double>(300, 1)), "[0]", "tensor<bf16>").getDouble(0), 300);
  EXPECT_EQ(reduce("sum", tensor("f16", {3000}, std::vector<double>(3000, 1)), "[0]", "tensor<f16>").getDouble(0),
            3000);
  EXPECT_EQ(reduce("sum", f32({3}, {1e8, 1, -1e8}), "[0]", "tensor<f32>").getDouble(0), 1);
}

TEST_F(ReduceTest, NegativeZerosSurvive) {
  for (int64_t n : {1025, 8191, 8192, 8193}) {
    HostTensor x = f32({n}, std::vector<double>(n, -0.0));
    for (std::string op : {"reduce_max", "reduce_min"}) {
      double value = reduce(op, x, "[0]", "tensor<f32>").getDouble(0);
      EXPECT_TRUE(value == 0 && std::signbit(value)) << op << " of " << n;
    }
    EXPECT_EQ(reduce("argmax", x, "[0]", "tensor<i64>").getInt(0), 0);
    EXPECT_EQ(reduce("argmin", x, "[0]", "tensor<i64>").getInt(0), 0);
  }
  EXPECT_FALSE(std::signbit(reduce("reduce_max", f32({2}, {-0.0, 0.0}), "[0]", "tensor<f32>").getDouble(0)));
  EXPECT_TRUE(std::signbit(reduce("reduce_min", f32({2}, {0.0, -0.0}), "[0]", "tensor<f32>").getDouble(0)));
}

TEST_F(ReduceTest, FirstOfEqualElementsWins) {
  std::vector<double> rows{1, 5, 5, 7, 7, 2};
  EXPECT_EQ(numbers(reduce("argmax", f32({2, 3}, rows), "[1]", "tensor<2xi64>")), (std::vector<double>{1, 0}));
  EXPECT_EQ(numbers(reduce("argmax", tensor("i16", {2, 3}, rows), "[1]", "tensor<2xi64>")),
            (std::vector<double>{1, 0}));
  EXPECT_EQ(reduce("argmax", f32({2}, {0.0, -0.0}), "[0]", "tensor<i64>").getInt(0), 0);
  EXPECT_EQ(reduce("argmax", f32({2}, {-0.0, 0.0}), "[0]", "tensor<i64>").getInt(0), 0);
  for (int64_t n : {33, 1025}) {
    for (int64_t first : {int64_t(1), n / 2, n - 2}) {
      std::vector<double> row(n, 1);
      row[first] = row[n - 1] = 3;
      EXPECT_EQ(reduce("argmax", f32({n}, row), "[0]", "tensor<i64>").getInt(0), first);
    }
  }
}

TEST_F(ReduceTest, NothingLeaksIntoNarrowRows) {
  for (int64_t width = 1; width <= 33; ++width) {
    std::vector<double> row;
    for (int64_t i = 1; i <= width; ++i) row.push_back(double(-i));
    HostTensor x = f32({width}, row);
    EXPECT_EQ(reduce("reduce_max", x, "[0]", "tensor<f32>").getDouble(0), -1);
    EXPECT_EQ(reduce("reduce_min", x, "[0]", "tensor<f32>").getDouble(0), -width);
    EXPECT_EQ(reduce("sum", x, "[0]", "tensor<f32>").getDouble(0), -width * (width + 1) / 2);
    EXPECT_EQ(reduce("argmax", x, "[0]", "tensor<i64>").getInt(0), 0);
    EXPECT_EQ(reduce("argmin", x, "[0]", "tensor<i64>").getInt(0), width - 1);
  }
}

TEST_F(ReduceTest, NaNIsLargestAndSmallest) {
  HostTensor x = f32({4}, {1, quietNaN, 2, quietNaN});
  EXPECT_TRUE(std::isnan(reduce("reduce_max", x, "[0]", "tensor<f32>").getDouble(0)));
  EXPECT_TRUE(std::isnan(reduce("reduce_min", x, "[0]", "tensor<f32>").getDouble(0)));
  EXPECT_EQ(reduce("argmax", x, "[0]", "tensor<i64>").getInt(0), 1);
  EXPECT_EQ(reduce("argmin", x, "[0]", "tensor<i64>").getInt(0), 1);
  EXPECT_EQ(reduce("argmax", f32({3}, {inf, quietNaN, 2}), "[0]", "tensor<i64>").getInt(0), 1);
  EXPECT_EQ(reduce("argmax", f32({3}, {-inf, -inf, -inf}), "[0]", "tensor<i64>").getInt(0), 0);
}

TEST_F(ReduceTest, NoElementsGiveTheIdentity) {
  HostTensor x = f32({0, 2}, {});
  EXPECT_EQ(numbers(reduce("sum", x, "[0]", "tensor<2xf32>")), (std::vector<double>{0, 0}));
  EXPECT_EQ(numbers(reduce("prod", x, "[0]", "tensor<2xf32>")), (std::vector<double>{1, 1}));
  EXPECT_EQ(numbers(reduce("reduce_max", x, "[0]", "tensor<2xf32>")), (std::vector<double>{-inf, -inf}));
  EXPECT_EQ(numbers(reduce("reduce_min", x, "[0]", "tensor<2xf32>")), (std::vector<double>{inf, inf}));
  EXPECT_EQ(numbers(reduce("argmax", x, "[0]", "tensor<2xi64>")), (std::vector<double>{0, 0}));
  EXPECT_EQ(numbers(reduce("reduce_max", tensor("i16", {0}, {}), "[0]", "tensor<i16>")), (std::vector<double>{-32768}));
  EXPECT_EQ(numbers(reduce("reduce_min", tensor("ui8", {0}, {}), "[0]", "tensor<ui8>")), (std::vector<double>{255}));
  EXPECT_EQ(reduce("any", tensor("i1", {0}, {}), "[0]", "tensor<i1>").getInt(0), 0);
  EXPECT_EQ(reduce("all", tensor("i1", {0}, {}), "[0]", "tensor<i1>").getInt(0), 1);
  EXPECT_EQ(shape(reduce("sum", x, "[1]", "tensor<0xf32>")), (std::vector<int64_t>{0}));
}

TEST_F(ReduceTest, PositionIsRowMajorAmongTheReducedDimensions) {
  // x[1, j, 2] is the largest of plane j; among dimensions 0 and 2 (sizes 2 and 3) that is position 5.
  std::vector<double> values(12, 0);
  values[1 * 6 + 0 * 3 + 2] = values[1 * 6 + 1 * 3 + 2] = 9;
  EXPECT_EQ(numbers(reduce("argmax", f32({2, 2, 3}, values), "[0, 2]", "tensor<2xi64>")), (std::vector<double>{5, 5}));
}

TEST_F(ReduceTest, UnsignedAndBoolElements) {
  HostTensor big(type("ui64"), {2});
  big.setInt(0, 1);
  big.setInt(1, INT64_MIN); // 2^63
  EXPECT_EQ(reduce("reduce_max", big, "[0]", "tensor<ui64>").getInt(0), INT64_MIN);
  EXPECT_EQ(reduce("reduce_min", big, "[0]", "tensor<ui64>").getInt(0), 1);
  EXPECT_EQ(reduce("argmax", big, "[0]", "tensor<i64>").getInt(0), 1);
  HostTensor bits = tensor("i1", {2, 2}, {1, 0, 1, 1});
  EXPECT_EQ(numbers(reduce("any", bits, "[1]", "tensor<2xi1>")), (std::vector<double>{1, 1}));
  EXPECT_EQ(numbers(reduce("all", bits, "[1]", "tensor<2xi1>")), (std::vector<double>{0, 1}));
}

TEST_F(ReduceTest, HostileDimensionsAreRefused) {
  auto error = [&](const std::string &op) {
    return parseError("func.func @f(%x: tensor<2x3xf32>) { %r = graph." + op + " : tensor<2x3xf32> return }");
  };
  EXPECT_NE(error("sum %x dims = [2]").find("reduces dimension 2 of a tensor of rank 2"), std::string::npos);
  EXPECT_NE(error("sum %x dims = [-1]").find("reduces dimension -1"), std::string::npos);
  EXPECT_NE(error("sum %x dims = [9223372036854775807]").find("reduces dimension 9223372036854775807"),
            std::string::npos);
  EXPECT_NE(error("sum %x dims = [0, 0]").find("ascending dimensions: 0 stands after 0"), std::string::npos);
  EXPECT_NE(error("argmax %x dims = [1, 0]").find("ascending"), std::string::npos);
  EXPECT_NE(error("any %x dims = [1]").find("needs bool elements"), std::string::npos);
}

} // namespace
