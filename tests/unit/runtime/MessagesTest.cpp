// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the readers say of what they refuse: the words, so that a user finds the place.
#include "runtime/src/Failure.h"
#include "runtime/src/artifact/Expression.h"
#include "runtime/src/artifact/Json.h"
#include "runtime/src/artifact/Safetensors.h"
#include "tests/unit/runtime/TestArtifact.h"

using namespace stator::runtime;
using stator::test::TestArtifact;

namespace {

/// The text of the Failure that `call` throws.
template <typename Call> std::string messageOf(Call call) {
  try {
    call();
  } catch (const Failure &failure) {
    return failure.message;
  }
  return "no failure";
}

void holds(const std::string &message, const std::string &part) {
  EXPECT_NE(message.find(part), std::string::npos) << "'" << message << "' does not say '" << part << "'";
}

TEST(Messages, Json) {
  struct {
    const char *text, *message;
  } rows[] = {{"1 2", "unexpected bytes after the end at byte 2"},
              {"[", "unexpected end at byte 1"},
              {"\"a", "unexpected end at byte 2"},
              {"\"\\", "unexpected end at byte 2"},
              {"\"\\u12", "unexpected end at byte 3"},
              {"nul", "not a JSON value at byte 0"},
              {"{\"a\":1,\"b\":2,\"a\":3}", "test: key 'a' stands twice in one object"},
              {"01", "a number with leading zeros at byte 0"},
              {"9223372036854775808", "an integer beyond 64 bits at byte 0"},
              {"1.5", "numbers must be integers at byte 1"},
              {"\"\\uwxyz\"", "bad \\u escape at byte 3"},
              {"\"\\q\"", "bad escape at byte 3"},
              {"\"\\ud800\"", "lone surrogate at byte 7"},
              {"{1:2}", "expected a string at byte 1"},
              {"\"\n\"", "control character in a string at byte 2"},
              {"-", "not a number at byte 0"}};
  for (auto &row : rows) holds(messageOf([&] { Json::parse(row.text, "test"); }), row.message);
  holds(messageOf([&] { Json::parse(std::string(1000, '['), "test"); }), "test: nesting is too deep at byte");
  Json json = Json::parse(R"({"n": 1, "text": "x"})", "test");
  holds(messageOf([&] { json.at("n").string("n"); }), "manifest: 'n' must be a string");
  holds(messageOf([&] { json.at("n").integer("n", 2, 9); }), "manifest: 'n' is 1, not within 2..9");
  holds(messageOf([&] { json.at("m"); }), "manifest: 'm' is missing");
  holds(messageOf([&] { json.at("n").at("m"); }), "manifest: an object with 'm' was expected");
}

TEST(Messages, Expressions) {
  auto say = [](const std::string &text) { return messageOf([&] { Expression::parse(text, {"s0"}); }); };
  holds(say(std::string(5000, '1')), "expression of 5000 characters is too long");
  holds(say("s0 s0"), "expression 's0 s0': unexpected character at character 3");
  holds(say(std::string(100, '(') + "1"), "nesting is too deep at character");
  holds(say(std::string(100, '-') + "1"), "nesting is too deep at character");
  holds(say("99999999999999999999"), "an integer beyond 64 bits at character 0");
  holds(say("s0 +"), "expected a number, a symbol or '(' at character 4");
  holds(say("log(1,2)"), "unknown function at character");
  holds(say("s9"), "unknown symbol at character 2");
}

TEST(Messages, Weights) {
  auto say = [](const std::string &description, uint64_t headerSize = 0) {
    std::string header = "{\"a\":" + description + "}", bytes;
    uint64_t size = headerSize ? headerSize : header.size();
    for (int i = 0; i < 8; ++i) bytes += char(size >> (8 * i) & 255);
    return messageOf([&] { readSafetensors(bytes + header + "0123456789abcdef"); });
  };
  auto tensor = [](const std::string &shape, const std::string &offsets) {
    return "{\"dtype\":\"F32\",\"shape\":" + shape + ",\"data_offsets\":" + offsets + "}";
  };
  holds(say("{}", 1000), "weights: header of 1000 bytes in a file of");
  holds(say("{\"pickle\":1}"), "weights: tensor 'a': unknown key in its description");
  holds(say("{\"dtype\":\"F31\"}"), "weights: tensor 'a': unknown dtype");
  holds(say(tensor("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,4]", "[0,16]")), "weights: tensor 'a': rank is too high");
  holds(say(tensor("[4611686018427387904,4]", "[0,16]")), "weights: tensor 'a': size overflow");
  holds(say(tensor("[4]", "[0]")), "weights: tensor 'a': data_offsets must be two numbers");
  holds(say(tensor("[4]", "[1,17]")), "weights: tensor 'a': outside the file");
  holds(say(tensor("[3]", "[0,16]")), "weights: tensor 'a': its bytes do not fit its shape");
  holds(say(tensor("[3]", "[4,16]")), "weights: tensors overlap or leave a gap at byte 0");
  holds(say(tensor("[3]", "[0,12]")), "weights: bytes that belong to no tensor at the end");
}

/// A manifest that opens, in which one thing is changed.
TEST(Messages, Manifests) {
  const std::string good = R"json([{"name": "forward",
    "symbols": [{"name": "s0", "min": 0, "max": 9, "input": 0, "dim": 0}, {"name": "u0", "min": 0, "max": 9}],
    "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0", 4]}], "outputs": [{"name": "y", "dtype": "f32", "shape": ["s0", 4]}],
    "states": [{"name": "c", "dtype": "i64", "shape": []}],
    "plans": [{"device": "host", "arenas": [{"memory": "device", "bytes": 64}],
      "buffers": [{"space": "input", "index": 0}, {"space": "output", "index": 0}, {"space": "arena", "offset": 0, "bytes": 64}],
      "steps": [{"op": "launch", "kernel": "scale", "buffers": [0, 1], "count": "4*s0"}]}]}])json";
  auto say = [&](const std::string &from, const std::string &to) {
    std::string text = good;
    size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    if (at != std::string::npos) text.replace(at, from.size(), to);
    std::string bytes = TestArtifact(text).bytes();
    stator_model *model = nullptr;
    stator_error error = {};
    EXPECT_NE(STATOR_OK, stator_model_open_memory(bytes.data(), bytes.size(), nullptr, &model, &error)) << to;
    stator_model_close(model);
    return std::string(error.message);
  };
  stator::test::open(TestArtifact(good).bytes());
  holds(say("\"name\": \"u0\"", "\"name\": \"s0\""), "manifest: symbol 's0' stands twice");
  holds(say("\"min\": 0, \"max\": 9, \"input\"", "\"min\": 10, \"max\": 9, \"input\""),
        "manifest: symbol 's0' has min > max");
  holds(say("\"shape\": [\"s0\", 4]", "\"shape\": [1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), "manifest: 'x' has rank 17");
  holds(say("\"shape\": [\"s0\", 4]", "\"shape\": [\"s0\", \"u0\"]"), "manifest: the shape of 'x' depends on data");
  holds(say("\"i64\", \"shape\": []", "\"i64\", \"shape\": [\"s0\"]"),
        "manifest: the shape of state 'c' is not constant");
  holds(say("\"dim\": 0", "\"dim\": 7"), "manifest: symbol 's0' is read from a size that is not there");
  holds(say("\"space\": \"input\"", "\"space\": \"attic\""), "manifest: unknown space 'attic'");
  holds(say("\"arenas\": [{\"memory\": \"device\", \"bytes\": 64}],", ""),
        "manifest: a buffer lies in an arena, but the plan has none");
  holds(say("\"device\": \"host\"", "\"device\": \"abacus\""), "manifest: unknown device 'abacus'");
  holds(say("\"memory\": \"device\"", "\"memory\": \"paper\""), "manifest: unknown memory 'paper'");
  holds(say("\"bytes\": 64}]", "\"bytes\": \"u0\"}]"), "manifest: the size of an arena depends on data");
  holds(say("\"op\": \"launch\"", "\"op\": \"lunch\""), "manifest: this runtime has no step 'lunch'");
  holds(say("{\"op\": \"launch\"",
            "{\"op\": \"read_symbol\", \"symbol\": \"s0\", \"from\": 0, \"dtype\": \"i64\"}, {\"op\": \"launch\""),
        "manifest: 'read_symbol' of 's0', which is no data-dependent symbol");
  holds(say("{\"op\": \"launch\"",
            "{\"op\": \"read_symbol\", \"symbol\": \"u0\", \"from\": 0, \"dtype\": \"f32\"}, {\"op\": \"launch\""),
        "manifest: 'read_symbol' needs an integer dtype");
  holds(say("{\"op\": \"launch\"", "{\"op\": \"assert\", \"left\": 1, \"relation\": \"about\", \"right\": 1, "
                                   "\"message\": \"\"}, {\"op\": \"launch\""),
        "manifest: unknown relation 'about'");
  holds(say(good, "[]"), "manifest: no function");
  holds(say("\"plans\": [{", "\"plans\": [], \"more\": [{"), "manifest: function 'forward' has no plan");
}

/// The first error of opening, making a session and running, with x of 2 x 4 and an output of 2 x 4; "" if there is
/// none.
std::string firstError(const std::string &steps, const std::string &modules = "", const std::string &arenaBytes = "64",
                       const std::string &bufferBytes = "64") {
  TestArtifact artifact(R"json([{"name": "forward",
    "symbols": [{"name": "s0", "min": 0, "max": 9, "input": 0, "dim": 0}, {"name": "u0", "min": 0, "max": 9}],
    "inputs": [{"name": "x", "dtype": "f32", "shape": ["s0", 4]}], "outputs": [{"name": "y", "dtype": "f32", "shape": ["s0", 4]}],
    "plans": [{"device": "host", "arenas": [{"memory": "device", "bytes": )json" +
                        arenaBytes + R"json(}],
      "buffers": [{"space": "input", "index": 0}, {"space": "output", "index": 0}, {"space": "arena", "offset": 0, "bytes": )json" +
                        bufferBytes + R"json(}],
      "steps": [)json" + steps +
                        "]}]}]");
  if (!modules.empty()) artifact.modules = modules;
  std::string bytes = artifact.bytes();
  stator_error error = {};
  stator_model *model = nullptr;
  if (stator_model_open_memory(bytes.data(), bytes.size(), nullptr, &model, &error) != STATOR_OK) return error.message;
  stator::test::ModelPointer owner(model);
  stator_session *session = nullptr;
  if (stator_session_create(model, nullptr, &session, &error) != STATOR_OK) return error.message;
  stator::test::SessionPointer sessionOwner(session);
  std::vector<float> x(8, 1);
  stator_tensor input = stator::test::tensor(x, {2, 4}), output = {};
  stator_session_run(session, &input, 1, &output, 1, &error);
  return error.message;
}

TEST(Messages, Modules) {
  auto say = [](const std::string &module) { return firstError("", "[" + module + "]"); };
  holds(say(R"({"name": "m", "kind": "host", "cpu": "z80", "entry": "host/main.so"})"), "manifest: unknown cpu 'z80'");
  holds(say(R"({"name": "m", "kind": "ptx", "arch": "gfx90", "entry": "host/main.so"})"),
        "manifest: unknown arch 'gfx90'");
  holds(say(R"({"name": "m", "kind": "wasm", "entry": "host/main.so"})"), "manifest: unknown kind of module 'wasm'");
  holds(say(R"({"name": "m", "kind": "host", "cpu": "x86-64", "entry": "attic.so"})"),
        "manifest: module 'm' has no entry 'attic.so'");
  holds(say(R"({"name": "m", "kind": "host", "features": ["teleport"], "entry": "host/main.so"})"),
        "module 'm' needs a CPU with teleport, which this one lacks");
  holds(say(R"({"name": "m", "kind": "host", "cpu": "x86-64", "entry": "manifest.json"})"),
        "module 'm' cannot be loaded: ");
}

TEST(Messages, Steps) {
  EXPECT_EQ("", firstError(R"({"op": "copy", "from": 0, "to": 1})"));
  holds(firstError(R"({"op": "collective"})"), "manifest: collectives are not available in this runtime");
  holds(firstError(R"({"op": "launch", "kernel": "dance", "buffers": [0], "count": 1})"),
        "host module 'main' has no kernel 'dance'");
  holds(firstError(R"({"op": "launch", "kernel": "mark", "buffers": [0], "count": "s0 - 5"})"),
        "kernel 'mark' has count -3");
  holds(firstError(R"({"op": "copy", "from": 0, "to": 1, "bytes": 99})"),
        "99 bytes at 0 lie outside of buffer 0 (32 bytes)");
  holds(firstError(R"({"op": "fill", "to": 1, "bits": 0, "width": 8, "bytes": 12})"),
        "12 bytes are no whole number of 8-byte elements");
  holds(
      firstError(
          R"({"op": "read_symbol", "symbol": "u0", "from": 0, "dtype": "u64"}, {"op": "fill", "to": 2, "bits": 0, "width": 1})"),
      "u0");
  holds(
      firstError(
          R"({"op": "fill", "to": 2, "bits": -1, "width": 8}, {"op": "read_symbol", "symbol": "u0", "from": 2, "dtype": "u64"})"),
      "a size beyond 63 bits");
  holds(
      firstError(
          R"({"op": "fill", "to": 2, "bits": 1, "width": 1}, {"op": "while", "condition": [], "predicate": 2, "body": [], "limit": 3})"),
      "a loop makes more than 3 trips");
  holds(firstError(R"({"op": "copy", "from": 2, "to": 1})", "", "\"s0 - 5\""), "an arena has a size of -3");
  holds(firstError(R"({"op": "copy", "from": 2, "to": 1})", "", "64", "\"s0 * 64\""),
        "buffer 2 (128 bytes at 0) is outside of the 64 bytes it lies in");
  holds(firstError(R"({"op": "library", "library": "abacus", "operation": "matmul", "parameters": {}})"),
        "abacus is not available and the step has no fallback");
  std::string many;
  for (int i = 0; i < (1 << 20); ++i) many += R"({"op":"copy","from":0,"to":1},)";
  holds(firstError(many + R"({"op":"copy","from":0,"to":1})"), "manifest: more than 1048576 steps");
}

} // namespace
