// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the STATOR_SIM_* environment variables choose.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace stator::sim {

struct Settings {
  enum class Async : uint8_t { early, late, random };
  enum class Numerics : uint8_t { nominal, adversarial };

  std::vector<std::string> chips = {"a100"}; ///< STATOR_SIM_CHIP: one name a device, separated by commas
  uint64_t schedule = 0;                     ///< STATOR_SIM_SCHEDULE: 0 is the plain order
  Async async = Async::early;                ///< STATOR_SIM_ASYNC: early, late, random
  Numerics numerics = Numerics::nominal;     ///< STATOR_SIM_NUMERICS: nominal, adversarial
  std::string report;                        ///< STATOR_SIM_REPORT: file for JSON lines
  std::string counters;                      ///< STATOR_SIM_COUNTERS: file for one JSON line a launch
  unsigned threads = 0;                      ///< STATOR_SIM_THREADS: host threads; 0: as many as cores
  bool races = true;                         ///< STATOR_SIM_RACES=0 turns race checks off
  bool quiet = false;                        ///< STATOR_SIM_QUIET=1: findings do not go to stderr
  uint64_t stepLimit = uint64_t{1} << 36;    ///< STATOR_SIM_STEP_LIMIT: warp instructions before a launch times out

  /// Reads the environment. An unknown value is an error: its text goes to `error`.
  static Settings fromEnvironment(std::string &error);
};

} // namespace stator::sim
