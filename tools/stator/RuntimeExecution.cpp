// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "stator/runtime.h"
#include "tools/stator/Command.h"
#include "tools/stator/Executions.h"
#include <chrono>
#include <iostream>
#include <nlohmann/json.hpp>

using namespace mlir;

namespace stator::cli {
namespace {

io::Tensor toTensor(const stator_tensor &tensor) {
  io::Tensor result;
  result.type = tensor.dtype;
  result.shape.assign(tensor.shape, tensor.shape + tensor.rank);
  size_t bytes = io::tensorBytes(tensor.dtype, result.shape).value_or(0);
  result.bytes = io::Buffer::copyOf(std::string_view(static_cast<const char *>(tensor.data), bytes));
  return result;
}

class RuntimeExecution final : public Execution {
public:
  std::string artifact; // what the model lies in, where it was compiled just now
  std::vector<std::string> origins;

  ~RuntimeExecution() override {
    stator_session_destroy(session);
    stator_model_close(model);
  }

  bool open(const std::string &path, const RunOptions &options) {
    stator_error error;
    stator_status status = artifact.empty()
                               ? stator_model_open_file(path.c_str(), nullptr, &model, &error)
                               : stator_model_open_memory(artifact.data(), artifact.size(), nullptr, &model, &error);
    if (status != STATOR_OK) return fail(error.message), false;
    stator_session_options settings = {};
    settings.struct_size = sizeof settings;
    settings.device = options.device.c_str();
    settings.threads = options.threads;
    settings.no_libraries = options.noLibraries;
    settings.profile = options.profile;
    if (!options.cudaLibrary.empty()) settings.cuda_library = options.cudaLibrary.c_str();
    if (stator_session_create(model, &settings, &session, &error) != STATOR_OK) return fail(error.message), false;
    std::map<std::string, stator_symbol_info> symbols;
    for (size_t i = 0; i < stator_model_symbol_count(model, 0); ++i) {
      stator_symbol_info info;
      if (stator_model_symbol(model, 0, i, &info, &error) == STATOR_OK) symbols[info.name] = info;
    }
    for (size_t i = 0; i < stator_model_input_count(model, 0); ++i) {
      stator_tensor_info info;
      if (stator_model_input(model, 0, i, &info, &error) != STATOR_OK) return fail(error.message), false;
      InputSpec spec;
      spec.name = info.name;
      spec.type = info.dtype;
      for (uint32_t d = 0; d < info.rank; ++d) {
        auto symbol = symbols.find(info.expressions[d]);
        spec.shape.push_back(info.shape[d]);
        spec.symbols.push_back(info.shape[d] < 0 ? info.expressions[d] : "");
        spec.least.push_back(symbol == symbols.end() ? 2 : symbol->second.min);
        spec.most.push_back(symbol == symbols.end() ? 2 : symbol->second.max);
      }
      specs.push_back(spec);
    }
    return true;
  }

  /// The step that writes each output, from the manifest: the last one that touches its buffer.
  void readOrigins(const std::string &device) {
    size_t bytes = 0;
    const char *data = stator_model_manifest(model, &bytes);
    auto manifest = nlohmann::json::parse(std::string(data, bytes), nullptr, false);
    // The runtime has checked the manifest's form.
    if (!manifest.is_object() || manifest["functions"].empty()) return;
    for (const auto &plan : manifest["functions"][0]["plans"]) {
      if (plan["device"] != device) continue;
      std::map<size_t, size_t> outputOfBuffer;
      for (size_t i = 0; i < plan["buffers"].size(); ++i)
        if (plan["buffers"][i]["space"] == "output") outputOfBuffer[i] = plan["buffers"][i]["index"].get<size_t>();
      origins.resize(outputOfBuffer.size());
      findWriters(plan["steps"], outputOfBuffer);
    }
  }

  const std::vector<InputSpec> &inputs() const override { return specs; }

  bool run(const std::vector<io::Tensor> &inputs, std::map<std::string, io::Tensor> *outputs, double &milliseconds,
           std::string &message) override {
    std::vector<stator_tensor> in(inputs.size()), out(stator_model_output_count(model, 0));
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (inputs[i].shape.size() > STATOR_MAX_RANK) return message = "input of too high a rank", false;
      in[i].data = const_cast<char *>(inputs[i].bytes.data());
      in[i].bytes = inputs[i].bytes.size();
      in[i].dtype = inputs[i].type;
      in[i].rank = inputs[i].shape.size();
      std::copy(inputs[i].shape.begin(), inputs[i].shape.end(), in[i].shape);
    }
    stator_error error;
    auto begin = std::chrono::steady_clock::now();
    stator_status status = stator_session_run(session, in.data(), in.size(), out.data(), out.size(), &error);
    milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (status != STATOR_OK) return message = error.message, false;
    for (size_t i = 0; outputs && i < out.size(); ++i) (*outputs)[std::to_string(i)] = toTensor(out[i]);
    return true;
  }

