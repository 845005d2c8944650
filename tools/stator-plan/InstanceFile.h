// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Plan instances and plans as comma-separated values.
#ifndef STATOR_TOOLS_STATOR_PLAN_INSTANCEFILE_H
#define STATOR_TOOLS_STATOR_PLAN_INSTANCEFILE_H

#include "codegen/memory/MemoryPlanner.h"

#include <iosfwd>
#include <string>
#include <vector>

namespace stator::memory {

/// A problem of one arena and the names of its buffers.
struct Instance {
  Problem problem;
  std::vector<std::string> ids;
};

/// Reads a table whose first line names its columns: id, lower, upper, size and optionally alignment and offset (a
/// fixed one; may be left empty), in any order. Ids are unique, not empty, of at most 256 bytes, without quotes and
/// control characters; numbers are decimal integers and nothing else. Empty lines are skipped; a line may end in CR LF.
/// Returns what is wrong, as "NAME:LINE: ...", or nothing. What is read passes checkProblem.
std::string readInstance(std::istream &in, const std::string &name, Instance &instance);

/// Reads a plan (columns id and offset; others are ignored) for \p instance: every buffer once and no others.
std::string readPlan(std::istream &in, const std::string &name, const Instance &instance, Plan &plan);

/// "id,offset" and a line for each buffer in the instance's order.
std::string formatPlan(const Instance &instance, const Plan &plan);
/// The instance as readInstance takes it.
std::string formatInstance(const Instance &instance);

/// Writes \p text to a temporary file beside \p path and renames it, so that nobody sees a half-written one.
/// Returns what is wrong, or nothing.
std::string writeWhole(const std::string &path, const std::string &text);

} // namespace stator::memory

#endif // STATOR_TOOLS_STATOR_PLAN_INSTANCEFILE_H
