// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file A complete search for a plan within a capacity. MemoryPlanner.h explains the idea.
#ifndef STATOR_CODEGEN_MEMORY_CANONICALSEARCH_H
#define STATOR_CODEGEN_MEMORY_CANONICALSEARCH_H

#include "codegen/memory/Block.h"

namespace stator::memory {

enum class SearchOutcome {
  Fits,       ///< offsets are a plan within the capacity
  Infeasible, ///< the search space is exhausted: there is no such plan
  NodeLimit,  ///< neither, within the nodes allowed
};

struct SearchResult {
  SearchOutcome outcome = SearchOutcome::NodeLimit;
  int64_t nodes = 0; ///< decisions tried
  int64_t steps = 0; ///< blocks and sections looked at for them
  Offsets offsets;   ///< for Fits
};

/// Searches for offsets within [0, capacity). Stops after \p nodeLimit decisions or \p stepLimit elementary steps, so
/// the answer never depends on the machine. Memory is O(blocks + conflicts + the sum of the blocks' sections).
SearchResult searchCanonical(const std::vector<Block> &blocks, const Sections &sections, const Conflicts &conflicts,
                             int64_t capacity, int64_t nodeLimit, int64_t stepLimit);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_CANONICALSEARCH_H
