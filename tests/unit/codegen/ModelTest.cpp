// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/codegen/ModelRunner.h"
#include <gtest/gtest.h>

using stator::test::ModelRunner;

TEST(Model, OneKernelForEachBareOp) {
  ModelRunner m(R"(
    func.func @forward(%x: tensor<4x6xf32>, %y: tensor<6xf32>) -> tensor<4x6xf32> {
      %b = graph.broadcast %y : tensor<6xf32> to tensor<4x6xf32>
      %s = graph.add %x, %b : tensor<4x6xf32>
      %t = graph.tanh %s : tensor<4x6xf32>
      return %t : tensor<4x6xf32>
    })");
  ASSERT_TRUE(m.ok());
  m.check();
  EXPECT_EQ(m.parts().kernels.size(), 3u);
}

TEST(Model, LayerNormWithSymbolicRows) {
  ModelRunner m(R"(
    func.func @forward(%x: tensor<?x96xf32, #graph.shape<s0, 96>>, %g: tensor<96xf32>) -> tensor<?x96xf32, #graph.shape<s0, 96>>
        attributes {graph.symbols = [#graph.symbol<"s0", 0, 1000>]} {
      %0 = graph.fusion "norm" "reduce" (%x, %g) : (tensor<?x96xf32, #graph.shape<s0, 96>>, tensor<96xf32>) -> (tensor<?x96xf32, #graph.shape<s0, 96>>) {
      ^bb0(%a: tensor<?x96xf32, #graph.shape<s0, 96>>, %w: tensor<96xf32>):
        %sum = graph.sum %a dims = [1] : tensor<?x96xf32, #graph.shape<s0, 96>>
        %k = graph.constant dense<0.010416666977107525> : tensor<f32>
        %kb = graph.broadcast %k : tensor<f32> to tensor<?xf32, #graph.shape<s0>>
        %mean = graph.mul %sum, %kb : tensor<?xf32, #graph.shape<s0>>
        %m1 = graph.reshape %mean : tensor<?xf32, #graph.shape<s0>> to tensor<?x1xf32, #graph.shape<s0, 1>>
        %mb = graph.broadcast %m1 : tensor<?x1xf32, #graph.shape<s0, 1>> to tensor<?x96xf32, #graph.shape<s0, 96>>
        %d = graph.sub %a, %mb : tensor<?x96xf32, #graph.shape<s0, 96>>
        %q = graph.mul %d, %d : tensor<?x96xf32, #graph.shape<s0, 96>>
        %var = graph.sum %q dims = [1] : tensor<?x96xf32, #graph.shape<s0, 96>>
        %r = graph.rsqrt %var : tensor<?xf32, #graph.shape<s0>>
        %r1 = graph.reshape %r : tensor<?xf32, #graph.shape<s0>> to tensor<?x1xf32, #graph.shape<s0, 1>>
        %rb = graph.broadcast %r1 : tensor<?x1xf32, #graph.shape<s0, 1>> to tensor<?x96xf32, #graph.shape<s0, 96>>
        %y = graph.mul %d, %rb : tensor<?x96xf32, #graph.shape<s0, 96>>
        %wb = graph.broadcast %w : tensor<96xf32> to tensor<?x96xf32, #graph.shape<s0, 96>>
        %z = graph.mul %y, %wb : tensor<?x96xf32, #graph.shape<s0, 96>>
        graph.yield %z : tensor<?x96xf32, #graph.shape<s0, 96>>
      }
      return %0 : tensor<?x96xf32, #graph.shape<s0, 96>>
    })");
  ASSERT_TRUE(m.ok());
  for (int64_t rows : {0, 1, 7}) m.check({{"s0", rows}});
  ASSERT_EQ(m.parts().kernels.size(), 1u);
  EXPECT_EQ(m.parts().kernels[0].templateName, "rows");
}

static std::string unaryModel(const std::string &in, const std::string &out, const std::string &body) {
  return "func.func @forward(%x: tensor<" + in + ">) -> tensor<" + out + "> {\n" + body + "\nreturn %y : tensor<" + out + ">\n}";
}

TEST(Model, ReducesColumnsAndWholeTensors) {
  for (const char *op : {"sum", "reduce_max", "prod"}) {
    ModelRunner columns(unaryModel("3x50x70xf32", "3x70xf32", std::string("%y = graph.") + op + " %x dims = [1] : tensor<3x50x70xf32>"));
    ASSERT_TRUE(columns.ok());
    EXPECT_EQ(columns.parts().kernels[0].templateName, "columns");
    columns.check({}, 1e-5, 1e-5, 1.2);
  }
  ModelRunner whole(unaryModel("2x300000xf32", "2xf32", "%y = graph.sum %x dims = [1] : tensor<2x300000xf32>"));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole.parts().kernels[0].templateName, "split");
  whole.check({}, 1e-5, 1e-2);
  ModelRunner where(unaryModel("2x300000xf32", "2xi64", "%y = graph.argmax %x dims = [1] : tensor<2x300000xf32>"));
  ASSERT_TRUE(where.ok());
  where.check();
}

TEST(Model, Matmul) {
  const char *shapes[][3] = {{"5x7xf32", "7x9xf32", "5x9xf32"}, {"1x300xf32", "300x70xf32", "1x70xf32"},
                             {"80x513xf32", "513x130xf32", "80x130xf32"}, {"3x20x33xf32", "3x33x17xf32", "3x20x17xf32"},
                             {"2x3x20x33xf32", "33x17xf32", "2x3x20x17xf32"}, {"4x0xf32", "0x5xf32", "4x5xf32"},
                             {"33x40xf64", "40x20xf64", "33x20xf64"}, {"6x5xi32", "5x4xi32", "6x4xi32"}};
  for (auto &shape : shapes) {
    std::string a = shape[0], b = shape[1], c = shape[2];
    ModelRunner m("func.func @forward(%a: tensor<" + a + ">, %b: tensor<" + b + ">) -> tensor<" + c + "> {\n%y = graph.matmul %a, %b : tensor<" +
                  a + ">, tensor<" + b + ">\nreturn %y : tensor<" + c + ">\n}");
    ASSERT_TRUE(m.ok()) << a;
    m.check({}, 1e-5, 1e-4, 2, 5, /*libraries=*/false);
    m.check({}, 1e-5, 1e-4, 2, 5, /*libraries=*/true);
  }
}

TEST(Model, LinearLayerWithBiasAndGeluIsOneKernelAndOneCall) {
  ModelRunner m(R"(
    func.func @forward(%x: tensor<40x64xf32>, %w: tensor<100x64xf32>, %b: tensor<100xf32>) -> tensor<40x100xf32> {
      %0 = graph.fusion "linear" "matmul" (%x, %w, %b) : (tensor<40x64xf32>, tensor<100x64xf32>, tensor<100xf32>) -> (tensor<40x100xf32>) {
      ^bb0(%p: tensor<40x64xf32>, %q: tensor<100x64xf32>, %r: tensor<100xf32>):
        %m = graph.matmul %p, %q transpose_rhs : tensor<40x64xf32>, tensor<100x64xf32>
        %c = graph.broadcast %r : tensor<100xf32> to tensor<40x100xf32>
        %s = graph.add %m, %c : tensor<40x100xf32>
        %g = graph.gelu %s : tensor<40x100xf32>
        graph.yield %g : tensor<40x100xf32>
      }
      return %0 : tensor<40x100xf32>
    })");
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m.parts().kernels[0].library, "onednn matmul");
  EXPECT_NE(m.manifest().find("gelu_erf"), std::string::npos);
  m.check({}, 1e-5, 1e-4, 1, 5, false);
  m.check({}, 1e-5, 1e-4, 1, 5, true);
}

TEST(Model, Convolution) {
  auto attributes = [](const char *stride, const char *low, const char *high, const char *dilation, int groups) {
    return std::string("strides = [") + stride + "] low = [" + low + "] high = [" + high + "] dilations = [" + dilation +
           "] groups = " + std::to_string(groups) + " output_padding = [0, 0]";
  };
  struct Case {
    const char *x, *w, *out;
    std::string attributes;
  } cases[] = {{"2x3x10x12xf32", "8x3x3x3xf32", "2x8x10x12xf32", attributes("1, 1", "1, 1", "1, 1", "1, 1", 1)},
               {"1x8x11x9xf32", "16x4x3x2xf32", "1x16x5x9xf32", attributes("2, 1", "1, 0", "0, 1", "1, 1", 2)},
               {"1x6x9x9xf32", "6x1x3x3xf32", "1x6x7x7xf32", attributes("1, 1", "1, 1", "1, 1", "2, 2", 6)}};
  for (auto &c : cases) {
    std::string x = c.x, w = c.w, out = c.out;
    ModelRunner m("func.func @forward(%a: tensor<" + x + ">, %b: tensor<" + w + ">) -> tensor<" + out + "> {\n%y = graph.convolution %a, %b " +
                  c.attributes + " : tensor<" + x + ">, tensor<" + w + ">\nreturn %y : tensor<" + out + ">\n}");
    ASSERT_TRUE(m.ok()) << x;
    m.check({}, 1e-5, 1e-4, 1, 5, false);
    m.check({}, 1e-5, 1e-4, 1, 5, true);
  }
}

TEST(Model, LinesAndScatters) {
  ModelRunner scan(unaryModel("3x40x5xf32", "3x40x5xf32", "%y = graph.cumsum %x dim = 1 : tensor<3x40x5xf32>"));
  ASSERT_TRUE(scan.ok());
  scan.check({}, 1e-5, 1e-5);
  ModelRunner sort(R"(
    func.func @forward(%x: tensor<3x41x2xi32>) -> (tensor<3x41x2xi32>, tensor<3x41x2xi64>) {
      %v, %i = graph.sort %x dim = 1 : tensor<3x41x2xi32>
      return %v, %i : tensor<3x41x2xi32>, tensor<3x41x2xi64>
    })");
  ASSERT_TRUE(sort.ok());
  sort.check({}, 0, 0, 1, 9); // Few values: ties are decided by position.
  ModelRunner scatter(R"(
    func.func @forward(%x: tensor<4x6xf32>, %i: tensor<3x5xi64>, %u: tensor<3x5xf32>) -> tensor<4x6xf32> {
      %y = graph.scatter %x, %i, %u add dim = 1 : tensor<4x6xf32>, tensor<3x5xi64>, tensor<3x5xf32>
      return %y : tensor<4x6xf32>
    })");
  ASSERT_TRUE(scatter.ok());
  scatter.check({}, 1e-5, 1e-6, 2, 6);
}

TEST(Model, LoopsAndBranches) {
  ModelRunner m(R"(
    func.func @forward(%x: tensor<8xf32>, %n: tensor<i64>) -> (tensor<8xf32>, tensor<8xf32>) {
      %zero = graph.constant dense<0> : tensor<i64>
      %r:3 = graph.while %x, %x, %zero : tensor<8xf32>, tensor<8xf32>, tensor<i64> -> (tensor<8xf32>, tensor<8xf32>, tensor<i64>) {
      ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<i64>):
        %c = graph.lt %i, %n : tensor<i64>
        graph.yield %c : tensor<i1>
      } do {
      ^bb0(%a: tensor<8xf32>, %b: tensor<8xf32>, %i: tensor<i64>):
        %one = graph.constant dense<1> : tensor<i64>
        %j = graph.add %i, %one : tensor<i64>
        %d = graph.add %a, %b : tensor<8xf32>
        graph.yield %b, %d, %j : tensor<8xf32>, tensor<8xf32>, tensor<i64>
      }
      return %r#0, %r#1 : tensor<8xf32>, tensor<8xf32>
    })");
  ASSERT_TRUE(m.ok());
  m.check({}, 1e-5, 1e-6, 2, 9);
}
