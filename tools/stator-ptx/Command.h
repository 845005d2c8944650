// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file What stator-ptx does once its options are known.
#pragma once

#include "runtime/simulator/Settings.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace stator::ptxtool {

struct CommandOptions {
  std::string file;   ///< PTX text; "-" for standard input
  bool list = false;  ///< print the kernels instead of launching one
  std::string kernel; ///< may be left out where the file has one kernel
  std::string grid = "1", block = "32", cluster;
  uint64_t shared = 0;
  bool cooperative = false, nonPortableCluster = false;
  std::vector<std::string> arguments;
  std::vector<std::string> prints;  ///< INDEX[:FROM[:COUNT]]
  std::vector<std::string> outputs; ///< INDEX=FILE.npy
  std::string trace;                ///< [X,Y,Z:]WARP
  std::string traceLanes;           ///< comma-separated
  uint64_t traceLimit = 10000;
  bool lines = false;    ///< counters per PTX line
  bool counters = false; ///< counters of the launch
  bool json = false;
  sim::Settings settings; ///< chips[0] is the device
};

/// Loads, launches, prints to \p out and what went wrong to \p err. Returns the exit status: 0 the kernel ran and
/// nothing was found (warnings apart), 1 something was found, 2 the command line, the file or the launch is refused.
int runCommand(const CommandOptions &options, std::istream &in, std::ostream &out, std::ostream &err);

} // namespace stator::ptxtool
