// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the subcommands of `stator` share: output that suits a person or a program, and errors with the user's lines.
#ifndef STATOR_TOOLS_STATOR_COMMAND_H
#define STATOR_TOOLS_STATOR_COMMAND_H

#include "compiler/Compile.h"
#include "mlir/IR/MLIRContext.h"
#include "tools/stator/Progress.h"
#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>

namespace stator::cli {

/// Exit codes: success, the user's error, our bug.
enum : int { Ok = 0, UserError = 1, OurBug = 70 };

/// What every subcommand has.
struct Common {
  bool verbose = false, quiet = false, json = false;
  /// Adds -q, -v and --json (with this help).
  void add(CLI::App &app, const std::string &jsonHelp);
};

/// Whether what is printed to this file (1 or 2) is coloured: a terminal, and NO_COLOR not set.
bool colours(int file);

/// A message about the first argument that is no subcommand or option of it, with the nearest name; nothing where all
/// are.
std::optional<std::string> checkNames(CLI::App &app, int argc, char **argv);

/// Makes a crash exit with code 70 and say in which step it happened.
void catchCrashes();
/// What goes on, for the message of a crash.
void noteStep(const std::string &step);

/// A context that prints diagnostics as `error: text` with the user's source line, node and module below.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Target options as compile and run take them.
struct TargetFlags {
  std::string target = "host", arch, cpu = "x86-64-v3";
  bool fastMath = false, noCubins = false;
  void add(CLI::App &app);
  /// False, with a message, where a name is unknown.
  bool apply(codegen::Options &options) const;
};

/// Prints the error; the exit code of a user's error.
int fail(const std::string &message);
/// The exit code of a compilation that failed; says so where it is our bug.
int compileError(const Compilation &compilation);

// One per subcommand: adds it to the program and, when chosen, sets what to run.
using Action = std::function<int()>;
void addCompile(CLI::App &app, Common &common, Action &action);
void addRun(CLI::App &app, Common &common, Action &action);
void addInspect(CLI::App &app, Common &common, Action &action);
void addImport(CLI::App &app, Common &common, Action &action);
void addOps(CLI::App &app, Common &common, Action &action);

} // namespace stator::cli

#endif // STATOR_TOOLS_STATOR_COMMAND_H
