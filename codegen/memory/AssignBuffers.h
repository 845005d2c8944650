// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gives the arena buffers of a plan their offsets.
//
// A buffer lives from the first step that touches it to the last; a step inside a loop touches what was there before the
// loop for as long as the loop runs. Buffers of constant size are packed by the planner (MemoryPlanner.h). Buffers whose
// sizes hold symbols go into slots behind them: a slot is a sequence of buffers that do not live together, its size is
// the largest of theirs (as a max() expression where their order is not known), its offset the sum of the slots before it.
#ifndef STATOR_CODEGEN_MEMORY_ASSIGNBUFFERS_H
#define STATOR_CODEGEN_MEMORY_ASSIGNBUFFERS_H

#include "dialects/plan/Plan.h"

namespace stator::codegen {

struct ArenaSize {
  graph::DimExpr bytes, liveLoad;
};
/// Sets the offsets and the program's `arenas`. Unused buffers are erased.
ArenaSize assignBuffers(plan::ProgramOp program);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_MEMORY_ASSIGNBUFFERS_H