  std::map<std::string, io::Tensor> state() const override {
    std::map<std::string, io::Tensor> result;
    for (size_t i = 0; i < stator_model_state_count(model, 0); ++i) {
      stator_error error;
      stator_tensor_info info;
      stator_tensor tensor = {};
      if (stator_model_state(model, 0, i, &info, &error) == STATOR_OK &&
          stator_session_read_state(session, i, &tensor, &error) == STATOR_OK)
        result[info.name] = toTensor(tensor);
    }
    return result;
  }

  std::string describe() const override { return stator_session_device_name(session); }
  std::string originOfOutput(const std::string &name) const override {
    size_t i = std::strtoul(name.c_str(), nullptr, 10);
    return i < origins.size() ? origins[i] : "";
  }

  std::vector<stator_profile_row> profile() const {
    size_t count = 0;
    stator_error error;
    if (stator_session_profile(session, nullptr, 0, &count, &error) != STATOR_OK) return {};
    std::vector<stator_profile_row> rows(count);
    if (stator_session_profile(session, rows.data(), count, &count, &error) != STATOR_OK) return {};
    return rows;
  }

  void addPredictions(std::vector<KernelCounters> &kernels) const override {
    std::map<std::string, KernelCounters *> places;
    for (KernelCounters &kernel : kernels) places[kernel.kernel] = &kernel;
    for (const stator_profile_row &row : profile()) {
      auto place = places.find(row.name);
      if (row.kind != std::string("launch") || place == places.end()) continue;
      place->second->read += row.bytes_read;
      place->second->written += row.bytes_written;
      place->second->operations += row.operations;
    }
  }

  void printProfile() const override {
    for (const stator_profile_row &row : profile()) {
      // Bytes and operations are what the step needs at least: rates are those that its time allows for them.
      double calls = double(std::max<uint64_t>(row.calls, 1)),
             nanoseconds = double(std::max<uint64_t>(row.nanoseconds, 1));
      char time[80];
      std::snprintf(time, sizeof time, "%10.1f us %8.2f GB/s %8.2f GFLOP/s", row.nanoseconds / 1e3 / calls,
                    double(row.bytes_read + row.bytes_written) / nanoseconds, double(row.operations) / nanoseconds);
      std::cout << time << "  " << std::string(2 * row.depth, ' ') << row.kind << " " << (*row.label ? row.label : row.name)
                << "  " << row.source << "\n";
    }
  }

private:
  void findWriters(const nlohmann::json &steps, const std::map<size_t, size_t> &outputOfBuffer) {
    for (const auto &step : steps) {
      for (const char *key : {"then", "else", "condition", "body", "fallback"})
        if (step.contains(key)) findWriters(step[key], outputOfBuffer);
      if (!step.contains("kernel")) continue;
      std::string origin = "kernel " + step["kernel"].get<std::string>();
      if (step.contains("source") && !step["source"].get<std::string>().empty()) origin += " at " + step["source"].get<std::string>();
      for (const auto &buffer : step["buffers"])
        if (auto found = outputOfBuffer.find(buffer.get<size_t>()); found != outputOfBuffer.end() && found->second < origins.size())
          origins[found->second] = origin;
    }
  }

  stator_model *model = nullptr;
  stator_session *session = nullptr;
  std::vector<InputSpec> specs;
};

} // namespace

std::unique_ptr<Execution> compileAndOpen(std::unique_ptr<MLIRContext> context, OwningOpRef<ModuleOp> module,
                                          const CompileOptions &options, const RunOptions &runOptions) {
  auto execution = std::make_unique<RuntimeExecution>();
  execution->origins = outputOrigins(*module);
  Compilation result;
  if (failed(compile(*module, options, result))) return (void)compileError(result), nullptr;
  execution->artifact = std::move(result.artifact);
  // Before the context, which parameters do not promise.
  result.parts = {};
  module = {};
  return execution->open("", runOptions) ? std::move(execution) : nullptr;
}

std::unique_ptr<Execution> openArtifact(const std::string &path, const RunOptions &options) {
  auto execution = std::make_unique<RuntimeExecution>();
  if (!execution->open(path, options)) return nullptr;
  execution->readOrigins(options.device);
  return execution;
}

} // namespace stator::cli
