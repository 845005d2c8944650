// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integer rows against values worked out by hand from the PTX specification.
#include "tests/unit/simulator/OpcodeBench.h"

namespace stator::sim::test {
namespace {

constexpr uint64_t kM = 0xffffffff, kMin = 0x80000000, kMax = 0x7fffffff, kL = ~uint64_t{0};

TEST(Integer, AddSubtract) {
  expectRows("add.s32 $d, $a, $b", "ww>w", {{1, 2, 3}, {kMax, 1, kMin}, {kM, 1, 0}});
  expectRows("add.u16 $d, $a, $b", "hh>h", {{0xffff, 2, 1}});
  expectRows("add.s64 $d, $a, $b", "dd>d", {{kL, 1, 0}, {1ull << 63, 1ull << 63, 0}});
  expectRows("add.sat.s32 $d, $a, $b", "ww>w", {{kMax, 1, kMax}, {kMin, kM, kMin}, {5, 6, 11}});
  expectRows("sub.s32 $d, $a, $b", "ww>w", {{1, 2, kM}, {kMin, 1, kMax}});
  expectRows("sub.sat.s32 $d, $a, $b", "ww>w", {{kMin, 1, kMin}, {kMax, kM, kMax}});
}

TEST(Integer, Carry) {
  expectRows("add.cc.u32 %w4, $a, $a; addc.u32 $d, $b, $b", "ww>w", {{kMin, 1, 3}, {1, 1, 2}});
  expectRows("sub.cc.u32 %w4, $a, $b; subc.u32 $d, $a, 0", "ww>w", {{0, 1, kM}, {3, 3, 3}});
  expectRows("mad.lo.cc.u32 %w4, $a, $b, $b; madc.hi.u32 $d, $a, $b, 0", "ww>w", {{kM, kM, kM - 1 + 1}, {2, 3, 0}});
}

TEST(Integer, Multiply) {
  expectRows("mul.lo.s32 $d, $a, $b", "ww>w", {{kM, kM, 1}, {0x10000, 0x10000, 0}});
  expectRows("mul.hi.u32 $d, $a, $b", "ww>w", {{kM, kM, kM - 1}});
  expectRows("mul.hi.s32 $d, $a, $b", "ww>w", {{kM, kM, 0}, {kMin, 2, kM}});
  expectRows("mul.wide.s32 $d, $a, $b", "ww>d", {{kM, 2, kL - 1}});
  expectRows("mul.wide.u32 $d, $a, $b", "ww>d", {{kM, 2, 0x1fffffffe}});
  expectRows("mul.hi.s64 $d, $a, $b", "dd>d", {{kL, kL, 0}, {1ull << 63, 2, kL}});
  expectRows("mul.hi.u64 $d, $a, $b", "dd>d", {{kL, kL, kL - 1}});
  expectRows("mad.lo.s32 $d, $a, $b, $c", "www>w", {{3, 4, 5, 17}, {kM, 7, 7, 0}});
  expectRows("mad.wide.s32 $d, $a, $b, $c", "wwd>d", {{kM, 3, 3, 0}});
  expectRows("mul24.hi.u32 $d, $a, $b", "ww>w", {{0xffffff, 0xffffff, 0xfffffe00}});
  expectRows("sad.s32 $d, $a, $b, $c", "www>w", {{kM, 2, 10, 13}, {kMin, kMax, 0, kM}});
}

TEST(Integer, Divide) {
  expectRows("div.s32 $d, $a, $b", "ww>w", {{kM - 6, 2, kM - 2}, {7, kM - 1, kM - 2}});
  expectRows("rem.s32 $d, $a, $b", "ww>w", {{kM - 6, 2, kM}, {7, kM - 1, 1}});
  expectRows("div.u64 $d, $a, $b", "dd>d", {{kL, 10, 1844674407370955161ull}});
  expectRows("rem.u64 $d, $a, $b", "dd>d", {{kL, 10, 5}});
}

TEST(Integer, DivisionByZeroIsUndefined) {
  Machine machine;
  uint64_t in = machine.upload(std::vector<uint64_t>{5, 0}), out = machine.upload(std::vector<uint64_t>{0});
  EXPECT_EQ(kindsOf(machine.run(kernelFor("div.s32 $d, $a, $b", "ww>w", "sm_80"), {1}, {1}, in, out)), "uninitialised");
  in = machine.upload(std::vector<uint64_t>{kMin, kM});
  EXPECT_EQ(kindsOf(machine.run(kernelFor("div.s32 $d, $a, $b", "ww>w", "sm_80"), {1}, {1}, in, out)), "uninitialised");
}

TEST(Integer, MinMaxAbsNeg) {
  expectRows("min.s32 $d, $a, $b", "ww>w", {{kM, 1, kM}, {kMin, kMax, kMin}});
  expectRows("min.u32 $d, $a, $b", "ww>w", {{kM, 1, 1}});
  expectRows("max.s64 $d, $a, $b", "dd>d", {{kL, 1, 1}});
  expectRows("abs.s32 $d, $a", "w>w", {{kM, 1}, {kMin, kMin}, {5, 5}});
  expectRows("neg.s32 $d, $a", "w>w", {{1, kM}, {kMin, kMin}});
}

TEST(Bits, ShiftsClamp) {
  expectRows("shl.b32 $d, $a, $b", "ww>w", {{1, 31, kMin}, {1, 32, 0}, {1, 40, 0}, {1, kM, 0}});
  expectRows("shr.u32 $d, $a, $b", "ww>w", {{kMin, 31, 1}, {kMin, 32, 0}, {kMin, 64, 0}});
  expectRows("shr.s32 $d, $a, $b", "ww>w", {{kMin, 31, kM}, {kMin, 32, kM}, {kMax, 40, 0}});
  expectRows("shl.b64 $d, $a, $b", "dw>d", {{1, 63, 1ull << 63}, {1, 64, 0}, {1, 100, 0}});
  expectRows("shr.s64 $d, $a, $b", "dw>d", {{1ull << 63, 64, kL}});
  expectRows("shl.b16 $d, $a, $b", "hw>h", {{1, 15, 0x8000}, {1, 16, 0}});
  expectRows("shf.l.wrap.b32 $d, $a, $b, $c", "www>w", {{0x80000001, 0x2, 33, 0x5}});
  expectRows("shf.l.clamp.b32 $d, $a, $b, $c", "www>w", {{0x12345678, 0x9abcdef0, 33, 0x12345678}});
  expectRows("shf.r.wrap.b32 $d, $a, $b, $c", "www>w", {{0x12345678, 0x9abcdef0, 4, 0x01234567}});
  expectRows("shf.r.clamp.b32 $d, $a, $b, $c", "www>w", {{0x12345678, 0x9abcdef0, 40, 0x9abcdef0}});
}

TEST(Bits, Fields) {
  expectRows("bfe.u32 $d, $a, $b, $c", "www>w",
             {{0xabcd1234, 8, 8, 0x12}, {kM, 0, 0, 0}, {kM, 40, 4, 0}, {kM, 28, 8, 15}});
  expectRows("bfe.s32 $d, $a, $b, $c", "www>w",
             {{0xf0, 4, 4, kM}, {kMin, 40, 4, kM}, {kM, 0, 0, 0}, {kMin, 28, 8, kM - 7}});
  expectRows("bfi.b32 $d, $a, $b, $c, 8", "www>w", {{0xab, 0, 4, 0xab0}, {0xab, kM, 28, 0xbfffffff}, {0xab, 7, 32, 7}});
  expectRows("bfi.b32 $d, $a, $b, $c, 0", "www>w", {{0xab, 9, 4, 9}});
  expectRows("bfind.u32 $d, $a", "w>w", {{0, kM}, {kMin, 31}, {1, 0}});
  expectRows("bfind.s32 $d, $a", "w>w", {{kM, kM}, {kM - 1, 0}, {0x40000000, 30}});
  expectRows("bfind.shiftamt.u32 $d, $a", "w>w", {{1, 31}, {0, kM}});
  expectRows("popc.b64 $d, $a", "d>w", {{kL, 64}, {0x101, 2}});
  expectRows("clz.b32 $d, $a", "w>w", {{0, 32}, {1, 31}});
  expectRows("clz.b64 $d, $a", "d>w", {{0, 64}, {1, 63}});
  expectRows("brev.b32 $d, $a", "w>w", {{1, kMin}, {0x12345678, 0x1e6a2c48}});
}

TEST(Bits, Permute) {
  expectRows("prmt.b32 $d, $a, $b, $c", "www>w",
             {{0x33221100, 0x77665544, 0x7520, 0x77552200}, {0x00000080, 0, 0x8888, kM}, {0x7f, 0, 0x8888, 0}});
  expectRows("prmt.b32.f4e $d, $a, $b, $c", "www>w", {{0x33221100, 0x77665544, 1, 0x44332211}});
  expectRows("prmt.b32.b4e $d, $a, $b, $c", "www>w", {{0x33221100, 0x77665544, 1, 0x66770011}});
  expectRows("prmt.b32.rc8 $d, $a, $b, $c", "www>w", {{0x33221100, 0, 2, 0x22222222}});
  expectRows("prmt.b32.ecl $d, $a, $b, $c", "www>w", {{0x33221100, 0, 2, 0x33222222}});
  expectRows("prmt.b32.ecr $d, $a, $b, $c", "www>w", {{0x33221100, 0, 2, 0x22221100}});
  expectRows("prmt.b32.rc16 $d, $a, $b, $c", "www>w", {{0x33221100, 0, 1, 0x33223322}});
}

TEST(Bits, LogicAndDots) {
  expectRows("lop3.b32 $d, $a, $b, $c, 0xe8", "www>w", {{0xf0, 0xcc, 0xaa, 0xe8}});
  expectRows("and.b32 $d, $a, $b", "ww>w", {{12, 10, 8}});
  expectRows("not.b64 $d, $a", "d>d", {{0, kL}});
  expectRows("cnot.b32 $d, $a", "w>w", {{0, 1}, {7, 0}});
  expectRows("xor.pred $d, $a, $b", "pp>p", {{1, 0, 1}, {1, 1, 0}});
  expectRows("dp4a.s32.s32 $d, $a, $b, $c", "www>w", {{0x01ff02fe, 0x01010101, 5, 5}});
  expectRows("dp4a.u32.u32 $d, $a, $b, $c", "www>w", {{0x01ff02fe, 0x01010101, 0, 1 + 255 + 2 + 254}});
  expectRows("dp2a.hi.s32.s32 $d, $a, $b, $c", "www>w", {{0x0002ffff, 0x03040000, 0, 2}});
}

TEST(Compare, Integers) {
  expectRows("setp.lt.s32 $d, $a, $b", "ww>p", {{kM, 0, 1}, {0, kM, 0}});
  expectRows("setp.lt.u32 $d, $a, $b", "ww>p", {{kM, 0, 0}, {0, kM, 1}});
  expectRows("setp.hs.u32 $d, $a, $b", "ww>p", {{kM, 0, 1}, {0, 0, 1}});
  expectRows("setp.ne.and.s32 $d, $a, $b, $c", "wwp>p", {{1, 0, 1, 1}, {1, 0, 0, 0}, {1, 1, 1, 0}});
  expectRows("setp.eq.or.b64 $d, $a, $b, !$c", "ddp>p", {{1, 0, 1, 0}, {1, 0, 0, 1}});
  expectRows("setp.gt.s32 %p4|$d, $a, $b", "ww>p", {{3, 2, 0}, {1, 2, 1}});
  expectRows("set.lt.u32.s32 $d, $a, $b", "ww>w", {{kM, 0, kM}, {1, 0, 0}});
  expectRows("selp.b32 $d, $a, $b, $c", "wwp>w", {{1, 2, 1, 1}, {1, 2, 0, 2}});
  expectRows("slct.b32.s32 $d, $a, $b, $c", "www>w", {{1, 2, 0, 1}, {1, 2, kM, 2}});
}

} // namespace
} // namespace stator::sim::test
