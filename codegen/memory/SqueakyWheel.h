// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Improves a first-fit order by moving up the blocks that ended too high.
#ifndef STATOR_CODEGEN_MEMORY_SQUEAKYWHEEL_H
#define STATOR_CODEGEN_MEMORY_SQUEAKYWHEEL_H

#include "codegen/memory/Block.h"

namespace stator::memory {

/// Squeaky-wheel optimisation (Joslin and Clements, JAIR 10, 1999): place by first fit, see which blocks end above
/// \p target, move those towards the front of the order, repeat. Starts from \p order, whose plan is \p best; improves
/// \p best in place; stops at \p target or when \p visits pairs of blocks have been looked at, or
/// after 250 rounds. Returns the rounds.
/// Deterministic: its random numbers are its own.
int64_t squeakyWheel(const std::vector<Block> &blocks, const Conflicts &conflicts, int64_t target, int64_t visits,
                     std::vector<int> order, Offsets &best);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_SQUEAKYWHEEL_H
