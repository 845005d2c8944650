// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of the expanded functions in units in the last place, against the C library in f64. The bounds are those of
// docs/numerics.md; every 1009th of all floats is tried, and the special values.
#include "tests/unit/codegen/KernelRunner.h"
#include <cmath>
#include <cstring>
#include <gtest/gtest.h>

using stator::test::KernelRunner;

static std::string elementwise(const std::string &op, int64_t n) {
  std::string type = "tensor<" + std::to_string(n) + "xf32>";
  return "func.func @f(%a: " + type + ") -> " + type + " {\n%0 = graph.fusion \"k\" \"loop\" (%a) : (" + type + ") -> (" + type +
         ") {\n^bb0(%x: " + type + "):\n%y = graph." + op + " %x : " + type + "\ngraph.yield %y : " + type + "\n}\nreturn %0 : " + type + "\n}";
}

/// |got - want| in units of the float spacing at `want`; 0 for equal special values.
static double ulps(float got, double want) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : INFINITY;
  float rounded = float(want);
  if (std::isinf(rounded) || std::isinf(got)) return rounded == got ? 0 : INFINITY;
  int exponent = std::max(std::ilogb(want == 0 ? 0x1p-149 : want), -126);
  return std::fabs(double(got) - want) / std::ldexp(1.0, exponent - 23);
}

static void measure(const std::string &op, double bound, double (*exact)(double)) {
  constexpr int64_t n = 1 << 16;
  KernelRunner runner(elementwise(op, n));
  ASSERT_TRUE(runner.ok()) << op;
  std::vector<float> in(n), out(n);
  double worst = 0;
  float worstAt = 0;
  uint64_t bits = 0;
  bool specials = true;
  while (bits < (uint64_t(1) << 32)) {
    int64_t count = 0;
    if (specials)
      for (float x : {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 0x1p-149f, -0x1p-149f, 3.4028235e38f, -3.4028235e38f}) in[count++] = x;
    specials = false;
    for (; count < n; bits += 1009) {
      uint32_t word = uint32_t(std::min<uint64_t>(bits, 0xffffffff));
      std::memcpy(&in[count++], &word, 4);
    }
    runner.run({in.data()}, {out.data()}, {}, 1);
    for (int64_t i = 0; i < n; ++i) {
      double error = ulps(out[i], exact(in[i]));
      if (error > worst) {
        worst = error;
        worstAt = in[i];
      }
      if (in[i] == 0 && exact(in[i]) == 0) {
        ASSERT_EQ(std::signbit(out[i]), std::signbit(exact(in[i]))) << op;
      }
    }
  }
  ::testing::Test::RecordProperty(op, std::to_string(worst));
  std::printf("%-8s %.2f ulp at %.9g\n", op.c_str(), worst, worstAt);
  EXPECT_LE(worst, bound) << op << " at " << worstAt;
}

TEST(Math, Exponentials) {
  measure("exp", 2, [](double x) { return std::exp(x); });
  measure("exp2", 2, [](double x) { return std::exp2(x); });
  measure("expm1", 2, [](double x) { return std::expm1(x); });
}
TEST(Math, Logarithms) {
  measure("log", 2, [](double x) { return std::log(x); });
  measure("log2", 3, [](double x) { return std::log2(x); });
  measure("log10", 3, [](double x) { return std::log10(x); });
  measure("log1p", 3, [](double x) { return std::log1p(x); });
}
TEST(Math, Hyperbolic) {
  measure("tanh", 3, [](double x) { return std::tanh(x); });
  measure("erf", 3, [](double x) { return std::erf(x); });
}
TEST(Math, Trigonometric) {
  measure("sin", 1, [](double x) { return std::sin(x); });
  measure("cos", 1, [](double x) { return std::cos(x); });
  measure("tan", 1, [](double x) { return std::tan(x); });
}

TEST(Math, PowerAtSpecialValues) {
  const float values[] = {0.0f, -0.0f, 1.0f, -1.0f, 0.5f, -0.5f, 2.0f, -2.0f, 3.0f, -3.0f, 1e-40f, -1e-40f, 1e30f, -1e30f, 0.3f, 1.0000001f,
                          16777217.0f, INFINITY, -INFINITY, NAN};
  constexpr int64_t n = std::size(values) * std::size(values);
  std::string type = "tensor<" + std::to_string(n) + "xf32>";
  KernelRunner runner("func.func @f(%a: " + type + ", %b: " + type + ") -> " + type + " {\n%0 = graph.fusion \"k\" \"loop\" (%a, %b) : (" + type +
                      ", " + type + ") -> (" + type + ") {\n^bb0(%x: " + type + ", %y: " + type + "):\n%z = graph.pow %x, %y : " + type +
                      "\ngraph.yield %z : " + type + "\n}\nreturn %0 : " + type + "\n}");
  ASSERT_TRUE(runner.ok());
  std::vector<float> x, y, out(n);
  for (float a : values)
    for (float b : values) {
      x.push_back(a);
      y.push_back(b);
    }
  runner.run({x.data(), y.data()}, {out.data()});
  for (int64_t i = 0; i < n; ++i) {
    double want = std::pow(double(x[i]), double(y[i]));
    EXPECT_LE(ulps(out[i], want), 1) << x[i] << " ^ " << y[i] << " = " << out[i];
    if (!std::isnan(want)) {
      EXPECT_EQ(std::signbit(out[i]), std::signbit(want)) << x[i] << " ^ " << y[i];
    }
  }
}
