// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-plan/InstanceFile.h"

#include "codegen/memory/Random.h"

#include <gtest/gtest.h>

#include <sstream>

using namespace stator::memory;

namespace {

std::string read(const std::string &text, Instance &instance) {
  std::istringstream in(text);
  return readInstance(in, "f.csv", instance);
}

void expectRefused(const std::string &text, const std::string &error) {
  Instance instance;
  EXPECT_EQ(read(text, instance), error) << text;
}

} // namespace

TEST(InstanceFile, ReadsWhatItWrites) {
  Instance instance, again;
  ASSERT_EQ(read("id,lower,upper,size,alignment\nb1,0,3,4,1\nb 2,-3,9,4,2\nb3,0,9,0,8\n", instance), "");
  ASSERT_EQ(instance.ids, (std::vector<std::string>{"b1", "b 2", "b3"}));
  EXPECT_EQ(instance.problem.buffers[1].lower, -3);
  EXPECT_EQ(instance.problem.buffers[1].alignment, 2);
  ASSERT_EQ(read(formatInstance(instance), again), "");
  EXPECT_EQ(formatInstance(again), formatInstance(instance));
}

TEST(InstanceFile, ColumnsInAnyOrderBlankLinesAndCarriageReturns) {
  Instance instance;
  ASSERT_EQ(read("\xef\xbb\xbfsize,id,offset,upper,lower\r\n\r\n4,a,,2,0\r\n4,b,16,2,0", instance), "");
  EXPECT_EQ(instance.problem.buffers[0].fixedOffset, kNone);
  EXPECT_EQ(instance.problem.buffers[1].fixedOffset, 16);
}

TEST(InstanceFile, BadInputIsRefusedWithItsLine) {
  const std::string head = "id,lower,upper,size,alignment,offset\n";
  expectRefused("", "f.csv:0: the file is empty: expected a line with the names of the columns");
  expectRefused("id,lower,upper\n", "f.csv:1: no column 'size'");
  expectRefused("id,lower,upper,size,id\n", "f.csv:1: column 'id' twice");
  expectRefused("id,lower,upper,size,colour\n", "f.csv:1: unknown column 'colour'");
  expectRefused(head + "a,0,1,2,1\n", "f.csv:2: expected 6 fields, found 5");
  expectRefused(head + "a,0,1,2,1,,\n", "f.csv:2: expected 6 fields, found 7");
  expectRefused(head + "\na,0,1,-2,1,\n", "f.csv:3: a: its size is negative");
  expectRefused(head + "a,0,1,2,1,\nb,5,5,2,1,\n", "f.csv:3: b: its life is empty");
  expectRefused(head + "a,0,1,2,0,\n", "f.csv:2: a: its alignment is not positive or too large");
  expectRefused(head + "a,0,1,99999999999999999999,1,\n", "f.csv:2: size '99999999999999999999' is out of range");
  expectRefused(head + "a,0,1,9223372036854775807,1,\n", "f.csv:2: a: its size is too large");
  expectRefused(head + "a,0,1,4611686018427387904,1,\n",
                "f.csv:2: a: the sizes and offsets up to here add up to more than 2^62 bytes");
  expectRefused(head + "a,0,1,2x,1,\n", "f.csv:2: size '2x' is not an integer");
  expectRefused(head + "a,0,1,+2,1,\n", "f.csv:2: size '+2' is not an integer");
  expectRefused(head + "a,0,1,2.5,1,\n", "f.csv:2: size '2.5' is not an integer");
  expectRefused(head + "a,0,1,0x10,1,\n", "f.csv:2: size '0x10' is not an integer");
  expectRefused(head + "a,0,,2,1,\n", "f.csv:2: upper '' is not an integer");
  expectRefused(head + ",0,1,2,1,\n", "f.csv:2: the id is empty");
  expectRefused(head + "a,0,1,2,1,\na,0,1,2,1,\n", "f.csv:3: id 'a' is already on line 2");
  expectRefused(head + "\"a\",0,1,2,1,\n", "f.csv:2: quoted fields are not supported");
  expectRefused(head + std::string("a\0b,0,1,2,1,\n", 13), "f.csv:2: a control character");
  expectRefused(head + "a,0,1,2,1,-4\n", "f.csv:2: the offset is negative");
  expectRefused(head + "a,0,1,2,4,2\n", "f.csv:2: a: its fixed offset is not aligned");
  expectRefused(head + "a,0,2,8,1,0\nb,1,3,8,1,4\n",
                "f.csv:3: b: it overlaps another one at their fixed offsets (a on line 2)");
  expectRefused(head + std::string(100'000, 'a'), "f.csv:2: the line is longer than 65536 bytes");
  expectRefused(head + std::string(300, 'a') + ",0,1,2,1,\n", "f.csv:2: the id is longer than 256 bytes");
}

TEST(InstanceFile, NoiseIsRefusedOrPlanned) {
  // Random edits of a good file: whatever comes out is refused with a message or is a sound problem.
  const std::string good = "id,lower,upper,size,alignment,offset\na,0,3,4,1,\nb,3,9,4,2,8\nc,0,9,4,1,\n";
  Random random(81);
  int sound = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (uint64_t edits = 1 + random.below(3); edits; --edits) {
      size_t at = random.below(text.size());
      switch (random.below(3)) {
      case 0: text[at] = static_cast<char>(random.below(256)); break;
      case 1: text.erase(at, 1 + random.below(4)); break;
      default: text.insert(at, 1, "0123456789,-\n\r\"x"[random.below(16)]); break;
      }
      if (text.empty()) text = ",";
    }
    Instance instance;
    std::string error = read(text, instance);
    if (!error.empty()) {
      ASSERT_EQ(error.compare(0, 5, "f.csv"), 0) << error;
      continue;
    }
    ++sound;
    ASSERT_EQ(checkProblem(instance.problem), "");
    Plan plan = planMemory(instance.problem);
    ASSERT_EQ(verifyPlan(instance.problem, plan), "") << text;
  }
  EXPECT_GT(sound, 500);
}

TEST(InstanceFile, PlansAreCheckedAgainstTheInstance) {
  Instance instance;
  ASSERT_EQ(read("id,lower,upper,size\na,0,2,4\nb,1,3,4\n", instance), "");
  auto readText = [&](const std::string &text) {
    std::istringstream in(text);
    Plan plan;
    std::string error = readPlan(in, "p.csv", instance, plan);
    return error.empty() ? verifyPlan(instance.problem, plan) : error;
  };
  EXPECT_EQ(readText("id,offset\na,0\nb,4\n"), "");
  EXPECT_EQ(readText("note,offset,id\nx,4,a\ny,0,b\n"), "");
  EXPECT_EQ(readText("id,offset\na,0\n"), "p.csv: buffer 'b' is not placed");
  EXPECT_EQ(readText("id,offset\na,0\na,4\n"), "p.csv:3: buffer 'a' is placed twice");
  EXPECT_EQ(readText("id,offset\na,0\nz,4\n"), "p.csv:3: there is no buffer 'z'");
  EXPECT_EQ(readText("id,offset\na,0\nb,-4\n"), "p.csv:3: the offset is negative or too large");
  EXPECT_NE(readText("id,offset\na,0\nb,3\n").find("overlap"), std::string::npos);
}
