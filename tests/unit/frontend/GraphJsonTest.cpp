// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph JSON: what is refused, and where the refusal points; that nothing from a stranger crashes the reader.
#include "compiler/frontend/json/GraphJson.h"
#include "compiler/frontend/CheckProgram.h"
#include "compiler/io/File.h"
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include <filesystem>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <unistd.h>

using namespace stator;

namespace {

struct Outcome {
  bool accepted = false;
  std::string errors; // "file:line: text" lines
};

Outcome readText(const std::string &text, const std::string &path = "p.json") {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Outcome outcome;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    if (auto at = llvm::dyn_cast<mlir::FileLineColLoc>(diagnostic.getLocation()))
      outcome.errors += at.getFilename().str() + ":" + std::to_string(at.getLine()) + ": ";
    outcome.errors += diagnostic.str() + "\n";
    return mlir::success();
  });
  auto module = graph_json::readGraphJsonText(context, text, path);
  outcome.accepted = module && mlir::succeeded(checkProgram(*module));
  EXPECT_NE(outcome.accepted, !outcome.errors.empty());
  return outcome;
}

/// A document with these functions, one line each.
std::string document(const std::string &functions, const std::string &more = "") {
  return "{\"format\": \"stator-graph\", \"version\": 1," + more + "\n \"functions\": [\n" + functions + "]}";
}
/// A function on x: f32 [2, 3] with these ops and the output y.
std::string withOps(const std::string &ops, const std::string &more = "") {
  return document(
      "{\"name\": \"main\",\n \"inputs\": [{\"name\": \"x\", \"dtype\": \"f32\", \"shape\": [2, 3]}],\n \"ops\": [\n" +
          ops + "],\n \"outputs\": [\"y\"]}",
      more);
}
std::string op(const std::string &name, const std::string &operands, const std::string &attributes,
               const std::string &shape, const std::string &dtype = "f32", const std::string &result = "y") {
  return "{\"op\": \"" + name + "\", \"operands\": [" + operands + "], \"attributes\": {" + attributes +
         "}, \"results\": [{\"name\": \"" + result + "\", \"dtype\": \"" + dtype + "\", \"shape\": [" + shape + "]}]}";
}

void refused(const std::string &text, const std::string &part) {
  Outcome outcome = readText(text);
  EXPECT_FALSE(outcome.accepted) << text;
  EXPECT_NE(outcome.errors.find(part), std::string::npos)
      << "wanted: " << part << "\ngot: " << outcome.errors << text.substr(0, 2000);
}
void accepted(const std::string &text) {
  Outcome outcome = readText(text);
  EXPECT_TRUE(outcome.accepted) << outcome.errors << text.substr(0, 2000);
}

const std::string exp = op("exp", "\"x\"", "", "2, 3");

TEST(GraphJson, ReadsAProgram) {
  accepted(withOps(exp));
  // Layout means nothing.
  std::string flat = withOps(exp);
  flat.erase(std::remove(flat.begin(), flat.end(), '\n'), flat.end());
  accepted(flat);
}

TEST(GraphJson, RefusalsNameLineAndPath) {
  refused(withOps(exp + ",\n" + op("expp", "\"x\"", "", "2, 3", "f32", "z")),
          "p.json:7: functions[0].ops[1].op: there is no op 'expp': did you mean 'exp'?");
  refused(withOps("{\"op\": \"exp\", \"operandz\": [\"x\"]}"),
          "p.json:6: functions[0].ops[0]: unknown key 'operandz': did you mean 'operands'?");
  refused(withOps(op("exp", "\"X\"", "", "2, 3")),
          "functions[0].ops[0].operands[0]: no value 'X' is defined before this: did you mean 'x'?");
  refused(withOps(op("exp", "\"x\"", "", "2, 3", "f33")),
          "results[0].dtype: unknown element type 'f33'; there are bool, ");
  refused(withOps(op("sum", "\"x\"", "\"dim\": [0]", "3")),
          "attributes.dim: 'graph.sum' has no attribute 'dim': did you mean 'dims'?");
  refused(withOps(op("sum", "\"x\"", "\"dims\": 0", "3")), "attributes.dims: ");
  refused(withOps(op("sum", "\"x\"", "\"dims\": [0]", "2")), "p.json:6: functions[0].ops[0]: ");
  refused("{\n\"format\": \"stator-graph\",\n\"version\": 2, \"functions\": []}",
          "p.json:1: version: this is version 2");
  refused("{\"format\": \"onnx\", \"version\": 1}", "must be \"stator-graph\"");
  refused("{\"format\": \"stator-graph\", \"version\": 1}", "needs the key 'functions'");
  refused("[]", "must be an object, not array");
  refused("{\n\n\"a\" 1}", "line 3");
}

