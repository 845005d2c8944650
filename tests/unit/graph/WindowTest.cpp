// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/graph/GraphTest.h"

using namespace stator;
using namespace stator::graph;

namespace {

class WindowTest : public GraphTest {
protected:
  static std::string typeOf(llvm::ArrayRef<int64_t> shape, const std::string &element = "f32") {
    std::string text = "tensor<";
    for (int64_t size : shape) text += std::to_string(size) + "x";
    return text + element + ">";
  }
  HostTensor convolve(const HostTensor &x, const HostTensor &w, const std::string &attributes,
                      llvm::ArrayRef<int64_t> result, const std::string &element = "f32") {
    std::string xType = typeOf(x.shape, element), wType = typeOf(w.shape, element);
    return runOp("%x: " + xType + ", %w: " + wType,
                 "graph.convolution %x, %w " + attributes + " : " + xType + ", " + wType, typeOf(result, element),
                 {x, w});
  }
  HostTensor pool(const std::string &op, const HostTensor &x, llvm::ArrayRef<int64_t> result) {
    return runOp("%x: " + typeOf(x.shape), op + " : " + typeOf(x.shape), typeOf(result), {x});
  }
  std::vector<HostTensor> maxPool(const HostTensor &x, const std::string &attributes, llvm::ArrayRef<int64_t> result) {
    std::string type = typeOf(result), positions = typeOf(result, "i64");
    return run("func.func @f(%x: " + typeOf(x.shape) + ") -> (" + type + ", " + positions +
                   ") { %v, %i = graph.max_pool %x " + attributes + " : " + typeOf(x.shape) +
                   " return %v, %i : " + type + ", " + positions + " }",
               {x});
  }
  void expectNear(const HostTensor &got, const std::vector<double> &wanted, double tolerance) {
    ASSERT_EQ(got.size(), int64_t(wanted.size()));
    for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(got.getDouble(i), wanted[i], tolerance) << "element " << i;
  }
};

TEST_F(WindowTest, ConvolutionAlongALine) {
  HostTensor x = f32({1, 1, 4}, {1, 2, 3, 4}), w = f32({1, 1, 3}, {1, 0, -1});
  // y[i] = x[i - 1] - x[i + 1] with zeros outside.
  EXPECT_EQ(numbers(convolve(x, w, "strides = [1] low = [1] high = [1] dilations = [1] groups = 1 output_padding = [0]",
                             {1, 1, 4})),
            (std::vector<double>{-2, -2, -2, 3}));
  EXPECT_EQ(numbers(convolve(x, w, "strides = [2] low = [1] high = [0] dilations = [1] groups = 1 output_padding = [0]",
                             {1, 1, 2})),
            (std::vector<double>{-2, -2}));
  // Dilation 2: y[0] = x[-1] - x[3], y[1] = x[0] - x[4].
  EXPECT_EQ(numbers(convolve(x, w, "strides = [1] low = [1] high = [1] dilations = [2] groups = 1 output_padding = [0]",
                             {1, 1, 2})),
            (std::vector<double>{-4, 1}));
  // Negative padding cuts off: only x[1..3] are seen.
  EXPECT_EQ(
      numbers(convolve(x, w, "strides = [1] low = [-1] high = [0] dilations = [1] groups = 1 output_padding = [0]",
                       {1, 1, 1})),
      (std::vector<double>{-2}));
}

TEST_F(WindowTest, ConvolutionOfAPlaneWithGroups) {
  // Two channels, two groups: each output sees one channel.
  HostTensor x = f32({1, 2, 2, 2}, {1, 2, 3, 4, 10, 20, 30, 40}), w = f32({2, 1, 2, 2}, {1, 1, 1, 1, 1, 0, 0, -1});
  EXPECT_EQ(
      numbers(convolve(
          x, w, "strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 2 output_padding = [0, 0]",
          {1, 2, 1, 1})),
      (std::vector<double>{10, -30}));
  // One group: channels are summed.
  HostTensor all = f32({1, 2, 2, 2}, {1, 1, 1, 1, 1, 0, 0, -1});
  EXPECT_EQ(
      numbers(convolve(
          x, all, "strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 1 output_padding = [0, 0]",
          {1, 1, 1, 1})),
      (std::vector<double>{-20}));
}

TEST_F(WindowTest, TransposedConvolutionSpreads) {
  HostTensor x = f32({1, 1, 2}, {1, 2}), w = f32({1, 1, 3}, {1, 10, 100});
  EXPECT_EQ(numbers(convolve(
                x, w, "strides = [2] low = [0] high = [0] dilations = [1] groups = 1 transposed output_padding = [0]",
                {1, 1, 5})),
            (std::vector<double>{1, 10, 102, 20, 200}));
  EXPECT_EQ(numbers(convolve(
                x, w, "strides = [2] low = [1] high = [1] dilations = [1] groups = 1 transposed output_padding = [1]",
                {1, 1, 4})),
            (std::vector<double>{10, 102, 20, 200}));
  EXPECT_EQ(numbers(convolve(
                x, w, "strides = [1] low = [0] high = [0] dilations = [2] groups = 1 transposed output_padding = [0]",
                {1, 1, 6})),
            (std::vector<double>{1, 2, 10, 20, 100, 200}));
  // Two groups of one input and two outputs each: weight is [inputs, outputs per group, kernel].
  EXPECT_EQ(
      numbers(convolve(f32({1, 2, 1}, {3, 5}), f32({2, 2, 1}, {1, 2, 10, 20}),
                       "strides = [1] low = [0] high = [0] dilations = [1] groups = 2 transposed output_padding = [0]",
                       {1, 4, 1})),
      (std::vector<double>{3, 6, 50, 100}));
}

// A transposed convolution is the adjoint: <convolve(x), y> = <x, transposed(y)>, exactly so in integers.
TEST_F(WindowTest, TransposedConvolutionIsTheAdjoint) {
  auto noise = [&](llvm::ArrayRef<int64_t> shape, uint32_t seed) {
    HostTensor tensor(type("i64"), shape);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      tensor.setInt(i, int64_t(seed >> 24) - 128);
    }
    return tensor;
  };
  HostTensor x = noise({2, 4, 7, 9}, 1), w = noise({6, 2, 3, 2}, 2);
  // 7 + 2 - (2 * 2 + 1) = 4, / 2 = 2 rest 0, + 1 = 3; 9 + 1 - (3 + 1) = 6, / 4 = 1 rest 2, + 1 = 2.
  HostTensor forward = convolve(
      x, w, "strides = [2, 4] low = [1, 0] high = [1, 1] dilations = [2, 3] groups = 2 output_padding = [0, 0]",
      {2, 6, 3, 2}, "i64");
  HostTensor y = noise({2, 6, 3, 2}, 3);
  HostTensor back = convolve(
      y, w,
      "strides = [2, 4] low = [1, 0] high = [1, 1] dilations = [2, 3] groups = 2 transposed output_padding = [0, 2]",
      {2, 4, 7, 9}, "i64");
  int64_t left = 0, right = 0;
  for (int64_t i = 0; i < y.size(); ++i) left += forward.getInt(i) * y.getInt(i);
  for (int64_t i = 0; i < x.size(); ++i) right += back.getInt(i) * x.getInt(i);
  EXPECT_EQ(left, right);
  EXPECT_NE(left, 0);
}

