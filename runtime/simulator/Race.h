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

class Block;
class Warp;
class Worker;
struct Instr;
struct Access;
struct Places;
struct Launch;
struct Finding;

/// For the actors of a grid (block << kActorBits | actor): the last segment that is known to be over. A block's actors
/// are its warps, then the asynchronous engines that Block::groupEngine and Block::barrierEngine number.
using Knowledge = std::unordered_map<uint64_t, uint32_t>;

/// A warp's side of the order.
struct WarpOrder {
  uint32_t segment = 0;
  std::vector<uint32_t> known;                      ///< by actor of the block
  std::vector<uint32_t> proxied[2];                 ///< the same, with a proxy fence behind: shared, global memory
  std::shared_ptr<Knowledge> others;                ///< of other blocks; null where nothing was acquired
  std::shared_ptr<Knowledge> prepared, preparedCta; ///< by a release fence, for the next strong write
  /// Seen by strong reads, for the next acquire fence: what any block has released, and what the own block has.
  std::shared_ptr<Knowledge> pending, pendingCta;
};

/// What warps that arrived at a barrier hand to those that wait.
struct BarrierKnowledge {
  std::vector<uint32_t> known, proxied[2];
  std::shared_ptr<Knowledge> others;
};

/// Bytes that an asynchronous operation touches on behalf of a lane.
struct EngineAccess {
  unsigned lane = 0;
  uint32_t segment = 0;   ///< of the engine
  Block *owner = nullptr; ///< null: global memory
  uint64_t at = 0;        ///< offset in the owner's shared memory, or address
  uint32_t bytes = 0;
  bool write = false, atomic = false;
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
  /// fence.proxy.async: accesses ordered before it are visible to the asynchronous proxy. `shared`, `global`: where.
  void proxyFence(Warp &warp, bool shared, bool global);
  /// A release to, or acquire from, a place of its own (an mbarrier's phase, the cluster's barrier) in `home`'s
  /// keeping.
  void release(Warp &warp, BarrierKnowledge &to, const Block &home);
  void acquire(Warp &warp, const BarrierKnowledge &from, const Block &home);
  /// The same for the blocks of a cluster: what the warp knows becomes known to others, and the reverse.
  void publish(Warp &warp, BarrierKnowledge &to);
  void learn(Warp &warp, const BarrierKnowledge &from);
  /// Does `warp` know that an access of warp `actor` of `block` in `segment` is over?
  static bool knows(const Warp &warp, uint64_t block, uint32_t actor, uint32_t segment);
  /// A segment of an engine of `home`, for one asynchronous operation.
  uint32_t engineSegment(const Block &home, uint32_t engine);
  /// Segment `segment` of an engine of `home` is over, and `to` knows it.
  static void finish(BarrierKnowledge &to, uint32_t engine, uint32_t segment);
  /// Judges an asynchronous operation's access at its issue, and records it as the engine's.
  void engineAccess(Warp &issuer, const Instr &instr, const EngineAccess &access);
  /// A strong access at `address`: acquires and releases as its order says.
  void strong(Warp &warp, uint64_t address, Order order, Scope scope, bool reads, bool writes);
  /// Judges and records an access whose places are known. Write conflicts of plain stores are left in `places` for the
  /// store to tell whether the values differ; all others are reported.
  void access(Warp &warp, const Instr &instr, const Access &access, Places &places);
  /// Words for the place of a stamp: "block (3,0,0) warp 1 lane 7".
  std::string describe(uint32_t stamp) const;
  /// Is the stamp an asynchronous operation's?
  bool isEngine(uint32_t stamp) const;
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
  bool judge(Warp &warp, bool write, bool local, unsigned lane, const C &cell, uint32_t strength, bool &withWrite,
             uint32_t &other, bool &doubtful) const;
  void record(Warp &warp, SharedCell &cell, const Block *owner, uint32_t stamp, bool write, bool &overlap);
  void record(Warp &warp, Cell &cell, const Block *owner, uint32_t stamp, bool write, bool &overlap);
  void report(Warp &warp, const Instr &instr, const Access &access, unsigned lane, uint32_t other, bool withWrite,
              bool doubtful);
  template <class C>
  void engineCell(Warp &issuer, const Instr &instr, const EngineAccess &access, C &cell, uint64_t at);

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