TEST(GraphJson, DuplicateKeysInEveryObject) {
  refused("{\"format\": \"stator-graph\", \"format\": \"stator-graph\"}", "twice");
  refused(withOps("{\"op\": \"exp\", \"op\": \"log\"}"), "line 6: the key \"op\" stands twice");
  refused(withOps(exp, "\"weights\": {\"tensors\": {\"a\": {\"dtype\": \"f32\", \"dtype\": \"i8\"}}},"), "twice");
}

TEST(GraphJson, ValuesAreDefinedOnceAndBefore) {
  refused(withOps(exp + "," + exp), "there is a value 'y' already");
  refused(withOps(op("exp", "\"y\"", "", "2, 3")), "no value 'y' is defined before this"); // itself
  refused(withOps(op("exp", "\"y\"", "", "2, 3", "f32", "z") + "," + exp),
          "no value 'y' is defined before this"); // later
  refused(document("{\"name\": \"main\", \"inputs\": [], \"ops\": [], \"outputs\": [\"y\"]}"),
          "outputs[0]: no value 'y'");
  std::string f = "{\"name\": \"f\", \"inputs\": [], \"ops\": [], \"outputs\": []}";
  refused(document(f + "," + f), "redefinition of symbol named 'f'");
  refused(withOps("{\"op\": \"yield\", \"operands\": [\"x\"]}"), "ends a region");
}

TEST(GraphJson, RegionsHideTheirNames) {
  std::string scalar = "{\"op\": \"constant\", \"attributes\": {\"value\": {\"data\": true}}, \"results\": [{\"name\": "
                       "\"c\", \"dtype\": \"bool\", \"shape\": []}]},\n";
  auto branch = [&](const std::string &then, const std::string &other, const std::string &after = "") {
    return withOps(scalar +
                   "{\"op\": \"if\", \"operands\": [\"c\"], \"results\": [{\"name\": \"y\", \"dtype\": \"f32\", "
                   "\"shape\": [2, 3]}], \"regions\": [" +
                   "{\"ops\": [" + then + "], \"outputs\": [\"t\"]}, {\"ops\": [" + other +
                   "], \"outputs\": [\"t\"]}]}" + after);
  };
  std::string t = op("exp", "\"x\"", "", "2, 3", "f32", "t");
  accepted(branch(t, t));
  refused(branch(t, ""), "regions[1].outputs[0]: no value 't'");
  refused(branch(t, t, "," + op("exp", "\"t\"", "", "2, 3", "f32", "z")), "no value 't' is defined before this");
  refused(branch(op("sum", "\"x\"", "\"dims\": [0]", "3", "f32", "t"), t), "functions[0].ops[1]: ");
  refused(withOps(scalar + "{\"op\": \"if\", \"operands\": [\"c\"]}"), "functions[0].ops[1]: ");
}

TEST(GraphJson, SizesAndRanks) {
  auto input = [](const std::string &shape, const std::string &symbols = "") {
    return document("{\"name\": \"main\", \"symbols\": [" + symbols +
                    "], \"inputs\": [{\"name\": \"x\", \"dtype\": \"f64\", \"shape\": " + shape +
                    "}], \"ops\": [], \"outputs\": [\"x\"]}");
  };
  accepted(input("[0, 1]"));
  accepted(input("[]"));
  refused(input("[-1]"), "shape[0]: a size is not negative");
  refused(input("[1.0]"), "must be an integer, not a fraction");
  refused(input("[9223372036854775808]"), "does not fit a signed 64-bit number");
  refused(input("[18446744073709551616]"), "does not fit 64 bits");
  refused(input("[1e400]"), "not acceptable JSON");
  refused(input("[4194305, 4194305, 211106198978564]"), "more elements than 64 bits count");
  refused(input("[2305843009213693952]"), "more elements than 64 bits count"); // elements fit, bytes do not
  refused(input("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]"), "more than 16 dimensions");
  refused(input("[\"s0\"]"), "the size 's0' is not declared");
  refused(input("[\"s0 +\"]", "{\"name\": \"s0\"}"), "is no size");
  refused(input("[\"floordiv(s0, 0)\"]", "{\"name\": \"s0\"}"), "is no size");
  refused(input("[\"" + std::string(100, '(') + "s0" + std::string(100, ')') + "\"]", "{\"name\": \"s0\"}"),
          "deeper than 64");
  refused(input("[\"9223372036854775807 * s0 * 2\"]", "{\"name\": \"s0\"}"), "is no size");
  refused(input("[\"s0\"]", "{\"name\": \"s0\"}, {\"name\": \"s0\"}"), "declared twice");
  refused(input("[\"s0\"]", "{\"name\": \"s0\", \"min\": 4, \"max\": 3}"), "hold no size");
  refused(input("[\"s0\"]", "{\"name\": \"s0\", \"min\": -1}"), "hold no size");
  refused(input("[\"s0\"]", "{\"name\": \"s 0\"}"), "no identifier");
  refused(input("[\"s0\"]", "{\"name\": \"s0\"}, {\"name\": \"s1\"}"), "can be read from no input");
  accepted(input("[\"2*s0\", \"s0\"]", "{\"name\": \"s0\", \"min\": 1, \"max\": 9}"));
}

