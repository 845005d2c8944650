// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The problem that the rematerialization solver sees: a graph of values with sizes and costs, and what a schedule of it
// uses.  Plain data, no compiler behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace stator::remat {

/// One operation and the value it makes.
struct Node {
  std::string name;
  std::vector<int32_t> inputs; ///< Nodes whose values it reads: earlier in the graph, distinct.
  int64_t bytes = 0;           ///< Size of its value, >= 0.
  double cost = 0;             ///< Cost of running it once, finite and >= 0, in any unit.
  bool recomputable = false;   ///< It may run more than once.
  bool keep = false;           ///< Its (last) value must live to the end.
  bool backward = false;       ///< Belongs to the backward pass; only checkpoint regions ask for it.
};

/// A constraint of the user's on a set of nodes.
struct Region {
  enum class Kind {
    /// A checkpoint region: what it makes is not held for the backward pass, which reads values recomputed from what
    /// enters the region.  Not so the region's outputs (read by an operation outside that is not backward, or kept to
    /// the
    /// end) and what cannot be recomputed; of these the solver decides, as everywhere else.
    Checkpoint,
    /// The values of the region are never recomputed.
    Keep,
  };
  Kind kind = Kind::Checkpoint;
  std::string name;
  std::vector<int32_t> nodes;
};

/// Nodes in the given order: every input of a node stands before it.  Values from outside (parameters, batch) own no
/// node.
struct Graph {
  std::vector<Node> nodes;
  std::vector<Region> regions;
};

/// Limits of what the solver accepts; beyond them sums could overflow.
constexpr int64_t kMaxTotalBytes = int64_t(1) << 60;
constexpr double kMaxTotalCost = 9007199254740992.0; // 2^53: sums of whole costs stay exact
constexpr size_t kMaxNodes = 1u << 24;

/// Empty when the graph is well formed, otherwise the first fault with the node it is in ("nodes[3]: ...").  Linear
/// time.
std::string validate(const Graph &graph);

/// What a schedule uses.  `error` is empty when the schedule is right.
struct Usage {
  std::string error;
  int64_t peak = 0;    ///< Largest number of bytes live at one step.
  size_t peakStep = 0; ///< First step at which that is so.
  double cost = 0;     ///< Sum of the costs of all steps.
};

/// Runs `schedule` (node indices, repeats allowed) exactly, in time linear in its reads.  A run makes a new value,
/// readers see the newest one.  A value lives from its run through its last reader before the node runs again, and the
/// last value of a keep node to the end.  While a node runs, its output and all its inputs are live.  Wrong are: a read
/// of what has not run, a node that never runs, a repeat of a node that is not recomputable, an unknown node.
Usage simulate(const Graph &graph, const std::vector<int32_t> &schedule);

/// The schedule that runs every node once in the given order.
std::vector<int32_t> givenOrder(const Graph &graph);

} // namespace stator::remat
