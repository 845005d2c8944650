// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What callers hand over: tensors of every kind of wrongness, strides, options, and several threads.
#include "tests/unit/runtime/TestArtifact.h"

#include <cstring>
#include <thread>

using namespace stator::test;

namespace {

/// y[s0, s1] = x + x; z[2*s0 + 1] = w's first values (copied).
const char *twoSymbols = R"json([{"name": "forward",
  "symbols": [{"name": "s0", "min": 1, "max": 8, "input": 0, "dim": 0}, {"name": "s1", "min": 0, "max": 100, "input": 0, "dim": 1}],
  "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0", "s1"]}, {"name": "w", "dtype": "f32", "shape": ["2*s0+1"]}],
  "outputs": [{"name": "y", "dtype": "f32", "shape": ["s0", "s1"]}, {"name": "z", "dtype": "f32", "shape": ["2*s0+1"]}],
  "plans": [{"device": "host", "buffers": [{"space": "input", "index": 0}, {"space": "input", "index": 1},
      {"space": "output", "index": 0}, {"space": "output", "index": 1}],
    "steps": [{"op": "launch", "kernel": "add", "buffers": [0, 0, 2], "count": "s0*s1"}, {"op": "copy", "from": 1, "to": 3}]}]}])json";

class Session : public testing::Test {
protected:
  Session() : bytes(TestArtifact(twoSymbols).bytes()), model(open(bytes)), session(makeSession(model)) {
    inputs[0] = tensor(x, {2, 3});
    inputs[1] = tensor(w, {5});
  }

  stator_status run() {
    std::memset(outputs, 0, sizeof outputs);
    return runInto();
  }
  stator_status runInto() { return stator_session_run(session.get(), inputs, 2, outputs, 2, &error); }

  void expectMismatch(const char *text) {
    EXPECT_EQ(STATOR_MISMATCH, run());
    EXPECT_EQ(STATOR_MISMATCH, error.status);
    EXPECT_NE(nullptr, std::strstr(error.message, text)) << "'" << error.message << "' should have '" << text << "'";
  }

  std::string bytes;
  ModelPointer model;
  SessionPointer session;
  std::vector<float> x = {1, 2, 3, 4, 5, 6}, w = {1, 2, 3, 4, 5};
  stator_tensor inputs[2], outputs[2] = {};
  stator_error error;
};

TEST_F(Session, Runs) {
  ASSERT_EQ(STATOR_OK, run()) << error.message;
  EXPECT_EQ(STATOR_OK, error.status);
  EXPECT_STREQ("", error.message);
  EXPECT_EQ((std::vector<float>{2, 4, 6, 8, 10, 12}), elements<float>(outputs[0]));
  EXPECT_EQ(w, elements<float>(outputs[1]));
}

TEST_F(Session, WrongTensors) {
  auto with = [&](auto change) {
    stator_tensor before = inputs[0];
    change(inputs[0]);
    return before;
  };
  stator_tensor good;
  good = with([](stator_tensor &t) { t.dtype = STATOR_DTYPE_F64; });
  expectMismatch("input 0 ('x'): dtype is f64, f32 is expected");
  inputs[0].dtype = stator_dtype(99);
  expectMismatch("input 0 ('x'): dtype is invalid, f32 is expected");
  inputs[0] = good;
  with([](stator_tensor &t) { t.rank = 3; });
  expectMismatch("rank is 3, 2 is expected");
  inputs[0].rank = 1u << 31;
  expectMismatch("rank is 2147483648");
  inputs[0] = good;
  with([](stator_tensor &t) { t.shape[1] = -1; });
  expectMismatch("dimension 1 is -1");
  inputs[0] = good;
  with([](stator_tensor &t) { t.shape[0] = t.shape[1] = int64_t(1) << 40; });
  expectMismatch("size overflow");
  inputs[0] = good;
  with([](stator_tensor &t) { t.shape[0] = 9; });
  inputs[0].bytes = 0;
  expectMismatch("input 0 ('x'), dimension 0: s0 = 9 is outside its bounds 1..8");
  inputs[0] = good;
  with([](stator_tensor &t) { t.shape[0] = 0; });
  expectMismatch("s0 = 0 is outside its bounds 1..8");
  inputs[0] = good;
  with([](stator_tensor &t) { t.shape[0] = 1; });
  expectMismatch("input 1 ('w'), dimension 0: 5 is given, 3 = 2*s0+1 is expected");
  inputs[0] = good;
  with([](stator_tensor &t) { t.data = nullptr; });
  expectMismatch("data is NULL");
  inputs[0] = good;
  with([](stator_tensor &t) { t.bytes = 23; });
  expectMismatch("reach over 24 bytes, 23 are given");
  inputs[0] = good;
  with([](stator_tensor &t) { t.memory = STATOR_MEMORY_DEVICE; });
  expectMismatch("not in host memory");
  inputs[0] = good;
  EXPECT_EQ(STATOR_OK, run()) << "the session is unharmed";
}