TEST(GraphJson, AttributesOutOfRange) {
  // Numbers that kernels would divide by or index with.
  auto conv = [](const std::string &change) {
    std::string list = "\"strides\": [1, 1], \"low\": [0, 0], \"high\": [0, 0], \"dilations\": [1, 1], \"groups\": 1, "
                       "\"output_padding\": [0, 0]";
    if (!change.empty()) {
      std::string key = change.substr(0, change.find(':'));
      size_t at = list.find(key), end = list.find(", \"", at);
      list.replace(at, (end == std::string::npos ? list.size() : end) - at, change);
    }
    std::string w = "{\"op\": \"constant\", \"attributes\": {\"value\": {\"splat\": 1}}, \"results\": [{\"name\": "
                    "\"w\", \"dtype\": \"f32\", \"shape\": [1, 1, 2, 2]}]},";
    std::string r = op("reshape", "\"x\"", "", "1, 1, 2, 3", "f32", "r") + ",";
    return withOps(w + r + op("convolution", "\"r\", \"w\"", list, "1, 1, 1, 2"));
  };
  accepted(conv(""));
  for (const char *change :
       {"\"groups\": 0", "\"groups\": -1", "\"strides\": [0, 1]", "\"dilations\": [0, 1]", "\"strides\": [1]",
        "\"strides\": [1, 1, 1]", "\"strides\": [9223372036854775807, 1]", "\"low\": [-9223372036854775808, 0]",
        "\"groups\": 9223372036854775807", "\"low\": [\"a\", 0]"})
    refused(conv(change), "functions[0].ops[2]");
  for (const char *dims : {"[2]", "[-3]", "[0, 0]", "[1, 0]", "[9223372036854775807]", "[-1]"})
    refused(withOps(op("sum", "\"x\"", std::string("\"dims\": ") + dims, "3")), "functions[0].ops[0]");
  refused(withOps(op("transpose", "\"x\"", "\"permutation\": [0, 0]", "2, 3")), "functions[0].ops[0]");
  refused(withOps(op("concat", "", "\"dim\": 0", "2, 3")), "functions[0].ops[0]");
  refused(withOps(op("exp", "", "", "2, 3")), "functions[0].ops[0]");
  refused(withOps(op("exp", "\"x\", \"x\"", "", "2, 3")), "functions[0].ops[0]");
  refused(withOps("{\"op\": \"exp\", \"operands\": [\"x\"]}"), "functions[0].ops[0]");
  refused(withOps(op("take", "\"x\", \"x\"", "\"dim\": 0", "2, 3")), "functions[0].ops[0]");
}

/// Every registered op with too little, too much and the wrong: a refusal each, never an abort.
TEST(GraphJson, EveryOpRefusesNonsense) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect>();
  std::string i = "{\"op\": \"constant\", \"attributes\": {\"value\": {\"data\": 1}}, \"results\": [{\"name\": \"i\", "
                  "\"dtype\": \"i64\", \"shape\": []}]},";
  unsigned ops = 0;
  for (mlir::RegisteredOperationName name : context.getRegisteredOperations()) {
    if (name.getDialectNamespace() != "graph") continue;
    ++ops;
    for (const char *operands : {"", "\"x\"", "\"i\"", "\"x\", \"i\"", "\"i\", \"x\", \"x\""})
      for (const char *value : {"", "-1", "0", "9223372036854775807", "[]", "[0]", "[-1, 7]", "true", "\"s9\"",
                                "{\"splat\": 1}", "\"add\""}) {
        std::string attributes;
        if (*value)
          for (mlir::StringAttr attribute : name.getAttributeNames())
            attributes += (attributes.empty() ? "\"" : ", \"") + attribute.str() + "\": " + value;
        for (const char *regions : {"", ", \"regions\": [{\"outputs\": []}]",
                                    ", \"regions\": [{\"outputs\": [\"i\"]}, {\"outputs\": [\"x\"]}]"}) {
          std::string text = op(name.stripDialect().str(), operands, attributes, "2, 3");
          text.insert(text.size() - 1, regions);
          readText(withOps(i + text));
        }
      }
  }
  EXPECT_GT(ops, 100u);
}

