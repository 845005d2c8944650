// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/CpuLevel.h"
#include "tests/unit/codegen/KernelRunner.h"
#include <array>
#include <cmath>
#include <gtest/gtest.h>

using stator::test::KernelRunner;

static std::vector<float> numbers(size_t n, float scale = 1) {
  std::vector<float> v(n);
  uint32_t state = 12345;
  for (float &x : v) {
    state = state * 1664525u + 1013904223u;
    x = (float(state >> 8) / float(1 << 24) * 2 - 1) * scale;
  }
  return v;
}

TEST(HostKernels, AddsAndScales) {
  KernelRunner runner(R"(
    func.func @f(%a: tensor<3x100xf32>, %b: tensor<3x100xf32>) -> tensor<3x100xf32> {
      %0 = graph.fusion "k" "loop" (%a, %b) : (tensor<3x100xf32>, tensor<3x100xf32>) -> (tensor<3x100xf32>) {
      ^bb0(%x: tensor<3x100xf32>, %y: tensor<3x100xf32>):
        %s = graph.add %x, %y : tensor<3x100xf32>
        %m = graph.mul %s, %x : tensor<3x100xf32>
        graph.yield %m : tensor<3x100xf32>
      }
      return %0 : tensor<3x100xf32>
    })");
  ASSERT_TRUE(runner.ok());
  auto a = numbers(300), b = numbers(300, 3);
  std::vector<float> out(300);
  runner.run({a.data(), b.data()}, {out.data()});
  for (int i = 0; i < 300; ++i) ASSERT_EQ(out[i], (a[i] + b[i]) * a[i]) << i;
  // Everything is contiguous: one loop.
  ASSERT_EQ(runner.fusion().launches.size(), 1u);
  EXPECT_TRUE(runner.fusion().launches[0].sizes.empty());
  EXPECT_EQ(runner.fusion().mayShare.size(), 2u);
  // So a result may take an input's place.
  std::vector<float> inPlace = b;
  runner.run({a.data(), inPlace.data()}, {inPlace.data()});
  EXPECT_EQ(inPlace, out);
}

TEST(HostKernels, SoftmaxOverTheLastDimension) {
  KernelRunner runner(R"(
    func.func @f(%a: tensor<5x77xf32>) -> tensor<5x77xf32> {
      %0 = graph.fusion "k" "reduce" (%a) : (tensor<5x77xf32>) -> (tensor<5x77xf32>) {
      ^bb0(%x: tensor<5x77xf32>):
        %m = graph.reduce_max %x dims = [1] : tensor<5x77xf32>
        %m1 = graph.reshape %m : tensor<5xf32> to tensor<5x1xf32>
        %mb = graph.broadcast %m1 : tensor<5x1xf32> to tensor<5x77xf32>
        %d = graph.sub %x, %mb : tensor<5x77xf32>
        %e = graph.exp %d : tensor<5x77xf32>
        %s = graph.sum %e dims = [1] : tensor<5x77xf32>
        %s1 = graph.reshape %s : tensor<5xf32> to tensor<5x1xf32>
        %sb = graph.broadcast %s1 : tensor<5x1xf32> to tensor<5x77xf32>
        %q = graph.div %e, %sb : tensor<5x77xf32>
        graph.yield %q : tensor<5x77xf32>
      }
      return %0 : tensor<5x77xf32>
    })");
  ASSERT_TRUE(runner.ok());
  EXPECT_EQ(runner.templateName(), "rows");
  auto a = numbers(5 * 77, 8);
  std::vector<float> out(5 * 77);
  runner.run({a.data()}, {out.data()});
  for (int r = 0; r < 5; ++r) {
    double most = -INFINITY, total = 0;
    for (int i = 0; i < 77; ++i) most = std::max(most, double(a[r * 77 + i]));
    for (int i = 0; i < 77; ++i) total += std::exp(a[r * 77 + i] - most);
    for (int i = 0; i < 77; ++i) {
      double expected = std::exp(a[r * 77 + i] - most) / total;
      ASSERT_NEAR(out[r * 77 + i], expected, 2e-6 * expected) << r << " " << i;
    }
  }
}

