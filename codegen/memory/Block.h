// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file The planner's inner view of one arena: blocks instead of buffers, sections instead of time.
#ifndef STATOR_CODEGEN_MEMORY_BLOCK_H
#define STATOR_CODEGEN_MEMORY_BLOCK_H

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stator::memory {

/// What is placed as one piece: a buffer, or several buffers that share one place.
/// Live in [lower, upper), lower < upper; 0 < size, a multiple of the alignment; fixed < 0 means free.
struct Block {
  int64_t lower = 0;
  int64_t upper = 0;
  int64_t size = 0;
  int64_t alignment = 1;
  int64_t fixed = -1;

  bool isFixed() const { return fixed >= 0; }
};

/// One byte offset for each block.
using Offsets = std::vector<int64_t>;

constexpr int64_t kUnplaced = -1;

inline int64_t alignUp(int64_t value, int64_t alignment) {
  int64_t over = value % alignment;
  return over ? value + alignment - over : value;
}

/// Time cut down to what decides: the maximal sets of blocks that are live at once, in order of time.
/// Two blocks conflict exactly when their section ranges [first, last) meet, and every other moment's set of live
/// blocks is contained in that of some section, so sections are all that a planner has to look at.
struct Sections {
  int count = 0;
  std::vector<int> first; ///< for each block, its first section
  std::vector<int> last;  ///< for each block, one past its last section
};

/// O(n log n).
Sections findSections(const std::vector<Block> &blocks);

/// The most bytes live at one moment, or the end of the highest fixed block if that is more: no plan is smaller.
int64_t liveLoad(const std::vector<Block> &blocks, const Sections &sections);

/// How many pairs of blocks are live together: what the pairwise algorithms pay. O(n log n).
int64_t countConflicts(const std::vector<Block> &blocks);

/// For each block the blocks that are live together with it, in compressed rows.
/// Memory is two 32-bit numbers a pair, so callers look at countConflicts first.
struct Conflicts {
  std::vector<int64_t> begin; ///< row u is [begin[u], begin[u + 1])
  std::vector<int> other;
};
Conflicts findConflicts(const std::vector<Block> &blocks);

/// The end of the highest block.
int64_t arenaEnd(const std::vector<Block> &blocks, const Offsets &offsets);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_BLOCK_H
