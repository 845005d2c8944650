// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random legal programs: the simulator computes what the interpreter of RandomProgram.h says, on every schedule, and
// finds nothing. STATOR_RANDOM_SEEDS=FROM:COUNT runs other seeds.
#include "tests/unit/simulator/Machine.h"
#include "tests/unit/simulator/RandomProgram.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace stator::sim::test {
namespace {

TEST(RandomPrograms, ComputeWhatTheInterpreterSays) {
  uint64_t from = 1, count = 400;
  if (const char *seeds = std::getenv("STATOR_RANDOM_SEEDS")) {
    char *end = nullptr;
    from = std::strtoull(seeds, &end, 10);
    count = *end == ':' ? std::strtoull(end + 1, nullptr, 10) : 1;
  }
  for (uint64_t seed = from; seed < from + count; ++seed) {
    RandomProgram program = randomProgram(seed);
    for (uint64_t schedule : {0, 5}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " schedule " + std::to_string(schedule));
      Machine machine;
      machine.settings.schedule = schedule;
      uint64_t in = machine.upload(program.input), out = machine.allocate(program.expected.size() * 4);
      LaunchResult result = machine.run(program.text, {program.blocks}, {program.threads}, in, out);
      for (const Finding &f : result.findings) ADD_FAILURE() << toText(f);
      auto got = machine.download<uint32_t>(out, program.expected.size());
      size_t perThread = program.expected.size() / (program.blocks * program.threads);
      for (size_t i = 0; i < got.size() && !HasFailure(); ++i)
        EXPECT_EQ(got[i], program.expected[i]) << "thread " << i / perThread << " word " << i % perThread;
      if (HasFailure()) {
        std::printf("%s", program.text.c_str());
        return;
      }
    }
  }
}

} // namespace
} // namespace stator::sim::test
