// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The searches for a cheap schedule: a start from the cut relaxation, greedy repair, annealing.
#pragma once

#include "passes/rematerialize/Sequence.h"

namespace stator::remat {

/// Recomputes `nodes` behind the main run of `cutNode`: each is dropped there and made again just before it is next
/// read.
void dropBehind(Sequence &seq, int32_t cutNode, std::vector<int32_t> nodes);

/// Drops values idle at the fullest step, best measured gain per extra cost first, until the schedule fits the budget
/// or nothing gains.  True when it fits.
bool repairGreedily(Sequence &seq);

/// Solves the cut relaxation at the fullest step of the schedule as it stands (each run a node of its own), drops its
/// choice there, and goes on with the then fullest step until the schedule fits or `rounds` are over.  True when it
/// fits.
bool repairByCuts(Sequence &seq, int64_t rounds, int64_t nodeLimit);

struct AnnealOptions {
  uint64_t seed = 1;
  int64_t moves = 1000000;
  bool reorder = false;     ///< move main runs too
  double target = 0;        ///< extra cost at which the search may stop
  double hot = 1, cold = 1; ///< factors on the first and last temperature
};

/// The best schedule found.
struct Found {
  bool fits = false;
  int64_t peak = 0;
  double extraCost = 0;
  std::vector<int32_t> schedule;
  int64_t moves = 0;

  /// Whether this is better than `other` (fits first, then the cost, then the peak; without a fit the peak decides).
  bool betterThan(const Found &other) const {
    if (fits != other.fits) return fits;
    if (!fits) return peak < other.peak;
    return extraCost != other.extraCost ? extraCost < other.extraCost : peak < other.peak;
  }
};
Found snapshot(const Sequence &seq);

/// Simulated annealing over insertions, removals, shifts and swaps of repeats (and shifts of main runs), from `seq`'s
/// state. The excess over the budget is priced.  Deterministic in its options.
Found anneal(Sequence &seq, const AnnealOptions &options);

} // namespace stator::remat
