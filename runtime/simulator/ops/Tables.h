// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The opcode tables of this folder, one a file. Files that are lane arithmetic are compiled once per instruction-set
// level of the host (see CMakeLists.txt), each level in a namespace of its own; the best one is chosen at run time.
#pragma once

#include "runtime/simulator/Opcodes.h"

#ifndef STATOR_SIM_LEVEL
#define STATOR_SIM_LEVEL baseline
#endif

namespace stator::sim {

#define STATOR_SIM_LANE_TABLES                                                                                         \
  Rows integerRows();                                                                                                  \
  Rows bitRows();                                                                                                      \
  Rows floatRows();                                                                                                    \
  Rows approximateRows();                                                                                              \
  Rows compareRows();                                                                                                  \
  Rows moveRows();                                                                                                     \
  Rows convertRows();

namespace baseline {
STATOR_SIM_LANE_TABLES
}
#ifdef STATOR_SIM_HAS_V3
namespace v3 {
STATOR_SIM_LANE_TABLES
}
#endif

Rows memoryRows();
Rows controlRows();
Rows barrierRows();
Rows collectiveRows();

/// Every table, lane arithmetic at the best level this machine has.
const std::vector<Rows> &opcodeTables();

/// Rows that no text names: a jump that closes a gap in the block order, and the refresh of a changing register.
const Row &jumpRow();
const Row &refreshRow();
bool isReturn(const Instr &instr);
bool isExit(const Instr &instr);
bool isJump(const Instr &instr);

} // namespace stator::sim
