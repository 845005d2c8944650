// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/CpuLevel.h"
#include "tests/unit/codegen/KernelRunner.h"
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
