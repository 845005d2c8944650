// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sequence of steps with a number of live bytes at each: insert and erase anywhere, add to a range, ask for the peak.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stator::remat {

/// An unrolled list: blocks of up to 64 steps, each with a pending addition and its maximum.  Insert, erase and range
/// addition touch at most two blocks step by step and the others as a whole, so they cost O(64 + steps / 64); on the
/// sequences of real graphs that beats a balanced tree by far.  Steps are small integers that the caller hands out.
class Timeline {
public:
  /// `budget`: bytes above it count as excess.
  explicit Timeline(int64_t budget) : budget(budget) {}

  void pushBack(int32_t step, int64_t bytes);
  /// Inserts `step` before `next` with `bytes` live at it.
  void insertBefore(int32_t step, int32_t next, int64_t bytes);
  void erase(int32_t step);

  bool contains(int32_t step) const { return blockOf[step] >= 0; }
  /// The step after / before; -1 at the ends.
  int32_t next(int32_t step) const;
  int32_t prev(int32_t step) const;
  int32_t front() const { return blocks[order.front()].step[0]; }

  /// Position as a number that only means something in comparison with others taken between the same two changes.
  int64_t key(int32_t step) const { return (int64_t(blocks[blockOf[step]].rank) << 8) | slotOf[step]; }
  bool before(int32_t a, int32_t b) const { return key(a) < key(b); }

  int64_t bytesAt(int32_t step) const {
    const Block &b = blocks[blockOf[step]];
    return b.bytes[slotOf[step]] + b.add;
  }
  /// Adds `delta` to every step with keys in [from, to).
  void add(int64_t from, int64_t to, int64_t delta);

  int64_t peak() const;
  /// A step with the largest number of live bytes (the first one).
  int32_t peakStep() const;
  /// Sum over all steps of the bytes above the budget.
  double excess() const { return totalOver; }
  int64_t getBudget() const { return budget; }
  std::vector<int32_t> steps() const;

private:
  static constexpr int kBlock = 64;
  struct Block {
    int32_t rank = 0, count = 0;
    int64_t add = 0;
    int64_t max = 0; ///< largest bytes[] + add
    double over = 0; ///< sum of what lies above the budget
    int32_t step[kBlock];
    int64_t bytes[kBlock];
  };
  void refresh(Block &block);
  void place(Block &block, int32_t id, int slot, int32_t step, int64_t bytes);
  void split(int32_t id);
  int32_t freshBlock(size_t at);

  int64_t budget;
  double totalOver = 0;
  std::vector<Block> blocks;
  std::vector<int32_t> spare; ///< unused blocks
  std::vector<int32_t> order; ///< blocks by rank
  std::vector<int32_t> blockOf, slotOf;
};

} // namespace stator::remat
