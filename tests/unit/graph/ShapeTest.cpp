// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values of the shape family, derived by hand. OpTest compares emission with each of them.
#include "tests/unit/graph/OpTest.h"
#include <cmath>

using namespace stator;
using namespace stator::test;

namespace {

struct ShapeTest : OpTest {
  HostTensor counting(llvm::ArrayRef<int64_t> shape) {
    int64_t count = 1;
    for (int64_t size : shape) count *= size;
    std::vector<double> values(count);
    for (int64_t i = 0; i < count; ++i) values[i] = double(i);
    return tensor("f32", shape, values);
  }
};

TEST_F(ShapeTest, ConstantLiterals) {
  auto r = run(R"(func.func @f() -> (tensor<2x2xi1>, tensor<3xbf16>, tensor<f64>, tensor<2xui8>, tensor<0x3xf32>) {
    %0 = graph.constant dense<[[true, false], [false, true]]> : tensor<2x2xi1>
    %1 = graph.constant dense<1.5> : tensor<3xbf16>
    %2 = graph.constant dense<0.1> : tensor<f64>
    %3 = graph.constant dense<[255, 7]> : tensor<2xui8>
    %4 = graph.constant dense<> : tensor<0x3xf32>
    return %0, %1, %2, %3, %4 : tensor<2x2xi1>, tensor<3xbf16>, tensor<f64>, tensor<2xui8>, tensor<0x3xf32> })", {});
  ASSERT_EQ(r.size(), 5u);
  expectTensor(r[0], {2, 2}, {1, 0, 0, 1});
  expectTensor(r[1], {3}, {1.5, 1.5, 1.5});
  expectTensor(r[2], {}, {0.1});
  expectTensor(r[3], {2}, {255, 7});
  expectTensor(r[4], {0, 3}, {});
}

TEST_F(ShapeTest, WeightsAreViewedAndTheirSizeIsChecked) {
  auto r = run(R"(func.func @f() -> tensor<2xf32> {
      %0 = graph.constant dense_resource<w> : tensor<2xf32> {name = "layer.weight"}
      return %0 : tensor<2xf32> }
    {-# dialect_resources: { builtin: { w: "0x040000000000803F000000C0" } } #-})", {});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {2}, {1, -2});
  EXPECT_NE(errorOf(R"(func.func @f() -> tensor<3xf32> {
      %0 = graph.constant dense_resource<v> : tensor<3xf32>
      return %0 : tensor<3xf32> }
    {-# dialect_resources: { builtin: { v: "0x040000000000803F000000C0" } } #-})").find("has 8"), std::string::npos);
}

TEST_F(ShapeTest, Iota) {
  auto r = run(R"(func.func @f() -> (tensor<2x3xi64>, tensor<3xf32>, tensor<4xi8>, tensor<3xf16>, tensor<0xf32>) {
    %0 = graph.iota dim = 1 start = 5.0 step = -2.0 : tensor<2x3xi64>
    %1 = graph.iota dim = 0 start = 0.1 step = 0.25 : tensor<3xf32>
    %2 = graph.iota dim = 0 start = 126.0 step = 1.0 : tensor<4xi8>
    %3 = graph.iota dim = 0 start = 2047.0 step = 1.0 : tensor<3xf16>
    %4 = graph.iota dim = 0 start = 0.0 step = 1.0 : tensor<0xf32>
    return %0, %1, %2, %3, %4 : tensor<2x3xi64>, tensor<3xf32>, tensor<4xi8>, tensor<3xf16>, tensor<0xf32> })", {});
  ASSERT_EQ(r.size(), 5u);
  expectTensor(r[0], {2, 3}, {5, 3, 1, 5, 3, 1});
  expectTensor(r[1], {3}, {double(0.1f), double(0.35f), double(0.6f)});
  expectTensor(r[2], {4}, {126, 127, -128, -127});
  expectTensor(r[3], {3}, {2047, 2048, 2048}); // 2049 is between 2048 and 2050: half to even.
  expectTensor(r[4], {0}, {});
}

TEST_F(ShapeTest, SizeOfAnExpression) {
  auto r = run(R"(func.func @f() -> tensor<i64> {
    %0 = graph.size <floordiv(s0 + 7, 8) * 8> : tensor<i64>
    return %0 : tensor<i64> })", {}, {{"s0", 13}});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {}, {16});
}

TEST_F(ShapeTest, ReshapeSplitsMergesAndKeeps) {
  auto r = run(R"(func.func @f(%x: tensor<4x6x1x5xf32>) -> (tensor<4x2x3x5xf32>, tensor<24x5xf32>, tensor<8x15xf32>, tensor<1x120xf32>, tensor<2x1x2x6x5x1xf32>) {
    %0 = graph.reshape %x : tensor<4x6x1x5xf32> to tensor<4x2x3x5xf32>
    %1 = graph.reshape %x : tensor<4x6x1x5xf32> to tensor<24x5xf32>
    %2 = graph.reshape %x : tensor<4x6x1x5xf32> to tensor<8x15xf32>
    %3 = graph.reshape %x : tensor<4x6x1x5xf32> to tensor<1x120xf32>
    %4 = graph.reshape %x : tensor<4x6x1x5xf32> to tensor<2x1x2x6x5x1xf32>
    return %0, %1, %2, %3, %4 : tensor<4x2x3x5xf32>, tensor<24x5xf32>, tensor<8x15xf32>, tensor<1x120xf32>, tensor<2x1x2x6x5x1xf32> })",
               {counting({4, 6, 1, 5})});
  ASSERT_EQ(r.size(), 5u);
  for (const HostTensor &t : r)
    for (int64_t i = 0; i < 120; ++i) EXPECT_EQ(t.getDouble(i), double(i));
}

