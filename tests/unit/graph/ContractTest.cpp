// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/graph/GraphTest.h"

using namespace stator;
using namespace stator::graph;

namespace {

class ContractTest : public GraphTest {
protected:
  HostTensor matmul(const std::string &lhs, const std::string &rhs, const std::string &flags, const std::string &result,
                    const HostTensor &a, const HostTensor &b) {
    return runOp("%a: " + lhs + ", %b: " + rhs, "graph.matmul %a, %b " + flags + " : " + lhs + ", " + rhs, result,
                 {a, b});
  }
  std::string error(const std::string &lhs, const std::string &rhs, const std::string &flags = "") {
    return parseError("func.func @f(%a: " + lhs + ", %b: " + rhs + ") { %r = graph.matmul %a, %b " + flags + " : " +
                      lhs + ", " + rhs + " return }");
  }
};

TEST_F(ContractTest, MultipliesWithEitherSideTransposed) {
  HostTensor a = f32({2, 3}, {1, 2, 3, 4, 5, 6}), b = f32({3, 2}, {7, 8, 9, 10, 11, 12});
  HostTensor aT = f32({3, 2}, {1, 4, 2, 5, 3, 6}), bT = f32({2, 3}, {7, 9, 11, 8, 10, 12});
  std::vector<double> product{58, 64, 139, 154};
  EXPECT_EQ(numbers(matmul("tensor<2x3xf32>", "tensor<3x2xf32>", "", "tensor<2x2xf32>", a, b)), product);
  EXPECT_EQ(numbers(matmul("tensor<3x2xf32>", "tensor<3x2xf32>", "transpose_lhs", "tensor<2x2xf32>", aT, b)), product);
  EXPECT_EQ(numbers(matmul("tensor<2x3xf32>", "tensor<2x3xf32>", "transpose_rhs", "tensor<2x2xf32>", a, bT)), product);
  EXPECT_EQ(
      numbers(matmul("tensor<3x2xf32>", "tensor<2x3xf32>", "transpose_lhs transpose_rhs", "tensor<2x2xf32>", aT, bT)),
      product);
}

TEST_F(ContractTest, BatchesAreIndependentAndMayShareTheRightSide) {
  HostTensor a = f32({2, 1, 2}, {1, 2, 3, 4}), b = f32({2, 2, 1}, {5, 6, 7, 8});
  EXPECT_EQ(numbers(matmul("tensor<2x1x2xf32>", "tensor<2x2x1xf32>", "", "tensor<2x1x1xf32>", a, b)),
            (std::vector<double>{17, 53}));
  EXPECT_EQ(numbers(matmul("tensor<2x1x2xf32>", "tensor<2x1xf32>", "", "tensor<2x1x1xf32>", a, f32({2, 1}, {5, 6}))),
            (std::vector<double>{17, 39}));
  EXPECT_EQ(numbers(matmul("tensor<2x1x2xf32>", "tensor<1x2xf32>", "transpose_rhs", "tensor<2x1x1xf32>", a,
                           f32({1, 2}, {5, 6}))),
            (std::vector<double>{17, 39}));
}

TEST_F(ContractTest, NothingToSumGivesZeros) {
  EXPECT_EQ(
      numbers(matmul("tensor<2x0xf32>", "tensor<0x2xf32>", "", "tensor<2x2xf32>", f32({2, 0}, {}), f32({0, 2}, {}))),
      std::vector<double>(4, 0));
  EXPECT_EQ(shape(matmul("tensor<0x3xf32>", "tensor<3x2xf32>", "", "tensor<0x2xf32>", f32({0, 3}, {}),
                         f32({3, 2}, counting(6)))),
            (std::vector<int64_t>{0, 2}));
}

TEST_F(ContractTest, IntegersWrapAndFloatsRoundOnce) {
  EXPECT_EQ(matmul("tensor<1x2xi8>", "tensor<2x1xi8>", "", "tensor<1x1xi8>", tensor("i8", {1, 2}, {100, 100}),
                   tensor("i8", {2, 1}, {3, 3}))
                .getInt(0),
            88); // 600 - 2 * 256
  EXPECT_EQ(matmul("tensor<1x3xf32>", "tensor<3x1xf32>", "", "tensor<1x1xf32>", f32({1, 3}, {1e8, 1, -1e8}),
                   f32({3, 1}, {1, 1, 1}))
                .getDouble(0),
            1);
  std::vector<double> ones(3000, 1);
  EXPECT_EQ(matmul("tensor<1x3000xf16>", "tensor<3000x1xf16>", "", "tensor<1x1xf16>", tensor("f16", {1, 3000}, ones),
                   tensor("f16", {3000, 1}, ones))
                .getDouble(0),
            3000);
}

// What is multiplied by zero still counts: 0 * NaN and 0 * inf are NaN.
TEST_F(ContractTest, ZeroTimesNaNIsNaN) {
  HostTensor result = matmul("tensor<1x2xf32>", "tensor<2x2xf32>", "", "tensor<1x2xf32>", f32({1, 2}, {0, 1}),
                             f32({2, 2}, {quietNaN, inf, 1, 1}));
  EXPECT_TRUE(std::isnan(result.getDouble(0)) && std::isnan(result.getDouble(1)));
}

TEST_F(ContractTest, SymbolicShapesAreInferredAndCompared) {
  EXPECT_TRUE(
      parse(R"(func.func @f(%a: tensor<?x4xf32, #graph.shape<s0, 4>>, %b: tensor<4x?xf32, #graph.shape<4, 2 * s1>>)
      -> tensor<?x?xf32, #graph.shape<s0, 2 * s1>> {
    %r = graph.matmul %a, %b : tensor<?x4xf32, #graph.shape<s0, 4>>, tensor<4x?xf32, #graph.shape<4, 2 * s1>>
    return %r : tensor<?x?xf32, #graph.shape<s0, 2 * s1>> })"));
  std::string message = error("tensor<4x?xf32, #graph.shape<4, s0>>", "tensor<?x4xf32, #graph.shape<s1, 4>>");
  EXPECT_NE(message.find("multiplies s0 columns of lhs with s1 rows of rhs"), std::string::npos) << message;
  EXPECT_NE(message.find("lhs is defined here"), std::string::npos) << message;
  EXPECT_NE(message.find("rhs is defined here"), std::string::npos) << message;
}

TEST_F(ContractTest, DisagreementsAreRefused) {
  EXPECT_NE(error("tensor<3xf32>", "tensor<3xf32>").find("rank"), std::string::npos);
  EXPECT_NE(error("tensor<2x3xf32>", "tensor<2x3x4xf32>").find("rank"), std::string::npos);
  EXPECT_NE(error("tensor<2x3xf32>", "tensor<4x2xf32>").find("multiplies 3 columns of lhs with 4 rows of rhs"),
            std::string::npos);
  EXPECT_NE(error("tensor<2x3xf32>", "tensor<3x2xf64>").find("lhs has 'f32', rhs 'f64'"), std::string::npos);
  EXPECT_NE(error("tensor<5x2x3xf32>", "tensor<6x3x2xf32>").find("batch dimension 0 is 5 in lhs but 6 in rhs"),
            std::string::npos);
  EXPECT_NE(error("tensor<2x3xi1>", "tensor<3x2xi1>").find("bool"), std::string::npos);
}

} // namespace