TEST_F(Session, WrongStrides) {
  inputs[0].strided = 1;
  inputs[0].strides[0] = 3, inputs[0].strides[1] = -1;
  expectMismatch("stride 1 is negative");
  inputs[0].strides[0] = INT64_MAX / 2, inputs[0].strides[1] = INT64_MAX / 2;
  expectMismatch("strides overflow");
  inputs[0].strides[0] = INT64_MAX / 8, inputs[0].strides[1] = 1;
  inputs[0].bytes = 0;
  inputs[0].shape[0] = 8;
  expectMismatch("strides overflow");
  inputs[0] = tensor(x, {2, 3});
  inputs[0].strided = 1, inputs[0].strides[0] = 4, inputs[0].strides[1] = 1;
  expectMismatch("reach over 28 bytes, 24 are given");
  ASSERT_EQ(STATOR_MISMATCH, run());
  inputs[0] = tensor(x, {2, 3});
  outputs[0] = tensor(x, {2, 3});
  outputs[1] = {};
  outputs[0].strided = 1, outputs[0].strides[0] = 3, outputs[0].strides[1] = 0;
  EXPECT_EQ(STATOR_MISMATCH, runInto()) << "an output that repeats elements";
}

TEST_F(Session, StridesAreCopied) {
  // x transposed: element (i, j) at j * 2 + i.
  std::vector<float> transposed = {1, 4, 2, 5, 3, 6};
  inputs[0] = tensor(transposed, {2, 3});
  inputs[0].strided = 1, inputs[0].strides[0] = 1, inputs[0].strides[1] = 2;
  ASSERT_EQ(STATOR_OK, run()) << error.message;
  EXPECT_EQ((std::vector<float>{2, 4, 6, 8, 10, 12}), elements<float>(outputs[0]));
  // A repeated row.
  inputs[0].strides[0] = 0;
  ASSERT_EQ(STATOR_OK, run()) << error.message;
  EXPECT_EQ((std::vector<float>{2, 4, 6, 2, 4, 6}), elements<float>(outputs[0]));
  // An output with gaps, which stay as they are.
  inputs[0] = tensor(x, {2, 3});
  std::vector<float> y(12, -1), z(9, -1);
  outputs[0] = tensor(y, {2, 3});
  outputs[0].strided = 1, outputs[0].strides[0] = 1, outputs[0].strides[1] = 4;
  outputs[1] = tensor(z, {5});
  outputs[1].strided = 1, outputs[1].strides[0] = 2;
  ASSERT_EQ(STATOR_OK, runInto()) << error.message;
  EXPECT_EQ((std::vector<float>{2, 8, -1, -1, 4, 10, -1, -1, 6, 12, -1, -1}), y);
  EXPECT_EQ((std::vector<float>{1, -1, 2, -1, 3, -1, 4, -1, 5}), z);
}

TEST_F(Session, StridesThatDoNotMatterAreDense) {
  std::vector<float> y(6);
  inputs[0].strided = 1, inputs[0].strides[0] = 3, inputs[0].strides[1] = 1;
  inputs[1].strided = 1, inputs[1].strides[0] = 1;
  outputs[0] = tensor(y, {2, 3});
  outputs[0].strided = 1, outputs[0].strides[0] = 3, outputs[0].strides[1] = 1;
  ASSERT_EQ(STATOR_OK, runInto()) << error.message;
  EXPECT_EQ((std::vector<float>{2, 4, 6, 8, 10, 12}), y);
}

