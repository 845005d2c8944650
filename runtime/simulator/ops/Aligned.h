// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// `.aligned` instructions: every live lane of the warp executes the same instruction together.
#pragma once

#include "runtime/simulator/Launch.h"

namespace stator::sim {

/// True when all live lanes stand at `instr`: `mask` is then all of them. False: the lanes of `mask` were parked and
/// will execute it again, or the others can never come, which is reported and ends the launch.
bool convergeAligned(Warp &warp, const Instr &instr, uint32_t &mask);
/// The same for instructions that need all 32 lanes (mma, ldmatrix): a warp with missing lanes is an error.
bool convergeFull(Warp &warp, const Instr &instr, uint32_t &mask);

} // namespace stator::sim
