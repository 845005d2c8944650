// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Plans one arena: from the bound over greedy orders to the complete search.
#ifndef STATOR_CODEGEN_MEMORY_PLANBLOCKS_H
#define STATOR_CODEGEN_MEMORY_PLANBLOCKS_H

#include "codegen/memory/Block.h"
#include "codegen/memory/MemoryPlanner.h"

namespace stator::memory {

struct BlockPlan {
  Offsets offsets;
  /// bytes, bound, lowerBound (a proof for these blocks), outcome, and how it was found; loadAtLow is left alone.
  ArenaPlan summary;
};

/// With a \p capacity other than kNone any plan that fits it will do; without, the smaller the better.
BlockPlan planBlocks(const std::vector<Block> &blocks, int64_t capacity, const Effort &effort);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_PLANBLOCKS_H