TEST(GraphJson, Constants) {
  auto constant = [](const std::string &value, const std::string &dtype, const std::string &shape,
                     const std::string &more = "") {
    std::string f =
        "{\"name\": \"main\", \"inputs\": [], \"ops\": [{\"op\": \"constant\", \"attributes\": {\"value\": " + value +
        "}, \"results\": [{\"name\": \"y\", \"dtype\": \"" + dtype + "\", \"shape\": " + shape +
        "}]}], \"outputs\": [\"y\"]}";
    return document(f, more);
  };
  accepted(constant("{\"data\": [1, 2.5, \"NaN\", \"-Infinity\", -0.0, 1e-320]}", "f32", "[6]"));
  accepted(constant("{\"data\": [[1], [2]]}", "i8", "[2, 1]"));
  accepted(constant("{\"data\": [1, 2]}", "i8", "[2, 1]"));
  accepted(constant("{\"data\": [18446744073709551615]}", "u64", "[1]"));
  accepted(constant("{\"data\": []}", "f32", "[0, 4]"));
  refused(constant("{\"data\": [1, 2]}", "f32", "[3]"), "has 2 elements, the shape says 3");
  refused(constant("{\"data\": [[1, 2], [3]]}", "f32", "[2, 2]"), "value.data[1]: has 1 entries, the shape says 2");
  refused(constant("{\"data\": []}", "f32", "[4611686018427387904, 0, 4611686018427387904]"), "has 0 entries");
  refused(constant("{\"data\": []}", "f32", "[1099511627776]"), "has 0 elements");
  refused(constant("{\"data\": [[]]}", "f32", "[1, 1099511627776]"), "too large");
  refused(constant("{\"data\": [128]}", "i8", "[1]"), "does not fit i8");
  refused(constant("{\"data\": [-1]}", "u8", "[1]"), "does not fit u8");
  refused(constant("{\"data\": [256]}", "u8", "[1]"), "does not fit u8");
  refused(constant("{\"data\": [9223372036854775808]}", "i64", "[1]"), "does not fit a signed");
  refused(constant("{\"data\": [1.0]}", "i32", "[1]"), "must be an integer");
  refused(constant("{\"data\": [1e39]}", "f32", "[1]"), "too large for f32");
  refused(constant("{\"data\": [70000]}", "f16", "[1]"), "too large for f16");
  refused(constant("{\"data\": [\"nan\"]}", "f32", "[1]"), "'nan' is no number");
  refused(constant("{\"data\": [2]}", "bool", "[1]"), "true or false");
  refused(constant("{\"data\": [\"Infinity\"]}", "f8E4M3FN", "[1]"), "no number of f8E4M3FN");
  refused(constant("{\"splat\": 1, \"data\": [1]}", "f32", "[1]"), "needs one of");
  refused(constant("{}", "f32", "[1]"), "needs one of");
  refused(constant("{\"weight\": \"a\"}", "f32", "[1]"), "there is no weight 'a'");
  std::string table =
      "\"weights\": {\"tensors\": {\"fc.weight\": {\"dtype\": \"f32\", \"shape\": [2], \"data\": [1, 2]}}},";
  accepted(constant("{\"weight\": \"fc.weight\"}", "f32", "[2]", table));
  accepted(constant("{\"weight\": \"fc.weight\"}", "f32", "[1, 2]", table));
  refused(constant("{\"weight\": \"fc.wieght\"}", "f32", "[2]", table), "did you mean 'fc.weight'?");
  refused(constant("{\"weight\": \"fc.weight\"}", "f32", "[3]", table), "'fc.weight' is f32 [2], not f32 [3]");
  refused(constant("{\"weight\": \"fc.weight\"}", "i32", "[2]", table), "'fc.weight' is f32 [2], not i32 [2]");
  accepted(constant("{\"weight\": \"fc.weight\", \"reinterpret\": true}", "i32", "[2]", table));
  refused(constant("{\"weight\": \"fc.weight\", \"reinterpret\": true}", "i64", "[2]", table), "not i64 [2]");
}

