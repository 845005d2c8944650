// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The CUDA device against a driver that records what it is asked.
#include "tests/unit/runtime/FakeCuda.h"
#include "tests/unit/runtime/TestArtifact.h"

#include <cstring>

using namespace stator::test;

namespace {

struct CudaArtifact {
  std::string functions;
  std::vector<std::pair<std::string, std::string>> images; // "ptx sm_80" and text
  stator::artifact::WeightsWriter weights;

  std::string bytes() {
    stator::artifact::ArtifactWriter writer;
    std::string modules;
    for (auto &[title, text] : images) {
      std::string kind = title.substr(0, title.find(' ')), arch = title.substr(title.find(' ') + 1);
      std::string entry = "kernels/main." + arch + "." + kind;
      writer.add(entry, text);
      modules += (modules.empty() ? "" : ", ") + std::string(R"({"name": "main", "kind": ")") + kind +
                 R"(", "arch": ")" + arch + R"(", "entry": ")" + entry + "\"}";
    }
    if (!weights.empty()) writer.add("weights.safetensors", weights.pieces());
    return writer.bytes("{\"format\": 1, \"abi\": 1, \"entries\": " + writer.entriesJson() + ", \"modules\": [" +
                        modules + "]" + (weights.empty() ? "" : ", \"weights\": {\"entry\": \"weights.safetensors\"}") +
                        ", \"functions\": " + functions + "}");
  }
};

/// y = x + w over [s0]; total = sum of y.
const char *addAndSum = R"json([{"name": "f",
  "symbols": [{"name": "s0", "min": 0, "max": 4, "input": 0, "dim": 0}],
  "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0"]}],
  "outputs": [{"name": "y", "dtype": "f32", "shape": ["s0"]}, {"name": "total", "dtype": "f32", "shape": []}],
  "plans": [{"device": "cuda", "io_alignment": 16, "arenas": [{"bytes": 64}],
    "buffers": [{"space": "input", "index": 0}, {"space": "weight", "name": "w"}, {"space": "output", "index": 0},
                {"space": "output", "index": 1}],
    "steps": [
      {"op": "launch", "kernel": "add", "buffers": [0, 1, 2], "scalars": [{"i64": "s0"}], "grid": ["ceildiv(s0, 2)", 1, 1], "block": [2, 1, 1]},
      {"op": "launch", "kernel": "sum", "buffers": [2, 3], "scalars": [{"i32": "s0"}], "grid": [1, 2, 3], "block": [32, 4, 1], "shared": 65536}]}]}])json";

CudaArtifact makeAddAndSum(std::vector<float> &w) {
  CudaArtifact artifact{
      addAndSum,
      {{"ptx sm_80", "ptx 80"}, {"ptx sm_90", "ptx 90"}, {"ptx sm_90a", "ptx 90a"}, {"cubin sm_86", "cubin 86"}},
      {}};
  artifact.weights.add(
      {"w", STATOR_DTYPE_F32, {int64_t(w.size())}, {reinterpret_cast<char *>(w.data()), w.size() * 4}});
  return artifact;
}

stator_session_options fakeOptions() {
  stator_session_options options = {};
  options.struct_size = sizeof options;
  options.device = "cuda";
  options.cuda_library = STATOR_TEST_FAKE_CUDA;
  return options;
}

class Cuda : public testing::Test {
protected:
  void SetUp() override {
    fake_cuda_set_capability(90);
    fake_cuda_take_log();
  }
  void TearDown() override { EXPECT_EQ("0 allocations, 0 contexts, 0 modules, 0 streams", fake_cuda_left_over()); }
};