TEST_F(ShapeTest, ReshapeOfNoneAndOfOne) {
  auto r = run(R"(func.func @f(%x: tensor<0x3xf32>, %y: tensor<f32>) -> (tensor<5x0xf32>, tensor<1x1xf32>, tensor<f32>) {
    %0 = graph.reshape %x : tensor<0x3xf32> to tensor<5x0xf32>
    %1 = graph.reshape %y : tensor<f32> to tensor<1x1xf32>
    %2 = graph.reshape %1 : tensor<1x1xf32> to tensor<f32>
    return %0, %1, %2 : tensor<5x0xf32>, tensor<1x1xf32>, tensor<f32> })",
               {tensor("f32", {0, 3}, {}), tensor("f32", {}, {7})});
  ASSERT_EQ(r.size(), 3u);
  expectTensor(r[0], {5, 0}, {});
  expectTensor(r[1], {1, 1}, {7});
  expectTensor(r[2], {}, {7});
}

TEST_F(ShapeTest, ReshapeWithSymbols) {
  auto r = run(R"(func.func @f(%x: tensor<?x3x?xf32, #graph.shape<s0, 3, 2 * s1>>) -> tensor<?x?x2xf32, #graph.shape<3 * s0, s1, 2>> {
    %0 = graph.reshape %x : tensor<?x3x?xf32, #graph.shape<s0, 3, 2 * s1>> to tensor<?x?x2xf32, #graph.shape<3 * s0, s1, 2>>
    return %0 : tensor<?x?x2xf32, #graph.shape<3 * s0, s1, 2>> })", {counting({2, 3, 4})}, {{"s0", 2}, {"s1", 2}});
  ASSERT_EQ(r.size(), 1u);
  ASSERT_EQ(r[0].shape, (llvm::SmallVector<int64_t>{6, 2, 2}));
  for (int64_t i = 0; i < 24; ++i) EXPECT_EQ(r[0].getDouble(i), double(i));
}

TEST_F(ShapeTest, Broadcast) {
  auto r = run(R"(func.func @f(%x: tensor<2x1xf32>, %y: tensor<f32>) -> (tensor<2x2x3xf32>, tensor<2x0xf32>, tensor<2xf32>) {
    %0 = graph.broadcast %x : tensor<2x1xf32> to tensor<2x2x3xf32>
    %1 = graph.broadcast %x : tensor<2x1xf32> to tensor<2x0xf32>
    %2 = graph.broadcast %y : tensor<f32> to tensor<2xf32>
    return %0, %1, %2 : tensor<2x2x3xf32>, tensor<2x0xf32>, tensor<2xf32> })",
               {tensor("f32", {2, 1}, {1, 2}), tensor("f32", {}, {-0.0})});
  ASSERT_EQ(r.size(), 3u);
  expectTensor(r[0], {2, 2, 3}, {1, 1, 1, 2, 2, 2, 1, 1, 1, 2, 2, 2});
  expectTensor(r[1], {2, 0}, {});
  expectTensor(r[2], {2}, {-0.0, -0.0});
}

