// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file What stator-plan does once its arguments are known.
#ifndef STATOR_TOOLS_STATOR_PLAN_COMMAND_H
#define STATOR_TOOLS_STATOR_PLAN_COMMAND_H

#include "codegen/memory/MemoryPlanner.h"

#include <cstdint>
#include <iosfwd>
#include <string>

namespace stator::memory {

struct CommandOptions {
  std::string instance;  ///< a file, "-" for standard input, or what generateInstance understands
  bool generate = false; ///< instance names a generated one
  int64_t capacity = kNone;
  std::string planFile;     ///< where to write the plan; "-" for standard output
  std::string drawingFile;  ///< where to write the SVG
  std::string instanceFile; ///< where to write the instance itself
  std::string checkFile;    ///< check this plan instead of making one
  bool json = false;        ///< report as one line of JSON
  Effort effort;
};

/// Reads, plans or checks, writes what is asked for, reports to \p out (to \p err if the plan itself goes there) and
/// errors to \p err. Returns the exit status: 0 if the plan is good, 1 if there is none or something is wrong.
int runCommand(const CommandOptions &options, std::istream &in, std::ostream &out, std::ostream &err);

} // namespace stator::memory

#endif // STATOR_TOOLS_STATOR_PLAN_COMMAND_H
