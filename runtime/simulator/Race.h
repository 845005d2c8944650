// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Data races, by happens-before.
//
// A warp's execution is cut into segments at every point where it synchronises; segment numbers grow. Each warp knows,
// for every other warp of its block, the last segment that is ordered before it (a vector clock), and for warps of
// other blocks what acquire operations have told it. Each granule of memory remembers the segment and lane of its last
// writer and of its readers. An access conflicts with a remembered one when one of them writes, neither is ordered
// before the other, and they are not both strong operations whose scopes include each other. Lanes of one warp are
// ordered by bar.warp.sync and by barriers of the block only: running in lockstep orders nothing.
//
// The detector never cries wolf: where a granule has more readers than it remembers, it stays silent rather than guess.
#pragma once

#include "runtime/simulator/Types.h"

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

namespace stator::sim {

class Warp;
class Worker;
struct Instr;
struct Access;
struct Places;
struct Launch;
struct Finding;

/// For warps of a grid (block << 6 | warp): the last segment that is known to be over.
using Knowledge = std::unordered_map<uint64_t, uint32_t>;

/// A warp's side of the order.
struct WarpOrder {
  uint32_t segment = 0;
  std::vector<uint32_t> known;                      ///< by warp of the block
  std::shared_ptr<Knowledge> others;                ///< of other blocks; null where nothing was acquired
  std::shared_ptr<Knowledge> prepared, preparedCta; ///< by a release fence, for the next strong write
  std::shared_ptr<Knowledge> pending;               ///< seen by strong reads, for the next acquire fence
};

/// What warps that arrived at a barrier hand to those that wait.
struct BarrierKnowledge {
  std::vector<uint32_t> known;
  std::shared_ptr<Knowledge> others;
};

/// Shadow of a block's shared memory.
struct SharedCell {
  uint32_t writer = 0, reader = 0, first = 0, warps = 0; ///< warps: mask of readers since segment `first`
};

class Races {
public:
  explicit Races(Worker &worker);
  ~Races();

  void start(Warp &warp);
  /// bar.warp.sync, and any other point that orders the lanes of one warp.
  void syncWarp(Warp &warp);
  void arrive(Warp &warp, BarrierKnowledge &barrier);
  void leave(Warp &warp, const BarrierKnowledge &barrier);
  /// A fence: prepares what the warp knows for release, and takes in what its strong reads have seen.
  void fence(Warp &warp, Scope scope);
  /// A strong access at `address`: acquires and releases as its order says.
  void strong(Warp &warp, uint64_t address, Order order, Scope scope, bool reads, bool writes);
  /// Judges and records an access whose places are known. Write conflicts of plain stores are left in `places` for the
  /// store to tell whether the values differ; all others are reported.
  void access(Warp &warp, const Instr &instr, const Access &access, Places &places);
  /// Words for the place of a stamp: "block (3,0,0) warp 1 lane 7".
  std::string describe(uint32_t stamp) const;
  /// Conflicts between the blocks of this worker and those of `other`, which ran beside it.
  void compare(Races &other);

private:
  struct Segment {
    uint64_t block;
    uint32_t warp;
  };
  struct Cell {
    uint32_t writer = 0, reader = 0;
  };
  struct Page;
  struct Conflict;

  uint32_t newSegment(Warp &warp);
  bool ordered(const Warp &warp, uint32_t segment, bool &doubtful) const;
  Page &page(uint64_t number);
  template <class C>
  void lane(Warp &warp, const Instr &instr, const Access &access, Places &places, unsigned lane, C *cells, size_t count,
            uint32_t strength);
  template <class C>
  bool judge(Warp &warp, const Access &access, unsigned lane, const C &cell, uint32_t strength, bool &withWrite,
             uint32_t &other, bool &doubtful) const;
  void record(Warp &warp, SharedCell &cell, uint32_t stamp, bool write, bool &overlap);
  void record(Warp &warp, Cell &cell, uint32_t stamp, bool write, bool &overlap);
  void report(Warp &warp, const Instr &instr, const Access &access, unsigned lane, uint32_t other, bool withWrite,
              bool doubtful);

  void reportReadOnly(Warp &warp, const Instr &instr, const Access &access, unsigned lane);

  Worker &worker;
  unsigned granule; ///< log2 of the bytes a cell stands for: the smallest access of the kernel
  std::vector<Segment> segments;
  std::unordered_map<uint64_t, std::unique_ptr<Page>> pages;
  Page *lastPage = nullptr;
  uint64_t lastNumber = ~uint64_t{0}, tracked = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Knowledge>> released; ///< by address
  std::unordered_map<uint64_t, std::pair<uint64_t, std::shared_ptr<Knowledge>>> releasedCta;
};

} // namespace stator::sim
