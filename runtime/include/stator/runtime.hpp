// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A thin C++17 wrapper of runtime.h: owners that clean up, and errors as exceptions of the caller's side of the API.
//
//   stator::Model model("mlp.stator");
//   stator::Session session(model);
//   std::vector<float> x(128);
//   std::vector<stator::Tensor> y = session.run({stator::view(x, {1, 128})});
//   const float *scores = y[0].elements<float>();
#ifndef STATOR_RUNTIME_HPP
#define STATOR_RUNTIME_HPP

#include "stator/runtime.h"

#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

namespace stator {

/// What a failed call throws.
class Error : public std::runtime_error {
public:
  Error(stator_status status, const std::string &message) : std::runtime_error(message), code(status) {}
  stator_status status() const { return code; }

private:
  stator_status code;
};

inline void check(stator_status status, const stator_error &error) {
  if (status != STATOR_OK) throw Error(status, error.message);
}

/// The dtype of a C++ type. f16, bf16 and f8 have none: set them by hand.
template <typename T> constexpr stator_dtype dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return STATOR_DTYPE_BOOL;
  else if constexpr (std::is_same_v<T, float>)
    return STATOR_DTYPE_F32;
  else if constexpr (std::is_same_v<T, double>)
    return STATOR_DTYPE_F64;
  else {
    static_assert(std::is_integral_v<T>, "no dtype corresponds to this type");
    constexpr bool isSigned = std::is_signed_v<T>;
    switch (sizeof(T)) {
    case 1: return isSigned ? STATOR_DTYPE_I8 : STATOR_DTYPE_U8;
    case 2: return isSigned ? STATOR_DTYPE_I16 : STATOR_DTYPE_U16;
    case 4: return isSigned ? STATOR_DTYPE_I32 : STATOR_DTYPE_U32;
    default: return isSigned ? STATOR_DTYPE_I64 : STATOR_DTYPE_U64;
    }
  }
}

/// A stator_tensor with a few conveniences; owns nothing.
struct Tensor : stator_tensor {
  Tensor() : stator_tensor() {}

  int64_t count() const {
    int64_t product = 1;
    for (uint32_t d = 0; d < rank; ++d) product *= shape[d];
    return product;
  }
  /// The elements of a dense host tensor. Throws if T is not its dtype.
  template <typename T> T *elements() const {
    if (dtype != dtypeOf<T>()) throw Error(STATOR_MISMATCH, "the tensor's elements are of another type");
    return static_cast<T *>(data);
  }
};

/// A dense tensor over `data`, which must hold all its elements and stay.
template <typename T> Tensor view(T *data, std::initializer_list<int64_t> shape) {
  if (shape.size() > STATOR_MAX_RANK) throw Error(STATOR_INVALID_ARGUMENT, "the rank is too high");
  Tensor tensor;
  tensor.data = const_cast<std::remove_const_t<T> *>(data);
  tensor.dtype = dtypeOf<std::remove_const_t<T>>();
  for (int64_t size : shape) tensor.shape[tensor.rank++] = size;
  return tensor;
}
template <typename T> Tensor view(std::vector<T> &values, std::initializer_list<int64_t> shape) {
  Tensor tensor = view(values.data(), shape);
  tensor.bytes = values.size() * sizeof(T);
  return tensor;
}

/// An opened artifact.
class Model {
public:
  explicit Model(const std::string &path) {
    stator_model *model = nullptr;
    stator_error error;
    check(stator_model_open_file(path.c_str(), nullptr, &model, &error), error);
    handle.reset(model);
  }
  /// `data` must outlive the model and its sessions.
  Model(const void *data, size_t bytes) {
    stator_model *model = nullptr;
    stator_error error;
    check(stator_model_open_memory(data, bytes, nullptr, &model, &error), error);
    handle.reset(model);
  }

  stator_model *get() const { return handle.get(); }
  size_t inputs(size_t function = 0) const { return stator_model_input_count(get(), function); }
  size_t outputs(size_t function = 0) const { return stator_model_output_count(get(), function); }

  stator_tensor_info input(size_t index, size_t function = 0) const {
    stator_tensor_info info;
    stator_error error;
    check(stator_model_input(get(), function, index, &info, &error), error);
    return info;
  }
  stator_tensor_info output(size_t index, size_t function = 0) const {
    stator_tensor_info info;
    stator_error error;
    check(stator_model_output(get(), function, index, &info, &error), error);
    return info;
  }

private:
  struct Close {
    void operator()(stator_model *model) const { stator_model_close(model); }
  };
  std::unique_ptr<stator_model, Close> handle;
};

/// One use of a model; see stator_session_create. struct_size of the options is set here.
class Session {
public:
  explicit Session(const Model &model, stator_session_options options = {}) {
    options.struct_size = sizeof options;
    stator_session *session = nullptr;
    stator_error error;
    check(stator_session_create(model.get(), &options, &session, &error), error);
    handle.reset(session);
    outputCount = 0;
    for (size_t f = 0; f < stator_model_function_count(model.get()); ++f)
      if (!options.function ? f == 0 : std::string(options.function) == stator_model_function_name(model.get(), f))
        outputCount = model.outputs(f);
  }

  stator_session *get() const { return handle.get(); }

  /// Runs into the session's own memory: the results are valid until the next run.
  std::vector<Tensor> run(const std::vector<Tensor> &inputs) {
    std::vector<Tensor> outputs(outputCount);
    run(inputs, outputs);
    return outputs;
  }
  /// Runs into the memory that `outputs` name; those without data get the session's own.
  void run(const std::vector<Tensor> &inputs, std::vector<Tensor> &outputs) {
    static_assert(sizeof(Tensor) == sizeof(stator_tensor), "lists of tensors are handed over as they are");
    stator_error error;
    check(stator_session_run(get(), inputs.data(), inputs.size(), outputs.data(), outputs.size(), &error), error);
  }

private:
  struct Destroy {
    void operator()(stator_session *session) const { stator_session_destroy(session); }
  };
  std::unique_ptr<stator_session, Destroy> handle;
  size_t outputCount = 0;
};

} // namespace stator
#endif
