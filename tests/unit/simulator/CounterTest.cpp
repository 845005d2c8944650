// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters of small kernels, against numbers worked out by hand.
#include "tests/unit/simulator/Machine.h"

#include <gtest/gtest.h>

namespace stator::sim::test {
namespace {

/// A kernel with `in` and `out`, the thread's number in %r0, byte offsets of it in %d2 (global) and %r1 (shared `s`).
std::string kernel(const std::string &body) {
  return R"(.version 7.8
.target sm_80
.address_size 64
.visible .entry kernel(.param .u64 in, .param .u64 out)
{
  .reg .pred %p<8>;
  .reg .f32 %f<8>;
  .reg .b32 %r<32>;
  .reg .b64 %d<16>;
  .shared .align 16 .b8 s[16384];
  ld.param.u64 %d0, [in];
  ld.param.u64 %d1, [out];
  mov.u32 %r0, %tid.x;
  mul.wide.u32 %d2, %r0, 4;
  shl.b32 %r1, %r0, 2;
)" + body +
         "  ret;\n}\n";
}
/// Instructions before the body, and the `ret`.
constexpr uint64_t kAround = 6;

class CounterTest : public testing::Test {
protected:
  Counters count(const std::string &body, uint32_t threads = 32, uint32_t blocks = 1) {
    uint64_t in = machine.upload(std::vector<uint32_t>(8192, 1), "in");
    uint64_t out = machine.upload(std::vector<uint32_t>(8192, 0), "out");
    machine.settings.races = false;
    LaunchResult result = machine.run(kernel(body), {blocks}, {threads}, in, out);
    EXPECT_EQ(kindsOf(result), "");
    return result.counters;
  }
  Machine machine;
};

TEST_F(CounterTest, WarpAndLaneInstructions) {
  Counters c = count("  add.u32 %r2, %r0, 1;\n  add.rn.f32 %f1, 0f00000000, 0f00000000;\n", 40, 3);
  // Three blocks of a full warp and a warp of 8 lanes.
  EXPECT_EQ(c.warpInstructions, 3 * 2 * (kAround + 2));
  EXPECT_EQ(c.laneInstructions, 3 * 40 * (kAround + 2));
  EXPECT_EQ(c.of(OpClass::integer), 3u * 2 * 3); // mul.wide, shl, add
  EXPECT_EQ(c.of(OpClass::floating), 3u * 2);
  EXPECT_EQ(c.of(OpClass::control), 3u * 2);
}

TEST_F(CounterTest, DenseAccessesFillTheirSectors) {
  Counters c = count("  add.s64 %d3, %d0, %d2;\n  add.s64 %d4, %d1, %d2;\n  ld.global.u32 %r2, [%d3];\n"
                     "  st.global.u32 [%d4], %r2;\n",
                     128, 4);
  // All blocks touch the same 512 bytes.
  EXPECT_EQ(c.bytesRead, 4u * 512);
  EXPECT_EQ(c.sectorsRead, 4u * 16);
  EXPECT_EQ(c.idealRead, 4u * 16);
  EXPECT_EQ(c.sectorsWritten, 4u * 16);
  EXPECT_EQ(c.idealWritten, 4u * 16);
  EXPECT_EQ(c.dramSectorsRead, 16u);
  EXPECT_EQ(c.dramSectorsWritten, 16u);
}

TEST_F(CounterTest, StridesWasteSectors) {
  // Lane l reads word 2l: 256 bytes, half of them asked for.
  Counters c = count("  shl.b64 %d2, %d2, 1;\n  add.s64 %d3, %d0, %d2;\n  ld.global.u32 %r2, [%d3];\n");
  EXPECT_EQ(c.sectorsRead, 8u);
  EXPECT_EQ(c.idealRead, 4u);
  // Lane l reads word 32l: a sector each.
  c = count("  shl.b64 %d2, %d2, 5;\n  add.s64 %d3, %d0, %d2;\n  ld.global.u32 %r2, [%d3];\n");
  EXPECT_EQ(c.sectorsRead, 32u);
  EXPECT_EQ(c.idealRead, 4u);
  EXPECT_EQ(c.dramSectorsRead, 32u);
  // All lanes read one word: one sector, and that is ideal.
  c = count("  ld.global.u32 %r2, [%d0];\n");
  EXPECT_EQ(c.sectorsRead, 1u);
  EXPECT_EQ(c.idealRead, 1u);
  // Shifted by one word, 128 bytes lie in five sectors.
  c = count("  add.s64 %d3, %d0, %d2;\n  ld.global.u32 %r2, [%d3+4];\n");
  EXPECT_EQ(c.sectorsRead, 5u);
  EXPECT_EQ(c.idealRead, 4u);
}

TEST_F(CounterTest, VectorsAndBytes) {
  Counters c = count("  shl.b64 %d2, %d2, 2;\n  add.s64 %d3, %d0, %d2;\n"
                     "  ld.global.v4.u32 {%r2, %r3, %r4, %r5}, [%d3];\n");
  EXPECT_EQ(c.bytesRead, 512u);
  EXPECT_EQ(c.sectorsRead, 16u);
  c = count("  cvt.u64.u32 %d2, %r0;\n  add.s64 %d3, %d0, %d2;\n  ld.global.u8 %r2, [%d3];\n");
  EXPECT_EQ(c.bytesRead, 32u);
  EXPECT_EQ(c.sectorsRead, 1u);
}

TEST_F(CounterTest, BankConflicts) {
  auto conflicts = [&](const std::string &address, const std::string &access = "st.shared.u32 [%r2], %r0") {
    Counters c = count("  mov.u32 %r3, s;\n  " + address + ";\n  add.u32 %r2, %r2, %r3;\n  " + access + ";\n");
    return c.bankConflicts();
  };
  EXPECT_EQ(conflicts("mov.u32 %r2, %r1"), 0u);
  EXPECT_EQ(conflicts("shl.b32 %r2, %r1, 1"), 1u);     // stride 2: two lanes a bank
  EXPECT_EQ(conflicts("shl.b32 %r2, %r1, 2"), 3u);     // stride 4
  EXPECT_EQ(conflicts("shl.b32 %r2, %r1, 5"), 31u);    // stride 32: one bank
  EXPECT_EQ(conflicts("mul.lo.u32 %r2, %r1, 33"), 0u); // odd stride
  EXPECT_EQ(conflicts("mul.lo.u32 %r2, %r1, 3"), 0u);
  // Eight bytes a lane go in two halves, sixteen in four quarters, without conflicts where they are dense.
  EXPECT_EQ(conflicts("shl.b32 %r2, %r1, 1", "st.shared.v2.u32 [%r2], {%r0, %r0}"), 0u);
  EXPECT_EQ(conflicts("shl.b32 %r2, %r1, 2", "st.shared.v4.u32 [%r2], {%r0, %r0, %r0, %r0}"), 0u);
  // Rows of 64 bytes: a quarter of eight lanes of 16 bytes meets each bank four times.
  EXPECT_EQ(conflicts("shl.b32 %r2, %r1, 4", "st.shared.v4.u32 [%r2], {%r0, %r0, %r0, %r0}"), 4u * 3);
}

TEST_F(CounterTest, OneWordForAllLanesIsNoConflict) {
  Counters c = count("  mov.u32 %r3, s;\n  setp.eq.u32 %p0, %r0, 0;\n  @%p0 st.shared.u32 [%r3], 7;\n"
                     "  bar.sync 0;\n  ld.shared.u32 %r2, [%r3];\n");
  EXPECT_EQ(c.bankConflicts(), 0u);
  EXPECT_EQ(c.sharedWaves, 2u);
  EXPECT_EQ(c.of(OpClass::barrier), 1u);
}

TEST_F(CounterTest, Divergence) {
  // Half of the lanes branch away; in the second block of code all do.
  Counters c = count("  setp.lt.u32 %p0, %r0, 16;\n  @%p0 bra A;\n  add.u32 %r2, %r0, 1;\nA:\n"
                     "  setp.lt.u32 %p1, %r0, 64;\n  @%p1 bra B;\n  add.u32 %r2, %r0, 1;\nB:\n");
  EXPECT_EQ(c.divergentBranches, 1u);
  // setp, bra, add for 16 lanes, setp, bra; the guarded branches run for the lanes that take them.
  EXPECT_EQ(c.warpInstructions, kAround + 5);
  EXPECT_EQ(c.laneInstructions, 32 * (kAround + 5) - 16 - 16);
}

TEST_F(CounterTest, Atomics) {
  Counters c =
      count("  atom.global.add.u32 %r2, [%d1], 1;\n  add.s64 %d3, %d1, %d2;\n  red.global.add.u32 [%d3+1024], 1;\n");
  EXPECT_EQ(c.of(OpClass::atomic), 2u);
  // One sector and four, each read and written.
  EXPECT_EQ(c.sectorsRead, 5u);
  EXPECT_EQ(c.sectorsWritten, 5u);
  EXPECT_EQ(c.dramSectorsRead, 5u);
  EXPECT_EQ(c.dramSectorsWritten, 5u);
}

TEST_F(CounterTest, TensorInstructions) {
  std::string zero;
  for (int i = 2; i < 14; ++i) zero += "  mov.b32 %r" + std::to_string(i) + ", 0;\n";
  Counters c = count(zero + "  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, "
                            "{%r2, %r3, %r4, %r5}, {%r6, %r7}, {%r8, %r9, %r10, %r11};\n",
                     64, 2);
  EXPECT_EQ(c.of(OpClass::tensor), 4u);
}

// The sum over host threads is what one thread counts.
TEST_F(CounterTest, DoNotDependOnThreads) {
  std::string body = "  mov.u32 %r5, %ctaid.x;\n  mad.lo.u32 %r5, %r5, 64, %r0;\n  mul.wide.u32 %d2, %r5, 4;\n"
                     "  add.s64 %d3, %d0, %d2;\n  add.s64 %d4, %d1, %d2;\n  ld.global.u32 %r2, [%d3];\n"
                     "  st.global.u32 [%d4], %r2;\n";
  machine.settings.threads = 1;
  std::string one = count(body, 64, 100).json("kernel");
  machine.settings.threads = 4;
  EXPECT_EQ(count(body, 64, 100).json("kernel"), one);
  EXPECT_NE(one.find("\"dram_sectors_read\":800"), std::string::npos) << one; // 100 blocks of 256 bytes
}

TEST_F(CounterTest, JsonNamesEverything) {
  std::string json = count("").json("kernel");
  for (const char *name : {"warp_instructions", "lane_instructions", "class_move", "global_bytes_read",
                           "global_bytes_written", "sectors_read", "sectors_read_ideal", "sectors_written",
                           "sectors_written_ideal", "dram_sectors_read", "dram_sectors_written", "shared_waves",
                           "bank_conflicts", "divergent_branches", "tensor_instructions", "atomics", "barriers"})
    EXPECT_NE(json.find("\"" + std::string(name) + "\":"), std::string::npos) << name;
}

} // namespace
} // namespace stator::sim::test