TEST_F(WindowTest, ConvolutionInThreeDimensionsAndWithoutBatch) {
  HostTensor x = f32({1, 1, 2, 2, 2}, counting(8)), w = f32({1, 1, 2, 2, 2}, std::vector<double>(8, 1));
  std::string attributes = "strides = [1, 1, 1] low = [0, 0, 0] high = [0, 0, 0] dilations = [1, 1, 1] groups = 1 "
                           "output_padding = [0, 0, 0]";
  EXPECT_EQ(numbers(convolve(x, w, attributes, {1, 1, 1, 1, 1})), (std::vector<double>{28}));
  EXPECT_EQ(convolve(f32({0, 1, 2, 2, 2}, {}), w, attributes, {0, 1, 1, 1, 1}).size(), 0);
}

TEST_F(WindowTest, AveragePoolDivisors) {
  HostTensor x = f32({1, 1, 6, 6}, counting(36));
  std::string attributes = "graph.avg_pool %x kernel = [3, 3] strides = [2, 2] padding = [1, 1] ceil_mode ";
  expectNear(pool(attributes, x, {1, 1, 4, 4}),
             {1.5556, 3.3333, 4.6667, 2.6667, 8.3333, 14, 16, 8.5, 16.3333, 26, 28, 14.5, 10.1667, 16, 17, 8.75}, 5e-5);
  expectNear(pool(attributes + "exclude_padding", x, {1, 1, 4, 4}),
             {3.5, 5, 7, 8, 12.5, 14, 16, 17, 24.5, 26, 28, 29, 30.5, 32, 34, 35}, 0);
  // The first window holds 0, 1, 6, 7.
  EXPECT_EQ(pool(attributes + "divisor = 2", x, {1, 1, 4, 4}).getDouble(0), 7);
  EXPECT_EQ(pool(attributes + "divisor = -2", x, {1, 1, 4, 4}).getDouble(0), -7);
}

