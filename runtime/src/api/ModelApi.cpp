// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// runtime.h: versions, names, models.
#include "runtime/src/api/Handles.h"

using namespace stator::runtime;

namespace {

const Function *functionAt(const stator_model *model, size_t index) {
  return model && index < model->model->functions().size() ? &model->model->functions()[index] : nullptr;
}

/// What a plan says about a tensor; the first plan speaks for all, they share the signature.
stator_status describe(const stator_model *model, size_t functionIndex, std::vector<TensorSpec> Plan::*list,
                       size_t index, stator_tensor_info *info, stator_error *error) {
  return guard(error, [&] {
    require(model, "model");
    require(info, "info");
    const Function *function = functionAt(model, functionIndex);
    if (!function) fail(STATOR_INVALID_ARGUMENT, "there is no function %zu", functionIndex);
    const Plan &plan = function->plans.front();
    if (index >= (plan.*list).size()) fail(STATOR_INVALID_ARGUMENT, "there is no tensor %zu", index);
    const TensorSpec &spec = (plan.*list)[index];
    *info = {};
    info->name = spec.name.c_str();
    info->dtype = spec.dtype;
    info->rank = uint32_t(spec.shape.size());
    info->mutated = spec.mutated;
    for (size_t d = 0; d < spec.shape.size(); ++d) {
      const Expression &dim = plan.expressions[spec.shape[d]];
      const char *problem = nullptr;
      info->expressions[d] = plan.expressions.text(spec.shape[d]).c_str();
      info->shape[d] = -1;
      int64_t value;
      if (dim.uses().empty() && dim.evaluate(nullptr, value, problem)) info->shape[d] = value;
    }
  });
}

size_t count(const stator_model *model, size_t function, std::vector<TensorSpec> Plan::*list) {
  const Function *found = functionAt(model, function);
  return found ? (found->plans.front().*list).size() : 0;
}

std::string weightsDirectory(const stator_model_options *given) {
  stator_model_options options = readOptions(given);
  return options.weights_directory ? options.weights_directory : "";
}

} // namespace

extern "C" {

uint32_t stator_runtime_version(void) { return STATOR_RUNTIME_VERSION; }

const char *stator_status_name(stator_status status) {
  switch (status) {
  case STATOR_OK: return "ok";
  case STATOR_INVALID_ARGUMENT: return "invalid argument";
  case STATOR_BAD_ARTIFACT: return "bad artifact";
  case STATOR_MISMATCH: return "mismatch";
  case STATOR_ASSERTION: return "assertion";
  case STATOR_UNAVAILABLE: return "unavailable";
  case STATOR_OUT_OF_MEMORY: return "out of memory";
  case STATOR_IO: return "file error";
  case STATOR_DEVICE_FAULT: return "device fault";
  case STATOR_BUSY: return "busy";
  case STATOR_INTERNAL: return "internal error";
  }
  return "unknown status";
}

const char *stator_dtype_name(stator_dtype dtype) {
  switch (dtype) {
#define STATOR_NAME(NAME, NUMBER, TEXT, BITS)                                                                          \
  case STATOR_DTYPE_##NAME: return TEXT;
    STATOR_DTYPES(STATOR_NAME)
#undef STATOR_NAME
  default: return nullptr;
  }
}

size_t stator_dtype_bytes(stator_dtype dtype) {
  switch (dtype) {
#define STATOR_BYTES(NAME, NUMBER, TEXT, BITS)                                                                         \
  case STATOR_DTYPE_##NAME: return (BITS) / 8;
    STATOR_DTYPES(STATOR_BYTES)
#undef STATOR_BYTES
  default: return 0;
  }
}

stator_status stator_model_open_file(const char *path, const stator_model_options *options, stator_model **model,
                                     stator_error *error) {
  return guard(error, [&] {
    require(path, "path");
    require(model, "model");
    *model = nullptr;
    *model = new stator_model{Model::openFile(path, weightsDirectory(options))};
  });
}

stator_status stator_model_open_memory(const void *data, size_t bytes, const stator_model_options *options,
                                       stator_model **model, stator_error *error) {
  return guard(error, [&] {
    require(data, "data");
    require(model, "model");
    *model = nullptr;
    *model = new stator_model{Model::openMemory({static_cast<const char *>(data), bytes}, weightsDirectory(options))};
  });
}

void stator_model_close(stator_model *model) { delete model; }

const char *stator_model_manifest(const stator_model *model, size_t *bytes) {
  if (bytes) *bytes = model ? model->model->manifest().size() : 0;
  return model ? model->model->manifest().data() : nullptr;
}

size_t stator_model_function_count(const stator_model *model) { return model ? model->model->functions().size() : 0; }

const char *stator_model_function_name(const stator_model *model, size_t function) {
  const Function *found = functionAt(model, function);
  return found ? found->name.c_str() : nullptr;
}

size_t stator_model_input_count(const stator_model *model, size_t function) {
  return count(model, function, &Plan::inputs);
}
size_t stator_model_output_count(const stator_model *model, size_t function) {
  return count(model, function, &Plan::outputs);
}
size_t stator_model_state_count(const stator_model *model, size_t function) {
  return count(model, function, &Plan::states);
}
size_t stator_model_symbol_count(const stator_model *model, size_t function) {
  const Function *found = functionAt(model, function);
  return found ? found->symbols.size() : 0;
}

stator_status stator_model_input(const stator_model *model, size_t function, size_t index, stator_tensor_info *info,
                                 stator_error *error) {
  return describe(model, function, &Plan::inputs, index, info, error);
}
stator_status stator_model_output(const stator_model *model, size_t function, size_t index, stator_tensor_info *info,
                                  stator_error *error) {
  return describe(model, function, &Plan::outputs, index, info, error);
}
stator_status stator_model_state(const stator_model *model, size_t function, size_t index, stator_tensor_info *info,
                                 stator_error *error) {
  return describe(model, function, &Plan::states, index, info, error);
}

stator_status stator_model_symbol(const stator_model *model, size_t functionIndex, size_t index,
                                  stator_symbol_info *info, stator_error *error) {
  return guard(error, [&] {
    require(model, "model");
    require(info, "info");
    const Function *function = functionAt(model, functionIndex);
    if (!function || index >= function->symbols.size())
      fail(STATOR_INVALID_ARGUMENT, "there is no symbol %zu of function %zu", index, functionIndex);
    const Symbol &symbol = function->symbols[index];
    *info = {symbol.name.c_str(), symbol.min, symbol.max, symbol.input, symbol.dim};
  });
}

} // extern "C"
