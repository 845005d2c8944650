// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Floating-point and conversion rows: special values, rounding directions, flushing, saturation.
#include "tests/unit/simulator/OpcodeBench.h"

#include <cmath>
#include <random>

namespace stator::sim::test {
namespace {

constexpr uint64_t kNaN = 0x7fffffff, kInf = 0x7f800000, kNegInf = 0xff800000, kNegZero = 0x80000000, kSub = 1;

TEST(Float, FmaIsFused) {
  float x = 1 + 0x1p-23f;
  // (1+2^-23)^2 - (1+2^-22) = 2^-46 exactly; unfused it would be 0.
  expectRows("fma.rn.f32 $d, $a, $b, $c", "www>w", {{f32(x), f32(x), f32(-(1 + 0x1p-22f)), f32(0x1p-46f)}});
  expectRows("mul.rn.f32 %w4, $a, $b; add.rn.f32 $d, %w4, $c", "www>w", {{f32(x), f32(x), f32(-(1 + 0x1p-22f)), 0}});
  double y = 1 + 0x1p-52;
  expectRows("fma.rn.f64 $d, $a, $b, $c", "ddd>d", {{f64(y), f64(y), f64(-(1 + 0x1p-51)), f64(0x1p-104)}});
}

TEST(Float, RoundingDirections) {
  // 1 + 2^-25 lies between 1 and 1 + 2^-23.
  expectRows("add.rn.f32 $d, $a, $b", "ww>w", {{f32(1), f32(0x1p-25f), f32(1)}});
  expectRows("add.rz.f32 $d, $a, $b", "ww>w", {{f32(-1), f32(-0x1p-25f), f32(-1)}});
  expectRows("add.rm.f32 $d, $a, $b", "ww>w", {{f32(-1), f32(-0x1p-25f), f32(-1 - 0x1p-23f)}});
  expectRows("add.rp.f32 $d, $a, $b", "ww>w", {{f32(1), f32(0x1p-25f), f32(1 + 0x1p-23f)}});
  expectRows("div.rp.f32 $d, $a, $b", "ww>w", {{f32(1), f32(3), 0x3eaaaaab}});
  expectRows("div.rm.f32 $d, $a, $b", "ww>w", {{f32(1), f32(3), 0x3eaaaaaa}});
  expectRows("sqrt.rp.f32 $d, $a", "w>w", {{f32(2), 0x3fb504f4}});
  expectRows("sqrt.rz.f32 $d, $a", "w>w", {{f32(2), 0x3fb504f3}});
  expectRows("fma.rm.f32 $d, $a, $b, $c", "www>w", {{f32(1), f32(-0x1p-25f), f32(-1), f32(-1 - 0x1p-23f)}});
  expectRows("rcp.rn.f32 $d, $a", "w>w", {{f32(3), 0x3eaaaaab}, {0, kInf}, {kNegZero, kNegInf}, {kInf, 0}});
  expectRows("add.rp.f64 $d, $a, $b", "dd>d", {{f64(1), f64(0x1p-60), f64(1 + 0x1p-52)}});
}

TEST(Float, FlushAndSaturate) {
  expectRows("add.rn.ftz.f32 $d, $a, $b", "ww>w", {{kSub, 0, 0}, {kNegZero | kSub, kNegZero, kNegZero}});
  expectRows("add.rn.f32 $d, $a, $b", "ww>w", {{kSub, kSub, 2}});
  expectRows("mul.rn.ftz.f32 $d, $a, $b", "ww>w", {{f32(0x1p-100f), f32(-0x1p-40f), kNegZero}});
  expectRows("mul.rn.f32 $d, $a, $b", "ww>w", {{f32(0x1p-100f), f32(-0x1p-40f), f32(-0x1p-140f)}});
  expectRows("add.rn.sat.f32 $d, $a, $b", "ww>w", {{f32(1), f32(1), f32(1)}, {f32(-1), f32(0), 0}, {kNaN, 0, 0}});
  expectRows("fma.rn.ftz.sat.f32 $d, $a, $b, $c", "www>w", {{f32(2), f32(2), f32(2), f32(1)}});
}

TEST(Float, CanonicalNaN) {
  expectRows("add.rn.f32 $d, $a, $b", "ww>w", {{kInf, kNegInf, kNaN}, {0xffc12345, f32(1), kNaN}});
  expectRows("mul.rn.f32 $d, $a, $b", "ww>w", {{0, kInf, kNaN}});
  expectRows("sqrt.rn.f32 $d, $a", "w>w", {{f32(-1), kNaN}, {kNegZero, kNegZero}});
}

TEST(Float, MinMax) {
  expectRows("max.f32 $d, $a, $b", "ww>w",
             {{0, kNegZero, 0}, {kNegZero, 0, 0}, {kNaN, f32(1), f32(1)}, {kNaN, kNaN, kNaN}});
  expectRows("min.f32 $d, $a, $b", "ww>w",
             {{0, kNegZero, kNegZero}, {f32(1), kNaN, f32(1)}, {f32(-2), f32(3), f32(-2)}});
  expectRows("max.NaN.f32 $d, $a, $b", "ww>w", {{kNaN, f32(1), kNaN}, {f32(2), f32(1), f32(2)}});
  expectRows("max.xorsign.abs.f32 $d, $a, $b", "ww>w", {{f32(-3), f32(2), f32(-3)}, {f32(-2), f32(-5), f32(5)}});
  expectRows("min.ftz.f32 $d, $a, $b", "ww>w", {{kSub, f32(1), 0}});
}

TEST(Float, SignsAndTests) {
  expectRows("abs.f32 $d, $a", "w>w", {{f32(-1), f32(1)}, {0xffc00000, 0x7fc00000}});
  expectRows("neg.f32 $d, $a", "w>w", {{0, kNegZero}});
  expectRows("copysign.f32 $d, $a, $b", "ww>w", {{f32(-1), f32(3), f32(-3)}});
  expectRows("testp.infinite.f32 $d, $a", "w>p", {{kInf, 1}, {f32(1), 0}, {kNaN, 0}});
  expectRows("testp.subnormal.f32 $d, $a", "w>p", {{kSub, 1}, {0, 0}});
}

TEST(Float, Compare) {
  std::vector<Row5> rows = {{f32(1), f32(2), 0}, {kNaN, f32(1), 0}, {0, kNegZero, 0}, {f32(2), f32(1), 0}};
  auto with = [&](std::vector<uint64_t> results) {
    for (size_t i = 0; i < rows.size(); ++i) rows[i][2] = results[i];
    return rows;
  };
  expectRows("setp.eq.f32 $d, $a, $b", "ww>p", with({0, 0, 1, 0}));
  expectRows("setp.ne.f32 $d, $a, $b", "ww>p", with({1, 0, 0, 1}));
  expectRows("setp.neu.f32 $d, $a, $b", "ww>p", with({1, 1, 0, 1}));
  expectRows("setp.equ.f32 $d, $a, $b", "ww>p", with({0, 1, 1, 0}));
  expectRows("setp.lt.f32 $d, $a, $b", "ww>p", with({1, 0, 0, 0}));
  expectRows("setp.ltu.f32 $d, $a, $b", "ww>p", with({1, 1, 0, 0}));
  expectRows("setp.geu.f32 $d, $a, $b", "ww>p", with({0, 1, 1, 1}));
  expectRows("setp.gtu.f32 $d, $a, $b", "ww>p", with({0, 1, 0, 1}));
  expectRows("setp.leu.f32 $d, $a, $b", "ww>p", with({1, 1, 1, 0}));
  expectRows("setp.num.f32 $d, $a, $b", "ww>p", with({1, 0, 1, 1}));
  expectRows("setp.nan.f32 $d, $a, $b", "ww>p", with({0, 1, 0, 0}));
  expectRows("setp.eq.ftz.f32 $d, $a, $b", "ww>p", {{kSub, 0, 1}});
}

TEST(Float, ApproximateSpecials) {
  expectRows("ex2.approx.f32 $d, $a", "w>w",
             {{kNegInf, 0},
              {0, f32(1)},
              {kNegZero, f32(1)},
              {kInf, kInf},
              {f32(10), f32(1024)},
              {kNaN, kNaN},
              {f32(-149), 1},
              {f32(-160), 0}});
  expectRows("ex2.approx.ftz.f32 $d, $a", "w>w", {{f32(-149), 0}});
  expectRows("lg2.approx.f32 $d, $a", "w>w", {{0, kNegInf}, {kNegZero, kNegInf}, {f32(-1), kNaN}, {f32(8), f32(3)}});
  expectRows("sin.approx.f32 $d, $a", "w>w", {{kInf, kNaN}, {kNegZero, kNegZero}});
  expectRows("rcp.approx.ftz.f32 $d, $a", "w>w", {{0, kInf}, {kNegZero, kNegInf}, {f32(4), f32(0.25f)}});
  expectRows("rsqrt.approx.f32 $d, $a", "w>w", {{kNegZero, kNegInf}, {f32(4), f32(0.5f)}, {f32(-1), kNaN}});
  expectRows("sqrt.approx.f32 $d, $a", "w>w", {{kNegZero, kNegZero}, {f32(9), f32(3)}});
  expectRows("tanh.approx.f32 $d, $a", "w>w", {{kInf, f32(1)}, {kNegInf, f32(-1)}, {kNegZero, kNegZero}});
  expectRows("div.approx.f32 $d, $a, $b", "ww>w",
             {{f32(1), f32(0x1p127f), 0}, {kInf, f32(0x1p127f), kNaN}, {f32(6), f32(3), f32(2)}});
  expectRows("div.full.f32 $d, $a, $b", "ww>w", {{f32(0x1p10f), f32(0x1p127f), f32(0x1p-117f)}});
}

TEST(Float, ExTwoIsWithinItsBoundEverywhere) {
  std::vector<float> x(4096);
  std::mt19937 random(7);
  for (size_t i = 0; i < x.size(); ++i) x[i] = std::uniform_real_distribution<float>(-150, 128)(random);
  for (bool adversarial : {false, true}) {
    Machine machine;
    if (adversarial) machine.settings.numerics = Settings::Numerics::adversarial;
    uint64_t in = machine.upload(x), out = machine.allocate(4 * x.size());
    std::string text =
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 a, .param .u64 b) {\n"
        ".reg .b64 %a, %b, %t; .reg .b32 %r<4>; .reg .f32 %f;\n"
        "ld.param.u64 %a, [a]; ld.param.u64 %b, [b]; mov.u32 %r0, %ctaid.x; mov.u32 %r1, %tid.x;\n"
        "mad.lo.s32 %r2, %r0, 128, %r1; mul.wide.u32 %t, %r2, 4; add.u64 %a, %a, %t; add.u64 %b, %b, %t;\n"
        "ld.global.f32 %f, [%a]; ex2.approx.f32 %f, %f; st.global.f32 [%b], %f; ret; }";
    EXPECT_EQ(kindsOf(machine.run(text, {32}, {128}, in, out)), "");
    auto y = machine.download<float>(out, x.size());
    size_t inexact = 0;
    for (size_t i = 0; i < x.size(); ++i) {
      double exact = std::exp2(static_cast<double>(x[i]));
      double ulp = std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
      EXPECT_LE(std::fabs(y[i] - exact), (adversarial ? 2 : 0.5001) * ulp) << x[i];
      inexact += std::fabs(y[i] - exact) > 0.51 * ulp;
    }
    EXPECT_EQ(inexact > 0, adversarial);
  }
}

TEST(Convert, FloatToInteger) {
  expectRows("cvt.rni.s32.f32 $d, $a", "w>w",
             {{f32(0.5f), 0}, {f32(1.5f), 2}, {f32(2.5f), 2}, {f32(-2.5f), 0xfffffffe}});
  expectRows("cvt.rzi.s32.f32 $d, $a", "w>w",
             {{kNaN, 0}, {f32(3e9f), 0x7fffffff}, {f32(-3e9f), 0x80000000}, {f32(-1.9f), 0xffffffff}});
  expectRows("cvt.rmi.s32.f32 $d, $a", "w>w", {{f32(-1.1f), 0xfffffffe}});
  expectRows("cvt.rpi.s32.f32 $d, $a", "w>w", {{f32(1.1f), 2}});
  expectRows("cvt.rzi.u32.f32 $d, $a", "w>w", {{f32(-1), 0}, {f32(4294967296.f), 0xffffffff}, {f32(3e9f), 3000000000}});
  expectRows("cvt.rzi.s64.f32 $d, $a", "w>d", {{kNaN, 1ull << 63}, {f32(1e30f), 0x7fffffffffffffff}});
  expectRows("cvt.rzi.s32.f64 $d, $a", "d>w", {{f64(NAN), 0x80000000}, {f64(2147483648.0), 0x7fffffff}});
  expectRows("cvt.rzi.u8.f32 $d, $a", "w>w", {{f32(300), 255}, {f32(-5), 0}});
  expectRows("cvt.rzi.s8.f32 $d, $a", "w>w", {{f32(-300), 0xffffff80}});
  expectRows("cvt.rni.f32.f32 $d, $a", "w>w", {{f32(2.5f), f32(2)}, {f32(-0.4f), kNegZero}});
  expectRows("cvt.rni.ftz.s32.f32 $d, $a", "w>w", {{kSub, 0}});
}

TEST(Convert, IntegerToFloat) {
  expectRows("cvt.rn.f32.s32 $d, $a", "w>w", {{16777217, f32(16777216)}, {0xffffffff, f32(-1)}});
  expectRows("cvt.rp.f32.s32 $d, $a", "w>w", {{16777217, f32(16777218)}});
  expectRows("cvt.rz.f32.u64 $d, $a", "d>w", {{~uint64_t{0}, f32(0x1.fffffep63f)}});
  expectRows("cvt.rn.f64.u64 $d, $a", "d>d", {{~uint64_t{0}, f64(0x1p64)}});
  expectRows("cvt.rn.f16.s32 $d, $a", "w>h", {{2049, 0x6800}, {70000, 0x7c00}, {0xffffffff, 0xbc00}});
  expectRows("cvt.rn.bf16.s32 $d, $a", "w>h", {{257, 0x4380}});
}

TEST(Convert, Floats) {
  expectRows("cvt.rn.f32.f64 $d, $a", "d>w", {{f64(1 + 0x1p-25), f32(1)}, {f64(1e300), kInf}});
  expectRows("cvt.rp.f32.f64 $d, $a", "d>w", {{f64(1 + 0x1p-25), f32(1 + 0x1p-23f)}});
  expectRows("cvt.f64.f32 $d, $a", "w>d", {{kSub, f64(0x1p-149)}});
  expectRows("cvt.rn.f16.f32 $d, $a", "w>h",
             {{f32(65519), 0x7bff},
              {f32(65520), 0x7c00},
              {f32(0x1p-25f), 0},
              {f32(0x1.8p-25f), 1},
              {kNaN, 0x7fff},
              {f32(-1), 0xbc00}});
  expectRows("cvt.rz.f16.f32 $d, $a", "w>h", {{f32(65535), 0x7bff}, {f32(1 + 0x1.fp-11f), 0x3c00}});
  expectRows("cvt.rn.bf16.f32 $d, $a", "w>h",
             {{f32(1 + 0x1p-8f), 0x3f80}, {f32(1 + 0x1.8p-7f), 0x3f82}, {kInf, 0x7f80}});
  expectRows("cvt.f32.f16 $d, $a", "h>w",
             {{0x0001, f32(0x1p-24f)}, {0x7c00, kInf}, {0xfbff, f32(-65504)}, {0x03ff, f32(0x1.ff8p-15f)}});
  expectRows("cvt.f32.bf16 $d, $a", "h>w", {{0x3f80, f32(1)}});
  expectRows("cvt.rn.f16x2.f32 $d, $a, $b", "ww>w", {{f32(1), f32(2), 0x3c004000}});
  expectRows("cvt.rn.bf16x2.f32 $d, $a, $b", "ww>w", {{f32(1), f32(2), 0x3f804000}});
  expectRows("cvt.rn.relu.f16x2.f32 $d, $a, $b", "ww>w", {{f32(-1), f32(2), 0x00004000}});
  expectRows("cvt.rna.tf32.f32 $d, $a", "w>w", {{f32(1 + 0x1p-11f), f32(1 + 0x1p-10f)}, {f32(1 + 0x1p-12f), f32(1)}});
  expectRows("cvt.sat.f32.f32 $d, $a", "w>w", {{f32(-1), 0}, {f32(2), f32(1)}, {kNaN, 0}});
}

TEST(Convert, Fp8) {
  expectRows("cvt.rn.satfinite.e4m3x2.f32 $d, $a, $b", "ww>h",
             {{f32(448), f32(1), 0x7e38},
              {f32(1000), f32(-1000), 0x7efe},
              {kNaN, f32(0x1p-9f), 0x7f01},
              {f32(0.0625f), f32(1.0625f), 0x1838}});
  expectRows("cvt.rn.satfinite.e5m2x2.f32 $d, $a, $b", "ww>h",
             {{f32(1), f32(1e9f), 0x3c7b}, {f32(0x1p-16f), f32(-2), 0x01c0}});
  expectRows("cvt.rn.f16x2.e4m3x2 $d, $a", "h>w", {{0x7e38, 0x5f003c00}, {0x7f01, 0x7fff1800}});
  expectRows("cvt.rn.f16x2.e5m2x2 $d, $a", "h>w", {{0x3c7c, 0x3c007c00}});
}

TEST(Convert, IntegerWidths) {
  expectRows("cvt.u64.u32 $d, $a", "w>d", {{0xffffffff, 0xffffffff}});
  expectRows("cvt.s64.s32 $d, $a", "w>d", {{0xffffffff, ~uint64_t{0}}});
  expectRows("cvt.u32.u8 $d, $a", "w>w", {{0x1ff, 0xff}});
  expectRows("cvt.s32.s8 $d, $a", "w>w", {{0x80, 0xffffff80}});
  expectRows("cvt.sat.s8.s32 $d, $a", "w>w", {{200, 127}, {0xffffff00, 0xffffff80}});
  expectRows("cvt.sat.u16.s32 $d, $a", "w>h", {{0xffffffff, 0}, {70000, 0xffff}});
}

} // namespace
} // namespace stator::sim::test
