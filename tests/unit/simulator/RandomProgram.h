// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random legal PTX programs, and a slow interpreter that knows nothing of the simulator and says what they compute.
//
// A program is a tree of statements over a few registers. It is printed as PTX, and interpreted thread by thread on the
// tree itself; statements that threads do together (shuffles, votes, barriers, atomics followed by a barrier) stand at
// the top level, where every thread comes by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stator::sim::test {

struct RandomProgram {
  std::string text; ///< entry `kernel(in, out)`
  uint32_t threads = 0, blocks = 0;
  std::vector<uint32_t> input;    ///< words of `in`
  std::vector<uint32_t> expected; ///< words of `out` afterwards
};

/// The program of `seed`.
RandomProgram randomProgram(uint64_t seed);

} // namespace stator::sim::test
