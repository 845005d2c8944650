// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Registers of a thread, and how many blocks a multiprocessor holds because of them.
#include "tests/unit/simulator/Machine.h"

#include <gtest/gtest.h>

namespace stator::sim::test {
namespace {

/// A kernel that loads `live` words before it uses any of them, inside a loop if asked.
std::string kernelWith(unsigned live, const std::string &directives, bool loop = false) {
  std::string text = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 p)\n" + directives +
                     "\n{\n.reg .b32 %r<" + std::to_string(live) + ">, %i; .reg .b64 %d<2>; .reg .pred %p;\n" +
                     "ld.param.u64 %d0, [p]; mov.u32 %i, 0;\n";
  for (unsigned i = 0; i < live; ++i)
    text += "ld.global.u32 %r" + std::to_string(i) + ", [%d0+" + std::to_string(4 * i) + "];\n";
  if (loop) text += "L:\n";
  for (unsigned i = 1; i < live; ++i) text += "add.u32 %r0, %r0, %r" + std::to_string(i) + ";\n";
  if (loop) text += "add.u32 %i, %i, 1; setp.lt.u32 %p, %i, 4; @%p bra L;\n";
  return text + "st.global.u32 [%d0], %r0;\nret;\n}\n";
}

const Kernel &decode(Machine &machine, const std::string &text) {
  machine.module = ptx::parse(text);
  machine.kernel = decodeKernel(machine.module, machine.module.functions[0], {}, text);
  return *machine.kernel;
}

TEST(Occupancy, RegistersAreEstimated) {
  Machine machine("a100");
  uint32_t few = decode(machine, kernelWith(4, "")).registersPerThread;
  EXPECT_GE(few, 6u);
  EXPECT_LE(few, 20u);
  for (bool loop : {false, true}) {
    uint32_t many = decode(machine, kernelWith(100, "", loop)).registersPerThread;
    EXPECT_GE(many, 100u);
    EXPECT_LE(many, 116u);
  }
  EXPECT_EQ(decode(machine, kernelWith(400, "")).registersPerThread, 255u);
}

TEST(Occupancy, BoundsOfTheKernelHold) {
  Machine machine("a100");
  EXPECT_EQ(decode(machine, kernelWith(100, ".maxnreg 48")).registersPerThread, 48u);
  EXPECT_EQ(decode(machine, kernelWith(100, ".maxntid 1024, 1, 1")).registersPerThread, 64u);
  EXPECT_EQ(decode(machine, kernelWith(100, ".maxntid 256, 1, 1\n.minnctapersm 4")).registersPerThread, 64u);
}

TEST(Occupancy, BlocksFollowFromRegisters) {
  Machine machine("a100");
  // 65536 registers: 48 a thread and 256 threads make 5 blocks, 112 make 2.
  EXPECT_EQ(blocksPerSm(decode(machine, kernelWith(100, ".maxnreg 48")), *machine.chip, 256, 0), 5u);
  const Kernel &many = decode(machine, kernelWith(100, ".maxnreg 112"));
  EXPECT_EQ(blocksPerSm(many, *machine.chip, 256, 0), 2u);
  // An estimate alone keeps no block from running.
  EXPECT_EQ(blocksPerSm(many, *machine.chip, 1024, 0), 1u);
}

} // namespace
} // namespace stator::sim::test
