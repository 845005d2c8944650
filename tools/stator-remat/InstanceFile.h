// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instances and schedules of the rematerialization solver as JSON files.
#pragma once

#include "passes/rematerialize/Rematerialize.h"

#include <istream>
#include <string>

namespace stator::remat {

/// An instance as read, or why it cannot be used.
struct Instance {
  std::string error; ///< "line 7: nodes[3].bytes: must be ..."; empty when `graph` is valid
  std::string name;
  Graph graph;
};

/// Reads {"nodes": [{"id", "inputs", "bytes", "cost", "is_recomputable", "must_keep"[, "name", "is_backward"]}...]
/// [, "name"][, "regions": [{"kind": "checkpoint" | "keep", "nodes": [ids][, "name"]}...]]}.
/// Ids count from 0 in the given order.  Unknown members are passed over.  Nothing of the input is trusted: types,
/// ranges, sums, ids, order, repeated members, depth.
Instance readInstance(std::istream &in);
Instance readInstanceFile(const std::string &path);

/// The instance as such a file.
std::string writeInstance(const Graph &graph, const std::string &name);
/// A result as a JSON object with the node ids under "schedule".
std::string writeSchedule(const Result &result, int64_t budget);

/// Writes `text` to a temporary beside `path` and renames it, so that `path` is complete or untouched.  Returns the
/// error.
std::string writeFileAtomically(const std::string &path, const std::string &text);

} // namespace stator::remat