class GraphJsonFiles : public testing::Test {
protected:
  void SetUp() override {
    base = std::filesystem::path(testing::TempDir()) / ("graph_json_" + std::to_string(getpid()));
    std::filesystem::remove_all(base);
    std::filesystem::create_directories(base / "model/sub");
    std::filesystem::create_directories(base / "model-evil");
    io::TensorFile file;
    file.tensors["w"] = {STATOR_DTYPE_F32, {2}, io::Buffer::copyOf(std::string(8, '\0'))};
    for (const char *path :
         {"model/w.safetensors", "model/sub/w.safetensors", "outside.safetensors", "model-evil/w.safetensors"})
      ASSERT_TRUE(io::writeSafetensors((base / path).string(), file));
  }
  void TearDown() override { std::filesystem::remove_all(base); }
  Outcome with(const std::string &file) {
    std::string op = "{\"op\": \"constant\", \"attributes\": {\"value\": {\"weight\": \"w\"}}, \"results\": "
                     "[{\"name\": \"y\", \"dtype\": \"f32\", \"shape\": [2]}]}";
    return readText(document("{\"name\": \"main\", \"inputs\": [], \"ops\": [" + op + "], \"outputs\": [\"y\"]}",
                             "\"weights\": {\"file\": \"" + file + "\"},"),
                    (base / "model/p.json").string());
  }
  std::filesystem::path base;
};

TEST_F(GraphJsonFiles, WeightsStayInTheDocumentsFolder) {
  EXPECT_TRUE(with("w.safetensors").accepted);
  EXPECT_TRUE(with("sub/w.safetensors").accepted);
  for (const std::string &name :
       {std::string("../outside.safetensors"), std::string("sub/../w.safetensors"),
        std::string("sub/../../outside.safetensors"), std::string("../model-evil/w.safetensors"),
        (base / "model/w.safetensors").string(), std::string("C:\\\\w"), std::string("sub\\\\..\\\\w.safetensors"),
        std::string(""), std::string("."), std::string("./w.safetensors"), std::string("w.safetensors\\u0000"),
        std::string(5000, 'a'), std::string("sub"), std::string("missing.safetensors")})
    EXPECT_FALSE(with(name).accepted) << name;
}

TEST_F(GraphJsonFiles, NoLinksAndNoDevices) {
  std::filesystem::path model = base / "model";
  std::filesystem::create_symlink("w.safetensors", model / "link.safetensors");
  std::filesystem::create_directory_symlink("sub", model / "linked");
  std::filesystem::create_directory_symlink("/dev", model / "dev");
  std::filesystem::create_hard_link(base / "outside.safetensors", model / "hard.safetensors");
  ASSERT_EQ(mkfifo((model / "fifo").c_str(), 0600), 0);
  for (const char *name : {"link.safetensors", "linked/w.safetensors", "dev/zero", "hard.safetensors", "fifo"})
    EXPECT_FALSE(with(name).accepted) << name;
}

TEST(GraphJson, NestingIsBounded) {
  for (const std::string &open : {std::string("["), std::string("{\"a\":")}) {
    std::string deep;
    for (int i = 0; i < 1000000; ++i) deep += open;
    refused(deep, "nested deeper than 128");
    refused("{\"format\": " + deep, "nested deeper than 128");
  }
  // Rows of locations that refer to rows.
  std::string rows = "\"locations\": [\"a.py:1\"";
  for (int i = 0; i < 1000; ++i) rows += ", {\"name\": \"n\", \"at\": " + std::to_string(i) + "}";
  refused(withOps(exp, rows + "],"), "deeper than 256");
  refused(withOps(exp, "\"locations\": [{\"name\": \"n\", \"at\": 0}],"), "is not there");
  refused(withOps(exp, "\"locations\": [{\"name\": \"n\", \"at\": -1}],"), "is not there");
  std::string parens = "{\"mlir\": \"" + std::string(1000, '[') + "\"}";
  refused(withOps(exp, "\"attributes\": {\"a.b\": " + parens + "},"), "no attribute in MLIR's syntax");
}

