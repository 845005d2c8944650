// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What contractions, reductions and windows emit computes what the evaluator computes.
#include "tests/unit/graph/EmissionHarness.h"
#include "tests/unit/graph/GraphTest.h"

using namespace stator;
using namespace stator::graph;

namespace {

class EmissionTest : public GraphTest {
protected:
  /// Multiples of 1/4 in [-8, 8), or small integers.
  HostTensor noise(const std::string &elementType, llvm::ArrayRef<int64_t> shape, uint32_t seed) {
    HostTensor result(type(elementType), shape);
    for (int64_t i = 0; i < result.size(); ++i) {
      seed = seed * 1664525u + 1013904223u;
      int64_t value = int64_t(seed >> 26) - 32;
      if (result.isFloat())
        result.setDouble(i, double(value) / 4);
      else
        result.setInt(i, value);
    }
    return result;
  }

  static void expectSame(const HostTensor &got, const HostTensor &wanted, double tolerance, const std::string &text) {
    ASSERT_EQ(shape(got), shape(wanted)) << text;
    for (int64_t i = 0; i < got.size(); ++i) {
      if (!got.isFloat()) {
        EXPECT_EQ(got.getInt(i), wanted.getInt(i)) << text << ", element " << i;
        continue;
      }
      double a = got.getDouble(i), b = wanted.getDouble(i);
      if (std::isnan(a) || std::isnan(b) || std::isinf(b)) {
        EXPECT_TRUE((std::isnan(a) && std::isnan(b)) || a == b)
            << text << ", element " << i << ": " << a << " for " << b;
        continue;
      }
      EXPECT_NEAR(a, b, tolerance * std::max(1.0, std::fabs(b))) << text << ", element " << i;
      EXPECT_TRUE(a != 0 || b != 0 || std::signbit(a) == std::signbit(b)) << text << ", sign of zero " << i;
    }
  }

