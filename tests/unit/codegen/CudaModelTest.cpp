// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CUDA kernels: their PTX through the runtime on the simulated device, against the evaluator; through ptxas, without
// spills, where it is installed; and what the text must hold.
#include "codegen/target/cuda/DeviceCode.h"
#include "codegen/target/cuda/Toolkit.h"
#include "tests/unit/codegen/ModelRunner.h"
#include <gtest/gtest.h>

using stator::test::ModelRunner;

namespace {
class CudaModel {
public:
  explicit CudaModel(const std::string &text, std::vector<std::string> architectures = {"sm_80", "sm_90"})
      : runner(text, optionsFor(architectures)) {
    runner.runOn("cuda", STATOR_TEST_SIMULATOR);
    if (!runner.ok()) return;
    stator::codegen::CudaToolkit toolkit = stator::codegen::findCudaToolkit();
    for (auto &module : runner.parts().modules) {
      std::string text = bytesOf(module.entry), messages;
      if (toolkit.ptxas.empty()) continue;
      auto cubin = stator::codegen::assemble(toolkit.ptxas, text, module.arch,
                                             {"-Werror", "--warn-on-spills", "--warn-on-local-memory-usage"}, messages);
      EXPECT_TRUE(mlir::succeeded(cubin)) << messages << "\n" << text;
    }
  }
  bool ok() const { return runner.ok(); }
  std::string ptx() const { return bytesOf(runner.parts().modules.front().entry); }
  std::string templateName(size_t kernel = 0) const { return runner.parts().kernels.at(kernel).templateName; }
  bool has(const std::string &text) const { return ptx().find(text) != std::string::npos; }
  ModelRunner *operator->() { return &runner; }

private:
  static stator::codegen::Options optionsFor(std::vector<std::string> architectures) {
    stator::codegen::Options options;
    options.host = false;
    options.cubins = false;
    options.cudaArchitectures = std::move(architectures);
    return options;
  }
  std::string bytesOf(const std::string &entry) const {
    for (auto &blob : runner.parts().blobs)
      if (blob.name == entry) return blob.bytes;
    return "";
  }
  ModelRunner runner;
};
} // namespace

static std::string unary(const std::string &in, const std::string &out, const std::string &body) {
  return "func.func @forward(%x: tensor<" + in + ">) -> tensor<" + out + "> {\n" + body + "\nreturn %y : tensor<" +
         out + ">\n}";
}
static std::string fused(const std::string &in, const std::string &body) {
  std::string type = "tensor<" + in + ">";
  return "func.func @forward(%a: " + type + ", %b: " + type + ") -> " + type +
         " {\n%0 = graph.fusion \"k\" \"loop\" (%a, %b) : (" + type + ", " + type + ") -> (" + type +
         ") {\n^bb0(%x: " + type + ", %y: " + type + "):\n" + body + "\ngraph.yield %z : " + type +
         "\n}\nreturn %0 : " + type + "\n}";
}

TEST(CudaModel, PointwiseMakesSixteenByteAccesses) {
  CudaModel m(
      fused("64x1024xf32", "%s = graph.add %x, %y : tensor<64x1024xf32>\n%z = graph.mul %s, %x : tensor<64x1024xf32>"));
  ASSERT_TRUE(m.ok());
  EXPECT_TRUE(m.has("ld.global.nc.v4.b32") || m.has("ld.global.v4.b32")) << m.ptx();
  EXPECT_TRUE(m.has("st.global.v4.b32")) << m.ptx();
  m->check();
}
TEST(CudaModel, PointwiseOfAnySize) {
  for (const char *size : {"1", "7", "3x5", "257x129", "0x4"}) {
    std::string type = std::string(size) + "xf32";
    CudaModel m(fused(type, "%s = graph.sub %x, %y : tensor<" + type + ">\n%z = graph.gelu %s : tensor<" + type + ">"));
    ASSERT_TRUE(m.ok()) << size;
    m->check();
  }
}
TEST(CudaModel, BroadcastKeepsVectors) {
  CudaModel m(R"(
    func.func @forward(%a: tensor<128x512xf16>, %b: tensor<512xf16>) -> tensor<128x512xf16> {
      %0 = graph.fusion "k" "loop" (%a, %b) : (tensor<128x512xf16>, tensor<512xf16>) -> (tensor<128x512xf16>) {
      ^bb0(%x: tensor<128x512xf16>, %y: tensor<512xf16>):
        %c = graph.broadcast %y : tensor<512xf16> to tensor<128x512xf16>
        %s = graph.add %x, %c : tensor<128x512xf16>
        graph.yield %s : tensor<128x512xf16>
      }
      return %0 : tensor<128x512xf16>
    })");
  ASSERT_TRUE(m.ok());
  EXPECT_TRUE(m.has("ld.global.nc.v4.b32")) << m.ptx();
  EXPECT_TRUE(m.has("st.global.v4.b32")) << m.ptx();
  EXPECT_FALSE(m.has("ld.global.nc.b16")) << m.ptx();
  m->check();
}

