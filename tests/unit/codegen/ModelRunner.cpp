// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/codegen/ModelRunner.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/WeightsWriter.h"
#include "mlir/Parser/Parser.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace mlir;

namespace stator::test {

static stator_dtype dtypeOf(Type element) {
  std::string name = codegen::dtypeName(element);
  for (int number = 1; number <= 15; ++number)
    if (name == stator_dtype_name(stator_dtype(number))) return stator_dtype(number);
  return STATOR_DTYPE_INVALID;
}

ModelRunner::ModelRunner(const std::string &text, codegen::Options options) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  original = parseSourceString<ModuleOp>(text, &context);
  compiled = parseSourceString<ModuleOp>(text, &context);
  EXPECT_TRUE(original) << text;
  if (!original || failed(codegen::generate(*compiled, options, artifact))) {
    ADD_FAILURE() << "generate failed";
    return;
  }
  artifact::WeightsWriter weights;
  for (auto &weight : artifact.weights)
    weights.add({weight.name, dtypeOf(weight.element), {weight.shape.begin(), weight.shape.end()}, std::string_view(weight.data)});
  artifact::ArtifactWriter writer;
  for (auto &blob : artifact.blobs) writer.add(blob.name, blob.bytes);
  if (!weights.empty()) writer.add("weights.safetensors", weights.pieces());
  archive = writer.bytes(codegen::manifestJson(artifact, "test", "test", writer.entriesJson(), weights.empty() ? "" : "weights.safetensors"));
  stator_error error{};
  EXPECT_EQ(stator_model_open_memory(archive.data(), archive.size(), nullptr, &model, &error), STATOR_OK)
      << error.message << "\n" << manifest();
}
ModelRunner::~ModelRunner() { stator_model_close(model); }

std::string ModelRunner::manifest() const { return codegen::manifestJson(artifact, "test", "test", "{}", ""); }

static void fill(HostTensor &tensor, uint32_t &state, double scale, int64_t integers) {
  for (int64_t i = 0; i < tensor.size(); ++i) {
    state = state * 1664525u + 1013904223u;
    double unit = double(state >> 8) / double(1 << 24);
    if (tensor.isFloat()) tensor.setDouble(i, (unit * 2 - 1) * scale);
    else tensor.setInt(i, int64_t(unit * double(integers)));
  }
}

void ModelRunner::check(const std::map<std::string, int64_t> &sizes, double rtol, double atol, double scale, int64_t integers,
                        bool libraries, int threads) {
  auto function = *original->getOps<func::FuncOp>().begin();
  std::vector<HostTensor> inputs;
  uint32_t seed = 7;
  for (Type type : function.getArgumentTypes()) {
    SmallVector<int64_t> shape;
    for (graph::DimExpr dim : graph::dimsOf(type))
      shape.push_back(*dim.evaluate([&](StringRef name) { return std::optional<int64_t>(sizes.at(name.str())); }));
    inputs.emplace_back(cast<RankedTensorType>(type).getElementType(), shape);
    fill(inputs.back(), seed, scale, integers);
  }
  graph::Evaluator evaluator(function);
  auto expected = evaluator.run(inputs);
  ASSERT_TRUE(succeeded(expected)) << evaluator.error().str();

  stator_session_options options{};
  options.struct_size = sizeof(options);
  options.threads = threads;
  options.device = device.c_str();
  if (!driver.empty()) options.cuda_library = driver.c_str();
  options.no_libraries = !libraries;
  stator_session *session = nullptr;
  stator_error error{};
  ASSERT_EQ(stator_session_create(model, &options, &session, &error), STATOR_OK) << error.message;
  std::vector<stator_tensor> in, out(expected->size());
  for (HostTensor &tensor : inputs) {
    stator_tensor t{};
    t.data = tensor.mutableData();
    t.bytes = tensor.bytes();
    t.dtype = dtypeOf(tensor.elementType);
    t.rank = tensor.rank();
    llvm::copy(tensor.shape, t.shape);
    in.push_back(t);
  }
  // Twice: the second run must not see anything of the first.
  for (int run = 0; run < 2; ++run) {
    for (auto &t : out) t = {};
    ASSERT_EQ(stator_session_run(session, in.data(), in.size(), out.data(), out.size(), &error), STATOR_OK) << error.message;
    for (auto [number, tensor] : llvm::enumerate(*expected)) {
      ASSERT_EQ(out[number].rank, tensor.rank());
      for (int64_t d = 0; d < tensor.rank(); ++d) ASSERT_EQ(out[number].shape[d], tensor.shape[d]) << "output " << number << " dim " << d;
      HostTensor got = HostTensor::view(tensor.elementType, tensor.shape, static_cast<const char *>(out[number].data));
      for (int64_t i = 0; i < tensor.size(); ++i) {
        if (!tensor.isFloat()) {
          ASSERT_EQ(got.getInt(i), tensor.getInt(i)) << "output " << number << " element " << i;
          continue;
        }
        double want = tensor.getDouble(i), have = got.getDouble(i);
        if (std::isnan(want)) ASSERT_TRUE(std::isnan(have)) << "output " << number << " element " << i << ": " << have;
        else if (std::isinf(want)) ASSERT_EQ(have, want) << "output " << number << " element " << i;
        else ASSERT_LE(std::fabs(have - want), rtol * std::fabs(want) + atol) << "output " << number << " element " << i << ": " << have << " is not " << want;
      }
    }
  }
  stator_session_destroy(session);
}

} // namespace stator::test
