// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builds small artifacts for the runtime's tests, and C++ owners for its C objects.
#ifndef STATOR_TESTS_UNIT_RUNTIME_TESTARTIFACT_H
#define STATOR_TESTS_UNIT_RUNTIME_TESTARTIFACT_H

#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/WeightsWriter.h"
#include "stator/runtime.h"

#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <memory>

namespace stator::test {

inline std::string readFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return std::string(std::istreambuf_iterator<char>(file), {});
}

/// An artifact with the test kernels as module "main".
struct TestArtifact {
  std::string functions; // the manifest's list
  artifact::WeightsWriter weights;
  std::string modules = R"json([{"name": "main", "kind": "host", "cpu": "x86-64", "entry": "host/main.so"}])json";

  explicit TestArtifact(std::string functions) : functions(std::move(functions)) {}

  std::string bytes() {
    std::string image = readFile(STATOR_TEST_KERNELS);
    artifact::ArtifactWriter writer;
    writer.add("host/main.so", image);
    if (!weights.empty()) writer.add("weights.safetensors", weights.pieces());
    return writer.bytes(manifest(writer.entriesJson()));
  }

  std::string manifest(const std::string &entries) {
    return "{\"format\": 1, \"abi\": 1, \"model\": \"test\", \"entries\": " + entries + ", \"modules\": " + modules +
           (weights.empty() ? "" : ", \"weights\": {\"entry\": \"weights.safetensors\"}") +
           ", \"functions\": " + functions + "}";
  }
};

struct CloseModel {
  void operator()(stator_model *model) const { stator_model_close(model); }
};
struct DestroySession {
  void operator()(stator_session *session) const { stator_session_destroy(session); }
};
using ModelPointer = std::unique_ptr<stator_model, CloseModel>;
using SessionPointer = std::unique_ptr<stator_session, DestroySession>;

/// Opens bytes that must stay alive.
inline ModelPointer open(const std::string &bytes) {
  stator_model *model = nullptr;
  stator_error error;
  EXPECT_EQ(STATOR_OK, stator_model_open_memory(bytes.data(), bytes.size(), nullptr, &model, &error)) << error.message;
  return ModelPointer(model);
}

inline SessionPointer makeSession(const ModelPointer &model, stator_session_options options = {}) {
  options.struct_size = sizeof options;
  stator_session *session = nullptr;
  stator_error error;
  EXPECT_EQ(STATOR_OK, stator_session_create(model.get(), &options, &session, &error)) << error.message;
  return SessionPointer(session);
}

template <typename T> stator_dtype dtypeOf();
template <> inline stator_dtype dtypeOf<float>() { return STATOR_DTYPE_F32; }
template <> inline stator_dtype dtypeOf<int64_t>() { return STATOR_DTYPE_I64; }
template <> inline stator_dtype dtypeOf<uint8_t>() { return STATOR_DTYPE_U8; }

/// A dense tensor over a vector.
template <typename T> stator_tensor tensor(std::vector<T> &values, std::vector<int64_t> shape) {
  stator_tensor result = {};
  result.data = values.data();
  result.bytes = values.size() * sizeof(T);
  result.dtype = dtypeOf<T>();
  result.rank = uint32_t(shape.size());
  for (size_t i = 0; i < shape.size(); ++i) result.shape[i] = shape[i];
  return result;
}

template <typename T> std::vector<T> elements(const stator_tensor &tensor) {
  size_t count = 1;
  for (uint32_t d = 0; d < tensor.rank; ++d) count *= size_t(tensor.shape[d]);
  const T *data = static_cast<const T *>(tensor.data);
  return std::vector<T>(data, data + count);
}

} // namespace stator::test
#endif