  /// `op` over "%x" and, with a second type, "%y".
  void check(const std::string &op, const std::vector<std::string> &types, std::vector<HostTensor> inputs,
             double tolerance = 1e-6) {
    std::string text = "func.func @f(%x: " + types[0] + (types.size() > 1 ? ", %y: " + types[1] : "") + ") { %r" +
                       (op.find("max_pool") != std::string::npos ? ":2" : "") + " = " + op + " return }";
    auto function = parse(text);
    ASSERT_TRUE(function) << text;
    // The op's results are not returned, so the observer is how to see them.
    Evaluator evaluator(function);
    std::vector<HostTensor> wanted;
    evaluator.onResults = [&](mlir::Operation *, llvm::ArrayRef<HostTensor> results) {
      wanted.assign(results.begin(), results.end());
    };
    ASSERT_TRUE(succeeded(evaluator.run(inputs))) << evaluator.error().str();
    auto got = emitAndRun(function, inputs);
    ASSERT_TRUE(succeeded(got)) << text;
    for (size_t i = 0; i < wanted.size(); ++i) expectSame((*got)[i], wanted[i], tolerance, text);
  }
};

TEST_F(EmissionTest, Matmul) {
  for (std::string element : {"f32", "f64", "i32", "i64"}) {
    check("graph.matmul %x, %y : tensor<2x3x5x" + element + ">, tensor<2x5x4x" + element + ">",
          {"tensor<2x3x5x" + element + ">", "tensor<2x5x4x" + element + ">"},
          {noise(element, {2, 3, 5}, 1), noise(element, {2, 5, 4}, 2)});
    check("graph.matmul %x, %y transpose_lhs transpose_rhs : tensor<5x3x" + element + ">, tensor<4x5x" + element + ">",
          {"tensor<5x3x" + element + ">", "tensor<4x5x" + element + ">"},
          {noise(element, {5, 3}, 3), noise(element, {4, 5}, 4)});
  }
  check("graph.matmul %x, %y : tensor<2x0xf32>, tensor<0x3xf32>", {"tensor<2x0xf32>", "tensor<0x3xf32>"},
        {f32({2, 0}, {}), f32({0, 3}, {})});
  std::string dynamic = "tensor<?x?xf32, #graph.shape<s0, s1>>", other = "tensor<?x4xf32, #graph.shape<s1, 4>>";
  check("graph.matmul %x, %y : " + dynamic + ", " + other, {dynamic, other},
        {noise("f32", {3, 7}, 5), noise("f32", {7, 4}, 6)});
}

TEST_F(EmissionTest, Reductions) {
  for (std::string op : {"sum", "prod", "reduce_max", "reduce_min", "argmax", "argmin"}) {
    for (std::string element : {"f32", "f64", "i32", "ui8"}) {
      std::string type = "tensor<2x3x4x" + element + ">";
      for (std::string dims : {"[1]", "[2]", "[0, 2]", "[0, 1, 2]"})
        check("graph." + op + " %x dims = " + dims + " : " + type, {type}, {noise(element, {2, 3, 4}, 7)}, 1e-5);
    }
    std::string dynamic = "tensor<?x3x?xf32, #graph.shape<s0, 3, s0 + 1>>";
    check("graph." + op + " %x dims = [0, 2] : " + dynamic, {dynamic}, {noise("f32", {2, 3, 3}, 8)}, 1e-5);
    check("graph." + op + " %x dims = [1] : tensor<2x0xf32>", {"tensor<2x0xf32>"}, {f32({2, 0}, {})});
    check("graph." + op + " %x dims = [1] : tensor<4x3xf32>", {"tensor<4x3xf32>"},
          {f32({4, 3}, {-0.0, -0.0, -0.0, 0.0, -0.0, 0.0, -inf, -inf, -inf, 1, quietNaN, inf})});
  }
  for (std::string op : {"any", "all"})
    check("graph." + op + " %x dims = [1] : tensor<4x2xi1>", {"tensor<4x2xi1>"},
          {tensor("i1", {4, 2}, {0, 0, 0, 1, 1, 0, 1, 1})});
}

TEST_F(EmissionTest, ReductionsInAnyOrder) {
  std::vector<std::vector<double>> rows{{1, 5, 5, 2, 5, 1, 0},
                                        {-0.0, 0.0, -0.0, 0.0},
                                        {-inf, -inf, -inf},
                                        {1, quietNaN, 7, quietNaN, 2},
                                        {inf, 3, inf},
                                        {-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11},
                                        {4},
                                        {}};
  for (std::string op : {"sum", "prod", "reduce_max", "reduce_min", "argmax", "argmin"}) {
    for (const auto &row : rows) {
      std::string type = "tensor<" + std::to_string(row.size()) + "xf32>";
      std::string text = "func.func @f(%x: " + type + ") { %r = graph." + op + " %x dims = [0] : " + type + " return }";
      HostTensor x = f32({int64_t(row.size())}, row);
      auto function = parse(text);
      Evaluator evaluator(function);
      HostTensor wanted;
      evaluator.onResults = [&](mlir::Operation *, llvm::ArrayRef<HostTensor> results) { wanted = results[0]; };
      ASSERT_TRUE(succeeded(evaluator.run({x})));
      for (unsigned seed = 0; seed < 2; ++seed) {
        auto got = emitTreeAndRun(function, x, seed);
        ASSERT_TRUE(succeeded(got));
        expectSame(*got, wanted, 1e-6, text + " seed " + std::to_string(seed));
      }
    }
  }
}

TEST_F(EmissionTest, Convolutions) {
  struct Row {
    std::vector<int64_t> x, w;
    std::string attributes;
  } rows[] = {
      {{1, 2, 7}, {3, 2, 3}, "strides = [2] low = [1] high = [2] dilations = [1] groups = 1 output_padding = [0]"},
      {{2, 4, 6, 5},
       {6, 2, 3, 2},
       "strides = [1, 2] low = [1, 0] high = [0, 1] dilations = [2, 1] groups = 2 output_padding = [0, 0]"},
      {{1, 3, 5, 5},
       {3, 1, 3, 3},
       "strides = [1, 1] low = [1, 1] high = [1, 1] dilations = [1, 1] groups = 3 output_padding = [0, 0]"},
      {{1, 2, 5, 5},
       {2, 2, 1, 1},
       "strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 1 output_padding = [0, 0]"},
      {{1, 2, 6}, {2, 2, 2}, "strides = [1] low = [-1] high = [-2] dilations = [1] groups = 1 output_padding = [0]"},
      {{1, 1, 3, 4, 3},
       {2, 1, 2, 3, 2},
       "strides = [1, 2, 1] low = [0, 1, 1] high = [1, 1, 0] dilations = [1, 1, 2] groups = 1 output_padding = [0, 0, "
       "0]"},
      {{1, 2, 4},
       {2, 3, 3},
       "strides = [2] low = [1] high = [0] dilations = [1] groups = 1 transposed output_padding = [1]"},
      {{2, 4, 3, 3},
       {4, 2, 2, 3},
       "strides = [2, 3] low = [0, 1] high = [1, 1] dilations = [2, 1] groups = 2 transposed output_padding = [1, 0]"},
      {{1, 1, 3},
       {1, 1, 2},
       "strides = [1] low = [-2] high = [-1] dilations = [3] groups = 1 transposed output_padding = [0]"},
  };
  for (const Row &row : rows) {
    for (std::string element : {"f32", "i32"}) {
      auto typeOf = [&](const std::vector<int64_t> &shape) {
        std::string text = "tensor<";
        for (int64_t size : shape) text += std::to_string(size) + "x";
        return text + element + ">";
      };
      check("graph.convolution %x, %y " + row.attributes + " : " + typeOf(row.x) + ", " + typeOf(row.w),
            {typeOf(row.x), typeOf(row.w)}, {noise(element, row.x, 9), noise(element, row.w, 10)});
    }
  }
  std::string dynamic = "tensor<?x2x?xf32, #graph.shape<s0, 2, s1>>", weight = "tensor<2x2x3xf32>";
  for (std::string kind : {"", "transposed "})
    check("graph.convolution %x, %y strides = [2] low = [1] high = [1] dilations = [1] groups = 1 " + kind +
              "output_padding = [0] : " + dynamic + ", " + weight,
          {dynamic, weight}, {noise("f32", {2, 2, 6}, 11), noise("f32", {2, 2, 3}, 12)});
}

TEST_F(EmissionTest, Pools) {
  HostTensor plane = noise("f32", {2, 2, 6, 5}, 13);
  std::string type = "tensor<2x2x6x5xf32>";
  for (std::string mode : {"", " ceil_mode"}) {
    check("graph.max_pool %x kernel = [3, 2] strides = [2, 1] padding = [1, 0] dilations = [1, 2]" + mode + " : " +
              type,
          {type}, {plane});
    check("graph.max_pool %x kernel = [2, 2] strides = [3, 2] padding = [0, 0] dilations = [1, 1]" + mode + " : " +
              type,
          {type}, {plane});
    for (std::string count : {"", " exclude_padding", " divisor = 3"}) {
      check("graph.avg_pool %x kernel = [3, 3] strides = [2, 2] padding = [1, 1]" + mode + count + " : " + type, {type},
            {plane});
      check("graph.avg_pool %x kernel = [2, 2] strides = [2, 2] padding = [0, 0]" + mode + count + " : " + type, {type},
            {plane});
    }
  }
  check("graph.max_pool %x kernel = [3] strides = [1] padding = [1] dilations = [1] : tensor<1x1x6xf32>",
        {"tensor<1x1x6xf32>"}, {f32({1, 1, 6}, {quietNaN, 1, quietNaN, -inf, -inf, -0.0})});
  check("graph.max_pool %x kernel = [2] strides = [2] padding = [1] dilations = [1] : tensor<1x1x4xui8>",
        {"tensor<1x1x4xui8>"}, {tensor("ui8", {1, 1, 4}, {0, 200, 100, 0})});
  // Dilation steps over the only element.
  check("graph.max_pool %x kernel = [2] strides = [1] padding = [2] dilations = [3] : tensor<1x1x1xf32>",
        {"tensor<1x1x1xf32>"}, {f32({1, 1, 1}, {5})});
  check("graph.adaptive_avg_pool %x : " + type + " to tensor<2x2x4x7xf32>", {type}, {plane});
  check("graph.adaptive_avg_pool %x : " + type + " to tensor<2x2x1x1xf32>", {type}, {plane});
  std::string dynamic = "tensor<1x1x?xf32, #graph.shape<1, 1, s0>>";
  check("graph.avg_pool %x kernel = [3] strides = [2] padding = [1] ceil_mode : " + dynamic, {dynamic},
        {noise("f32", {1, 1, 6}, 14)});
  check("graph.adaptive_avg_pool %x : " + dynamic + " to tensor<1x1x4xf32>", {dynamic}, {noise("f32", {1, 1, 6}, 15)});
}

TEST_F(EmissionTest, Resizes) {
  struct Golden {
    std::string mode;
    bool alignCorners;
    std::vector<int64_t> in, out;
    std::vector<double> scales, input, output;
  };
  const std::vector<Golden> rows{
#include "tests/unit/graph/ResizeGoldens.inc"
  };
  for (const Golden &g : rows) {
    // Once with sizes known, once with sizes read at run time.
    for (bool dynamic : {false, true}) {
      std::string from = "tensor<1x1", to = from, fromDims = "#graph.shape<1, 1", toDims = fromDims;
      for (size_t d = 0; d < g.in.size(); ++d) {
        from += dynamic ? "x?" : "x" + std::to_string(g.in[d]);
        to += "x" + std::to_string(g.out[d]);
        fromDims += ", s" + std::to_string(d);
      }
      from += "xf32" + (dynamic ? ", " + fromDims + ">>" : ">");
      to += "xf32>";
      std::string scales;
      for (double scale : g.scales) scales += (scales.empty() ? ": " : ", ") + std::to_string(scale);
      std::vector<int64_t> sizes{1, 1};
      sizes.insert(sizes.end(), g.in.begin(), g.in.end());
      check("graph.resize %x " + g.mode + " {" + (g.alignCorners ? "align_corners, " : "") + "scales = array<f64" +
                scales + ">} : " + from + " to " + to,
            {from}, {f32(sizes, g.input)}, 2e-6 * 16);
    }
  }
}

TEST_F(EmissionTest, Copies) {
  check("graph.copy %x : tensor<3xf32>", {"tensor<3xf32>"}, {f32({3}, {1, -0.0, quietNaN})});
  std::string from = "tensor<?xf32, #graph.shape<s0>>", to = "tensor<3xf32>";
  check("graph.assert_shape %x : " + from + " to " + to, {from}, {f32({3}, {1, 2, 3})});
}

} // namespace
