// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random tiles through the simulator's tensor cores, every element compared with TensorModel.h.
#pragma once

#include "runtime/simulator/Chips.h"
#include "tests/unit/simulator/TensorModel.h"

namespace stator::sim::test {

struct Exactness {
  uint64_t tiles = 0, elements = 0, mismatches = 0, subnormal = 0, zero = 0; ///< the last two: results of that kind
};

/// `tiles` tiles of 16x8 with the longest k that mma.sync has. Exponents are narrow in some tiles and as wide as the
/// type in others; zeros and subnormal numbers are among operands and accumulators.
Exactness compareTiles(const Chip &chip, Type type, bool half, uint64_t tiles, uint64_t seed);

} // namespace stator::sim::test
