// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the scan family, derived by hand.
#include "tests/unit/graph/OpTest.h"
#include "mlir/IR/PatternMatch.h"
#include <cmath>

using namespace stator;
using namespace stator::test;

namespace {

using ScanTest = OpTest;
const double nan = std::nan("");

TEST_F(ScanTest, CumulativeSumsAndProducts) {
  auto r = run(R"(func.func @f(%x: tensor<2x3xf32>, %y: tensor<3xi8>, %z: tensor<2x0xf32>, %w: tensor<2xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi8>, tensor<2x0xf32>, tensor<2xf32>, tensor<2x3xf32>) {
    %0 = graph.cumsum %x dim = 0 : tensor<2x3xf32>
    %1 = graph.cumsum %x dim = 1 : tensor<2x3xf32>
    %2 = graph.cumsum %y dim = 0 : tensor<3xi8>
    %3 = graph.cumsum %z dim = 1 : tensor<2x0xf32>
    %4 = graph.cumsum %w dim = 0 : tensor<2xf32>
    %5 = graph.cumprod %x dim = 1 : tensor<2x3xf32>
    return %0, %1, %2, %3, %4, %5 : tensor<2x3xf32>, tensor<2x3xf32>, tensor<3xi8>, tensor<2x0xf32>, tensor<2xf32>, tensor<2x3xf32> })",
               {tensor("f32", {2, 3}, {1, 2, 3, 4, 5, 6}), tensor("i8", {3}, {100, 27, 1}), tensor("f32", {2, 0}, {}),
                tensor("f32", {2}, {-0.0, -0.0})});
  ASSERT_EQ(r.size(), 6u);
  expectTensor(r[0], {2, 3}, {1, 2, 3, 5, 7, 9});
  expectTensor(r[1], {2, 3}, {1, 3, 6, 4, 9, 15});
  expectTensor(r[2], {3}, {100, 127, -128});
  expectTensor(r[3], {2, 0}, {});
  expectTensor(r[4], {2}, {0.0, 0.0}); // Sums begin at 0.
  expectTensor(r[5], {2, 3}, {1, 2, 6, 4, 20, 120});
}

TEST_F(ScanTest, CumulativeSumKeepsMoreThanItsElementTypeHolds) {
  // In f16 itself 2048 + 1 would stay 2048 for ever.
  auto r = run(R"(func.func @f(%x: tensor<5xf16>) -> tensor<5xf16> {
    %0 = graph.cumsum %x dim = 0 : tensor<5xf16>
    return %0 : tensor<5xf16> })", {tensor("f16", {5}, {2048, 1, 1, 1, 1})});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {5}, {2048, 2048, 2050, 2052, 2052}); // 2049 and 2051 go to even.
}

TEST_F(ScanTest, RunningExtremaTakeTheLatestAndKeepNan) {
  auto r = run(R"(func.func @f(%x: tensor<7xf32>) -> (tensor<7xf32>, tensor<7xi64>, tensor<7xf32>, tensor<7xi64>) {
    %v, %i = graph.cummax %x dim = 0 : tensor<7xf32>
    %w, %j = graph.cummin %x dim = 0 : tensor<7xf32>
    return %v, %i, %w, %j : tensor<7xf32>, tensor<7xi64>, tensor<7xf32>, tensor<7xi64> })",
               {tensor("f32", {7}, {1, 3, 3, 2, nan, 9, nan})});
  ASSERT_EQ(r.size(), 4u);
  expectTensor(r[0], {7}, {1, 3, 3, 3, nan, nan, nan});
  expectTensor(r[1], {7}, {0, 1, 2, 2, 4, 4, 6});
  expectTensor(r[2], {7}, {1, 1, 1, 1, nan, nan, nan});
  expectTensor(r[3], {7}, {0, 0, 0, 0, 4, 4, 6});
}

TEST_F(ScanTest, SortIsStableAndNanIsLargest) {
  auto r = run(R"(func.func @f(%x: tensor<6xf32>) -> (tensor<6xf32>, tensor<6xi64>, tensor<6xf32>, tensor<6xi64>) {
    %v, %i = graph.sort %x dim = 0 : tensor<6xf32>
    %w, %j = graph.sort %x dim = 0 {descending} : tensor<6xf32>
    return %v, %i, %w, %j : tensor<6xf32>, tensor<6xi64>, tensor<6xf32>, tensor<6xi64> })",
               {tensor("f32", {6}, {0.0, nan, -0.0, 5, HUGE_VAL, 5})});
  ASSERT_EQ(r.size(), 4u);
  expectTensor(r[0], {6}, {0.0, -0.0, 5, 5, HUGE_VAL, nan});
  expectTensor(r[1], {6}, {0, 2, 3, 5, 4, 1});
  expectTensor(r[2], {6}, {nan, HUGE_VAL, 5, 5, 0.0, -0.0});
  expectTensor(r[3], {6}, {1, 4, 3, 5, 0, 2});
}

