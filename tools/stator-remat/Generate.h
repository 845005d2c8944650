// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graphs to try the rematerialization solver on: networks with their backward pass, and random ones.
#pragma once

#include "passes/rematerialize/Dag.h"

#include <string>

namespace stator::remat::generate {

/// A chain of `length` equal layers and its backward pass (2 * length nodes).
Graph chain(int length);
/// Residual blocks in stages, each half as large as the one before.
Graph resnet(int stages, int blocksPerStage);
/// Down and up again with skip connections across.
Graph unet(int depth);
/// Attention and feed-forward blocks; with dropout, whose random masks cannot be recomputed.
Graph transformer(int layers, bool dropout);
/// A recurrent cell unrolled over time: gates, cell and hidden state.
Graph lstm(int timeSteps);
/// Modules of several branches that are concatenated: wide, many short lives.
Graph inception(int modules, int branches);
/// A random layered network of `forward` operations with skip connections, and its backward pass.
Graph skips(int forward, uint64_t seed);
/// A random graph of n nodes without structure, for comparison with brute force: small sizes and costs.
Graph random(int n, uint64_t seed);

/// One of the above by a specification such as "chain:32", "transformer:4:1", "skips:100:7"; empty graph if unknown or
/// out of range.
Graph byName(const std::string &specification);

} // namespace stator::remat::generate
