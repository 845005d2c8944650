// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What bulk and tensor copies have in common.
#pragma once

#include "runtime/simulator/AsyncEngine.h"
#include "runtime/simulator/Decoder.h"

namespace stator::sim {

/// Reports lanes of `mask` whose `slot` is undefined, and returns the others.
uint32_t definedLanes(Warp &warp, const Instr &instr, Slot slot, uint32_t mask, const char *what);
/// The mbarrier at `address` (in `space`) as lane `lane` names it; false, with a report, where there is none.
bool barrierPlace(Warp &warp, const Instr &instr, unsigned lane, Space space, uint64_t address, MbarrierPlace &place);
/// Is `text` one of the suffixes?
bool hasSuffix(const ptx::Statement &statement, const char *text);

} // namespace stator::sim