TEST_F(ShapeTest, Transpose) {
  auto r = run(R"(func.func @f(%x: tensor<2x3x2xf32>) -> tensor<2x2x3xf32> {
    %0 = graph.transpose %x [2, 0, 1] : tensor<2x3x2xf32>
    return %0 : tensor<2x2x3xf32> })", {counting({2, 3, 2})});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {2, 2, 3}, {0, 2, 4, 6, 8, 10, 1, 3, 5, 7, 9, 11});
}

TEST_F(ShapeTest, SliceWithStepsAndSymbols) {
  auto r = run(R"(func.func @f(%x: tensor<?x5xf32, #graph.shape<s0, 5>>) -> (tensor<?x2xf32, #graph.shape<s0 + -1, 2>>, tensor<0x5xf32>) {
    %0 = graph.slice %x starts <1, 0> steps [1, 3] : tensor<?x5xf32, #graph.shape<s0, 5>> to tensor<?x2xf32, #graph.shape<s0 + -1, 2>>
    %1 = graph.slice %x starts <s0, 0> steps [1, 1] : tensor<?x5xf32, #graph.shape<s0, 5>> to tensor<0x5xf32>
    return %0, %1 : tensor<?x2xf32, #graph.shape<s0 + -1, 2>>, tensor<0x5xf32> })", {counting({3, 5})}, {{"s0", 3}});
  ASSERT_EQ(r.size(), 2u);
  expectTensor(r[0], {2, 2}, {5, 8, 10, 13});
  expectTensor(r[1], {0, 5}, {});
}

TEST_F(ShapeTest, SliceThatLeavesItsOperandIsAnErrorAndItsEmissionStaysInside) {
  const char *text = R"(func.func @f(%x: tensor<?xf32, #graph.shape<s0>>) -> tensor<3xf32> {
    %0 = graph.slice %x starts <1> steps [2] : tensor<?xf32, #graph.shape<s0>> to tensor<3xf32>
    return %0 : tensor<3xf32> })";
  EXPECT_NE(errorOf(text, {counting({4})}, {{"s0", 4}}).find("not inside dimension 0 of size 4"), std::string::npos);
  auto r = run(text, {counting({6})}, {{"s0", 6}});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {3}, {1, 3, 5});
  std::string error;
  auto module = parse(text, error);
  mlir::Operation &slice = module->lookupSymbol<mlir::func::FuncOp>("f").getBody().front().front();
  HostTensor four = counting({4}), none = counting({0}), three = counting({3});
  EXPECT_EQ(emitted(&slice, 0, 2, {&four}, three, {{"s0", 4}}), 3.0); // Element 5, clamped.
  EXPECT_EQ(emitted(&slice, 0, 2, {&none}, three, {{"s0", 0}}), 0.0);
}

