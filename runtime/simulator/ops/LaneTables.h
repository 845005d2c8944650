// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The tables of lane arithmetic. Their files are compiled once per instruction-set level of the host (see CMakeLists.txt),
// each level in a namespace of its own; the best one is chosen at run time.
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
  Rows convertRows();                                                                                                  \
  Rows halfRows();

namespace baseline {
STATOR_SIM_LANE_TABLES
}
#ifdef STATOR_SIM_HAS_V3
namespace v3 {
STATOR_SIM_LANE_TABLES
}
#endif

} // namespace stator::sim