TEST_F(Cuda, RunsAPlan) {
  std::vector<float> w = {10, 20, 30, 40};
  std::string bytes = makeAddAndSum(w).bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model, fakeOptions());
  EXPECT_STREQ("cuda:0 Fake (sm_90, driver 13.0)", stator_session_device_name(session.get()));
  EXPECT_NE(std::string::npos, fake_cuda_take_log().find("load ptx 90a\n")) << "the more special image is preferred";
  std::vector<float> x = {1, 2, 3};
  stator_tensor input = tensor(x, {3}), outputs[2] = {};
  stator_error error;
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, outputs, 2, &error)) << error.message;
  EXPECT_EQ((std::vector<float>{11, 22, 33}), elements<float>(outputs[0]));
  EXPECT_EQ(STATOR_MEMORY_HOST, outputs[0].memory);
  EXPECT_EQ(66, elements<float>(outputs[1])[0]);
  fake_cuda_take_log();

  // Once more, into the caller's memory: nothing is allocated, uploaded or loaded again but the input.
  std::vector<float> y(3), total(1);
  outputs[0] = tensor(y, {3}), outputs[1] = tensor(total, {});
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, outputs, 2, &error)) << error.message;
  EXPECT_EQ("upload 12\n"
            "launch add grid 2 1 1 block 2 1 1 shared 0\n"
            "launch sum grid 1 2 3 block 32 4 1 shared 65536\n"
            "download 12\nsynchronize\ndownload 4\nsynchronize\nsynchronize\n",
            fake_cuda_take_log());
  EXPECT_EQ((std::vector<float>{11, 22, 33}), y);

  // No elements: a launch without blocks is left out.
  input = tensor(x, {0});
  std::memset(outputs, 0, sizeof outputs);
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, outputs, 2, &error)) << error.message;
  EXPECT_EQ(0, elements<float>(outputs[1])[0]);
  EXPECT_EQ(std::string::npos, fake_cuda_take_log().find("launch add"));
}

TEST_F(Cuda, StridedInputsAndOutputs) {
  std::vector<float> w = {10, 20, 30, 40};
  std::string bytes = makeAddAndSum(w).bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model, fakeOptions());
  std::vector<float> x = {1, -1, 2, -1, 3}, y(6, -5), total(1);
  stator_tensor input = tensor(x, {3}), outputs[2] = {tensor(y, {3}), tensor(total, {})};
  input.strided = outputs[0].strided = 1;
  input.strides[0] = outputs[0].strides[0] = 2;
  stator_error error;
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, outputs, 2, &error)) << error.message;
  EXPECT_EQ((std::vector<float>{11, -5, 22, -5, 33, -5}), y);
}

TEST_F(Cuda, DeviceMemoryIsUsedInPlace) {
  std::vector<float> w = {10, 20, 30, 40};
  std::string bytes = makeAddAndSum(w).bytes();
  ModelPointer model = open(bytes);
  int stream = 0;
  stator_session_options options = fakeOptions();
  options.cuda_stream = &stream;
  SessionPointer session = makeSession(model, options);
  // The fake's device memory is host memory, but the runtime must not touch it: only launches may show in the log.
  alignas(16) float x[4] = {1, 2, 3, 4}, y[4] = {}, total = 0;
  stator_tensor input = {}, outputs[2] = {};
  auto place = [](stator_tensor &t, float *data, uint32_t rank) {
    t.data = data, t.dtype = STATOR_DTYPE_F32, t.memory = STATOR_MEMORY_DEVICE, t.rank = rank, t.shape[0] = 4;
  };
  place(input, x, 1), place(outputs[0], y, 1), place(outputs[1], &total, 0);
  outputs[1].data = y; // overlaps
  stator_error error;
  EXPECT_EQ(STATOR_MISMATCH, stator_session_run(session.get(), &input, 1, outputs, 2, &error));
  alignas(16) float aligned[4];
  outputs[1].data = aligned;
  fake_cuda_take_log();
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, outputs, 2, &error)) << error.message;
  EXPECT_EQ("allocate 16\nupload 16\nsynchronize default\nlaunch add grid 2 1 1 block 2 1 1 shared 0\n"
            "attribute sum 8 65536\nlaunch sum grid 1 2 3 block 32 4 1 shared 65536\n",
            fake_cuda_take_log())
      << "on the caller's stream nothing waits";
  EXPECT_EQ(44, y[3]);
  EXPECT_EQ(110, aligned[0]);
  input.data = x + 1;
  EXPECT_EQ(STATOR_UNAVAILABLE, stator_session_run(session.get(), &input, 1, outputs, 2, &error))
      << "not 16-byte aligned";
  EXPECT_STREQ("input 0 ('x'): device memory must be dense and aligned to 16 bytes", error.message);
  input.data = x, outputs[0].data = y + 1;
  EXPECT_EQ(STATOR_UNAVAILABLE, stator_session_run(session.get(), &input, 1, outputs, 2, &error));
  EXPECT_STREQ("output 0 ('y'): device memory must be dense and aligned to 16 bytes", error.message);
}

