// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/graph/GraphTest.h"

using namespace stator;
using namespace stator::graph;

namespace {

struct Golden {
  std::string mode;
  bool alignCorners;
  std::vector<int64_t> in, out;
  std::vector<double> scales, input, output;
};

const std::vector<Golden> &goldens() {
  static const std::vector<Golden> rows{
#include "tests/unit/graph/ResizeGoldens.inc"
  };
  return rows;
}

class ResizeTest : public GraphTest {
protected:
  static std::string list(const std::vector<double> &values) {
    std::string text;
    for (double value : values) text += (text.empty() ? ": " : ", ") + llvm::formatv("{0:E17}", value).str();
    return "array<f64" + text + ">";
  }
  static std::string typeOf(const std::vector<int64_t> &spatial, const std::string &element) {
    std::string text = "tensor<1x1x";
    for (int64_t size : spatial) text += std::to_string(size) + "x";
    return text + element + ">";
  }
  std::string op(const Golden &g, const std::string &element = "f32") {
    return "graph.resize %x " + g.mode + " {" + (g.alignCorners ? "align_corners, " : "") +
           "scales = " + list(g.scales) + "} : " + typeOf(g.in, element) + " to " + typeOf(g.out, element);
  }
  std::string error(const std::string &text) {
    return parseError("func.func @f(%x: tensor<1x1x4xf32>) { %r = graph.resize %x " + text + " return }");
  }
};

TEST_F(ResizeTest, AgreesWithPyTorch) {
  EXPECT_GE(goldens().size(), 28u);
  for (const Golden &g : goldens()) {
    std::vector<int64_t> sizes{1, 1};
    sizes.insert(sizes.end(), g.in.begin(), g.in.end());
    std::string text = op(g);
    HostTensor got = runOp("%x: " + typeOf(g.in, "f32"), text, typeOf(g.out, "f32"), {f32(sizes, g.input)});
    ASSERT_EQ(got.size(), int64_t(g.output.size()));
    bool exact = g.mode.rfind("nearest", 0) == 0;
    for (size_t i = 0; i < g.output.size(); ++i)
      EXPECT_NEAR(got.getDouble(i), g.output[i], exact ? 0 : 16 * 8 * 1.2e-7) << text << ", element " << i;
  }
}

TEST_F(ResizeTest, NearestTakesAnyElementType) {
  HostTensor x = tensor("i1", {1, 1, 2}, {1, 0});
  EXPECT_EQ(numbers(runOp("%x: tensor<1x1x2xi1>",
                          "graph.resize %x nearest {scales = array<f64>} : tensor<1x1x2xi1> to tensor<1x1x4xi1>",
                          "tensor<1x1x4xi1>", {x})),
            (std::vector<double>{1, 1, 0, 0}));
}

TEST_F(ResizeTest, LinearByHand) {
  // Coordinates -0.25 (clamped to 0), 0.25, 0.75, 1.25 (its right neighbour is itself).
  EXPECT_EQ(numbers(runOp("%x: tensor<1x1x2xf32>",
                          "graph.resize %x linear {scales = array<f64>} : tensor<1x1x2xf32> to tensor<1x1x4xf32>",
                          "tensor<1x1x4xf32>", {f32({1, 1, 2}, {0, 4})})),
            (std::vector<double>{0, 1, 3, 4}));
}

TEST_F(ResizeTest, HostileAttributesAreRefused) {
  std::string to = " : tensor<1x1x4xf32> to ";
  EXPECT_NE(error("linear {scales = array<f64: 1.0, 2.0>}" + to + "tensor<1x1x8xf32>").find("it has 2 for 1"),
            std::string::npos);
  EXPECT_NE(error("linear {scales = array<f64: 0x7FF8000000000000>}" + to + "tensor<1x1x8xf32>").find("not finite"),
            std::string::npos);
  EXPECT_NE(
      error("nearest {align_corners, scales = array<f64>}" + to + "tensor<1x1x8xf32>").find("cannot align corners"),
      std::string::npos);
  EXPECT_NE(error("linear {scales = array<f64>}" + to + "tensor<1x2x8xf32>").find("changes dimension 1"),
            std::string::npos);
  EXPECT_NE(error("linear {scales = array<f64>}" + to + "tensor<1x1x8x8xf32>").find("cannot change the rank"),
            std::string::npos);
  EXPECT_NE(error("linear {scales = array<f64>}" + to + "tensor<1x1x8xf16>").find("cannot change the element type"),
            std::string::npos);
  EXPECT_NE(parseError("func.func @f(%x: tensor<1x1x4xi32>) { %r = graph.resize %x cubic {scales = array<f64>} : "
                       "tensor<1x1x4xi32> to tensor<1x1x8xi32> return }")
                .find("floating-point"),
            std::string::npos);
}

} // namespace
