// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The comparison that every case hangs on: what it must refuse, it refuses.
#include "tests/conformance/Compare.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/MLIRContext.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace stator;
using namespace stator::conformance;

namespace {
struct Compare : ::testing::Test {
  HostTensor one(llvm::StringRef element, double value) {
    HostTensor tensor(mlir::parseType(element, &context), {1});
    tensor.isFloat() ? tensor.setDouble(0, value) : tensor.setInt(0, int64_t(value));
    return tensor;
  }
  bool same(double got, double want, const Tolerance &tolerance = exact, llvm::StringRef element = "f32") {
    return difference(one(element, got), one(element, want), tolerance, {}, nullptr).empty();
  }
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
};
} // namespace

TEST_F(Compare, Exact) {
  EXPECT_TRUE(same(0.1f, 0.1f));
  EXPECT_TRUE(same(NAN, NAN));
  EXPECT_TRUE(same(INFINITY, INFINITY));
  EXPECT_FALSE(same(INFINITY, -INFINITY));
  EXPECT_FALSE(same(NAN, 1));
  EXPECT_FALSE(same(1, NAN));
  EXPECT_FALSE(same(0.0, -0.0)) << "the sign of zero";
  EXPECT_FALSE(same(std::nextafter(1.0f, 2.0f), 1));
  EXPECT_FALSE(same(0x1p-149, 0));
  EXPECT_TRUE(same(7, 7, exact, "i8"));
  EXPECT_FALSE(same(7, 6, ulps(5), "i8")) << "integers are exact";
  EXPECT_FALSE(difference(HostTensor(one("f32", 0).elementType, {2}), one("f32", 0), exact, {}, nullptr).empty());
}

TEST_F(Compare, UnitsInTheLastPlace) {
  float one = 1, next = std::nextafter(one, 2.0f), third = std::nextafter(std::nextafter(next, 2.0f), 2.0f);
  EXPECT_TRUE(same(next, one, ulps(1)));
  EXPECT_FALSE(same(third, one, ulps(2)));
  EXPECT_FALSE(same(0.0, -0.0, ulps(2)));
  EXPECT_FALSE(same(NAN, 1, ulps(2)));
  EXPECT_FALSE(same(3e38f, INFINITY, ulps(2)));
  // A narrow type's unit is its own, and one is the most.
  EXPECT_TRUE(same(1 + 0x1p-7, 1, ulps(1), "bf16"));
  EXPECT_FALSE(same(1 + 0x1p-6, 1, ulps(3), "bf16"));
  EXPECT_FALSE(same(1 + 0x1p-7, 1, exact, "bf16"));
}

TEST_F(Compare, Sums) {
  // 100 terms of together 1000: 2 * 100 * 2^-24 * 1000 is about 0.012.
  HostTensor magnitude = one("f32", 1000), got = one("f32", 0.01), far = one("f32", 0.02), want = one("f32", 0);
  EXPECT_EQ(difference(got, want, sumOf(100), {}, &magnitude), "");
  EXPECT_NE(difference(far, want, sumOf(100), {}, &magnitude), "");
}