TEST_F(Cuda, ChoosesTheImage) {
  std::vector<float> w = {1};
  std::string bytes = makeAddAndSum(w).bytes();
  auto loaded = [&](int capability) {
    fake_cuda_set_capability(capability);
    fake_cuda_take_log();
    ModelPointer model = open(bytes);
    stator_session_options options = fakeOptions();
    stator_session *session = nullptr;
    stator_error error;
    stator_status status = stator_session_create(model.get(), &options, &session, &error);
    stator_session_destroy(session);
    if (status != STATOR_OK) return std::string(error.message);
    std::string log = fake_cuda_take_log(), result;
    for (size_t at = 0; (at = log.find("load ", at)) != log.npos; ++at)
      result += log.substr(at + 5, log.find('\n', at) - at - 5) + ";";
    return result;
  };
  EXPECT_EQ("ptx 80;", loaded(80));
  EXPECT_EQ("cubin 86;", loaded(86));
  EXPECT_EQ("cubin 86;", loaded(89)) << "machine code runs on later minor versions";
  EXPECT_EQ("ptx 90a;", loaded(90));
  EXPECT_EQ("ptx 90;", loaded(120)) << "sm_90a code does not run on later ones";
  EXPECT_NE(std::string::npos, loaded(75).find("no image for cuda:0 Fake (sm_75"));
  fake_cuda_refuse_cubins(1);
  EXPECT_EQ("cubin 86;ptx 80;", loaded(86));
  fake_cuda_refuse_cubins(0);
}

TEST_F(Cuda, ReportsTheDriversWords) {
  CudaArtifact artifact{addAndSum, {{"ptx sm_80", "broken"}}, {}};
  std::vector<float> w = {1, 2, 3, 4};
  artifact.weights.add({"w", STATOR_DTYPE_F32, {4}, {reinterpret_cast<char *>(w.data()), 16}});
  std::string bytes = artifact.bytes();
  ModelPointer model = open(bytes);
  stator_session_options options = fakeOptions();
  stator_session *none = nullptr;
  stator_error error;
  EXPECT_EQ(STATOR_DEVICE_FAULT, stator_session_create(model.get(), &options, &none, &error));
  EXPECT_NE(nullptr, std::strstr(error.message, "line 7: no such opcode")) << error.message;
  EXPECT_EQ(nullptr, none);

  bytes = makeAddAndSum(w).bytes();
  model = open(bytes);
  options.device_index = 2;
  EXPECT_EQ(STATOR_UNAVAILABLE, stator_session_create(model.get(), &options, &none, &error));
  options.device_index = 1;
  options.cuda_library = "/nonexistent/libcuda.so";
  EXPECT_EQ(STATOR_UNAVAILABLE, stator_session_create(model.get(), &options, &none, &error));
  EXPECT_NE(nullptr, std::strstr(error.message, "/nonexistent/libcuda.so")) << error.message;
  options.cuda_library = "libc.so.6"; // a library, but no driver
  EXPECT_EQ(STATOR_UNAVAILABLE, stator_session_create(model.get(), &options, &none, &error));
  EXPECT_STREQ("'libc.so.6' has no cuInit: the driver is too old", error.message);

  SessionPointer session = makeSession(model, fakeOptions());
  fake_cuda_fail_launch(700);
  stator_tensor input = tensor(w, {4}), outputs[2] = {};
  EXPECT_EQ(STATOR_DEVICE_FAULT, stator_session_run(session.get(), &input, 1, outputs, 2, &error));
  EXPECT_NE(nullptr, std::strstr(error.message, "an illegal address (FAKE_ILLEGAL_ADDRESS), in launch 'add'"))
      << error.message;
  EXPECT_EQ(STATOR_DEVICE_FAULT, stator_session_run(session.get(), &input, 1, outputs, 2, &error)) << "and stays so";
  EXPECT_STREQ("the session's device has failed in an earlier call", error.message);

  session = makeSession(model, fakeOptions());
  fake_cuda_fail_launch(9999); // one that the driver has no words for
  EXPECT_EQ(STATOR_DEVICE_FAULT, stator_session_run(session.get(), &input, 1, outputs, 2, &error));
  EXPECT_NE(nullptr, std::strstr(error.message, "failed: unknown error (9999), in launch 'add'")) << error.message;
}

