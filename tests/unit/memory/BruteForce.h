// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Plans by trying everything: slow, and too simple to be wrong.
#ifndef STATOR_TESTS_UNIT_MEMORY_BRUTEFORCE_H
#define STATOR_TESTS_UNIT_MEMORY_BRUTEFORCE_H

#include "codegen/memory/MemoryPlanner.h"
#include "codegen/memory/Random.h"

#include <string>

namespace stator::memory {

/// Whether the first arena's buffers have offsets within [0, capacity), by trying every offset of every buffer.
/// Heeds alignment and fixed offsets, knows nothing of sharing and symbols. For a handful of buffers of a few bytes.
bool fitsByForce(const Problem &problem, int64_t capacity);

/// The smallest capacity that fits.
int64_t smallestByForce(const Problem &problem);

/// A few buffers of a few bytes over a few moments. Sizes are multiples of their alignment.
struct RandomShape {
  int mostBuffers = 6;
  int mostTime = 6;
  int mostSize = 5;
  bool alignment = false;
  bool fixed = false;
};
Problem randomProblem(Random &random, const RandomShape &shape);

/// For messages: the buffers of a problem, one a line.
std::string describe(const Problem &problem);

} // namespace stator::memory

#endif // STATOR_TESTS_UNIT_MEMORY_BRUTEFORCE_H