TEST_F(Session, MisalignedDataIsCopied) {
  std::vector<char> room(2 * 24 + 2);
  char *odd = room.data() + 1;
  std::memcpy(odd, x.data(), 24);
  inputs[0].data = odd;
  outputs[0] = inputs[0];
  outputs[0].data = odd + 24;
  ASSERT_EQ(STATOR_OK, runInto()) << error.message;
  float y[6];
  std::memcpy(y, odd + 24, 24);
  EXPECT_EQ(12, y[5]);
  EXPECT_EQ(odd + 24, outputs[0].data);
}

TEST_F(Session, ZeroSizes) {
  inputs[0].shape[1] = 0;
  inputs[0].data = nullptr;
  ASSERT_EQ(STATOR_OK, run()) << error.message;
  EXPECT_EQ(0, outputs[0].shape[1]);
  EXPECT_EQ(2, outputs[0].shape[0]);
  EXPECT_EQ(0u, outputs[0].bytes);
}

TEST_F(Session, WrongOutputs) {
  std::vector<float> y(6);
  auto refused = [&](const char *text) {
    EXPECT_EQ(STATOR_MISMATCH, runInto());
    EXPECT_NE(nullptr, std::strstr(error.message, text)) << error.message;
  };
  outputs[0] = tensor(y, {3, 2});
  refused("output 0 ('y'), dimension 0: 3 is given, the program yields 2");
  outputs[0] = tensor(y, {2, 3});
  outputs[0].dtype = STATOR_DTYPE_I32;
  refused("output 0 ('y'): dtype is i32, f32 is expected");
  outputs[0] = tensor(y, {2, 3});
  outputs[0].bytes = 20;
  refused("reach over 24 bytes, 20 are given");
  outputs[0] = tensor(x, {2, 3});
  refused("output 0 overlaps input 0");
  outputs[0] = tensor(y, {2, 3});
  outputs[1] = tensor(y, {5});
  refused("outputs 0 and 1 overlap");
}

TEST_F(Session, WrongCountsAndPointers) {
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_run(session.get(), inputs, 1, outputs, 2, &error));
  EXPECT_STREQ("1 inputs are given, 2 are expected", error.message);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_run(session.get(), inputs, 2, outputs, 3, &error));
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_run(session.get(), nullptr, 2, outputs, 2, &error));
  EXPECT_STREQ("inputs is NULL", error.message);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_run(session.get(), inputs, 2, nullptr, 2, &error));
  EXPECT_STREQ("outputs is NULL", error.message);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_output_shapes(session.get(), inputs, 2, nullptr, 2, &error));
  EXPECT_STREQ("outputs is NULL", error.message);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_run(nullptr, inputs, 2, outputs, 2, nullptr));
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_memory(session.get(), nullptr, 0, nullptr, nullptr));
  stator_memory_info memory;
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_memory(session.get(), nullptr, 0, &memory, &error));
  EXPECT_EQ(STATOR_OK, stator_session_memory(session.get(), inputs, 2, &memory, &error));
  stator_session_destroy(nullptr);
  stator_model_close(nullptr);
}

TEST_F(Session, Options) {
  auto status = [&](auto change) {
    stator_session_options options = {};
    options.struct_size = sizeof options;
    change(options);
    stator_session *made = nullptr;
    stator_status result = stator_session_create(model.get(), &options, &made, &error);
    stator_session_destroy(made);
    return result;
  };
  EXPECT_EQ(STATOR_OK, status([](auto &o) { o.function = "forward"; }));
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, status([](auto &o) { o.function = "backward"; }));
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, status([](auto &o) { o.device = "tpu"; }));
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, status([](auto &o) { o.device = "cuda"; }));
  EXPECT_STREQ("function 'forward' was not compiled for cuda", error.message);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, status([](auto &o) { o.threads = -1; }));
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, status([](auto &o) { o.struct_size = 0; }));
  EXPECT_STREQ("struct_size of the options is 0", error.message);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, status([](auto &o) { o.struct_size = 4097; }));
  EXPECT_STREQ("struct_size of the options is 4097", error.message);
  EXPECT_EQ(STATOR_OK, status([](auto &o) { o.struct_size = sizeof(size_t); })) << "an older caller";
  struct {
    stator_session_options known;
    int64_t unknown;
  } newer = {};
  newer.known.struct_size = sizeof newer;
  stator_session *made = nullptr;
  EXPECT_EQ(STATOR_OK, stator_session_create(model.get(), &newer.known, &made, &error));
  stator_session_destroy(made);
  newer.unknown = 1;
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_create(model.get(), &newer.known, &made, &error));
}