TEST_F(ShapeTest, UpdateSlice) {
  auto r = run(R"(func.func @f(%x: tensor<2x6xf32>, %u: tensor<1x2xf32>, %n: tensor<0x2xf32>) -> (tensor<2x6xf32>, tensor<2x6xf32>) {
    %0 = graph.update_slice %x, %u starts <1, 1> steps [1, 3] : tensor<2x6xf32>, tensor<1x2xf32>
    %1 = graph.update_slice %x, %n starts <2, 0> steps [1, 1] : tensor<2x6xf32>, tensor<0x2xf32>
    return %0, %1 : tensor<2x6xf32>, tensor<2x6xf32> })",
               {counting({2, 6}), tensor("f32", {1, 2}, {-1, -2}), tensor("f32", {0, 2}, {})});
  ASSERT_EQ(r.size(), 2u);
  expectTensor(r[0], {2, 6}, {0, 1, 2, 3, 4, 5, 6, -1, 8, 9, -2, 11});
  expectTensor(r[1], {2, 6}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
}

TEST_F(ShapeTest, Reverse) {
  auto r = run(R"(func.func @f(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
    %0 = graph.reverse %x dims = [1] : tensor<2x3xf32>
    %1 = graph.reverse %x dims = [0, 1] : tensor<2x3xf32>
    return %0, %1 : tensor<2x3xf32>, tensor<2x3xf32> })", {counting({2, 3})});
  ASSERT_EQ(r.size(), 2u);
  expectTensor(r[0], {2, 3}, {2, 1, 0, 5, 4, 3});
  expectTensor(r[1], {2, 3}, {5, 4, 3, 2, 1, 0});
}

TEST_F(ShapeTest, PadAddsAndCutsOff) {
  auto r = run(R"(func.func @f(%x: tensor<2x3xf32>, %v: tensor<f32>, %n: tensor<0xf32>) -> (tensor<3x4xf32>, tensor<3xf32>, tensor<2x2xf32>) {
    %0 = graph.pad %x, %v low <1, -1> high <0, 2> : tensor<2x3xf32>, tensor<f32>
    %1 = graph.pad %n, %v low <1> high <2> : tensor<0xf32>, tensor<f32>
    %2 = graph.pad %x, %v low <0, -4> high <0, 3> : tensor<2x3xf32>, tensor<f32>
    return %0, %1, %2 : tensor<3x4xf32>, tensor<3xf32>, tensor<2x2xf32> })",
               {counting({2, 3}), tensor("f32", {}, {9}), tensor("f32", {0}, {})});
  ASSERT_EQ(r.size(), 3u);
  expectTensor(r[0], {3, 4}, {9, 9, 9, 9, 1, 2, 9, 9, 4, 5, 9, 9});
  expectTensor(r[1], {3}, {9, 9, 9});
  expectTensor(r[2], {2, 2}, {9, 9, 9, 9});
}