static std::string softmax(const std::string &rows, const std::string &length, const std::string &encoding = "") {
  auto type = [&](const std::string &n) {
    return "tensor<" + (rows == "s0" ? "?" : rows) + (n.empty() ? "" : "x" + n) + "xf32" +
           (rows == "s0" ? ", #graph.shape<s0" + (n.empty() ? "" : ", " + n) + ">" : "") + ">";
  };
  std::string full = type(length), one = type("1"), row = type("");
  return "func.func @forward(%a: " + full + ") -> " + full +
         " attributes {graph.symbols = [#graph.symbol<\"s0\", 0, 100>]} {\n%0 = graph.fusion \"k\" \"reduce\" (%a) : "
         "(" +
         full + ") -> (" + full + ") {\n^bb0(%x: " + full + "):\n%m = graph.reduce_max %x dims = [1] : " + full +
         "\n%m1 = graph.reshape %m : " + row + " to " + one + "\n%mb = graph.broadcast %m1 : " + one + " to " + full +
         "\n%d = graph.sub %x, %mb : " + full + "\n%e = graph.exp %d : " + full +
         "\n%s = graph.sum %e dims = [1] : " + full + "\n%s1 = graph.reshape %s : " + row + " to " + one +
         "\n%sb = graph.broadcast %s1 : " + one + " to " + full + "\n%q = graph.div %e, %sb : " + full +
         "\ngraph.yield %q : " + full + "\n}\nreturn %0 : " + full + "\n}";
}
static size_t count(const std::string &text, const std::string &word) {
  size_t n = 0;
  for (size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++n;
  return n;
}

TEST(CudaModel, SoftmaxReadsMemoryOnce) {
  CudaModel m(softmax("33", "512"));
  ASSERT_TRUE(m.ok());
  EXPECT_EQ(m.templateName(), "rows by warp");
  // 16 elements a lane: four loads of four.
  EXPECT_EQ(count(m.ptx(), "ld.global"), 4u) << m.ptx();
  EXPECT_EQ(count(m.ptx(), "v4.b32"), 8u);
  m->check();
}
TEST(CudaModel, SoftmaxOfOtherLengths) {
  const char *lengths[] = {"1", "3", "77", "1000", "4096", "5000", "20000"};
  for (const char *length : lengths) {
    CudaModel m(softmax("3", length));
    ASSERT_TRUE(m.ok()) << length;
    m->check();
  }
}
TEST(CudaModel, SoftmaxOfAnyNumberOfRows) {
  CudaModel m(softmax("s0", "96"));
  ASSERT_TRUE(m.ok());
  for (int64_t rows : {0, 1, 9}) m->check({{"s0", rows}});
}
TEST(CudaModel, ReducesColumnsAndWholeTensors) {
  for (const char *op : {"sum", "reduce_max", "prod"}) {
    CudaModel columns(
        unary("3x50x70xf32", "3x70xf32", std::string("%y = graph.") + op + " %x dims = [1] : tensor<3x50x70xf32>"));
    ASSERT_TRUE(columns.ok());
    EXPECT_EQ(columns.templateName(), "columns");
    columns->check({}, 1e-5, 1e-5, 1.2);
    CudaModel few(
        unary("3x5x70xf32", "3x70xf32", std::string("%y = graph.") + op + " %x dims = [1] : tensor<3x5x70xf32>"));
    ASSERT_TRUE(few.ok());
    few->check({}, 1e-5, 1e-5, 1.2);
  }
  CudaModel whole(unary("2x300000xf32", "2xf32", "%y = graph.sum %x dims = [1] : tensor<2x300000xf32>"));
  ASSERT_TRUE(whole.ok());
  EXPECT_EQ(whole.templateName(), "rows split");
  whole->check({}, 1e-5, 1e-2);
  CudaModel where(unary("2x300000xf32", "2xi64", "%y = graph.argmax %x dims = [1] : tensor<2x300000xf32>"));
  ASSERT_TRUE(where.ok());
  where->check();
  CudaModel bools(unary("4x70xi1", "4xi1", "%y = graph.any %x dims = [1] : tensor<4x70xi1>"));
  ASSERT_TRUE(bools.ok());
  bools->check({}, 0, 0, 1, 2);
}
TEST(CudaModel, FunctionsOfLibdevice) {
  for (const char *op : {"atan", "sinh", "asinh", "exp", "erfc"})
    for (const char *element : {"f32", "f64"}) {
      std::string type = std::string("40x") + element;
      CudaModel m(unary(type, type, std::string("%y = graph.") + op + " %x : tensor<" + type + ">"));
      ASSERT_TRUE(m.ok()) << op;
      m->check();
    }
}
TEST(CudaModel, EveryArchitectureAssembles) {
  std::vector<std::string> all;
  for (auto &architecture : stator::codegen::cudaArchitectures()) all.push_back(architecture.name.str());
  CudaModel m(softmax("33", "512"), all);
  ASSERT_TRUE(m.ok());
}
TEST(CudaModel, IsTheSameEveryTime) {
  CudaModel a(softmax("33", "512")), b(softmax("33", "512"));
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(a.ptx(), b.ptx());
}
TEST(CudaModel, Matmul) {
  const char *shapes[][4] = {{"5x7xf32", "7x9xf32", "5x9xf32", ""},
                             {"1x300xf32", "300x70xf32", "1x70xf32", ""},
                             {"80x113xf32", "113x130xf32", "80x130xf32", ""},
                             {"130x64xf32", "140x64xf32", "130x140xf32", "transpose_rhs"},
                             {"3x20x33xf32", "3x33x17xf32", "3x20x17xf32", ""},
                             {"2x3x20x33xf16", "33x16xf16", "2x3x20x16xf16", ""},
                             {"4x0xf32", "0x5xf32", "4x5xf32", ""},
                             {"33x40xf64", "40x20xf64", "33x20xf64", ""},
                             {"6x5xi32", "5x4xi32", "6x4xi32", ""}};
  for (auto &shape : shapes) {
    std::string a = shape[0], b = shape[1], c = shape[2];
    CudaModel m("func.func @forward(%a: tensor<" + a + ">, %b: tensor<" + b + ">) -> tensor<" + c +
                "> {\n%y = graph.matmul %a, %b " + shape[3] + " : tensor<" + a + ">, tensor<" + b +
                ">\nreturn %y : tensor<" + c + ">\n}");
    ASSERT_TRUE(m.ok()) << a;
    bool half = a.find("f16") != std::string::npos;
    m->check({}, half ? 2e-3 : 1e-5, half ? 2e-3 : 1e-4, 2, 5);
  }
}
TEST(CudaModel, LinearLayerWithBiasAndGeluIsOneKernel) {
  CudaModel m(R"(
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
  EXPECT_EQ(m->parts().kernels.size(), 1u);
  EXPECT_EQ(m.templateName(), "tiles");
  m->check({}, 1e-5, 1e-4, 1);
}
TEST(CudaModel, Convolution) {
  auto attributes = [](const char *stride, const char *low, const char *high, const char *dilation, int groups) {
    return std::string("strides = [") + stride + "] low = [" + low + "] high = [" + high + "] dilations = [" +
           dilation + "] groups = " + std::to_string(groups) + " output_padding = [0, 0]";
  };
  struct Case {
    const char *x, *w, *out;
    std::string attributes;
  } cases[] = {{"2x3x10x12xf32", "8x3x3x3xf32", "2x8x10x12xf32", attributes("1, 1", "1, 1", "1, 1", "1, 1", 1)},
               {"1x8x11x9xf32", "16x4x3x2xf32", "1x16x5x9xf32", attributes("2, 1", "1, 0", "0, 1", "1, 1", 2)},
               {"1x6x9x9xf32", "6x1x3x3xf32", "1x6x7x7xf32", attributes("1, 1", "1, 1", "1, 1", "2, 2", 6)}};
  for (auto &c : cases) {
    std::string x = c.x, w = c.w, out = c.out;
    CudaModel m("func.func @forward(%a: tensor<" + x + ">, %b: tensor<" + w + ">) -> tensor<" + out +
                "> {\n%y = graph.convolution %a, %b " + c.attributes + " : tensor<" + x + ">, tensor<" + w +
                ">\nreturn %y : tensor<" + out + ">\n}");
    ASSERT_TRUE(m.ok()) << x;
    m->check({}, 1e-5, 1e-4, 1);
  }
}
TEST(CudaModel, LinesAndScatters) {
  CudaModel scan(unary("3x40x5xf32", "3x40x5xf32", "%y = graph.cumsum %x dim = 1 : tensor<3x40x5xf32>"));
  ASSERT_TRUE(scan.ok());
  scan->check({}, 1e-5, 1e-5);
  CudaModel sort(R"(
    func.func @forward(%x: tensor<3x41x2xi32>) -> (tensor<3x41x2xi32>, tensor<3x41x2xi64>) {
      %v, %i = graph.sort %x dim = 1 : tensor<3x41x2xi32>
      return %v, %i : tensor<3x41x2xi32>, tensor<3x41x2xi64>
    })");
  ASSERT_TRUE(sort.ok());
  sort->check({}, 0, 0, 1, 9); // Few values: ties are decided by position.
  CudaModel scatter(R"(
    func.func @forward(%x: tensor<4x6xf32>, %i: tensor<3x5xi64>, %u: tensor<3x5xf32>) -> tensor<4x6xf32> {
      %y = graph.scatter %x, %i, %u add dim = 1 : tensor<4x6xf32>, tensor<3x5xi64>, tensor<3x5xf32>
      return %y : tensor<4x6xf32>
    })");
  ASSERT_TRUE(scatter.ok());
  scatter->check({}, 1e-5, 1e-6, 2, 6);
}
TEST(CudaModel, ConversionsOfNarrowTypes) {
  for (const char *to : {"f16", "bf16", "f8E4M3FN", "f8E5M2", "i8", "ui8", "i64", "i1"}) {
    std::string out = std::string("64x") + to;
    CudaModel m(unary("64xf32", out, "%y = graph.cast %x : tensor<64xf32> to tensor<" + out + ">"));
    ASSERT_TRUE(m.ok()) << to;
    m->check({}, 0, 0, 100);
  }
}
TEST(CudaModel, TransposeThroughSharedMemory) {
  for (auto [in, out] : {std::pair("64x96", "96x64"), std::pair("37x70", "70x37")}) {
    std::string x = std::string("tensor<") + in + "xf32>", y = std::string("tensor<") + out + "xf32>";
    CudaModel m("func.func @forward(%a: " + x + ", %b: " + y + ") -> " + y +
                " {\n%0 = graph.fusion \"k\" \"loop\" (%a, %b) : (" + x + ", " + y + ") -> (" + y +
                ") {\n^bb0(%p: " + x + ", %q: " + y + "):\n%t = graph.transpose %p [1, 0] : " + x +
                "\n%s = graph.mul %t, %q : " + y + "\ngraph.yield %s : " + y + "\n}\nreturn %0 : " + y + "\n}");
    ASSERT_TRUE(m.ok()) << in;
    EXPECT_EQ(m.templateName(), "transpose");
    EXPECT_TRUE(m.has("st.shared.b32")) << m.ptx();
    m->check();
  }
}
TEST(CudaModel, CastsOfSpecialValuesAreDefined) {
  // NaN, infinities, and what lies beyond the integer types.
  std::string values = "dense<[0x7FC00000, 0x7F800000, 0xFF800000, 3.0e9, -3.0e9, 1.0e20, -1.0e20, 300.7, -300.7, "
                       "-0.5]> : tensor<10xf32>";
  for (const char *to : {"i8", "ui8", "i16", "i32", "ui32", "i64", "ui64", "i1", "f8E4M3FN", "f8E5M2", "f16", "bf16"}) {
    std::string out = std::string("tensor<10x") + to + ">";
    CudaModel m("func.func @forward(%x: tensor<10xf32>) -> " + out + " {\n%c = graph.constant " + values +
                "\n%s = graph.add %c, %x : tensor<10xf32>\n%y = graph.cast %s : tensor<10xf32> to " + out +
                "\nreturn %y : " + out + "\n}");
    ASSERT_TRUE(m.ok()) << to;
    m->check({}, 0, 0, /*scale=*/0);
  }
}