TEST_F(Session, Description) {
  EXPECT_EQ(1u, stator_model_function_count(model.get()));
  EXPECT_STREQ("forward", stator_model_function_name(model.get(), 0));
  EXPECT_EQ(nullptr, stator_model_function_name(model.get(), 1));
  EXPECT_EQ(2u, stator_model_input_count(model.get(), 0));
  EXPECT_EQ(0u, stator_model_input_count(model.get(), 1));
  stator_tensor_info info;
  ASSERT_EQ(STATOR_OK, stator_model_input(model.get(), 0, 1, &info, &error));
  EXPECT_STREQ("w", info.name);
  EXPECT_EQ(1u, info.rank);
  EXPECT_EQ(-1, info.shape[0]);
  EXPECT_STREQ("2*s0+1", info.expressions[0]);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_model_output(model.get(), 0, 2, &info, &error));
  stator_symbol_info symbol;
  ASSERT_EQ(STATOR_OK, stator_model_symbol(model.get(), 0, 0, &symbol, &error));
  EXPECT_STREQ("s0", symbol.name);
  EXPECT_EQ(8, symbol.max);
  EXPECT_EQ(0, symbol.source_dim);
  size_t size = 0;
  EXPECT_EQ('{', stator_model_manifest(model.get(), &size)[0]);
  EXPECT_EQ(10000u / 100, stator_runtime_version());
  EXPECT_STREQ("mismatch", stator_status_name(STATOR_MISMATCH));
  EXPECT_EQ(nullptr, stator_dtype_name(STATOR_DTYPE_INVALID));
  EXPECT_EQ(2u, stator_dtype_bytes(STATOR_DTYPE_BF16));
  EXPECT_EQ(0u, stator_dtype_bytes(stator_dtype(77)));
}

TEST_F(Session, SessionsRunInParallelAndOutliveTheModel) {
  std::vector<SessionPointer> sessions;
  stator_session_options options = {};
  options.threads = 2;
  for (int i = 0; i < 4; ++i) sessions.push_back(makeSession(model, options));
  model.reset();
  std::vector<std::thread> callers;
  for (size_t t = 0; t < sessions.size(); ++t)
    callers.emplace_back([&, t] {
      for (int round = 0; round < 300; ++round) {
        int64_t columns = (round * 7 + int64_t(t)) % 100;
        std::vector<float> in(size_t(2 * columns), float(t + 1)), weights = { 1, 2, 3, 4, 5 };
        stator_tensor given[2] = {tensor(in, {2, columns}), tensor(weights, {5})}, got[2] = {};
        stator_error problem;
        ASSERT_EQ(STATOR_OK, stator_session_run(sessions[t].get(), given, 2, got, 2, &problem)) << problem.message;
        ASSERT_EQ(std::vector<float>(size_t(2 * columns), float(2 * (t + 1))), elements<float>(got[0]));
      }
    });
  for (std::thread &caller : callers) caller.join();
}