TEST_F(ShapeTest, PadToAMultiple) {
  auto r = run(R"(func.func @f(%x: tensor<?xf32, #graph.shape<s0>>, %v: tensor<f32>) -> tensor<?xf32, #graph.shape<s0 + mod(-1 * s0, 4)>> {
    %0 = graph.pad %x, %v low <0> high <mod(-1 * s0, 4)> : tensor<?xf32, #graph.shape<s0>>, tensor<f32>
    return %0 : tensor<?xf32, #graph.shape<s0 + mod(-1 * s0, 4)>> })", {counting({5}), tensor("f32", {}, {-1})}, {{"s0", 5}});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {8}, {0, 1, 2, 3, 4, -1, -1, -1});
}

TEST_F(ShapeTest, Concat) {
  auto r = run(R"(func.func @f(%x: tensor<2x1xf32>, %y: tensor<2x0xf32>, %z: tensor<2x?xf32, #graph.shape<2, s0>>) -> tensor<2x?xf32, #graph.shape<2, s0 + 2>> {
    %0 = graph.concat %x, %y, %z, %x dim = 1 : tensor<2x1xf32>, tensor<2x0xf32>, tensor<2x?xf32, #graph.shape<2, s0>>, tensor<2x1xf32>
    return %0 : tensor<2x?xf32, #graph.shape<2, s0 + 2>> })",
               {tensor("f32", {2, 1}, {10, 20}), tensor("f32", {2, 0}, {}), counting({2, 2})}, {{"s0", 2}});
  ASSERT_EQ(r.size(), 1u);
  expectTensor(r[0], {2, 4}, {10, 0, 1, 10, 20, 2, 3, 20});
}

TEST_F(ShapeTest, StridedDiagonalAndWindows) {
  auto r = run(R"(func.func @f(%x: tensor<?xf32, #graph.shape<s0 * s0>>, %y: tensor<5xf32>) -> (tensor<?xf32, #graph.shape<s0>>, tensor<2x3xf32>, tensor<f32>) {
    %0 = graph.strided %x strides <s0 + 1> offset <0> : tensor<?xf32, #graph.shape<s0 * s0>> to tensor<?xf32, #graph.shape<s0>>
    %1 = graph.strided %y strides <2, 1> offset <0> : tensor<5xf32> to tensor<2x3xf32>
    %2 = graph.strided %y strides <> offset <4> : tensor<5xf32> to tensor<f32>
    return %0, %1, %2 : tensor<?xf32, #graph.shape<s0>>, tensor<2x3xf32>, tensor<f32> })", {counting({9}), counting({5})}, {{"s0", 3}});
  ASSERT_EQ(r.size(), 3u);
  expectTensor(r[0], {3}, {0, 4, 8});
  expectTensor(r[1], {2, 3}, {0, 1, 2, 2, 3, 4});
  expectTensor(r[2], {}, {4});
}

TEST_F(ShapeTest, FoldersKeepTheType) {
  std::string text = folded(R"(func.func @f(%x: tensor<2x3x4xf32>) -> (tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<2x1x1xf32>, tensor<2x2xi64>) {
    %0 = graph.transpose %x [2, 0, 1] : tensor<2x3x4xf32>
    %1 = graph.transpose %0 [1, 2, 0] : tensor<4x2x3xf32>
    %2 = graph.reshape %x : tensor<2x3x4xf32> to tensor<24xf32>
    %3 = graph.reshape %2 : tensor<24xf32> to tensor<4x6xf32>
    %4 = graph.slice %x starts <0, 1, 1> steps [1, 1, 1] : tensor<2x3x4xf32> to tensor<2x2x3xf32>
    %5 = graph.slice %4 starts <0, 1, 1> steps [1, 1, 2] : tensor<2x2x3xf32> to tensor<2x1x1xf32>
    %6 = graph.size <4> : tensor<i64>
    %7 = graph.broadcast %6 : tensor<i64> to tensor<2x2xi64>
    return %1, %3, %5, %7 : tensor<2x3x4xf32>, tensor<4x6xf32>, tensor<2x1x1xf32>, tensor<2x2xi64> })");
  EXPECT_EQ(text.find("graph.transpose"), std::string::npos) << text;
  EXPECT_EQ(text.find("tensor<24xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("graph.slice %arg0 starts <0, 2, 2> steps [1, 1, 2] : tensor<2x3x4xf32> to tensor<2x1x1xf32>"), std::string::npos) << text;
  EXPECT_NE(text.find("graph.constant dense<4> : tensor<2x2xi64>"), std::string::npos) << text;
}

TEST_F(ShapeTest, ScalarsBehindViews) {
  std::string error;
  auto module = parse(R"(func.func @f() -> (tensor<2x3xf16>, tensor<2xui8>, tensor<2xi32>) {
    %0 = graph.constant dense<-0.5> : tensor<f16>
    %1 = graph.broadcast %0 : tensor<f16> to tensor<2x3xf16>
    %2 = graph.constant dense<255> : tensor<2xui8>
    %3 = graph.constant dense<[1, 2]> : tensor<2xi32>
    return %1, %2, %3 : tensor<2x3xf16>, tensor<2xui8>, tensor<2xi32> })", error);
  ASSERT_TRUE(module) << error;
  auto returned = module->lookupSymbol<mlir::func::FuncOp>("f").getBody().front().getTerminator();
  EXPECT_EQ(graph::ConstantOp::splatDouble(returned->getOperand(0)), -0.5);
  EXPECT_EQ(graph::ConstantOp::splatInt(returned->getOperand(0)), std::nullopt);
  EXPECT_EQ(graph::ConstantOp::splatInt(returned->getOperand(1)), 255);
  EXPECT_EQ(graph::ConstantOp::splatDouble(returned->getOperand(2)), std::nullopt);
}

/// Overwriting every view of x with %u gives these sources.
TEST_F(ShapeTest, WritesThroughViewsReachTheSource) {
  auto written = [&](llvm::StringRef text, HostTensor x, HostTensor updates) {
    std::string error;
    auto module = parse(text, error);
    EXPECT_TRUE(module) << error;
    auto function = module->lookupSymbol<mlir::func::FuncOp>("f");
    mlir::Operation &view = function.getBody().front().front();
    mlir::OpBuilder b(&view);
    b.setInsertionPointAfter(&view);
    mlir::Value updated = llvm::cast<ViewOpInterface>(view).scatterBack(b, function.getArgument(0), function.getArgument(1));
    mlir::Operation *end = function.getBody().front().getTerminator();
    end->setOperands({updated});
    function.setFunctionType(b.getFunctionType(function.getArgumentTypes(), updated.getType()));
    EXPECT_EQ(updated.getType(), function.getArgument(0).getType());
    std::string printed;
    llvm::raw_string_ostream(printed) << *module;
    return run(printed, {x, updates})[0];
  };
  expectTensor(written(R"(func.func @f(%x: tensor<2x3xf32>, %u: tensor<3x2xf32>) -> tensor<3x2xf32> {
      %v = graph.transpose %x [1, 0] : tensor<2x3xf32>
      return %v : tensor<3x2xf32> })", counting({2, 3}), tensor("f32", {3, 2}, {10, 20, 30, 40, 50, 60})),
               {2, 3}, {10, 30, 50, 20, 40, 60});
  expectTensor(written(R"(func.func @f(%x: tensor<5xf32>, %u: tensor<2xf32>) -> tensor<2xf32> {
      %v = graph.slice %x starts <1> steps [2] : tensor<5xf32> to tensor<2xf32>
      return %v : tensor<2xf32> })", counting({5}), tensor("f32", {2}, {-1, -3})), {5}, {0, -1, 2, -3, 4});
  expectTensor(written(R"(func.func @f(%x: tensor<9xf32>, %u: tensor<3xf32>) -> tensor<3xf32> {
      %v = graph.strided %x strides <4> offset <0> : tensor<9xf32> to tensor<3xf32>
      return %v : tensor<3xf32> })", counting({9}), tensor("f32", {3}, {-1, -2, -3})),
               {9}, {-1, 1, 2, 3, -2, 5, 6, 7, -3});
  expectTensor(written(R"(func.func @f(%x: tensor<2xf32>, %u: tensor<1x2x1xf32>) -> tensor<1x2x1xf32> {
      %v = graph.reshape %x : tensor<2xf32> to tensor<1x2x1xf32>
      return %v : tensor<1x2x1xf32> })", counting({2}), tensor("f32", {1, 2, 1}, {8, 9})), {2}, {8, 9});
  expectTensor(written(R"(func.func @f(%x: tensor<2x1xf32>, %u: tensor<3x2x1xf32>) -> tensor<3x2x1xf32> {
      %v = graph.broadcast %x : tensor<2x1xf32> to tensor<3x2x1xf32>
      return %v : tensor<3x2x1xf32> })", counting({2, 1}), tensor("f32", {3, 2, 1}, {8, 9, 0, 0, 0, 0})), {2, 1}, {8, 9});
}

} // namespace
