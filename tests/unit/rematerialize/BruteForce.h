// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The exact optimum of small graphs by exhaustive search, written from the meaning of a schedule alone.
#pragma once

#include "passes/rematerialize/CutBound.h"
#include "passes/rematerialize/Graph.h"

#include <optional>

namespace stator::remat::test {

/// The least extra cost within the budget; nothing when no schedule fits.  At most 16 nodes.
std::optional<double> leastExtraCost(const Graph &graph, int64_t budget, Scope scope);

/// The lowest peak of any schedule (with repeats or without).
int64_t lowestPeak(const Graph &graph, Scope scope, bool repeats);

} // namespace stator::remat::test
