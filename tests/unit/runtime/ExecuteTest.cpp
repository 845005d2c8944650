// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Plans of every kind of step, run on the host.
#include "tests/unit/runtime/TestArtifact.h"

#include <cstring>

using namespace stator::test;

namespace {

/// y = (x + w) * 3 over [s0, 4], through an arena.
const char *addThenScale = R"json([{"name": "forward",
  "symbols": [{"name": "s0", "min": 0, "max": 1000, "input": 0, "dim": 0}],
  "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0", 4]}],
  "outputs": [{"name": "y", "dtype": "f32", "shape": ["s0", 4]}],
  "plans": [{"device": "host",
    "arenas": [{"bytes": "64*ceildiv(16*s0, 64)", "live_load": "16*s0"}],
    "buffers": [{"space": "input", "index": 0}, {"space": "input", "index": 0},
                {"space": "arena", "offset": 0, "bytes": "16*s0"}, {"space": "output", "index": 0}],
    "steps": [
      {"op": "launch", "kernel": "add", "buffers": [0, 1, 2], "count": "4*s0", "grain": 8, "label": "double", "source": "model.py:3"},
      {"op": "launch", "kernel": "scale", "buffers": [2, 3], "sizes": [3], "count": "4*s0", "grain": 8}]}]}])json";

TEST(Execute, DynamicSizesThroughAnArena) {
  std::string bytes = TestArtifact(addThenScale).bytes();
  ModelPointer model = open(bytes);
  for (int threads : {1, 2, 5}) {
    stator_session_options options = {};
    options.threads = threads;
    SessionPointer session = makeSession(model, options);
    for (int64_t rows : {3, 0, 1, 1000, 3}) {
      std::vector<float> x(size_t(rows) * 4);
      for (size_t i = 0; i < x.size(); ++i) x[i] = float(i);
      stator_tensor input = tensor(x, {rows, 4}), output = {};
      stator_error error;
      ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, &output, 1, &error)) << error.message;
      EXPECT_EQ(STATOR_DTYPE_F32, output.dtype);
      ASSERT_EQ(2u, output.rank);
      EXPECT_EQ(rows, output.shape[0]);
      EXPECT_EQ(size_t(rows) * 16, output.bytes);
      std::vector<float> y = elements<float>(output);
      for (size_t i = 0; i < y.size(); ++i) ASSERT_EQ(6.0f * float(i), y[i]);
    }
    stator_memory_info memory;
    ASSERT_EQ(STATOR_OK, stator_session_memory(session.get(), nullptr, 0, &memory, nullptr));
    EXPECT_EQ(64u, memory.arena);
    EXPECT_EQ(48u, memory.live_load);
  }
}

TEST(Execute, CallersOutputIsWrittenInPlace) {
  std::string bytes = TestArtifact(addThenScale).bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model);
  std::vector<float> x = {1, 2, 3, 4}, y(4, -1);
  stator_tensor input = tensor(x, {1, 4}), output = tensor(y, {1, 4});
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), &input, 1, &output, 1, nullptr));
  EXPECT_EQ((std::vector<float>{6, 12, 18, 24}), y);
  EXPECT_EQ(y.data(), output.data);
}

TEST(Execute, OutputShapesWithoutRunning) {
  std::string bytes = TestArtifact(addThenScale).bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model);
  std::vector<float> none;
  stator_tensor input = tensor(none, {7, 4}), output = {};
  stator_error error;
  ASSERT_EQ(STATOR_OK, stator_session_output_shapes(session.get(), &input, 1, &output, 1, &error)) << error.message;
  EXPECT_EQ(7, output.shape[0]);
  EXPECT_EQ(4, output.shape[1]);
  EXPECT_EQ(nullptr, output.data);
}