TEST_F(Cuda, FillsCopiesAndReadsBack) {
  std::string bytes = CudaArtifact{
      R"json([{"name": "f",
    "symbols": [{"name": "u0", "min": 0, "max": 8}],
    "inputs": [{"name": "x", "dtype": "f32", "shape": [4]}],
    "outputs": [{"name": "y", "dtype": "i64", "shape": ["u0"]}, {"name": "z", "dtype": "u8", "shape": [8]}],
    "states": [{"name": "s", "dtype": "f32", "shape": [2]}],
    "plans": [{"device": "cuda", "arenas": [{"bytes": 64}, {"bytes": 64, "memory": "host"}],
      "buffers": [{"space": "input", "index": 0}, {"space": "arena", "offset": 0, "bytes": 8}, {"space": "output", "index": 0},
                  {"space": "output", "index": 1}, {"space": "arena", "arena": 1, "offset": 0, "bytes": 8}, {"space": "state", "index": 0}],
      "steps": [
        {"op": "launch", "kernel": "count", "buffers": [0, 1], "scalars": [{"i64": 4}], "grid": [1, 1, 1], "block": [1, 1, 1]},
        {"op": "copy", "from": 1, "to": 4}, {"op": "read_symbol", "symbol": "u0", "from": 4, "dtype": "i64"},
        {"op": "fill", "to": 2, "bits": 4294967298, "width": 8},
        {"op": "fill", "to": 3, "bits": 7, "width": 1, "bytes": 2}, {"op": "fill", "to": 3, "bits": 513, "width": 2, "offset": 2, "bytes": 2},
        {"op": "fill", "to": 3, "bits": 1, "width": 4, "offset": 4, "bytes": 4},
        {"op": "copy", "from": 3, "to": 3, "from_offset": 0, "to_offset": 1, "bytes": 4},
        {"op": "if", "predicate": 5, "then": [], "else": [{"op": "fill", "to": 5, "bits": 1065353216, "width": 4}]}]}]}])json",
      {{"ptx sm_75", "ptx"}},
      {}}.bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model, fakeOptions());
  std::vector<float> x = {1, 0, 2, 3};
  stator_tensor input = tensor(x, {4}), outputs[2] = {};
  stator_error error;
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, outputs, 2, &error)) << error.message;
  EXPECT_EQ(std::vector<int64_t>(3, 4294967298), elements<int64_t>(outputs[0]));
  EXPECT_EQ((std::vector<uint8_t>{7, 7, 7, 1, 2, 0, 0, 0}), elements<uint8_t>(outputs[1]));
  stator_tensor state = {};
  ASSERT_EQ(STATOR_OK, stator_session_read_state(session.get(), 0, &state, &error)) << error.message;
  EXPECT_EQ((std::vector<float>{1, 1}), elements<float>(state));
}

} // namespace