TEST_F(WindowTest, MaximumPoolAndPositions) {
  HostTensor x = f32({1, 1, 3, 3}, {1, 2, 3, 4, 9, 6, 7, 8, 9});
  auto results = maxPool(x, "kernel = [2, 2] strides = [1, 1] padding = [0, 0] dilations = [1, 1]", {1, 1, 2, 2});
  ASSERT_EQ(results.size(), 2u);
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{9, 9, 9, 9}));
  EXPECT_EQ(numbers(results[1]), (std::vector<double>{4, 4, 4, 4})); // the first of the two nines
  // Padding is below everything, even -inf and -0.
  results =
      maxPool(f32({1, 1, 3}, {-inf, -0.0, -5}), "kernel = [2] strides = [2] padding = [1] dilations = [1]", {1, 1, 2});
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{-inf, -0.0}));
  EXPECT_TRUE(std::signbit(results[0].getDouble(1)));
  EXPECT_EQ(numbers(results[1]), (std::vector<double>{0, 1}));
  // Dilation: elements 0, 2 and 1, 3.
  results =
      maxPool(f32({1, 1, 4}, {1, 9, 5, 2}), "kernel = [2] strides = [1] padding = [0] dilations = [2]", {1, 1, 2});
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{5, 9}));
  EXPECT_EQ(numbers(results[1]), (std::vector<double>{2, 1}));
  // NaN wins, the last of several.
  results = maxPool(f32({1, 1, 4}, {1, quietNaN, 2, quietNaN}),
                    "kernel = [4] strides = [1] padding = [0] dilations = [1]", {1, 1, 1});
  EXPECT_TRUE(std::isnan(results[0].getDouble(0)));
  EXPECT_EQ(results[1].getInt(0), 3);
  // ceil_mode adds the window {4}; without it there are two.
  results = maxPool(f32({1, 1, 5}, {0, 1, 2, 3, 4}),
                    "kernel = [2] strides = [2] padding = [0] dilations = [1] ceil_mode", {1, 1, 3});
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{1, 3, 4}));
  // A huge kernel costs what the input costs.
  results = maxPool(f32({1, 1, 2}, {3, 4}),
                    "kernel = [2147483647] strides = [2147483647] padding = [1073741823] dilations = [1]", {1, 1, 1});
  EXPECT_EQ(numbers(results[0]), (std::vector<double>{4}));
}

TEST_F(WindowTest, AdaptiveAveragePoolWindowsOverlap) {
  // [0, 2), [1, 4), [3, 5) of 1..5.
  EXPECT_EQ(
      numbers(runOp("%x: tensor<1x1x5xf32>", "graph.adaptive_avg_pool %x : tensor<1x1x5xf32> to tensor<1x1x3xf32>",
                    "tensor<1x1x3xf32>", {f32({1, 1, 5}, {1, 2, 3, 4, 5})})),
      (std::vector<double>{1.5, 3, 4.5}));
  EXPECT_EQ(numbers(runOp("%x: tensor<1x1x2x2xf32>",
                          "graph.adaptive_avg_pool %x : tensor<1x1x2x2xf32> to tensor<1x1x1x4xf32>",
                          "tensor<1x1x1x4xf32>", {f32({1, 1, 2, 2}, {1, 2, 3, 4})})),
            (std::vector<double>{2, 2, 3, 3}));
}