/// A size that is the value of an input, and an output whose size the program finds.
TEST(SessionAlone, SizesFromData) {
  std::string bytes = TestArtifact(R"json([{"name": "f",
    "symbols": [{"name": "n", "min": 0, "max": 8, "input": 1}, {"name": "k", "min": 1, "max": 4, "input": 1, "dim": 0},
                {"name": "u0", "min": 0, "max": 4}],
    "inputs": [{"name": "x", "dtype": "f32", "shape": [4]}, {"name": "size", "dtype": "i64", "shape": ["k"]}],
    "outputs": [{"name": "y", "dtype": "i64", "shape": ["u0"]}, {"name": "z", "dtype": "f32", "shape": ["n"]}],
    "plans": [{"device": "host", "arenas": [{"bytes": 8}],
      "buffers": [{"space": "input", "index": 0}, {"space": "arena", "offset": 0, "bytes": 8}, {"space": "output", "index": 0},
                  {"space": "output", "index": 1}],
      "steps": [{"op": "launch", "kernel": "count_nonzero", "buffers": [0, 1], "sizes": [4], "count": 1},
                {"op": "read_symbol", "symbol": "u0", "from": 1, "dtype": "i64"},
                {"op": "launch", "kernel": "nonzero", "buffers": [0, 2], "sizes": [4], "count": 1},
                {"op": "fill", "to": 3, "bits": 1065353216, "width": 4}]}]}])json")
                          .bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model);
  std::vector<float> x = {0, 5, 0, 6};
  std::vector<int64_t> size = {3, 3}, y(4);
  stator_tensor inputs[2] = {tensor(x, {4}), tensor(size, {1})}, outputs[2] = {};
  stator_error error;
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), inputs, 2, outputs, 2, &error)) << error.message;
  EXPECT_EQ((std::vector<int64_t>{1, 3}), elements<int64_t>(outputs[0]));
  EXPECT_EQ((std::vector<float>{1, 1, 1}), elements<float>(outputs[1]));

  inputs[1] = tensor(size, {2});
  EXPECT_EQ(STATOR_MISMATCH, stator_session_run(session.get(), inputs, 2, outputs, 2, &error));
  EXPECT_STREQ("input 1 ('size') must hold one element", error.message);
  inputs[1] = tensor(size, {1});
  inputs[1].data = nullptr;
  EXPECT_EQ(STATOR_MISMATCH, stator_session_output_shapes(session.get(), inputs, 2, outputs, 2, &error));
  EXPECT_STREQ("input 1 ('size') must hold one element", error.message);
  inputs[1] = tensor(size, {1});
  outputs[0] = tensor(y, {4});
  outputs[0].strided = 1, outputs[0].strides[0] = 1;
  EXPECT_EQ(STATOR_MISMATCH, stator_session_run(session.get(), inputs, 2, outputs, 2, &error));
  EXPECT_STREQ("output 0 ('y'): its shape depends on data, so it must be dense", error.message);
}

TEST(SessionAlone, SecondCallIsBusy) {
  std::string bytes = TestArtifact(R"json([{"name": "f", "inputs": [], "outputs": [],
    "plans": [{"device": "host", "buffers": [], "steps": [{"op": "launch", "kernel": "sleep_for", "buffers": [], "sizes": [300000], "count": 1}]}]}])json")
                          .bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model);
  std::thread first([&] {
    stator_status status;
    do status = stator_session_run(session.get(), nullptr, 0, nullptr, 0, nullptr);
    while (status == STATOR_BUSY); // the other thread may be asking just then
    EXPECT_EQ(STATOR_OK, status);
  });
  // Whichever comes second is refused; the sleep is long enough for it to come.
  stator_status status = STATOR_OK;
  for (int i = 0; i < 250 && status == STATOR_OK; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    stator_memory_info memory;
    status = stator_session_memory(session.get(), nullptr, 0, &memory, nullptr);
  }
  first.join();
  EXPECT_EQ(STATOR_BUSY, status);
  EXPECT_EQ(STATOR_OK, stator_session_run(session.get(), nullptr, 0, nullptr, 0, nullptr));
}

