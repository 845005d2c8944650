// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rematerialization: fit a graph into a memory budget by forgetting values and computing them again.
//
// The problem.  A graph runs node by node.  A value is live from its run through its last reader, and while a node runs
// its output and inputs are live.  Training keeps most forward values waiting for the backward pass, so the peak is the
// sum of nearly all of them.  Where memory is short, a value can be dropped after its forward readers and recomputed
// before its backward ones: time for memory.  Wanted is the schedule (nodes may repeat) within the budget with the
// least extra cost. Chen et al. ("Training Deep Nets with Sublinear Memory Cost", 2016) cut a chain into segments;
// Checkmate (Jain et al., MLSys 2020) states the whole problem as an integer program over (stage, node) pairs; Moccasin
// (Bartan et al., ICML 2023) as retention intervals for a constraint solver.  Both models are exact and grow too fast
// for graphs of thousands of nodes. Here a relaxation of one step gives bound and start, and a search on exact,
// incrementally simulated schedules the rest.
//
// An example.  Values of 1 byte, costs of 1; forward a b c d, backward D C B A, where D reads d and c, C reads D, c and
// b, B reads C, b and a, and A reads B and a.
//
//   store all   a b c d D C B A            while D runs, a b c d D are live: 5 bytes
//   budget 4    a b c d D C a' B A         a is dropped behind b and run again before B: at D b c d D, at C b c D C
//                                          (4 bytes each), at B a' b C B: 4 bytes; extra cost 1
//
// 1. Bound (CutBound.h).  Look at the first run of one node, D: a, b and c have run, are read later and are not free to
// go;
//    each is live then or recomputed later, and what is recomputed reads values for which the same holds.  Fitting the
//    budget at this one step at the least cost of recomputed values is a knapsack with closure.  Its linear relaxation
//    is a minimum cut under a price for memory, branch and bound closes it to the integers, and the most expensive step
//    bounds the whole.  In the example c is an input of D and live, so D holds c, d, D: 3 bytes; a and b wait, 2 bytes,
//    and one of them must be recomputed: at least 1.  So the schedule above is optimal.  "Surely before" and "surely
//    after" may mean the given order or the graph's dependencies alone; the latter gives a bound for every order.
// 2. Starts.  The choice of the cut is dropped at that step and recomputed lazily.  If another step is too full, the
// schedule
//    so far is taken as a graph of runs and the cut relaxation solved at that step, and so on (CutRepair.cpp); a greedy
//    on measured gain per extra cost repairs what is left (Greedy.cpp).  The same under costs with some noise gives
//    variety.
// 3. Search (Anneal.cpp).  The state is the schedule itself.  A move adds a run before some reader, maybe with what
// that
//    run needs and instead of a later run; or takes one away, shifts one, or moves a first run.  Sequence.h updates
//    lives, live bytes at every step and cost for an edit in about a microsecond, exactly, and takes refused moves
//    back.  The excess over the budget has a price that rises while the schedule does not fit and falls while it does.
//    Several short annealings, longer ones from what these found, the rest of the moves for the best.
// 4. Order (Reorder.h).  A memory-aware order is a second base for starts, and where it fits by itself it is the
// answer.
//
// Infeasible budgets.  The same cut with free recomputation gives the fewest bytes that can be live while a node runs,
// the floor: no schedule has a lower peak.  Budgets below it are refused with the node and the values that hold it.
#pragma once

#include "passes/rematerialize/Graph.h"

namespace stator::remat {

struct Options {
  /// Largest number of live bytes allowed.
  int64_t budget = 0;
  /// First runs may leave the given order.  Ignored (off) where the graph has checkpoint regions.
  bool reorder = true;
  /// Moves of the annealing; 0: a default that grows with the graph.
  int64_t moves = 0;
  /// Scale of the number of minimum cuts spent on the bound.
  int64_t boundEffort = 200000;
  uint64_t seed = 1;
};

enum class Status {
  Fits,       ///< `schedule` stays within the budget.
  Infeasible, ///< No schedule does: the floor lies above the budget.
  NotFound,   ///< None was found, and none was excluded; `schedule` has the lowest peak found.
};

struct Result {
  Status status = Status::NotFound;
  std::vector<int32_t> schedule; ///< Node numbers in order of execution, repeats included.
  int64_t peak = 0;              ///< Its peak, by simulate().
  double extraCost = 0;          ///< Cost of its repeats.
  double bound = 0;              ///< No schedule within the budget has less extra cost.  Proved.
  bool optimal = false;          ///< extraCost meets the bound.
  bool reordered = false;        ///< The bound and the floor hold for every order; otherwise for the given one.

  double baseCost = 0;        ///< Cost of running every node once.
  int64_t storeAllPeak = 0;   ///< Peak of running every node once in the given order.
  double boundGivenOrder = 0; ///< Like `bound`, among the schedules whose first runs come in the given order.

  int64_t floor = 0;              ///< No schedule has a lower peak.  Proved.
  int32_t floorNode = -1;         ///< While it runs, so much is live at least ...
  std::vector<int32_t> floorHeld; ///< ... the values of these: its own, its inputs', what must wait.
  int64_t moves = 0;              ///< Moves made.
};

/// Solves `graph`, which must be valid (validate()).  Deterministic in its arguments on every machine with IEEE
/// arithmetic.
Result solve(const Graph &graph, const Options &options);

} // namespace stator::remat