TEST(GraphJson, ALongChain) {
  std::string ops;
  constexpr int n = 100000;
  for (int i = 0; i < n; ++i)
    ops += op("exp", i ? "\"v" + std::to_string(i - 1) + "\"" : "\"x\"", "", "2, 3", "f32",
              i + 1 == n ? "y" : "v" + std::to_string(i)) +
           (i + 1 < n ? ",\n" : "");
  accepted(withOps(ops));
}

TEST(GraphJson, NamesOfStrangers) {
  for (const std::string &name : {std::string("a\\\"b"), std::string("}"), std::string("../x"), std::string("%0"),
                                  std::string(".visible .entry f() {"), std::string("ä\\u20ac")})
    accepted(withOps(op("exp", "\"x\"", "", "2, 3", "f32", name) + "," + op("exp", "\"" + name + "\"", "", "2, 3")));
  refused(withOps(op("exp", "\"x\"", "", "2, 3", "f32", "a\\u0000b")), "control character");
  refused(withOps(op("exp", "\"x\"", "", "2, 3", "f32", "a\\nb")), "control character");
  refused(withOps(op("exp", "\"x\"", "", "2, 3", "f32", "\xff")), "not acceptable JSON");
  refused(withOps(op("exp", "\"x\"", "", "2, 3", "f32", "\\ud800")), "not acceptable JSON");
  refused(withOps(op("exp", "\"x\"", "", "2, 3", "f32", std::string(1 << 20, 'a'))), "longer than 4096");
  refused(withOps(op("exp", "\"x\"", "", "2, 3", "f32", "")), "must not be empty");
}

TEST(GraphJson, States) {
  auto program = [](const std::string &inputs, const std::string &outputs) {
    return document("{\"name\": \"main\", \"inputs\": [" + inputs + "], \"ops\": [], \"outputs\": [" + outputs + "]}");
  };
  std::string x = "{\"name\": \"x\", \"dtype\": \"f32\", \"shape\": [2]}, ";
  std::string s =
      "{\"name\": \"s\", \"dtype\": \"f32\", \"shape\": [2], \"state\": \"sum\", \"initial\": {\"splat\": 0}}";
  accepted(program(x + s, "\"s\", {\"value\": \"x\", \"updates\": \"sum\"}"));
  refused(program(x + s, "{\"value\": \"x\", \"updates\": \"sun\"}"), "updates the unknown state");
  refused(program(x + s + ", " + "{\"name\": \"t\", \"dtype\": \"f32\", \"shape\": [2], \"state\": \"sum\"}", "\"s\""),
          "a state 'sum' already");
  refused(program(x + "{\"name\": \"s\", \"dtype\": \"f32\", \"shape\": [3], \"state\": \"sum\"}",
                  "{\"value\": \"x\", \"updates\": \"sum\"}"),
          "updates the state 'sum'");
  refused(program("{\"name\": \"s\", \"dtype\": \"f32\", \"shape\": [2], \"initial\": {\"splat\": 0}}", "\"s\""),
          "only a state");
  accepted(program(x + s, "{\"value\": \"s\", \"updates_input\": 0}"));
  for (const char *number : {"2", "-1", "9223372036854775807"})
    refused(program(x + s, std::string("{\"value\": \"s\", \"updates_input\": ") + number + "}"),
            "updates an input that is not there");
}

