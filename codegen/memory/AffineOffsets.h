// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Turns a plan for the largest sizes into one whose offsets grow with a symbol.
#ifndef STATOR_CODEGEN_MEMORY_AFFINEOFFSETS_H
#define STATOR_CODEGEN_MEMORY_AFFINEOFFSETS_H

#include "codegen/memory/MemoryPlanner.h"

#include <optional>

namespace stator::memory {

/// base + scale * the symbol's value.
struct Affine {
  int64_t base = 0;
  int64_t scale = 0;
  int64_t at(int64_t value) const { return base + scale * value; }
};

/// A plan in which a batch of one takes the memory of a batch of one.
struct AffinePlan {
  std::vector<Affine> offsets; ///< for each buffer; those of other arenas keep their constant offsets
  Affine bytes;                ///< the arena's size
  int64_t loadAtLow = 0;       ///< the most bytes live at once at the symbol's lowest value ...
  int64_t loadAtHigh = 0;      ///< ... and at its highest; bytes.at(value) less this is wasted
};

/// Keeps who lies on whom in \p plan (which is good) and lets \p arena's offsets follow its one symbol. It holds for
/// every integer in the symbol's range because a constraint "a ends below b" between affine functions that holds at
/// both ends of a range holds within it; so of two functions the least affine one that is above both at both ends will
/// do. Scales are multiples of the alignment, which may make the arena larger at the high end than the plan's: compare
/// bytes. Nullopt if the arena's sizes name no symbol or several, if it has fixed offsets, or if numbers would
/// overflow. Buffers that share a place move as one. O(n log n).
std::optional<AffinePlan> affineOffsets(const Problem &problem, const Plan &plan, int arena);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_AFFINEOFFSETS_H
