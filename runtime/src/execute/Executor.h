// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs the steps of a plan.
#ifndef STATOR_RUNTIME_EXECUTE_EXECUTOR_H
#define STATOR_RUNTIME_EXECUTE_EXECUTOR_H

#include "runtime/src/execute/Frame.h"
#include "runtime/src/execute/TensorWatch.h"
#include "runtime/src/library/Library.h"
#include "runtime/src/profile/Profile.h"

namespace stator::runtime {

/// The integer (or bool) of type `dtype` at `bytes`, which needs no alignment.
int64_t readInteger(const char *bytes, stator_dtype dtype);

class Executor {
public:
  /// Finds all kernels and prepares all library steps; what is missing is a Failure that names the step.
  Executor(Frame &frame, Profile &profile, bool useLibraries);

  void run();

private:
  void runBlock(const Block &block);
  void runStep(const Step &step);
  void perform(const Step &step, const LaunchStep &launch);
  void perform(const Step &step, const LibraryStep &library);
  void perform(const Step &step, const CopyStep &copy);
  void perform(const Step &step, const FillStep &fill);
  void perform(const Step &step, const ReadSymbolStep &read);
  void perform(const Step &step, const AssertStep &assertion);
  void perform(const Step &step, const IfStep &branch);
  void perform(const Step &step, const WhileStep &loop);
  bool predicate(BufferId buffer);
  char *range(BufferId buffer, int64_t offset, int64_t bytes);

  Frame &frame;
  Profile &profile;
  std::unique_ptr<TensorWatch> watch;              // on devices that judge accesses
  std::vector<void *> kernels;                     // by step index
  std::vector<std::unique_ptr<LibraryCall>> calls; // by number of the library step
};

} // namespace stator::runtime
#endif