TEST_F(WindowTest, SymbolicSizesFollowTheRule) {
  EXPECT_TRUE(parse(R"(func.func @f(%x: tensor<?x3x?x8xf32, #graph.shape<s0, 3, s1, 8>>, %w: tensor<4x3x3x3xf32>)
      -> (tensor<?x4x?x4xf32, #graph.shape<s0, 4, floordiv(s1 + -1, 2) + 1, 4>>, tensor<?x3x?x4xf32, #graph.shape<s0, 3, min(floordiv(s1 + -2, 2) + 1, floordiv(s1 + -1, 2) + 1), 4>>) {
    %c = graph.convolution %x, %w strides = [2, 2] low = [1, 1] high = [1, 1] dilations = [1, 1] groups = 1 output_padding = [0, 0]
      : tensor<?x3x?x8xf32, #graph.shape<s0, 3, s1, 8>>, tensor<4x3x3x3xf32>
    %p = graph.avg_pool %x kernel = [3, 2] strides = [2, 2] padding = [0, 0] ceil_mode : tensor<?x3x?x8xf32, #graph.shape<s0, 3, s1, 8>>
    return %c, %p : tensor<?x4x?x4xf32, #graph.shape<s0, 4, floordiv(s1 + -1, 2) + 1, 4>>, tensor<?x3x?x4xf32, #graph.shape<s0, 3, min(floordiv(s1 + -2, 2) + 1, floordiv(s1 + -1, 2) + 1), 4>>
  })"));
}

TEST_F(WindowTest, HostileConvolutionAttributesAreRefused) {
  auto error = [&](const std::string &attributes, const std::string &x = "tensor<1x4x5x5xf32>",
                   const std::string &w = "tensor<6x2x3x3xf32>") {
    return parseError("func.func @f(%x: " + x + ", %w: " + w + ") { %r = graph.convolution %x, %w " + attributes +
                      " : " + x + ", " + w + " return }");
  };
  struct Row {
    std::string attributes, message;
  } rows[] = {
      {"strides = [0, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 2 output_padding = [0, 0]",
       "numbers from 1 to 2147483647 in 'strides', not 0"},
      {"strides = [-9223372036854775808, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 2 output_padding = "
       "[0, 0]",
       "in 'strides'"},
      {"strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [0, 1] groups = 2 output_padding = [0, 0]",
       "in 'dilations', not 0"},
      {"strides = [1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 2 output_padding = [0, 0]",
       "in 'strides': it has 1 for 2"},
      {"strides = [1, 1] low = [0, 0, 0] high = [0, 0] dilations = [1, 1] groups = 2 output_padding = [0, 0]",
       "in 'low': it has 3 for 2"},
      {"strides = [1, 1] low = [0, 0] high = [] dilations = [1, 1] groups = 2 output_padding = [0, 0]",
       "in 'high': it has 0 for 2"},
      {"strides = [1, 1] low = [0, 0] high = [9223372036854775807, 0] dilations = [1, 1] groups = 2 output_padding = "
       "[0, 0]",
       "in 'high'"},
      {"strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 0 output_padding = [0, 0]",
       "number of groups from 1"},
      {"strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = -2 output_padding = [0, 0]",
       "number of groups from 1"},
      {"strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 1 output_padding = [0, 0]",
       "4 channels in x, but weight with 1 groups takes 2"},
      {"strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [3, 1] groups = 2 output_padding = [0, 0]",
       "window of 7 elements in spatial dimension 0, larger than the padded input of 5"},
      {"strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 2 output_padding = [1, 0]",
       "output padding"},
      {"strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 2 transposed output_padding = [-1, 0]",
       "in 'output_padding', not -1"},
  };
  for (const Row &row : rows) {
    std::string message = error(row.attributes);
    EXPECT_NE(message.find(row.message), std::string::npos) << row.attributes << "\n" << message;
  }
  std::string good =
      "strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 2 output_padding = [0, 0]";
  EXPECT_NE(error(good, "tensor<1x4xf32>", "tensor<6x2xf32>").find("not rank 2"), std::string::npos);
  EXPECT_NE(error(good, "tensor<1x4x5x5xf32>", "tensor<6x2x3xf32>").find("one rank"), std::string::npos);
  EXPECT_NE(error(good, "tensor<1x4x5x5xf32>", "tensor<6x2x3x3xf16>").find("one element type"), std::string::npos);
  EXPECT_NE(
      error(good, "tensor<1x4x5x5xf32>", "tensor<5x2x3x3xf32>").find("cannot divide 5 output channels into 2 groups"),
      std::string::npos);
  EXPECT_NE(error(good, "tensor<1x4x5x5xf32>", "tensor<6x2x0x3xf32>").find("kernel of size 0"), std::string::npos);
  std::string transposed =
      "strides = [1, 1] low = [9, 9] high = [9, 9] dilations = [1, 1] groups = 2 transposed output_padding = [0, 0]";
  EXPECT_NE(error(transposed, "tensor<1x4x5x5xf32>", "tensor<4x2x3x3xf32>").find("cuts off more than there is"),
            std::string::npos);
}

TEST_F(WindowTest, HostilePoolAttributesAreRefused) {
  auto error = [&](const std::string &op, const std::string &x = "tensor<1x2x5xf32>") {
    return parseError("func.func @f(%x: " + x +
                      ") { %r:2 = \"builtin.unrealized_conversion_cast\"() : () -> (i1, i1) graph." + op + " : " + x +
                      " return }");
  };
  struct Row {
    std::string op, message;
  } rows[] = {
      {"max_pool %x kernel = [0] strides = [1] padding = [0] dilations = [1]", "in 'kernel', not 0"},
      {"max_pool %x kernel = [2] strides = [0] padding = [0] dilations = [1]", "in 'strides', not 0"},
      {"max_pool %x kernel = [2] strides = [1] padding = [-1] dilations = [1]", "in 'padding', not -1"},
      {"max_pool %x kernel = [2] strides = [1] padding = [0] dilations = [0]", "in 'dilations', not 0"},
      {"max_pool %x kernel = [2, 2] strides = [1] padding = [0] dilations = [1]", "in 'kernel': it has 2 for 1"},
      {"max_pool %x kernel = [2] strides = [1] padding = [2] dilations = [1]", "more than half of its window of 2"},
      {"max_pool %x kernel = [6] strides = [1] padding = [0] dilations = [1]", "larger than the padded input of 5"},
      {"avg_pool %x kernel = [2] strides = [] padding = [0]", "in 'strides': it has 0 for 1"},
      {"avg_pool %x kernel = [2] strides = [1] padding = [0] divisor = 0", "has divisor 0"},
  };
  for (const Row &row : rows) {
    std::string message = error(row.op);
    EXPECT_NE(message.find(row.message), std::string::npos) << row.op << "\n" << message;
  }
  EXPECT_NE(error("avg_pool %x kernel = [2] strides = [1] padding = [0]", "tensor<1x2x5xi32>").find("floating-point"),
            std::string::npos);
  EXPECT_NE(error("avg_pool %x kernel = [2] strides = [1] padding = [0]", "tensor<2x5xf32>").find("not rank 2"),
            std::string::npos);
  EXPECT_NE(parseError("func.func @f(%x: tensor<1x2x5xf32>) { %r = graph.adaptive_avg_pool %x : tensor<1x2x5xf32> to "
                       "tensor<1x3x2xf32> return }")
                .find("changes dimension 1 from 2 to 3"),
            std::string::npos);
  EXPECT_NE(parseError("func.func @f(%x: tensor<1x2x0xf32>) { %r = graph.adaptive_avg_pool %x : tensor<1x2x0xf32> to "
                       "tensor<1x2x2xf32> return }")
                .find("makes 2 elements in spatial dimension 0 from none"),
            std::string::npos);
}

} // namespace