TEST(Execute, WeightsAndStates) {
  // y = x + w; the counter counts calls.
  TestArtifact artifact(R"json([{"name": "forward",
    "inputs": [{"name": "x", "dtype": "f32", "shape": [3]}],
    "outputs": [{"name": "y", "dtype": "f32", "shape": [3]}, {"name": "calls", "dtype": "i64", "shape": []}],
    "states": [{"name": "counter", "dtype": "i64", "shape": [], "initial": "start"}, {"name": "zeros", "dtype": "f32", "shape": [2]}],
    "plans": [{"device": "host", "buffers": [{"space": "input", "index": 0}, {"space": "weight", "name": "w"},
        {"space": "output", "index": 0}, {"space": "state", "index": 0}, {"space": "output", "index": 1}],
      "steps": [{"op": "launch", "kernel": "add", "buffers": [0, 1, 2], "count": 3},
                {"op": "launch", "kernel": "increment", "buffers": [3], "count": 1},
                {"op": "copy", "from": 3, "to": 4}]}]}])json");
  std::vector<float> w = {10, 20, 30};
  int64_t start = 41;
  artifact.weights.add({"w", STATOR_DTYPE_F32, {3}, {reinterpret_cast<char *>(w.data()), 12}});
  artifact.weights.add({"start", STATOR_DTYPE_I64, {}, {reinterpret_cast<char *>(&start), 8}});
  std::string bytes = artifact.bytes();
  ModelPointer model = open(bytes);
  SessionPointer one = makeSession(model), two = makeSession(model);
  std::vector<float> x = {1, 2, 3};
  stator_tensor input = tensor(x, {3}), outputs[2];
  for (int64_t call = 1; call <= 3; ++call) {
    std::memset(outputs, 0, sizeof outputs);
    ASSERT_EQ(STATOR_OK, stator_session_run(one.get(), &input, 1, outputs, 2, nullptr));
    EXPECT_EQ((std::vector<float>{11, 22, 33}), elements<float>(outputs[0]));
    EXPECT_EQ(41 + call, elements<int64_t>(outputs[1])[0]);
    EXPECT_EQ(0u, outputs[1].rank);
  }
  stator_tensor state = {};
  ASSERT_EQ(STATOR_OK, stator_session_read_state(two.get(), 0, &state, nullptr));
  EXPECT_EQ(41, *static_cast<int64_t *>(state.data)) << "sessions have states of their own";
  state = {};
  ASSERT_EQ(STATOR_OK, stator_session_read_state(two.get(), 1, &state, nullptr));
  EXPECT_EQ((std::vector<float>{0, 0}), elements<float>(state));
  std::vector<int64_t> value = {7};
  stator_tensor given = tensor(value, {});
  ASSERT_EQ(STATOR_OK, stator_session_write_state(one.get(), 0, &given, nullptr));
  std::memset(outputs, 0, sizeof outputs);
  ASSERT_EQ(STATOR_OK, stator_session_run(one.get(), &input, 1, outputs, 2, nullptr));
  EXPECT_EQ(8, elements<int64_t>(outputs[1])[0]);
  ASSERT_EQ(STATOR_OK, stator_session_reset_state(one.get(), nullptr));
  ASSERT_EQ(STATOR_OK, stator_session_read_state(one.get(), 0, &given, nullptr));
  EXPECT_EQ(41, value[0]);
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_session_read_state(one.get(), 2, &given, nullptr));
  stator_memory_info memory;
  ASSERT_EQ(STATOR_OK, stator_session_memory(one.get(), nullptr, 0, &memory, nullptr));
  EXPECT_EQ(16u, memory.state);
  EXPECT_GE(memory.weights, 20u);
}

/// The indices of x's non-zero elements; their number is known only while it runs.
const char *nonzeroFunction = R"json([{"name": "forward",
  "symbols": [{"name": "s0", "min": 0, "max": 100, "input": 0, "dim": 0}, {"name": "u0", "min": 0, "max": 5}],
  "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0"]}],
  "outputs": [{"name": "indices", "dtype": "i64", "shape": ["u0", 1]}],
  "plans": [{"device": "host",
    "arenas": [{"bytes": 64}],
    "buffers": [{"space": "input", "index": 0}, {"space": "arena", "offset": 0, "bytes": 8},
                {"space": "dynamic", "bytes": "8*u0"}, {"space": "output", "index": 0}],
    "steps": [
      {"op": "launch", "kernel": "count_nonzero", "buffers": [0, 1], "sizes": ["s0"], "count": 1},
      {"op": "read_symbol", "symbol": "u0", "from": 1, "dtype": "i64"},
      {"op": "assert", "left": "u0", "relation": "ne", "right": 3, "message": "three are not allowed"},
      {"op": "launch", "kernel": "nonzero", "buffers": [0, 2], "sizes": ["s0"], "count": "min(u0, 1)"},
      {"op": "copy", "from": 2, "to": 3}]}]}])json";

TEST(Execute, DataDependentSizes) {
  std::string bytes = TestArtifact(nonzeroFunction).bytes();
  ModelPointer model = open(bytes);
  SessionPointer session = makeSession(model);
  stator_error error;
  auto run = [&](std::vector<float> x, stator_tensor &output) {
    stator_tensor input = tensor(x, {int64_t(x.size())});
    return stator_session_run(session.get(), &input, 1, &output, 1, &error);
  };
  stator_tensor output = {};
  ASSERT_EQ(STATOR_OK, run({0, 5, 0, 6}, output)) << error.message;
  EXPECT_EQ(2, output.shape[0]);
  EXPECT_EQ((std::vector<int64_t>{1, 3}), elements<int64_t>(output));
  output = {};
  ASSERT_EQ(STATOR_OK, run({0, 0}, output)) << error.message;
  EXPECT_EQ(0, output.shape[0]);
  output = {};
  ASSERT_EQ(STATOR_OK, run({1, 1, 1, 1, 1}, output)) << error.message;
  EXPECT_EQ((std::vector<int64_t>{0, 1, 2, 3, 4}), elements<int64_t>(output));

  output = {};
  EXPECT_EQ(STATOR_ASSERTION, run({1, 1, 1}, output));
  EXPECT_NE(nullptr, std::strstr(error.message, "three are not allowed")) << error.message;
  EXPECT_EQ(STATOR_ASSERTION, run({1, 1, 1, 1, 1, 1}, output)) << "u0 is beyond its bound";
  EXPECT_NE(nullptr, std::strstr(error.message, "u0 is 6")) << error.message;

  std::vector<int64_t> own(4, -1);
  output = tensor(own, {4, 1});
  ASSERT_EQ(STATOR_OK, run({0, 0, 9}, output)) << error.message;
  EXPECT_EQ(1, output.shape[0]);
  EXPECT_EQ((std::vector<int64_t>{2, -1, -1, -1}), own);
  output = tensor(own, {4, 1});
  EXPECT_EQ(STATOR_MISMATCH, run({1, 1, 1, 1, 1}, output)) << "five do not fit into four";
}

