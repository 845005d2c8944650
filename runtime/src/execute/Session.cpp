// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/execute/Session.h"

#include "runtime/src/Failure.h"
#include "runtime/src/device/cuda/CudaDevice.h"
#include "runtime/src/device/host/HostDevice.h"
#include "runtime/src/execute/Tensors.h"

#include <algorithm>
#include <cstring>

namespace stator::runtime {
namespace {

const Function &chooseFunction(const Model &model, const char *name) {
  if (!name) return model.functions().front();
  for (const Function &function : model.functions())
    if (function.name == name) return function;
  fail(STATOR_INVALID_ARGUMENT, "the artifact has no function '%.200s'", name);
}

const Plan &choosePlan(const Function &function, const char *device) {
  bool host = device && std::strcmp(device, "host") == 0, cuda = device && std::strcmp(device, "cuda") == 0;
  if (device && !host && !cuda) fail(STATOR_INVALID_ARGUMENT, "unknown device '%.100s': host or cuda", device);
  const Plan *plan = cuda ? nullptr : function.plan(DeviceKind::Host);
  if (!plan && !host) plan = function.plan(DeviceKind::Cuda);
  if (!plan) fail(STATOR_INVALID_ARGUMENT, "function '%.200s' was not compiled for %s", function.name.c_str(), device);
  return *plan;
}

} // namespace

class Session::Turn {
public:
  explicit Turn(Session &session) : session(session) {
    if (session.busy.exchange(true)) fail(STATOR_BUSY, "the session is in use by another call");
    try {
      session.device->enter();
    } catch (...) {
      session.busy.store(false);
      throw;
    }
  }
  ~Turn() {
    session.device->leave();
    session.busy.store(false);
  }
  Turn(const Turn &) = delete;

private:
  Session &session;
};

Session::Session(std::shared_ptr<Model> opened, const stator_session_options &options)
    : model(std::move(opened)), function(&chooseFunction(*model, options.function)),
      plan(&choosePlan(*function, options.device)) {
  if (options.threads < 0 || options.threads > 4096) fail(STATOR_INVALID_ARGUMENT, "%d threads", options.threads);
  bool useLibraries = !options.no_libraries && plan->librarySteps != 0;
  if (plan->device == DeviceKind::Host) {
    device = std::make_unique<HostDevice>(*model, options.threads, useLibraries);
  } else {
    device = openCudaDevice(model, {options.cuda_library, options.device_index, options.cuda_stream});
    asynchronous = options.cuda_stream != nullptr;
  }
  title = device->name();
  frame = std::make_unique<Frame>(*function, *plan, *device);
  times = std::make_unique<Profile>(*plan, options.profile != 0);
  executor = std::make_unique<Executor>(*frame, *times, useLibraries);
  states.resize(plan->states.size());
  stateCopies.resize(plan->states.size());
  inputCopies.resize(plan->inputs.size());
  gathered.resize(plan->inputs.size());
  inputInPlace.resize(plan->inputs.size());
  hostOutputs.resize(plan->outputs.size());
  outputInPlace.resize(plan->outputs.size());
  resetState();
}

int64_t Session::inputValue(const stator_tensor &input, size_t index) {
  char bytes[8] = {};
  size_t size = stator_dtype_bytes(input.dtype);
  if (elementCount(input) != 1 || !input.data)
    fail(STATOR_MISMATCH, "%s must hold one element", tensorTitle("input", index, plan->inputs[index]).c_str());
  if (input.memory == STATOR_MEMORY_DEVICE)
    device->download(bytes, static_cast<const char *>(input.data), int64_t(size));
  else
    std::memcpy(bytes, input.data, size);
  return readInteger(bytes, input.dtype);
}

std::vector<int64_t> Session::bindSymbols(const stator_tensor *inputs, size_t inputCount, bool needsData) {
  if (inputCount != plan->inputs.size())
    fail(STATOR_INVALID_ARGUMENT, "%zu inputs are given, %zu are expected", inputCount, plan->inputs.size());
  if (inputCount != 0 && !inputs) fail(STATOR_INVALID_ARGUMENT, "inputs is NULL");
  for (size_t i = 0; i < inputCount; ++i) {
    const TensorSpec &spec = plan->inputs[i];
    checkTensor(inputs[i], spec, tensorTitle("input", i, spec), spec.mutated, needsData);
    if (inputs[i].memory != STATOR_MEMORY_HOST &&
        (inputs[i].memory != STATOR_MEMORY_DEVICE || plan->device == DeviceKind::Host))
      fail(STATOR_MISMATCH, "%s: not in host memory", tensorTitle("input", i, spec).c_str());
  }
  std::vector<int64_t> values(function->symbols.size());
  for (size_t s = 0; s < values.size(); ++s) {
    const Symbol &symbol = function->symbols[s];
    if (symbol.dataDependent()) continue;
    const stator_tensor &input = inputs[symbol.input];
    std::string place = tensorTitle("input", size_t(symbol.input), plan->inputs[symbol.input]);
    int64_t size = symbol.dim < 0 ? inputValue(input, size_t(symbol.input)) : input.shape[symbol.dim];
    place += symbol.dim < 0 ? "" : ", dimension " + std::to_string(symbol.dim);
    int64_t rest;
    if (__builtin_sub_overflow(size, symbol.offset, &rest) || rest % symbol.scale != 0)
      fail(STATOR_MISMATCH, "%s: %lld is not %lld * %s + %lld", place.c_str(), (long long)size, (long long)symbol.scale,
           symbol.name.c_str(), (long long)symbol.offset);
    values[s] = rest / symbol.scale;
    if (values[s] < symbol.min || values[s] > symbol.max)
      fail(STATOR_MISMATCH, "%s: %s = %lld is outside its bounds %lld..%lld", place.c_str(), symbol.name.c_str(),
           (long long)values[s], (long long)symbol.min, (long long)symbol.max);
  }
  return values;
}

void Session::checkShapes(const stator_tensor *inputs) {
  for (size_t i = 0; i < plan->inputs.size(); ++i) {
    const TensorSpec &spec = plan->inputs[i];
    for (uint32_t d = 0; d < inputs[i].rank; ++d) {
      int64_t expected = frame->value(spec.shape[d]);
      if (inputs[i].shape[d] == expected) continue;
      const std::string &text = plan->expressions.text(spec.shape[d]);
      bool symbolic = !plan->expressions[spec.shape[d]].uses().empty();
      fail(STATOR_MISMATCH, "%s, dimension %u: %lld is given, %lld%s%s is expected",
           tensorTitle("input", i, spec).c_str(), d, (long long)inputs[i].shape[d], (long long)expected,
           symbolic ? " = " : "", symbolic ? text.substr(0, 200).c_str() : "");
    }
  }
}

void Session::prepareInput(size_t index, const stator_tensor &tensor) {
  const TensorSpec &spec = plan->inputs[index];
  int64_t bytes = frame->tensorBytes(spec);
  bool here = plan->device == DeviceKind::Host || tensor.memory == STATOR_MEMORY_DEVICE;
  inputInPlace[index] = bytes == 0 || (here && isDense(tensor) && isAligned(tensor, plan->ioAlignment));
  if (inputInPlace[index]) return frame->setInput(index, static_cast<char *>(tensor.data));
  if (tensor.memory == STATOR_MEMORY_DEVICE)
    fail(STATOR_UNAVAILABLE, "%s: device memory must be dense and aligned to %zu bytes",
         tensorTitle("input", index, spec).c_str(), plan->ioAlignment);
  if (inputCopies[index].reserve(*device, bytes)) device->nameMemory(inputCopies[index].get(), spec.name);
  frame->setInput(index, inputCopies[index].get());
  if (plan->device == DeviceKind::Host) return gatherElements(inputCopies[index].get(), tensor);
  if (isDense(tensor)) return device->upload(inputCopies[index].get(), tensor.data, bytes);
  gathered[index] = allocateAligned(bytes);
  gatherElements(gathered[index].get(), tensor);
  device->upload(inputCopies[index].get(), gathered[index].get(), bytes);
}

void Session::prepareOutput(size_t index, const stator_tensor &tensor) {
  const TensorSpec &spec = plan->outputs[index];
  outputInPlace[index] = false;
  frame->setOutput(index, nullptr, 0);
  if (!tensor.data) return;
  std::string name = tensorTitle("output", index, spec);
  if (spec.dataDependent) {
    if (tensor.dtype != spec.dtype)
      fail(STATOR_MISMATCH, "%s: %s is expected", name.c_str(), stator_dtype_name(spec.dtype));
    if (tensor.strided) fail(STATOR_MISMATCH, "%s: its shape depends on data, so it must be dense", name.c_str());
  } else {
    checkTensor(tensor, spec, name, true, true);
    for (uint32_t d = 0; d < tensor.rank; ++d)
      if (tensor.shape[d] != frame->value(spec.shape[d]))
        fail(STATOR_MISMATCH, "%s, dimension %u: %lld is given, the program yields %lld", name.c_str(), d,
             (long long)tensor.shape[d], (long long)frame->value(spec.shape[d]));
  }
  if (tensor.memory != STATOR_MEMORY_HOST &&
      (tensor.memory != STATOR_MEMORY_DEVICE || plan->device == DeviceKind::Host))
    fail(STATOR_MISMATCH, "%s: not in host memory", name.c_str());
  bool here = plan->device == DeviceKind::Host || tensor.memory == STATOR_MEMORY_DEVICE;
  outputInPlace[index] = here && (!tensor.strided || isDense(tensor)) && isAligned(tensor, plan->ioAlignment);
  if (!outputInPlace[index]) {
    if (tensor.memory == STATOR_MEMORY_DEVICE)
      fail(STATOR_UNAVAILABLE, "%s: device memory must be dense and aligned to %zu bytes", name.c_str(),
           plan->ioAlignment);
    return;
  }
  int64_t capacity =
      spec.dataDependent ? int64_t(std::min<uint64_t>(tensor.bytes, INT64_MAX)) : frame->tensorBytes(spec);
  frame->setOutput(index, static_cast<char *>(tensor.data), capacity);
}

void Session::refuseOverlap(const stator_tensor *inputs, size_t inputCount, const stator_tensor *outputs,
                            size_t outputCount) {
  auto overlap = [](const char *a, int64_t aBytes, const char *b, int64_t bBytes) {
    return aBytes > 0 && bBytes > 0 && a < b + bBytes && b < a + aBytes;
  };
  for (size_t i = 0; i < outputCount; ++i) {
    if (!outputInPlace[i] || plan->outputs[i].dataDependent) continue;
    const char *data = static_cast<const char *>(outputs[i].data);
    int64_t bytes = frame->tensorBytes(plan->outputs[i]);
    for (size_t j = 0; j < i; ++j)
      if (outputInPlace[j] && !plan->outputs[j].dataDependent &&
          overlap(data, bytes, static_cast<const char *>(outputs[j].data), frame->tensorBytes(plan->outputs[j])))
        fail(STATOR_MISMATCH, "outputs %zu and %zu overlap", j, i);
    for (size_t j = 0; j < inputCount; ++j)
      if (inputInPlace[j] &&
          overlap(data, bytes, static_cast<const char *>(inputs[j].data), frame->tensorBytes(plan->inputs[j])))
        fail(STATOR_MISMATCH, "output %zu overlaps input %zu", i, j);
  }
}

void Session::describeOutput(size_t index, stator_tensor &tensor) {
  const TensorSpec &spec = plan->outputs[index];
  tensor.dtype = spec.dtype;
  tensor.rank = uint32_t(spec.shape.size());
  for (uint32_t d = 0; d < tensor.rank; ++d) tensor.shape[d] = frame->value(spec.shape[d]);
}

void Session::finishOutput(size_t index, stator_tensor &tensor) {
  char *address = frame->outputAddress(index); // also for outputs that no step has touched
  int64_t bytes = frame->tensorBytes(plan->outputs[index]);
  bool own = !tensor.data;
  if (own || plan->outputs[index].dataDependent) describeOutput(index, tensor);
  if (outputInPlace[index]) return;
  if (own) {
    tensor.memory = STATOR_MEMORY_HOST;
    tensor.bytes = size_t(bytes);
    tensor.strided = 0;
    for (int64_t d = int64_t(tensor.rank) - 1, step = 1; d >= 0; --d) {
      tensor.strides[d] = step;
      step *= std::max<int64_t>(tensor.shape[d], 1);
    }
    tensor.data = address;
    if (plan->device == DeviceKind::Host) return;
    hostOutputs[index] = allocateAligned(bytes);
    device->download(hostOutputs[index].get(), address, bytes);
    tensor.data = hostOutputs[index].get();
    return;
  }
  if (plan->outputs[index].dataDependent && uint64_t(bytes) > tensor.bytes)
    fail(STATOR_MISMATCH, "%s needs %lld bytes, %zu are given",
         tensorTitle("output", index, plan->outputs[index]).c_str(), (long long)bytes, tensor.bytes);
  if (plan->device == DeviceKind::Host) return scatterElements(tensor, address);
  if (isDense(tensor)) return device->download(tensor.data, address, bytes);
  AlignedMemory dense = allocateAligned(bytes);
  device->download(dense.get(), address, bytes);
  scatterElements(tensor, dense.get());
}

void Session::finishInput(size_t index, const stator_tensor &tensor) {
  if (!plan->inputs[index].mutated || inputInPlace[index]) return;
  int64_t bytes = frame->tensorBytes(plan->inputs[index]);
  if (plan->device == DeviceKind::Host) return scatterElements(tensor, inputCopies[index].get());
  AlignedMemory dense = allocateAligned(bytes);
  device->download(dense.get(), inputCopies[index].get(), bytes);
  scatterElements(tensor, dense.get());
}

void Session::run(const stator_tensor *inputs, size_t inputCount, stator_tensor *outputs, size_t outputCount) {
  Turn turn(*this);
  if (broken) fail(STATOR_DEVICE_FAULT, "the session's device has failed in an earlier call");
  if (outputCount != plan->outputs.size())
    fail(STATOR_INVALID_ARGUMENT, "%zu outputs are given, %zu are expected", outputCount, plan->outputs.size());
  if (outputCount != 0 && !outputs) fail(STATOR_INVALID_ARGUMENT, "outputs is NULL");
  frame->begin(bindSymbols(inputs, inputCount, true));
  checkShapes(inputs);
  try {
    for (size_t i = 0; i < inputCount; ++i) prepareInput(i, inputs[i]);
    for (size_t i = 0; i < outputCount; ++i) prepareOutput(i, outputs[i]);
    refuseOverlap(inputs, inputCount, outputs, outputCount);
    executor->run();
    for (size_t i = 0; i < outputCount; ++i) finishOutput(i, outputs[i]);
    for (size_t i = 0; i < inputCount; ++i) finishInput(i, inputs[i]);
    if (!asynchronous) device->synchronize();
  } catch (const Failure &failure) {
    broken = failure.status == STATOR_DEVICE_FAULT;
    // Nothing may still read or write the caller's memory when the call returns.
    try {
      device->synchronize();
    } catch (const Failure &) {
      broken = true;
    }
    throw;
  }
  hasRun = true;
}

void Session::outputShapes(const stator_tensor *inputs, size_t inputCount, stator_tensor *outputs, size_t outputCount) {
  Turn turn(*this);
  if (outputCount != plan->outputs.size())
    fail(STATOR_INVALID_ARGUMENT, "%zu outputs are given, %zu are expected", outputCount, plan->outputs.size());
  if (outputCount != 0 && !outputs) fail(STATOR_INVALID_ARGUMENT, "outputs is NULL");
  frame->begin(bindSymbols(inputs, inputCount, false));
  checkShapes(inputs);
  for (size_t i = 0; i < outputCount; ++i) {
    const TensorSpec &spec = plan->outputs[i];
    outputs[i].dtype = spec.dtype;
    outputs[i].rank = uint32_t(spec.shape.size());
    for (uint32_t d = 0; d < outputs[i].rank; ++d) {
      const std::vector<SymbolId> &uses = plan->expressions[spec.shape[d]].uses();
      bool data =
          std::any_of(uses.begin(), uses.end(), [&](SymbolId s) { return function->symbols[s].dataDependent(); });
      outputs[i].shape[d] = data ? -1 : frame->value(spec.shape[d]);
    }
  }
}

const TensorSpec &Session::stateSpec(size_t index) const {
  if (index >= plan->states.size()) fail(STATOR_INVALID_ARGUMENT, "there is no state %zu", index);
  return plan->states[index];
}

void Session::readState(size_t index, stator_tensor &out) {
  Turn turn(*this);
  const TensorSpec &spec = stateSpec(index);
  int64_t bytes = frame->tensorBytes(spec);
  AlignedMemory copy = allocateAligned(bytes);
  device->download(copy.get(), states[index].get(), bytes);
  std::string name = tensorTitle("state", index, spec);
  if (out.data) {
    checkTensor(out, spec, name, true, true);
    for (uint32_t d = 0; d < out.rank; ++d)
      if (out.shape[d] != frame->value(spec.shape[d]))
        fail(STATOR_MISMATCH, "%s: dimension %u differs", name.c_str(), d);
    return scatterElements(out, copy.get());
  }
  out = {};
  out.dtype = spec.dtype;
  out.rank = uint32_t(spec.shape.size());
  out.bytes = size_t(bytes);
  int64_t step = 1;
  for (uint32_t d = out.rank; d-- > 0;) {
    out.shape[d] = frame->value(spec.shape[d]);
    out.strides[d] = step;
    step *= std::max<int64_t>(out.shape[d], 1);
  }
  stateCopies[index] = std::move(copy);
  out.data = stateCopies[index].get();
}

void Session::writeState(size_t index, const stator_tensor &in) {
  Turn turn(*this);
  const TensorSpec &spec = stateSpec(index);
  std::string name = tensorTitle("state", index, spec);
  checkTensor(in, spec, name, false, true);
  for (uint32_t d = 0; d < in.rank; ++d)
    if (in.shape[d] != frame->value(spec.shape[d])) fail(STATOR_MISMATCH, "%s: dimension %u differs", name.c_str(), d);
  int64_t bytes = frame->tensorBytes(spec);
  AlignedMemory copy = allocateAligned(bytes);
  gatherElements(copy.get(), in);
  device->upload(states[index].get(), copy.get(), bytes);
  device->synchronize();
}

void Session::resetState() {
  Turn turn(*this);
  for (size_t i = 0; i < plan->states.size(); ++i) {
    const TensorSpec &spec = plan->states[i];
    int64_t bytes = frame->tensorBytes(spec);
    if (states[i].reserve(*device, bytes)) device->nameMemory(states[i].get(), spec.name);
    frame->setState(i, states[i].get());
    if (bytes == 0) continue;
    if (spec.initial.empty()) {
      device->fill(states[i].get(), 0, 1, bytes);
      continue;
    }
    const StoredTensor &initial = model->weight(spec.initial);
    if (initial.dtype != spec.dtype || int64_t(initial.data.size()) != bytes)
      fail(STATOR_BAD_ARTIFACT, "%s does not fit its initial value", tensorTitle("state", i, spec).c_str());
    device->upload(states[i].get(), initial.data.data(), bytes);
  }
  device->synchronize();
}

stator_memory_info Session::memory(const stator_tensor *inputs, size_t inputCount) {
  Turn turn(*this);
  if (inputs || plan->inputs.empty()) {
    frame->begin(bindSymbols(inputs, inputCount, false));
    checkShapes(inputs);
  } else if (!hasRun) {
    fail(STATOR_INVALID_ARGUMENT, "the sizes are not known before the first run: give inputs");
  }
  stator_memory_info info = {};
  info.arena = frame->arenaBytes();
  info.live_load = frame->liveLoad();
  info.weights = model->weightBytes();
  for (const TensorSpec &spec : plan->states) info.state += uint64_t(frame->tensorBytes(spec));
  for (const char *name : {"onednn", "cublaslt", "cudnn"})
    if (const Library *library = device->library(name)) info.library += library->bytes();
  return info;
}

size_t Session::profile(stator_profile_row *rows, size_t capacity) const {
  const std::vector<const Step *> &steps = plan->allSteps;
  for (size_t i = 0; i < std::min(capacity, steps.size()); ++i) {
    const Step &step = *steps[i];
    const Profile::Entry &entry = (*times)[step.index];
    rows[i] = {step.kind(),       step.name(), step.label.c_str(), step.source.c_str(), entry.calls,
               entry.nanoseconds, step.depth,  entry.bytesRead,    entry.bytesWritten,  entry.operations};
  }
  return steps.size();
}

} // namespace stator::runtime
