// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the gather family, derived by hand. OpTest compares emission with each of them.
#include "tests/unit/graph/OpTest.h"
#include <cmath>

using namespace stator;
using namespace stator::test;

namespace {

using GatherTest = OpTest;
const double nan = std::nan("");

TEST_F(GatherTest, TakeReplacesADimension) {
  auto r = run(R"(func.func @f(%x: tensor<3x2xf32>, %i: tensor<2x2xi64>, %s: tensor<i32>, %n: tensor<0xi64>) -> (tensor<2x2x2xf32>, tensor<3xf32>, tensor<0x2xf32>) {
    %0 = graph.take %x, %i dim = 0 : tensor<3x2xf32>, tensor<2x2xi64>
    %1 = graph.take %x, %s dim = 1 : tensor<3x2xf32>, tensor<i32>
    %2 = graph.take %x, %n dim = 0 : tensor<3x2xf32>, tensor<0xi64>
    return %0, %1, %2 : tensor<2x2x2xf32>, tensor<3xf32>, tensor<0x2xf32> })",
               {tensor("f32", {3, 2}, {0, 1, 10, 11, 20, 21}), tensor("i64", {2, 2}, {2, 0, -1, -3}),
                tensor("i32", {}, {-1}), tensor("i64", {0}, {})});
  ASSERT_EQ(r.size(), 3u);
  expectTensor(r[0], {2, 2, 2}, {20, 21, 0, 1, 20, 21, 0, 1});
  expectTensor(r[1], {3}, {1, 11, 21});
  expectTensor(r[2], {0, 2}, {});
}

TEST_F(GatherTest, IndicesOutOfRangeAreErrorsAndEmissionClampsThem) {
  const char *text = R"(func.func @f(%x: tensor<?xf32, #graph.shape<s0>>, %i: tensor<1xi64>) -> tensor<1xf32> {
    %0 = graph.take %x, %i dim = 0 : tensor<?xf32, #graph.shape<s0>>, tensor<1xi64>
    return %0 : tensor<1xf32> })";
  HostTensor x = tensor("f32", {3}, {5, 6, 7}), none = tensor("f32", {0}, {}), one = tensor("f32", {1}, {0});
  std::string error;
  auto module = parse(text, error);
  ASSERT_TRUE(module) << error;
  mlir::Operation &take = module->lookupSymbol<mlir::func::FuncOp>("f").getBody().front().front();
  for (auto [index, clamped] : {std::pair<int64_t, double>{3, 7}, {-4, 5}, {INT64_MIN, 5}, {INT64_MAX, 7}}) {
    HostTensor i = tensor("i64", {1}, {0});
    i.setInt(0, index);
    EXPECT_NE(errorOf(text, {x, i}, {{"s0", 3}}).find("is outside [-3, 3), dimension 0"), std::string::npos) << index;
    EXPECT_EQ(emitted(&take, 0, 0, {&x, &i}, one, {{"s0", 3}}), clamped) << index;
    EXPECT_EQ(emitted(&take, 0, 0, {&none, &i}, one, {{"s0", 0}}), 0.0) << index;
  }
}

TEST_F(GatherTest, GatherAlongADimension) {
  auto r = run(R"(func.func @f(%x: tensor<2x3xf32>, %i: tensor<1x4xi32>) -> tensor<1x4xf32> {
    %0 = graph.gather %x, %i dim = 1 : tensor<2x3xf32>, tensor<1x4xi32>
    return %0 : tensor<1x4xf32> })",
               {tensor("f32", {2, 3}, {0, 1, 2, 3, 4, 5}), tensor("i32", {1, 4}, {2, 2, -3, 1})});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {1, 4}, {2, 2, 0, 1});
}

TEST_F(GatherTest, AdvancedIndexingOfMiddleDimensions) {
  // x[b, i[k], j[k], c] of a [2, 2, 3, 1] tensor.
  auto r = run(R"(func.func @f(%x: tensor<2x2x3x1xf32>, %i: tensor<2xi64>, %j: tensor<2xi32>) -> tensor<2x2x1xf32> {
    %0 = graph.index %x [%i, %j] dims = [1, 2] : tensor<2x2x3x1xf32> [tensor<2xi64>, tensor<2xi32>]
    return %0 : tensor<2x2x1xf32> })",
               {tensor("f32", {2, 2, 3, 1}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}), tensor("i64", {2}, {1, 0}),
                tensor("i32", {2}, {-1, 1})});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {2, 2, 1}, {5, 1, 11, 7});
}