TEST(Execute, LoopsAndBranches) {
  // counter += 1 while counter < n (an input); then y = x * 2 if n != 0, else filled with ones.
  std::string bytes = TestArtifact(R"json([{"name": "forward",
    "symbols": [{"name": "n", "min": 0, "max": 50, "input": 1}],
    "inputs": [{"name": "x", "dtype": "f32", "shape": [2]}, {"name": "n", "dtype": "i64", "shape": []}],
    "outputs": [{"name": "y", "dtype": "f32", "shape": [2]}, {"name": "trips", "dtype": "i64", "shape": []}],
    "plans": [{"device": "host", "arenas": [{"bytes": 64}],
      "buffers": [{"space": "input", "index": 0}, {"space": "input", "index": 1}, {"space": "output", "index": 0},
                  {"space": "output", "index": 1}, {"space": "arena", "offset": 0, "bytes": 16},
                  {"space": "view", "of": 4, "offset": 8, "bytes": 1}],
      "steps": [
        {"op": "fill", "to": 3, "bits": 0, "width": 8},
        {"op": "while", "limit": 20, "predicate": 5,
         "condition": [{"op": "launch", "kernel": "less_than", "buffers": [3, 5], "sizes": ["n"], "count": 1}],
         "body": [{"op": "launch", "kernel": "increment", "buffers": [3], "count": 1,
                    "cost": {"read": "8*n", "written": 8, "operations": 1}}]},
        {"op": "launch", "kernel": "is_nonzero", "buffers": [1, 5], "count": 1},
        {"op": "if", "predicate": 5, "then": [{"op": "launch", "kernel": "scale", "buffers": [0, 2], "sizes": [2], "count": 2}],
         "else": [{"op": "fill", "to": 2, "bits": 1065353216, "width": 4}]}]}]}])json")
                          .bytes();
  ModelPointer model = open(bytes);
  stator_session_options options = {};
  options.profile = 1;
  SessionPointer session = makeSession(model, options);
  std::vector<float> x = {3, 4};
  std::vector<int64_t> n = {5};
  stator_tensor inputs[2] = {tensor(x, {2}), tensor(n, {})}, outputs[2] = {};
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), inputs, 2, outputs, 2, nullptr));
  EXPECT_EQ((std::vector<float>{6, 8}), elements<float>(outputs[0]));
  EXPECT_EQ(5, elements<int64_t>(outputs[1])[0]);
  stator_profile_row rows[8];
  size_t count = 0;
  ASSERT_EQ(STATOR_OK, stator_session_profile(session.get(), rows, 8, &count, nullptr));
  ASSERT_EQ(8u, count);
  EXPECT_STREQ("while", rows[1].kind);
  EXPECT_STREQ("less_than", rows[2].name);
  EXPECT_EQ(6u, rows[2].calls);
  EXPECT_EQ(5u, rows[3].calls);
  EXPECT_EQ(1u, rows[3].depth);
  EXPECT_EQ(5u * 40, rows[3].bytes_read);
  EXPECT_EQ(5u * 8, rows[3].bytes_written);
  EXPECT_EQ(5u, rows[3].operations);
  EXPECT_EQ(0u, rows[2].bytes_read);
  EXPECT_EQ(1u, rows[6].calls);
  EXPECT_EQ(0u, rows[7].calls);
  EXPECT_GE(rows[1].nanoseconds, rows[2].nanoseconds + rows[3].nanoseconds);

  n[0] = 0;
  std::memset(outputs, 0, sizeof outputs);
  ASSERT_EQ(STATOR_OK, stator_session_run(session.get(), inputs, 2, outputs, 2, nullptr));
  EXPECT_EQ((std::vector<float>{1, 1}), elements<float>(outputs[0]));
  EXPECT_EQ(0, elements<int64_t>(outputs[1])[0]);
  n[0] = 21;
  stator_error error;
  EXPECT_EQ(STATOR_ASSERTION, stator_session_run(session.get(), inputs, 2, outputs, 2, &error));
  EXPECT_NE(nullptr, std::strstr(error.message, "20 trips")) << error.message;
}

} // namespace
