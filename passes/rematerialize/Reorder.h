// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An order of execution with a low peak, every node once.
//
// Which values are live depends only on which nodes have run, not on their order; so the orders are the paths through
// the sets closed under inputs, and the best order is the path whose fullest step is least full.  A best-first search
// over these sets finds it where they are few; with one rule that prunes most of them: a node that can run within the
// peak so far and leaves no more bytes live than before may always run at once (moved to the front of any completion,
// it lowers every step it passes).  Where the sets are too many, a beam keeps the most promising of each size.
//
// Example: x (1 byte) is read by a (8 bytes) and b (8 bytes); a' (1) reads a, b' (1) reads b, y reads a' and b'.  The
// order x a b a' b' y has 8 + 8 + 1 = 17 bytes live at once; x a a' b b' y never more than 10.
#pragma once

#include "passes/rematerialize/Dag.h"

namespace stator::remat {

struct ReorderLimits {
  int64_t states = 100000;    ///< sets that the exact search may look at
  int64_t beamWork = 4000000; ///< steps that the beam search may take, in node visits
};

struct Ordered {
  std::vector<int32_t> order;
  int64_t peak = 0;
  bool exact = false; ///< no order has a lower peak
};

/// An order with a peak no higher than the given one's.  Deterministic.
Ordered reorder(const Dag &dag, const ReorderLimits &limits = {});

} // namespace stator::remat