TEST_F(ScanTest, SortOfUnsignedAndOfInnerDimensions) {
  auto r = run(R"(func.func @f(%x: tensor<2x2x2xui8>, %n: tensor<0x2xf32>) -> (tensor<2x2x2xui8>, tensor<2x2x2xi64>, tensor<0x2xf32>, tensor<0x2xi64>) {
    %v, %i = graph.sort %x dim = 1 : tensor<2x2x2xui8>
    %w, %j = graph.sort %n dim = 0 : tensor<0x2xf32>
    return %v, %i, %w, %j : tensor<2x2x2xui8>, tensor<2x2x2xi64>, tensor<0x2xf32>, tensor<0x2xi64> })",
               {tensor("ui8", {2, 2, 2}, {255, 1, 2, 200, 7, 7, 7, 6}), tensor("f32", {0, 2}, {})});
  ASSERT_EQ(r.size(), 4u);
  expectTensor(r[0], {2, 2, 2}, {2, 1, 255, 200, 7, 6, 7, 7});
  expectTensor(r[1], {2, 2, 2}, {1, 0, 0, 1, 0, 1, 1, 0});
  expectTensor(r[2], {0, 2}, {});
}

TEST_F(ScanTest, TopkTakesTiesByPosition) {
  auto r = run(R"(func.func @f(%x: tensor<2x4xf32>) -> (tensor<2x2xf32>, tensor<2x2xi64>, tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x0xf32>, tensor<2x0xi64>) {
    %v, %i = graph.topk %x k = 2 dim = 1 : tensor<2x4xf32>
    %w, %j = graph.topk %x k = 3 dim = 1 {smallest} : tensor<2x4xf32>
    %y, %k = graph.topk %x k = 0 dim = 1 : tensor<2x4xf32>
    return %v, %i, %w, %j, %y, %k : tensor<2x2xf32>, tensor<2x2xi64>, tensor<2x3xf32>, tensor<2x3xi64>, tensor<2x0xf32>, tensor<2x0xi64> })",
               {tensor("f32", {2, 4}, {1, 5, 5, 2, nan, 3, 3, -1})});
  ASSERT_EQ(r.size(), 6u);
  expectTensor(r[0], {2, 2}, {5, 5, nan, 3});
  expectTensor(r[1], {2, 2}, {1, 2, 0, 1});
  expectTensor(r[2], {2, 3}, {1, 2, 5, -1, 3, 3});
  expectTensor(r[3], {2, 3}, {0, 3, 1, 3, 1, 2});
}

TEST_F(ScanTest, ExtremaOfManyEqualElements) {
  // Row lengths at which kernels change their shape: negative zeros, ties, and all negative.
  for (int64_t n : {1, 31, 32, 33, 1025, 8193}) {
    std::string type = "tensor<" + std::to_string(n) + "xf32>", positions = "tensor<" + std::to_string(n) + "xi64>";
    auto r = run("func.func @f(%x: " + type + ") -> (tensor<1xf32>, tensor<1xi64>, " + type + ", " + positions + ") {\n"
                 "%v, %i = graph.topk %x k = 1 dim = 0 : " + type + "\n%w, %j = graph.cummax %x dim = 0 : " + type +
                 "\nreturn %v, %i, %w, %j : tensor<1xf32>, tensor<1xi64>, " + type + ", " + positions + " }",
                 {tensor("f32", {n}, std::vector<double>(n, -0.0))});
    ASSERT_EQ(r.size(), 4u);
    expectTensor(r[0], {1}, {-0.0});
    expectTensor(r[1], {1}, {0});
    EXPECT_EQ(r[3].getInt(n - 1), n - 1);
    EXPECT_TRUE(std::signbit(r[2].getDouble(n - 1)));
  }
}

const char *const nonzero = R"(func.func @f(%x: tensor<2x3xf32>) -> tensor<ROWSx2xi64> {
    %0 = graph.nonzero %x fill = -7 : tensor<2x3xf32> to tensor<ROWSx2xi64>
    return %0 : tensor<ROWSx2xi64> })";

TEST_F(ScanTest, NonzeroIsTheSameWholeAndDecomposed) {
  HostTensor x = tensor("f32", {2, 3}, {0, nan, -0.0, 4, 0, -1});
  std::vector<double> all = {0, 1, 1, 0, 1, 2, -7, -7};
  for (int64_t rows : {0, 1, 2, 3, 4}) {
    std::string text = nonzero;
    for (size_t at; (at = text.find("ROWS")) != std::string::npos;) text.replace(at, 4, std::to_string(rows));
    llvm::ArrayRef<double> expected = llvm::ArrayRef(all).take_front(rows * 2);
    expectTensor(run(text, {x})[0], {rows, 2}, expected);

    std::string error;
    auto module = parse(text, error);
    ASSERT_TRUE(module) << error;
    mlir::Operation &op = module->lookupSymbol<mlir::func::FuncOp>("f").getBody().front().front();
    mlir::OpBuilder b(&op);
    auto values = llvm::cast<DecomposableOpInterface>(op).decompose(b);
    ASSERT_EQ(values.size(), 1u);
    op.getResult(0).replaceAllUsesWith(values[0]);
    op.erase();
    std::string printed;
    llvm::raw_string_ostream(printed) << *module;
    expectTensor(run(printed, {x})[0], {rows, 2}, expected);
  }
}

TEST_F(ScanTest, NonzeroOfAScalarHasRowsOfNothing) {
  auto r = run(R"(func.func @f(%x: tensor<i1>) -> tensor<1x0xi64> {
    %0 = graph.nonzero %x fill = 0 : tensor<i1> to tensor<1x0xi64>
    return %0 : tensor<1x0xi64> })", {tensor("i1", {}, {1})});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {1, 0}, {});
}

} // namespace
