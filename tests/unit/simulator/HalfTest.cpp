// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// f16 and bf16 rows.
#include "tests/unit/simulator/OpcodeBench.h"

namespace stator::sim::test {
namespace {

TEST(Half, Arithmetic) {
  expectRows("add.rn.f16 $d, $a, $b", "hh>h",
             {{0x3c00, 0x3c00, 0x4000}, {0x7bff, 0x7bff, 0x7c00}, {0x7c00, 0xfc00, 0x7fff}, {1, 1, 2}});
  // 2048 + 1 is a tie that stays even; 2050 + 1 goes up to 2052.
  expectRows("add.rn.f16 $d, $a, $b", "hh>h", {{0x6800, 0x3c00, 0x6800}, {0x6801, 0x3c00, 0x6802}});
  expectRows("sub.rn.f16x2 $d, $a, $b", "ww>w", {{0x40003c00, 0x3c003c00, 0x3c000000}});
  expectRows("mul.rn.f16 $d, $a, $b", "hh>h", {{0x0001, 0x3800, 0}, {0x0003, 0x3800, 2}, {0xc000, 0x4200, 0xc600}});
  expectRows("add.rn.ftz.f16 $d, $a, $b", "hh>h", {{1, 1, 0}});
  expectRows("add.rn.sat.f16 $d, $a, $b", "hh>h", {{0x3c00, 0x3c00, 0x3c00}, {0xbc00, 0, 0}});
  // (1 + 2^-10)^2 - (1 + 2^-9) = 2^-20, lost when the product is rounded first.
  expectRows("fma.rn.f16 $d, $a, $b, $c", "hhh>h", {{0x3c01, 0x3c01, 0xbc02, 0x0010}});
  expectRows("fma.rn.relu.f16 $d, $a, $b, $c", "hhh>h", {{0xbc00, 0x3c00, 0, 0}});
  // 1.5 * (1 + 2^-7) = 1.51171875 is a tie between 0x3fc1 and 0x3fc2; an addend far below decides it.
  expectRows("fma.rn.bf16 $d, $a, $b, $c", "hhh>h",
             {{0x3fc0, 0x3f81, 0, 0x3fc2}, {0x3fc0, 0x3f81, 0x8001, 0x3fc1}, {0x3fc0, 0x3f81, 1, 0x3fc2}});
  expectRows("fma.rn.bf16x2 $d, $a, $b, $c", "www>w", {{0x3f803f80, 0x40004000, 0x3f803f80, 0x40404040}});
}

TEST(Half, MinMaxCompare) {
  expectRows("max.f16 $d, $a, $b", "hh>h", {{0x8000, 0, 0}, {0x7e00, 0x3c00, 0x3c00}, {0x7e00, 0x7e00, 0x7fff}});
  expectRows("min.NaN.f16x2 $d, $a, $b", "ww>w", {{0x7e003c00, 0x3c004000, 0x7fff3c00}});
  expectRows("max.bf16x2 $d, $a, $b", "ww>w", {{0x3f80bf80, 0x40000000, 0x40000000}});
  expectRows("setp.lt.f16 $d, $a, $b", "hh>p", {{0x3c00, 0x4000, 1}, {0x7e00, 0x4000, 0}});
  expectRows("setp.ltu.bf16 $d, $a, $b", "hh>p", {{0x7fc0, 0x4000, 1}});
  expectRows("set.eq.f16.f16 $d, $a, $b", "hh>h", {{0x3c00, 0x3c00, 0x3c00}, {0x3c00, 0, 0}});
  expectRows("neg.f16x2 $d, $a", "w>w", {{0x00003c00, 0x8000bc00}});
  expectRows("abs.bf16 $d, $a", "h>h", {{0xbf80, 0x3f80}});
  expectRows("ex2.approx.f16 $d, $a", "h>h", {{0x4000, 0x4400}, {0xfc00, 0}});
  expectRows("tanh.approx.f16 $d, $a", "h>h", {{0x7c00, 0x3c00}, {0x8000, 0x8000}});
}

} // namespace
} // namespace stator::sim::test