/// One spatial dimension of a pool.
struct PoolDim {
  int64_t in, kernel, stride, padding;
  bool ceil;
  int64_t out() const {
    int64_t free = in + 2 * padding - kernel, size = (ceil ? free + stride - 1 : free) / stride + 1;
    return ceil && (size - 1) * stride >= in + padding ? size - 1 : size;
  }
};

// The inner loop is cut at the borders; every window must still see its own elements and no others.
TEST(HostKernels, MaxPoolAtTheBorders) {
  for (bool ceil : {false, true})
    for (auto [kernel, stride, padding] :
         std::vector<std::array<int64_t, 3>>{{3, 2, 1}, {2, 1, 1}, {5, 1, 2}, {2, 3, 0}, {4, 5, 2}}) {
      PoolDim h{9, kernel, stride, padding, ceil}, w{43, kernel, stride, padding, ceil};
      auto pair = [](int64_t n) { return "[" + std::to_string(n) + ", " + std::to_string(n) + "]"; };
      std::string from = "tensor<2x3x9x43xf32>",
                  to = "tensor<2x3x" + std::to_string(h.out()) + "x" + std::to_string(w.out()) + "xf32>";
      KernelRunner runner("func.func @f(%a: " + from + ") -> " + to + " {\n%0 = graph.fusion \"k\" \"loop\" (%a) : (" +
                          from + ") -> (" + to + ") {\n^bb0(%x: " + from +
                          "):\n%v, %i = graph.max_pool %x kernel = " + pair(kernel) + " strides = " + pair(stride) +
                          " padding = " + pair(padding) + " dilations = [1, 1]" + (ceil ? " ceil_mode" : "") + " : " +
                          from + "\ngraph.yield %v : " + to + "\n}\nreturn %0 : " + to + "\n}");
      ASSERT_TRUE(runner.ok());
      auto a = numbers(2 * 3 * 9 * 43);
      a[100] = NAN, a[500] = -INFINITY, a[9 * 43 - 1] = NAN, a[2 * 9 * 43] = NAN;
      std::vector<float> out(6 * h.out() * w.out(), 0);
      runner.run({a.data()}, {out.data()});
      size_t at = 0;
      for (int64_t plane = 0; plane < 6; ++plane)
        for (int64_t i = 0; i < h.out(); ++i)
          for (int64_t j = 0; j < w.out(); ++j, ++at) {
            float most = -INFINITY;
            for (int64_t y = std::max<int64_t>(0, i * stride - padding);
                 y < std::min(h.in, i * stride - padding + kernel); ++y)
              for (int64_t x = std::max<int64_t>(0, j * stride - padding);
                   x < std::min(w.in, j * stride - padding + kernel); ++x)
                if (float value = a[(plane * h.in + y) * w.in + x]; value > most || std::isnan(value)) most = value;
            bool same = std::isnan(most) ? std::isnan(out[at]) : out[at] == most;
            ASSERT_TRUE(same) << kernel << " " << plane << " " << i << " " << j << ": " << out[at] << ", expected "
                              << most;
          }
    }
}

TEST(CpuLevel, NativeIsALevelAndOtherNamesAreNone) {
  auto native = stator::codegen::cpuLevel("native");
  ASSERT_TRUE(native);
  auto same = stator::codegen::cpuLevel(native->name);
  ASSERT_TRUE(same);
  EXPECT_EQ(same->lanes, native->lanes);
  EXPECT_EQ(__builtin_cpu_supports("avx512vl") != 0, native->lanes == 16);
  EXPECT_FALSE(stator::codegen::cpuLevel("skylake-avx512"));
  EXPECT_FALSE(stator::codegen::cpuLevel(""));
}
