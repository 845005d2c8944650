// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Order of basic blocks. The warp scheduler runs the lanes with the smallest PC, so code is laid out such that a loop's
// blocks are contiguous and everything after a branch's join has a larger PC than both arms: a weak topological order
// (Bourdoncle 1993). Then "smallest PC first" reconverges where immediate post-dominators would, irreducible flow
// included.
#pragma once

#include "runtime/simulator/Kernel.h"

#include <cstdint>
#include <vector>

namespace stator::sim {

using BlockGraph = std::vector<std::vector<uint32_t>>; ///< successors of each block

/// The reachable blocks of `graph` in a weak topological order that begins with block 0.
std::vector<uint32_t> weakTopologicalOrder(const BlockGraph &graph);

/// An estimate of the 32-bit registers of a thread, within what the kernel's bounds allow. `widths`: bytes of each PTX
/// register by its place in the register file, 0 for predicates (which are not counted here).
uint32_t estimateRegisters(const Kernel &kernel, const std::map<uint32_t, unsigned> &widths);

} // namespace stator::sim
