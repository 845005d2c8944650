// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One use of a model: a device, an arena, states, and the runs.
#ifndef STATOR_RUNTIME_EXECUTE_SESSION_H
#define STATOR_RUNTIME_EXECUTE_SESSION_H

#include "runtime/src/artifact/Model.h"
#include "runtime/src/execute/Executor.h"
#include "stator/runtime.h"

#include <atomic>

namespace stator::runtime {

/// The functions behind runtime.h's session calls; errors are thrown as Failures.
class Session {
public:
  Session(std::shared_ptr<Model> model, const stator_session_options &options);

  void run(const stator_tensor *inputs, size_t inputCount, stator_tensor *outputs, size_t outputCount);
  void outputShapes(const stator_tensor *inputs, size_t inputCount, stator_tensor *outputs, size_t outputCount);
  void readState(size_t index, stator_tensor &out);
  void writeState(size_t index, const stator_tensor &in);
  void resetState();
  stator_memory_info memory(const stator_tensor *inputs, size_t inputCount);
  size_t profile(stator_profile_row *rows, size_t capacity) const;
  const std::string &deviceName() const { return title; }

private:
  class Turn; // holds the session for one call

  /// Checks inputs against the signature and gives the value of every symbol that inputs define.
  std::vector<int64_t> bindSymbols(const stator_tensor *inputs, size_t inputCount, bool needsData);
  void checkShapes(const stator_tensor *inputs);
  int64_t inputValue(const stator_tensor &input, size_t index);
  void prepareInput(size_t index, const stator_tensor &tensor);
  void prepareOutput(size_t index, const stator_tensor &tensor);
  void refuseOverlap(const stator_tensor *inputs, size_t inputCount, const stator_tensor *outputs, size_t outputCount);
  void finishOutput(size_t index, stator_tensor &tensor);
  void finishInput(size_t index, const stator_tensor &tensor);
  void describeOutput(size_t index, stator_tensor &tensor);
  const TensorSpec &stateSpec(size_t index) const;

  std::shared_ptr<Model> model;
  const Function *function;
  const Plan *plan;
  std::unique_ptr<Device> device;
  std::string title;
  std::unique_ptr<Frame> frame;
  std::unique_ptr<Profile> times;
  std::unique_ptr<Executor> executor;
  bool asynchronous = false; // on the caller's stream

  std::vector<DeviceMemory> states, inputCopies;    // on the device
  std::vector<AlignedMemory> stateCopies, gathered; // on the host
  std::vector<AlignedMemory> hostOutputs;
  std::vector<char> outputInPlace; // written by the plan where the caller wants it
  std::vector<char> inputInPlace;
  bool hasRun = false;
  bool broken = false; // after a fault of the device
  std::atomic<bool> busy{false};
};

} // namespace stator::runtime
#endif
