// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Assigns offsets in arenas to buffers whose lives are known.
///
/// The problem
/// -----------
/// Draw time to the right and addresses upwards. A buffer is a rectangle whose left and right edges (its life) and
/// height (its size) are given; only how high it lies is free. No two may overlap, and the pile should be low. This is
/// dynamic storage allocation, NP-complete even for two sizes. For example:
///
///     id  life    size      bound: at time 3..9 b2 and b3 and b5 are live, 12 bytes; no plan can do with less.
///     b1  [0,3)    4
///     b2  [3,9)    4          12 +--------------+
///     b3  [0,9)    4             |  b3          |
///     b4  [9,21)   4           8 +----+---------+---------------+
///     b5  [0,21)   4             | b1 |   b2    |     b4        |
///                              4 +----+---------+---------------+
///                                |            b5                |
///                              0 +------------------------------+ 21     this plan meets the bound: it is optimal.
///
/// What is done, in this order, until the bound is met or the effort allowed is spent
/// -----------------------------------------------------------------------------------
/// 1. *Bound* (Block.h). Sweep over time and add up what is live. Only the maximal sets of live buffers matter; they
///    become numbered *sections* and take the place of time everywhere below.
/// 2. *Greedy* (FirstFit.h). Place buffers one by one, each into the lowest (or tightest) gap: by size, area, life and
///    start. On networks' buffers by size alone is mostly within a few percent. Where buffers conflict in so many pairs
///    that even looking at each pair once is too much, an allocator with a free list walks through time instead, so a
///    million buffers are planned in O(n log n).
/// 3. *Squeaky wheel* (SqueakyWheel.h). Whatever ended too high moves forward in the order; place again; repeat.
/// 4. *Canonical search* (CanonicalSearch.h). A complete search at a capacity, after Moffitt's MiniMalloc (ASPLOS 2023,
///    doi 10.1145/3623278.3624752) with thoughts of TelaMalloc (Maas et al., ASPLOS 2023, doi
///    10.1145/3567955.3567961). In the mode without a capacity it is asked at the bound first and then, by halving,
///    between what is proved or given up and the best plan found.
///
/// The search, by the example at capacity 12
/// ------------------------------------------
/// Every plan can be pushed down until each buffer lies on another one or on the ground, and stays a plan. So only such
/// plans are looked for, and each is built from below in one way only (that is what canonical means):
///   * Each section has a *level*: nothing of it that is still to come begins lower. At first all levels are 0. Pick a
///     section whose level is a local minimum. Whatever comes next there either lies exactly at the level, or the level
///     itself rises to the next place where something of the section could begin. These are all the ways on. Sections
///     are {b1 b3 b5}, {b2 b3 b5}, {b4 b5}; in the last b4 or b5 is lowest, or the level rises above 0.
///   * A section's level plus the bytes still to come must stay within the capacity. The first two sections are full:
///     their level may never rise without a buffer. In the last one there are 4 bytes to spare.
///   * Say b5 goes to 0. All levels become 4. Now no buffer to come joins {b2 b3} with {b4}: they are independent and
///     solved one after the other, and if one has no plan, nothing that was decided in the other is tried again.
///   * In the left part b3 at 4 lifts b1 and b2 to 8, and that is a plan. So is the other way: b1 at 4 lifts b3 to 8,
///     and b2 still goes to 4. But to pass b2 over there would raise the second section's level to 8 with 8 bytes to
///     come: more than the capacity, so the search turns back.
/// From MiniMalloc are dominance (nothing is left lying in the air), the floors that only rise, partitioning in time as
/// the search goes, the dynamic order and the inference in sections. From TelaMalloc: decide where it is tightest, and
/// learn from failures where that is (here as weights of sections, as in Boussemart et al., ECAI 2004). How long a
/// search takes depends wildly on the order of its decisions, so short walks in ten different manners come first, then
/// longer ones (restarts as in Gomes et al., AAAI 1998). Effort is counted in nodes, never in seconds, so plans are
/// reproducible.
///
/// Sharing, symbols, arenas
/// ------------------------
/// A buffer may name another one whose place it may take part of although both are live (Buffer::shareWith). Symbolic
/// sizes are planned at their largest, which holds for all values; what that wastes at the smallest values is reported,
/// and AffineOffsets.h turns such a plan into one whose offsets grow with the symbol. Arenas are planned one by one.
#ifndef STATOR_CODEGEN_MEMORY_MEMORYPLANNER_H
#define STATOR_CODEGEN_MEMORY_MEMORYPLANNER_H

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stator::memory {

/// No offset, no capacity, no buffer, no symbol.
constexpr int64_t kNone = -1;

/// Times are any integers of at most 2^62 in magnitude; only their order matters. Sizes are bytes.
struct Buffer {
  int64_t lower = 0;           ///< first step at which it is live
  int64_t upper = 0;           ///< first step at which it is dead again; lower < upper
  int64_t size = 0;            ///< >= 0; rounded up to the alignment. Buffers of no bytes conflict with nothing.
  int64_t alignment = 1;       ///< of the offset; >= 1, any integer
  int64_t fixedOffset = kNone; ///< a multiple of the alignment, or kNone
  int arena = 0;               ///< index into Problem::arenas

  /// With a symbol the size is size + scale * (the symbol's value); not negative anywhere in the symbol's range.
  int symbol = kNone; ///< index into Problem::symbols, or kNone
  int64_t scale = 0;

  /// This buffer may begin at byte shareAt of buffer shareWith's place although both are live: an output written over
  /// an input that dies there (shareAt 0), an operand written straight into its slice of a concatenation, the slices
  /// of a split. Only a permission; Plan::shared says whether it was used. The caller vouches that the two do not
  /// disturb each other; that buffers do which share with the same one, the planner sees to. In one arena.
  int64_t shareWith = kNone; ///< index into Problem::buffers, or kNone; no cycles; not together with a fixed offset
  int64_t shareAt = 0;       ///< >= 0, a multiple of the alignment of this buffer
};

/// An address space of its own: device memory, pinned host memory, pageable host memory.
struct Arena {
  std::string name;
  int64_t capacity = kNone; ///< fit this many bytes; kNone: as few as can be found
};

/// A size known only when the plan is used: any integer in [low, high].
struct Symbol {
  std::string name;
  int64_t low = 0;
  int64_t high = 0;
};

struct Problem {
  std::vector<Buffer> buffers;
  std::vector<Arena> arenas = {{"arena", kNone}};
  std::vector<Symbol> symbols;
};

/// Effort, in units that do not depend on the machine. The defaults take a few seconds at most on hard problems.
struct Effort {
  int64_t conflictPairs =
      12'000'000;                    ///< look at single pairs of conflicting buffers only if they are no more than this
  int64_t greedyVisits = 16'000'000; ///< pairs that the greedy orders after the first may look at, for each arena
  int64_t squeakyVisits = 8'000'000; ///< and the squeaky wheel
  int64_t searchPairs = 800'000;     ///< search only if the pairs are no more than this
  int64_t searchNodes = 1'000'000;   ///< decisions of the canonical search, for each arena and all capacities tried
  int64_t searchSteps = 400'000'000; ///< and the blocks and sections that it may look at for them
};

enum class Outcome {
  Optimal,    ///< no capacity was given, and no smaller arena exists
  Feasible,   ///< fits the capacity; or the smallest found, not proved to be the smallest there is
  Infeasible, ///< proved: nothing fits the capacity (or the fixed offsets alone exceed it)
  NotFound,   ///< nothing found that fits the capacity within the effort; it may exist
};

struct ArenaPlan {
  Outcome outcome = Outcome::Optimal;
  int64_t bytes = 0; ///< the arena's size: the end of the highest buffer; for NotFound and Infeasible of the best plan
  int64_t bound = 0; ///< the most bytes live at once; with sharing as decided
  int64_t lowerBound = 0; ///< proved: no arena is smaller. At least the bound, unless sharing otherwise could lower it.
  int64_t conflicts = 0;  ///< pairs of blocks live together
  int64_t rounds = 0;     ///< of the squeaky wheel
  int64_t nodes = 0;      ///< of the canonical search
  int64_t steps = 0;      ///< of the canonical search
  int64_t loadAtLow = 0;  ///< the bound if all symbols have their lowest value; bytes - loadAtLow is wasted then
  const char *method = "empty"; ///< what found the plan: bound, greedy, online, squeaky wheel, search
};

struct Plan {
  std::string error;            ///< not empty: the problem is malformed, and why; nothing else is filled in
  std::vector<int64_t> offsets; ///< for each buffer, always a valid plan (but not within the capacity if not found)
  std::vector<bool> shared;     ///< for each buffer, whether it lies in the place of its shareWith
  std::vector<ArenaPlan> arenas;

  /// Whether the problem is sound and every arena has a plan that does what was asked.
  bool good() const;
};

/// Plans all arenas. The same problem and effort give the same plan on every machine.
Plan planMemory(const Problem &problem, const Effort &effort = {});

/// Why a problem cannot be planned: an index out of range, an empty life, a negative or overflowing size, a cycle of
/// shares, fixed offsets that overlap, ...
struct Fault {
  std::string what;
  int64_t buffer = kNone; ///< whose it is, if it is a buffer's
  int64_t other = kNone;  ///< and which other one it concerns
};
std::optional<Fault> findFault(const Problem &problem);

/// The same as a sentence that names buffers by their index; empty if the problem is sound.
std::string checkProblem(const Problem &problem);

/// Why \p plan is no plan for \p problem, by an independent sweep: an overlap, a misaligned or changed offset, an arena
/// smaller than its content. Empty if it is one. O(n log n) plus the size of the places that are shared.
std::string verifyPlan(const Problem &problem, const Plan &plan);

/// The bytes of \p buffer at \p value of its symbol, rounded up to its alignment.
int64_t bytesAt(const Buffer &buffer, int64_t value);
/// The most bytes of \p buffer over the range of its symbol, rounded up to its alignment.
int64_t mostBytes(const Problem &problem, const Buffer &buffer);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_MEMORYPLANNER_H
