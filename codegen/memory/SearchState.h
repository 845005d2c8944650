// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file The half-built plan of the canonical search: bounds that only rise, and a trail to take them back.
#ifndef STATOR_CODEGEN_MEMORY_SEARCHSTATE_H
#define STATOR_CODEGEN_MEMORY_SEARCHSTATE_H

#include "codegen/memory/Block.h"

#include <utility>

namespace stator::memory {

/// What must be known of a problem to search it; does not change while searching. Fixed blocks are no decisions: they
/// become forbidden ranges of offsets for the free blocks, and a load on their sections.
struct SearchModel {
  SearchModel(const std::vector<Block> &blocks, const Sections &sections, const Conflicts &conflicts, int64_t capacity);

  struct Range {
    int64_t start, end;
  };
  const std::vector<Block> &blocks;
  const Sections &sections;
  const Conflicts &conflicts;
  int64_t capacity;
  std::vector<std::vector<int>> members;     ///< for each section its free blocks
  std::vector<std::vector<Range>> forbidden; ///< for each free block the offsets [start, end) it cannot have, merged
  std::vector<std::vector<Range>> occupied; ///< for each section the addresses [start, end) of its fixed blocks, sorted
  bool plain = true;                        ///< no fixed block, no alignment: lift() is the identity

  /// The lowest offset from \p at up that block \p u can have by its alignment and the fixed blocks.
  int64_t lift(int u, int64_t at) const;
  /// Bytes of section \p s at or above \p floor that fixed blocks hold.
  int64_t occupiedAbove(int s, int64_t floor) const;
};

/// Where a section stands. All bytes of it that are still to come lie at or above its level.
struct SectionState {
  int64_t top = 0;   ///< end of the highest free block placed
  int64_t level = 0; ///< the least lowest[u] of its blocks to come
  int64_t rest = 0;  ///< bytes to come; level + rest must stay within the capacity
  int waiting = 0;   ///< blocks to come
  int atLevel = 0;   ///< of these, how many could begin at the level
  int crossing = 0;  ///< blocks to come that are live in the section before this one, too
};

/// A partial plan, and what follows for the rest of it.
class SearchState {
public:
  explicit SearchState(const SearchModel &model);

  /// Decides that \p u goes to \p at. False if that leaves no plan; the caller takes it back with undo either way.
  bool place(int u, int64_t at);
  /// Decides that nothing more of section \p s begins below \p level.
  bool raise(int s, int64_t level);
  /// Checks all sections; for the start.
  bool checkAll();

  /// A point to come back to.
  struct Mark {
    size_t blocks, sections;
  };
  Mark mark() const { return {blockTrail.size(), sectionTrail.size()}; }
  void undo(Mark mark);

  bool isPlaced(int u) const { return placed[u]; }
  /// Whether \p u at \p at would lie on something: the highest placed block below it, a fixed one, or the ground.
  bool rests(int u, int64_t at) const;
  /// Whether the trail has grown to the memory it may take.
  bool trailIsFull() const { return blockTrail.size() + 3 * sectionTrail.size() > kMostTrail; }

  std::vector<int64_t> lowest; ///< for each block to come: no plan that respects the decisions so far puts it lower
  Offsets offset;              ///< of the blocks placed
  std::vector<SectionState> sections;
  std::vector<int> changed; ///< sections whose state differs from when the reader last called clearChanged
  int failedAt = -1;        ///< the section that refused the last decision
  int64_t steps = 0;        ///< work done so far: blocks and sections looked at

  void clearChanged();

private:
  static constexpr size_t kMostTrail = 20'000'000; ///< entries of 16 bytes

  void touch(int s);
  void lift(int v, int64_t to);
  void leaveLevel(int v);
  bool refresh();
  void noteChanged(int s) {
    if (!inChanged[s]) inChanged[s] = 1, changed.push_back(s);
  }

  const SearchModel &model;
  std::vector<char> placed, isTouched, inChanged;
  std::vector<int> touched; ///< sections that the decision at hand changes; each is on the trail once for it
  std::vector<std::pair<int, int64_t>> blockTrail; ///< a block and its lowest before; ~block: it was placed
  std::vector<std::pair<int, SectionState>> sectionTrail;
  int tooHigh = -1; ///< a block that the decision at hand lifted beyond the capacity
};

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_SEARCHSTATE_H