/// Damaged documents: bytes changed, removed, repeated and exchanged. Whatever comes out, nothing crashes.
TEST(GraphJson, DamagedDocuments) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  std::string mlirText = R"(
    func.func @main(%x: tensor<?x4xf32, #graph.shape<s0, 4>> {graph.name = "x"}, %n: tensor<i64>) -> tensor<?x4xf32, #graph.shape<s0, 4>>
        attributes {graph.symbols = [#graph.symbol<"s0", 0, 8>]} {
      %c = graph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %b = graph.broadcast %c : tensor<4xf32> to tensor<?x4xf32, #graph.shape<s0, 4>>
      %s = graph.slice %b starts <0, 0> steps [1, 1] : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x4xf32, #graph.shape<s0, 4>>
      %zero = graph.constant dense<0> : tensor<i64>
      %w:2 = graph.while %zero, %x : tensor<i64>, tensor<?x4xf32, #graph.shape<s0, 4>> -> (tensor<i64>, tensor<?x4xf32, #graph.shape<s0, 4>>) {
      ^bb0(%i: tensor<i64>, %v: tensor<?x4xf32, #graph.shape<s0, 4>>):
        %t = graph.lt %i, %n : tensor<i64>
        graph.yield %t : tensor<i1>
      } do {
      ^bb0(%i: tensor<i64>, %v: tensor<?x4xf32, #graph.shape<s0, 4>>):
        %one = graph.constant dense<1> : tensor<i64>
        %j = graph.add %i, %one : tensor<i64>
        %a = graph.add %v, %s : tensor<?x4xf32, #graph.shape<s0, 4>>
        graph.yield %j, %a : tensor<i64>, tensor<?x4xf32, #graph.shape<s0, 4>>
      }
      return %w#1 : tensor<?x4xf32, #graph.shape<s0, 4>>
    })";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(mlirText, &context);
  ASSERT_TRUE(module);
  auto document = graph_json::writeGraphJson(*module, "w.safetensors");
  ASSERT_TRUE(document) << document.error();
  accepted(document->text);
  std::mt19937 random(7);
  const std::string alphabet = "0123456789-.,:[]{}\"sxeE truefalsn";
  for (int round = 0; round < 3000; ++round) {
    std::string text = document->text;
    for (int change = 1 + random() % 3; change > 0; --change) {
      size_t at = random() % text.size(), length = random() % 12;
      switch (random() % 4) {
      case 0: text[at] = alphabet[random() % alphabet.size()]; break;
      case 1: text.erase(at, length); break;
      case 2: text.insert(at, text.substr(random() % text.size(), length)); break;
      case 3: text.insert(at, std::string(1, char(random()))); break;
      }
    }
    readText(text);
  }
}

/// One of each refusal that no other test of this file meets.
TEST(GraphJson, OtherRefusals) {
  auto many = [](size_t n, const std::string &each) {
    std::string list;
    for (size_t i = 0; i < n; ++i) list += (i ? "," : "") + each;
    return list;
  };
  auto function = [](const std::string &more) {
    return document("{\"name\": \"main\", \"inputs\": [], \"ops\": [], \"outputs\": []" + more + "}");
  };
  std::string x = many(65537, "\"x\"");
  refused(withOps("{\"op\": \"concat\", \"operands\": [" + x + "]}"), "has more than 65536 entries");
  refused(withOps("{\"op\": \"exp\", \"results\": [" + x + "]}"), "has more than 65536 entries");
  refused(withOps("{\"op\": \"if\", \"regions\": [" + many(9, "{}") + "]}"), "has more than 8 entries");
  refused(withOps("{\"op\": \"if\", \"regions\": [{\"inputs\": [" + x + "]}]}"), "has more than 65536 entries");
  refused(document("{\"name\": \"main\", \"inputs\": [" + x + "]}"), "has more than 65536 entries");
  refused("{\"format\": \"stator-graph\", \"version\": 1, \"functions\": []}", "has 1 to 4096 entries");
  refused("{\"format\": \"stator-graph\", \"version\": 9, \"functions\": []}",
          "this is version 9; this program reads version 1");
  refused("{\"format\": 1}", "must be text, not number");
  refused(function(", \"symbols\": [{\"name\": \"s 0\"}]"), "'s 0' is no identifier");
  refused(function(", \"attributes\": {\"note\": 1}"), "the name 'note' needs a dot");
  refused(function(", \"attributes\": {\"a.b\": {}}"), "cannot stand for an attribute");
  refused(function(", \"attributes\": {\"" + std::string(5000, 'a') + "\": 1}"),
          "an attribute's name has 1 to 4096 bytes");
  refused(withOps("{\"op\": \"yield\"}"), "ends a region: give its values as 'outputs'");
  refused(withOps(exp, "\"locations\": [{\"call\": []}],"), "has 1 to 1024 entries");
  refused(withOps(exp, "\"locations\": [{\"file\": \"a\", \"line\": -1}],"), "is no line or column");
  refused(withOps(exp, "\"locations\": [" + many(1048577, "\"a\"") + "],"), "has more than 1048576 rows");
  std::string constant = "{\"op\": \"constant\", \"attributes\": {\"value\": VALUE}, \"results\": [{\"name\": \"y\", "
                         "\"dtype\": \"f32\", \"shape\": [\"n\"]}]}";
  auto value = [&](const std::string &text) {
    std::string op = constant;
    return document(
        "{\"name\": \"main\", \"symbols\": [{\"name\": \"n\"}], \"inputs\": [], \"outputs\": [], \"ops\": [" +
        op.replace(op.find("VALUE"), 5, text) + "]}");
  };
  refused(value("{\"splat\": 1}"), "a constant's sizes are numbers");
  refused(value("{\"shape\": [\"n\"], \"dtype\": \"f32\", \"data\": [1]}"), "a constant's sizes are numbers");
  refused(value("{\"shape\": [1], \"dtype\": \"f32\", \"data\": [1], \"literal\": true}"),
          "'literal' and 'reinterpret' go with 'weight'");
  refused(withOps("{\"op\": \"constant\", \"attributes\": {\"value\": {\"splat\": 1}}}"),
          "needs the keys 'dtype' and 'shape'");
  refused(withOps(exp, "\"weights\": {\"tensors\": {\"\": {\"dtype\": \"f32\", \"shape\": [1], \"data\": [1]}}},"),
          "a weight's name has 1 to 4096 bytes");
}

/// What the checks of a program in MLIR's syntax refuse.
TEST(CheckProgram, Refusals) {
  auto check = [](const std::string &text, const std::string &part) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    std::string errors;
    mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
      errors += diagnostic.str() + "\n";
      return mlir::success();
    });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module) << errors;
    EXPECT_TRUE(mlir::failed(checkProgram(*module)));
    EXPECT_NE(errors.find(part), std::string::npos) << "wanted: " << part << "\ngot: " << errors;
  };
  auto function = [](const std::string &argument, const std::string &result, const std::string &attributes) {
    return "func.func @f(%x: tensor<2xf32> {" + argument + "}) -> (tensor<2xf32> {" + result + "}) attributes {" +
           attributes + "} { return %x : tensor<2xf32> }";
  };
  check("module {}", "the program has no function");
  check("func.func private @f(tensor<2xf32>)", "must have one block");
  check("func.func @f(%x: i32) { return }", "has a value that is no tensor of known dimensions");
  check(function("", "", "graph.symbols = 1"), "'graph.symbols' is a list of symbols");
  check(function("", "", "graph.symbols = [1]"), "is a list of symbols, not 1");
  check(function("", "", "graph.symbols = [#graph.symbol<\"a\", 1, 2>, #graph.symbol<\"a\", 1, 2>]"),
        "the size 'a' is declared twice");
  check(function("", "", "graph.symbols = [#graph.symbol<\"a\", 3, 2>]"), "the size 'a' has the bounds [3, 2]");
  check(function("graph.state = 1", "", ""), "the name of a state is text");
  check(function("graph.state = \"s\", graph.initial = dense<0> : tensor<2xi32>", "", ""),
        "the initial value of state 's' is not of type 'tensor<2xf32>'");
  check("func.func @f(%x: tensor<2xf32>, %y: tensor<3xf32>) -> (tensor<2xf32> {graph.updates_input = 1}) { return %x : "
        "tensor<2xf32> }",
        "updates input 1 of type 'tensor<3xf32>' with 'tensor<2xf32>'");
  check("func.func @f(%x: tensor<?xf32, #graph.shape<n>> {graph.state = \"s\"}) attributes {graph.symbols = "
        "[#graph.symbol<\"n\", 1, 2>]} { return }",
        "has a size that is no number");
}

