// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the subcommands of `stator` share: output that suits a person or a program, and errors with the user's lines.
#ifndef STATOR_TOOLS_STATOR_COMMAND_H
#define STATOR_TOOLS_STATOR_COMMAND_H

#include "compiler/Compile.h"
#include "mlir/IR/MLIRContext.h"
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
};

/// A context that prints diagnostics as `error: text` with the user's source line, node and module below.
std::unique_ptr<mlir::MLIRContext> makeContext();

/// Says on standard error what goes on, once it has taken longer than a second, on a terminal only.
class Progress {
public:
  explicit Progress(bool enabled);
  void step(llvm::StringRef what);
  ~Progress();

private:
  bool enabled, shown = false;
  double start;
};

/// Target options as compile and run take them.
struct TargetFlags {
  std::string target = "host", arch, cpu = "x86-64-v3";
  bool fastMath = false, noCubins = false;
  void add(CLI::App &app);
  /// False, with a message, where a name is unknown.
  bool apply(codegen::Options &options) const;
};

int fail(const std::string &message);

// One per subcommand: adds it to the program and, when chosen, sets what to run.
using Action = std::function<int()>;
void addCompile(CLI::App &app, Common &common, Action &action);
void addRun(CLI::App &app, Common &common, Action &action);
void addInspect(CLI::App &app, Common &common, Action &action);
void addImport(CLI::App &app, Common &common, Action &action);
void addOps(CLI::App &app, Common &common, Action &action);

} // namespace stator::cli

#endif // STATOR_TOOLS_STATOR_COMMAND_H