TEST(SessionAlone, BadPlansAreRefused) {
  auto create = [](const std::string &buffers, const std::string &steps, stator_error &error) {
    std::string bytes = TestArtifact(R"([{"name": "f", "inputs": [{"name": "x", "dtype": "f32", "shape": [4]}],
      "outputs": [{"name": "y", "dtype": "f32", "shape": [4]}], "symbols": [{"name": "u0"}],
      "plans": [{"device": "host", "arenas": [{"bytes": 128}], "buffers": [{"space": "input", "index": 0}, {"space": "output", "index": 0}, )" +
                                     buffers + R"(], "steps": [)" + steps + "]}]}]")
                            .bytes();
    stator_model *model = nullptr;
    stator_session *session = nullptr;
    stator_status status = stator_model_open_memory(bytes.data(), bytes.size(), nullptr, &model, &error);
    if (status == STATOR_OK) status = stator_session_create(model, nullptr, &session, &error);
    if (status == STATOR_OK) {
      std::vector<float> x(4);
      stator_tensor input = tensor(x, {4}), output = {};
      status = stator_session_run(session, &input, 1, &output, 1, &error);
    }
    stator_session_destroy(session);
    stator_model_close(model);
    return status;
  };
  stator_error error;
  const std::string fine = R"({"space": "arena", "offset": 64, "bytes": 64})",
                    copy = R"({"op": "copy", "from": 0, "to": 2})";
  EXPECT_EQ(STATOR_OK, create(fine, copy, error)) << error.message;
  const std::pair<std::string, std::string> bad[] = {
      {R"({"space": "arena", "offset": 64, "bytes": 65})", copy},
      {R"({"space": "arena", "offset": -64, "bytes": 8})", copy},
      {R"({"space": "arena", "offset": 0, "bytes": -1})", copy},
      {R"({"space": "arena", "offset": "9223372036854775807", "bytes": 9})", copy},
      {R"({"space": "arena", "arena": 1, "offset": 0, "bytes": 8})", copy},
      {R"({"space": "view", "of": 0, "offset": 8, "bytes": 9})", copy},
      {R"({"space": "view", "of": 2, "offset": 0, "bytes": 8})", copy},
      {R"({"space": "view", "of": 9, "offset": 0, "bytes": 8})", copy},
      {R"({"space": "weight", "name": "none"})", copy},
      {R"({"space": "input", "index": 1})", copy},
      {R"({"space": "dynamic", "bytes": "8*u0"})", copy},
      {fine, R"({"op": "copy", "from": 0, "to": 2, "bytes": 17})"},
      {fine, R"({"op": "copy", "from": 0, "to": 2, "from_offset": 17})"},
      {fine, R"({"op": "copy", "from": 0, "to": 3})"},
      {fine, R"({"op": "fill", "to": 2, "bits": 0, "width": 3})"},
      {fine, R"({"op": "fill", "to": 2, "bits": 0, "width": 4, "bytes": 6})"},
      {fine, R"({"op": "fill", "to": 2, "bits": 0, "width": 4, "offset": 68})"},
      {fine, R"({"op": "launch", "kernel": "no_such_kernel", "buffers": [], "count": 1})"},
      {fine, R"({"op": "launch", "kernel": "add", "module": "other", "buffers": [], "count": 1})"},
      {fine, R"({"op": "launch", "kernel": "add", "buffers": [0, 0, 9], "count": 1})"},
      {fine, R"({"op": "launch", "kernel": "add", "buffers": [0, 0, 2], "count": -1})"},
      {fine, R"({"op": "read_symbol", "symbol": "u0", "from": 2, "dtype": "f32"})"},
      {fine, R"({"op": "read_symbol", "symbol": "u1", "from": 2, "dtype": "i64"})"},
      {fine, R"({"op": "read_symbol", "symbol": "u0", "from": 2, "dtype": "i64", "offset": 57})"},
  };
  for (auto &[buffers, steps] : bad) EXPECT_EQ(STATOR_BAD_ARTIFACT, create(buffers, steps, error)) << buffers << steps;
  EXPECT_EQ(STATOR_UNAVAILABLE, create(fine, R"({"op": "collective"})", error));
  EXPECT_EQ(STATOR_UNAVAILABLE,
            create(fine, R"({"op": "library", "library": "mystery", "operation": "matmul", "parameters": {}})", error));
  EXPECT_EQ(STATOR_ASSERTION,
            create(fine,
                   R"({"op": "assert", "left": 1, "relation": "gt", "right": 2, "label": "check", "source": "m.py:7"})",
                   error));
  EXPECT_STREQ("1 > 2 does not hold (1 and 2), in assert (check) from m.py:7", error.message);
  std::string nested = copy;
  for (int i = 0; i < 40; ++i) nested = R"({"op": "if", "predicate": 0, "then": [)" + nested + "]}";
  EXPECT_EQ(STATOR_BAD_ARTIFACT, create(fine, nested, error));
}

} // namespace