/// What has no form in JSON.
TEST(GraphJson, WhatCannotBeWritten) {
  auto write = [](const std::string &text, const std::string &part) {
    mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
    context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    ASSERT_TRUE(module);
    auto document = graph_json::writeGraphJson(*module, "w.safetensors");
    ASSERT_FALSE(document);
    EXPECT_NE(document.error().find(part), std::string::npos) << document.error();
  };
  write("func.func private @f(tensor<2xf32>)",
        "'func.func' cannot be written as graph JSON: it is no function with one block");
  write("func.func @f(%x: i32) { return }", "has an argument that is no tensor");
  write("func.func @f() { call @f() : () -> () \n return }", "is no op of the graph dialect");
  write("func.func @f(%x: tensor<2xf32> {graph.state = \"s\", graph.initial = dense_resource<lost> : tensor<2xf32>}) { "
        "return }",
        "has an initial value that JSON cannot hold");
  write("func.func @f() { %x = graph.constant dense_resource<lost> : tensor<2xf32> \n return }",
        "has an attribute 'value' that JSON cannot hold");
  std::string nested;
  for (int i = 0; i < 30; ++i) {
    nested = "graph.if %c : tensor<i1> { " + std::string(i ? nested : "graph.yield") + (i ? " graph.yield" : "") +
             " } else { graph.yield }";
  }
  write("func.func @f(%c: tensor<i1>) { " + nested + " return }", "is nested too deep");
}

} // namespace