TEST_F(GatherTest, ScatterModes) {
  auto scatter = [&](const char *mode, std::vector<double> x, std::vector<double> updates) {
    std::string text = "func.func @f(%x: tensor<3xf32>, %i: tensor<4xi64>, %u: tensor<4xf32>) -> tensor<3xf32> {\n"
                       "%0 = graph.scatter %x, %i, %u " + std::string(mode) +
                       " dim = 0 : tensor<3xf32>, tensor<4xi64>, tensor<4xf32>\nreturn %0 : tensor<3xf32> }";
    return run(text, {tensor("f32", {3}, x), tensor("i64", {4}, {0, 2, -1, 0}), tensor("f32", {4}, updates)})[0];
  };
  expectTensor(scatter("set", {1, 2, 3}, {10, 20, 30, 40}), {3}, {40, 2, 30});
  expectTensor(scatter("add", {1, 2, 3}, {10, 20, 30, 40}), {3}, {51, 2, 53});
  expectTensor(scatter("mul", {1, 2, 3}, {10, 20, 30, 40}), {3}, {400, 2, 1800});
  expectTensor(scatter("max", {15, 2, 3}, {10, nan, 30, 4}), {3}, {15, 2, nan});
  expectTensor(scatter("min", {0.0, 2, 3}, {-0.0, 20, 30, 40}), {3}, {-0.0, 2, 3});
}

TEST_F(GatherTest, ScatterAddsOneAfterTheOtherInTheElementType) {
  // Each sum is rounded to f16: 2048 + 1 + 1 stays 2048 (half to even), where 2048 + 2 would be 2050. i8 wraps.
  auto r = run(R"(func.func @f(%x: tensor<1xf16>, %i: tensor<2xi64>, %u: tensor<2xf16>, %y: tensor<1xi8>, %v: tensor<2xi8>) -> (tensor<1xf16>, tensor<1xi8>) {
    %0 = graph.scatter %x, %i, %u add dim = 0 : tensor<1xf16>, tensor<2xi64>, tensor<2xf16>
    %1 = graph.scatter %y, %i, %v add dim = 0 : tensor<1xi8>, tensor<2xi64>, tensor<2xi8>
    return %0, %1 : tensor<1xf16>, tensor<1xi8> })",
               {tensor("f16", {1}, {2048}), tensor("i64", {2}, {0, 0}), tensor("f16", {2}, {1, 1}),
                tensor("i8", {1}, {127}), tensor("i8", {2}, {1, 1})});
  ASSERT_EQ(r.size(), 2u);
  expectTensor(r[0], {1}, {2048});
  expectTensor(r[1], {1}, {-127});
}

TEST_F(GatherTest, IndexPut) {
  auto r = run(R"(func.func @f(%x: tensor<2x3xf32>, %i: tensor<2xi64>, %j: tensor<2xi64>, %u: tensor<2xf32>, %w: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = graph.index_put %x [%i, %j], %u add dims = [0, 1] : tensor<2x3xf32> [tensor<2xi64>, tensor<2xi64>], tensor<2xf32>
    %1 = graph.index_put %x [%i], %w set dims = [0] : tensor<2x3xf32> [tensor<2xi64>], tensor<2x3xf32>
    return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32> })",
               {tensor("f32", {2, 3}, {0, 1, 2, 3, 4, 5}), tensor("i64", {2}, {1, 1}), tensor("i64", {2}, {-1, 2}),
                tensor("f32", {2}, {10, 20}), tensor("f32", {2, 3}, {6, 6, 6, 7, 7, 7})});
  ASSERT_EQ(r.size(), 2u);
  expectTensor(r[0], {2, 3}, {0, 1, 2, 3, 4, 35});
  expectTensor(r[1], {2, 3}, {0, 1, 2, 7, 7, 7}); // The last update of a place stays.
}

} // namespace
