// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The cut relaxation: what any schedule must recompute because of one single step.
//
// Look at the moment when node k runs for the first time.  Some nodes have surely run before it, some surely run after
// it. A value made before and read after must be live at that moment, or be recomputed after it; and what is recomputed
// reads values that are in turn live or recomputed.  All live values together with k's output and inputs fit the
// budget.  The cheapest choice that satisfies this (a knapsack with closure) bounds the extra cost of every schedule
// from below.
//
//   minimise  sum cost[i] R[i]           N[i]: the value of i is needed after k    R[i] <= N[i]: it is recomputed after
//   k such that N[i] = 1 where a node surely after k reads i (or i is kept),   R[i] = 1 implies N[j] = 1 for its inputs
//   j,
//             bytes held at k + sum bytes[i] (N[i] - R[i]) <= budget.
//
// Priced into the objective with a multiplier, the budget row leaves a minimum cut problem (a closure, Picard 1976),
// and the best multiplier gives the bound of the linear relaxation.  Branching on R[i] closes the gap to the integers.
//
// Example: a -> b -> c -> d, e reads d, c, b and a; every value 1 byte, every cost 1, budget 3.  At d's run the values
// c and d are in use and a, b wait for e: 4 bytes.  One of {a, b} must be recomputed: the bound is 1.
#pragma once

#include "passes/rematerialize/Dag.h"
#include "passes/rematerialize/MinCut.h"

namespace stator::remat {

/// Which schedules a bound speaks of.
enum class Scope {
  GivenOrder, ///< Those whose first runs come in the order of the node numbers.
  AnyOrder,   ///< All.
};

/// The cut problem at the first run of one node.
class CutProblem {
public:
  /// `place`: position of each node in the order that GivenOrder means; empty: its number.
  CutProblem(const Dag &dag, int32_t node, int64_t budget, Scope scope, const std::vector<int32_t> &place = {});

  /// The fewest bytes that can be live while the node runs; `held`: nodes whose values they are (in ascending order).
  int64_t floor(std::vector<int32_t> *held = nullptr);

  struct Solution {
    bool feasible = false;           ///< false: no schedule fits the budget
    double bound = 0;                ///< no schedule has less extra cost
    double cost = 0;                 ///< cost of `recomputed`, >= bound
    std::vector<int32_t> recomputed; ///< a choice that fits at this step
  };
  /// The bound by the best multiplier.
  Solution relax();
  /// Branch and bound on top of it, at most `nodeLimit` subproblems; the bound holds wherever it stops.
  Solution solve(int64_t nodeLimit);
  /// The bound under one multiplier (cost per byte), much faster than relax() and never above it.
  double boundAt(double multiplier);
  double bestMultiplier() const { return multiplier; }

private:
  struct Point { // one cut, as a choice
    double cost = 0, value = 0;
    int64_t bytes = 0;
    std::vector<int32_t> recomputed; // local numbers
  };
  void collect(Scope scope, const std::vector<int32_t> &place);
  void build();
  bool cut(double costScale, double byteScale, Point &point);
  Solution dual(double cutoff, std::vector<int32_t> *split);

  const Dag &dag;
  int32_t node;
  int64_t budget;
  int64_t fixedBytes = 0; ///< live for certain
  std::vector<int32_t> items;
  std::vector<uint8_t> demanded, canRecompute, choice; ///< by local number; choice: 0 free, 1 recompute, 2 do not
  std::vector<int32_t> heldFixed;
  std::vector<double> price; ///< cost of recomputing
  std::vector<int32_t> liveArc, costArc, forceArc;
  std::vector<int32_t> localOf;
  MinCut graph{2};
  double totalCost = 0, multiplier = 0;
  int64_t totalBytes = 0;
};

/// The largest bound that the cut problems of a graph give.
struct LowerBound {
  bool feasible = true;
  double extraCost = 0;
  int32_t node = -1;               ///< whose first run gives it
  std::vector<int32_t> recomputed; ///< the choice at that step, a start for a search
  double multiplier = 0;           ///< cost per byte that gave it
};
/// Screens the steps, solves the promising ones.  `effort` bounds the number of minimum cuts (times graph size),
/// `multiplier` is a first guess at the price of a byte (0: none); the result holds whatever they are.
LowerBound lowerBound(const Dag &dag, int64_t budget, Scope scope, int64_t effort, double multiplier = 0);

/// The step that holds the peak up: no schedule needs fewer than `bytes`.
struct Floor {
  int64_t bytes = 0;
  int32_t node = -1;
  std::vector<int32_t> held; ///< the values live there, the node's own and its inputs' among them
};
Floor peakFloor(const Dag &dag, Scope scope, int64_t effort);

} // namespace stator::remat
