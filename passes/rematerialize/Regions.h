// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The user's regions, told to the solver as a graph without regions.
#pragma once

#include "passes/rematerialize/Graph.h"

namespace stator::remat {

/// A graph in which the regions are built in.  A value that a checkpoint region must not hold for the backward pass
/// gets a copy of its node, just before the first backward reader, that reads the copies of its inputs inside the
/// region; the backward readers read the copy.  So the original dies with its last reader in the forward pass by
/// itself.  Members of keep regions lose the right to be recomputed.
struct Expanded {
  Graph graph;
  std::vector<int32_t> origin; ///< node of the given graph that a node here stands for
  double copiedCost = 0;       ///< cost of the copies: what the regions demand at least
};

/// `graph` must be valid.  A schedule of the expanded graph, with each node replaced by its origin, is a schedule of
/// the given one with the same cost and no higher peak: where a copy and its original live at once, one newest value
/// serves both.
Expanded expandRegions(const Graph &graph);

} // namespace stator::remat
