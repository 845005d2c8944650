// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stator-remat was asked to do, and doing it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace stator::remat {

struct Command {
  std::string instance;          ///< Path of the instance.
  std::string generate;          ///< Instead: what to generate.
  std::optional<int64_t> budget; ///< Bytes,
  std::optional<double> percent; ///< or percent of the store-all peak.
  std::string output;            ///< Where to write the schedule (or the generated instance); empty: nowhere.
  bool keepOrder = false;
  bool bench = false; ///< One line for machines instead of the report.
  int64_t moves = 0;
  uint64_t seed = 1;
};

/// Exit status: 0 the schedule fits, 1 none was found or can exist, 2 unusable input.
int run(const Command &command);

} // namespace stator::remat
