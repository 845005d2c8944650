// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two ways to run a program: the evaluator, and a compiled artifact in the runtime.
#ifndef STATOR_TOOLS_STATOR_EXECUTIONS_H
#define STATOR_TOOLS_STATOR_EXECUTIONS_H

#include "compiler/Compile.h"
#include "tools/stator/Counters.h"
#include "tools/stator/TensorSet.h"
#include <memory>

namespace stator::cli {

class Execution {
public:
  virtual ~Execution() = default;
  virtual const std::vector<InputSpec> &inputs() const = 0;
  /// Runs once; copies of the outputs, where wanted, are named "0", "1", ... False with a message on failure.
  virtual bool run(const std::vector<io::Tensor> &inputs, std::map<std::string, io::Tensor> *outputs, double &milliseconds,
                   std::string &error) = 0;
  /// The mutable state as it is now, by name.
  virtual std::map<std::string, io::Tensor> state() const = 0;
  /// What ran it, for people.
  virtual std::string describe() const = 0;
  /// The op and line that computed an output; "" where that is not known.
  virtual std::string originOfOutput(const std::string &name) const { return ""; }
  virtual void printProfile() const {}
  /// Adds what the plan predicted for each kernel over all runs; profiling must be on.
  virtual void addPredictions(std::vector<KernelCounters> &kernels) const {}
};

struct RunOptions {
  std::string device, cudaLibrary;
  int threads = 0;
  bool noLibraries = false, profile = false;
};

/// Null, after an error was printed, where it cannot be.
std::unique_ptr<Execution> evaluateModule(std::unique_ptr<mlir::MLIRContext> context, mlir::OwningOpRef<mlir::ModuleOp> module);
std::unique_ptr<Execution> compileAndOpen(std::unique_ptr<mlir::MLIRContext> context, mlir::OwningOpRef<mlir::ModuleOp> module,
                                          const CompileOptions &options, const RunOptions &runOptions);
std::unique_ptr<Execution> openArtifact(const std::string &path, const RunOptions &options);

/// "op at file:line" for the value that a function returns.
std::vector<std::string> outputOrigins(mlir::ModuleOp module);

} // namespace stator::cli

#endif // STATOR_TOOLS_STATOR_EXECUTIONS_H
