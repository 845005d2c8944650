// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
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
