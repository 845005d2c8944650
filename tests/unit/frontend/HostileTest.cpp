// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs that were damaged or made up: the importer reports them or imports something that verifies, and never
// crashes.
#include "compiler/io/Archive.h"
#include "compiler/io/File.h"
#include "compiler/io/Json.h"
#include "tests/unit/frontend/HandmadeArchive.h"
#include <gtest/gtest.h>
#include <random>

using namespace stator;
using stator::tests::importBytes;
using stator::tests::makeZip;
using stator::tests::Outcome;

namespace {

std::map<std::string, std::string> membersOf(const std::string &path) {
  auto archive = io::Archive::open(path);
  EXPECT_TRUE(archive) << archive.error();
  std::map<std::string, std::string> members;
  for (const std::string &name : archive->names()) members[name] = std::string(archive->read(name)->view());
  return members;
}

std::string programName(const std::map<std::string, std::string> &members) {
  for (const auto &[name, data] : members)
    if (name.find("/models/") != std::string::npos) return name;
  return "";
}

TEST(Hostile, RewrittenArchiveStillImports) {
  auto members = membersOf("tests/models/dtypes.pt2");
  EXPECT_TRUE(importBytes(makeZip(members)).imported);
}

TEST(Hostile, WrongLayouts) {
  auto expect = [](const std::map<std::string, std::string> &members, const std::string &part) {
    Outcome outcome = importBytes(makeZip(members));
    EXPECT_FALSE(outcome.imported);
    EXPECT_NE(outcome.errors.find(part), std::string::npos) << outcome.errors;
  };
  expect({{"a/b", "c"}}, "not one that torch.export.save wrote");
  expect({{"r/archive_format", "onnx"}}, "archive_format is 'onnx' where 'pt2' is supported");
  expect({{"r/archive_format", "pt2"}, {"r/archive_version", "7"}}, "archive_version");
  expect({{"r/archive_format", "pt2"}, {"r/byteorder", "big"}}, "byteorder");
  expect({{"r/archive_format", "pt2"}}, "holds no model");
  expect({{"r/archive_format", "pt2"}, {"r/models/a.json", "{}"}, {"r/models/b.json", "{}"}}, "holds several models (a, b)");
  expect({{"r/archive_format", "pt2"}, {"r/models/model.json", "[1"}}, "JSON");
  expect({{"r/archive_format", "pt2"}, {"r/models/model.json", "{}"}}, "graph_module");
  expect({{"r/archive_format", "pt2"}, {"r/models/model.json", R"({"schema_version":{"major":9,"minor":0}})"}},
         "schema version 9.0");
  auto pickled = [&](const std::map<std::string, std::string> &inner, const std::string &part) {
    expect({{"r/archive_format", "pt2"}, {"r/models/model.json", "{}"}, {"r/data/weights/model.pt", makeZip(inner)}},
           part);
  };
  pickled({{"a/b", "c"}}, "'r/data/weights/model.pt' holds no data.pkl");
  pickled({{"a/data.pkl", "}."}, {"a/byteorder", "big"}}, "'r/data/weights/model.pt' is not little-endian");
  // {'w': a 1-element tensor of storage '0'}, which no member holds.
  pickled({{"a/data.pkl", std::string("}\x8c\x01wctorch._utils\n_rebuild_tensor_v2\n(") +
                              "(\x8c\x07storagectorch\nFloatStorage\n\x8c\x01" "0\x8c\x03" "cpuK\x01tQ" +
                              std::string("K\0K\x01\x85K\x01\x85tRs.", 12)}},
          "tensor 'w': 'r/data/weights/model.pt' has no storage '0'");
  expect({{"serialized_exported_program.json", "{}"}, {"serialized_state_dict.json", "x"}}, "was written by torch 2.1: export again with a newer PyTorch");
}

TEST(Hostile, Truncated) {
  auto bytes = io::readFile("tests/models/dtypes.pt2");
  ASSERT_TRUE(bytes);
  for (size_t n = 0; n < bytes->size(); n += 997)
    EXPECT_FALSE(importBytes(std::string(bytes->view().substr(0, n))).imported) << n;
}

std::string errorOf(const std::function<void(io::Json &)> &change, const std::string &model = "mlp_dynamic") {
  auto members = membersOf("tests/models/" + model + ".pt2");
  std::string name = programName(members);
  io::Json json = io::Json::parse(members[name]);
  change(json);
  members[name] = json.dump();
  Outcome outcome = importBytes(makeZip(members));
  EXPECT_FALSE(outcome.imported);
  return outcome.errors;
}

io::Json &node(io::Json &json, size_t i) { return json["graph_module"]["graph"]["nodes"][i]; }

TEST(Hostile, AllUnsupportedOperatorsAtOnce) {
  std::string errors = errorOf([](io::Json &json) {
    node(json, 0)["target"] = "torch.ops.aten.layer_nurm.default";
    node(json, 1)["target"] = "torch.ops.mine.thing.default";
    node(json, 3)["target"] = "torch.ops.mine.thing.default";
  });
  EXPECT_NE(errors.find("uses 2 operators that cannot be imported"), std::string::npos) << errors;
  EXPECT_NE(errors.find("aten.layer_nurm.default, 1 call; the nearest supported form is aten.layer_norm.default"),
            std::string::npos)
      << errors;
  EXPECT_NE(errors.find("mine.thing.default, 2 calls"), std::string::npos) << errors;
}

TEST(Hostile, Sentences) {
  auto expect = [](const std::function<void(io::Json &)> &change, const std::string &part) {
    std::string errors = errorOf(change);
    EXPECT_NE(errors.find(part), std::string::npos) << errors;
  };
  expect([](io::Json &j) { node(j, 1)["inputs"][0]["arg"] = {{"as_tensor", {{"name", "nobody"}}}}; },
         "'nobody', which nothing before it defines");
  expect([](io::Json &j) { node(j, 0)["inputs"][0]["arg"] = {{"as_int", 3}}; }, "");
  expect([](io::Json &j) { node(j, 0)["inputs"][1]["arg"] = {{"as_ints", {1, 2, 3, 4, 5}}}; },
         "normalization over 5 of 2 dimensions");
  expect([](io::Json &j) { std::swap(node(j, 0), node(j, 1)); }, "which nothing before it defines");
  expect([](io::Json &j) { j["graph_module"]["graph"]["tensor_values"]["linear"]["sizes"][1] = {{"as_int", 255}}; },
         "where the program says");
  expect([](io::Json &j) { j["graph_module"]["graph"]["tensor_values"]["linear"]["dtype"] = 8; }, "f64");
  expect([](io::Json &j) { j["graph_module"]["graph"]["tensor_values"]["x"]["dtype"] = 10; }, "complex64");
  expect(
      [](io::Json &j) {
        j["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0]["as_expr"]["expr_str"] = "Foo('s77')";
      },
      "Foo");
  expect(
      [](io::Json &j) {
        j["graph_module"]["signature"]["output_specs"][0] = {
            {"gradient_to_parameter", {{"arg", {{"name", "x"}}}, {"parameter_name", "w"}}}};
      },
      "backward pass");
  expect([](io::Json &j) { j["graph_module"]["graph"] = 3; }, "expected an object");
  expect([](io::Json &j) { j["graph_module"]["graph"]["nodes"] = "x"; }, "expected a list");
  expect([](io::Json &j) { j["graph_module"]["graph"]["tensor_values"]["x"]["dtype"] = "f32"; }, "expected an integer");
  expect([](io::Json &j) { j["graph_module"]["graph"]["tensor_values"]["x"]["dtype"] = UINT64_MAX; },
         "the integer does not fit 64 bits");
  expect([](io::Json &j) { node(j, 0)["target"] = ""; }, "an empty name");
  expect([](io::Json &j) { node(j, 0)["target"] = std::string(5000, 'a'); }, "a string of 5000 bytes; the limit is 4096");
  expect([](io::Json &j) { j["graph_module"]["graph"]["tensor_values"]["x"]["sizes"][0]["as_expr"]["expr_str"] = ""; },
         "an empty expression");
  expect(
      [](io::Json &j) {
        j["graph_module"]["graph"]["tensor_values"]["x"]["sizes"] = io::Json(std::vector<int>(17, 1));
      },
      "more than 16 dimensions");
  expect([](io::Json &j) { j["range_constraints"]["s77"] = {{"min_val", 9}, {"max_val", 3}}; }, "contradict");
}

/// Random edits of the program's JSON: numbers, strings, kinds, missing and swapped members.
void mutate(io::Json &json, std::mt19937 &random) {
  // Walk down to a random value.
  io::Json *at = &json;
  while ((at->is_object() || at->is_array()) && !at->empty() && random() % 12 != 0) {
    size_t i = random() % at->size();
    at = at->is_array() ? &(*at)[i] : &std::next(at->begin(), long(i)).value();
  }
  static const std::vector<io::Json> values = {0,
                                               1,
                                               -1,
                                               2,
                                               7,
                                               64,
                                               1 << 30,
                                               INT64_MAX,
                                               INT64_MIN,
                                               1.5,
                                               "",
                                               "x",
                                               "s77",
                                               "Infinity",
                                               true,
                                               nullptr,
                                               io::Json::array(),
                                               io::Json::object(),
                                               {{"as_int", -5}},
                                               {{"as_none", true}}};
  switch (random() % 4) {
  case 0:
    if ((at->is_object() || at->is_array()) && !at->empty()) {
      auto place = std::next(at->begin(), long(random() % at->size()));
      at->erase(place);
      break;
    }
    [[fallthrough]];
  case 1:
    if (at->is_array() && at->size() > 1) {
      std::swap((*at)[random() % at->size()], (*at)[random() % at->size()]);
      break;
    }
    [[fallthrough]];
  default: *at = values[random() % values.size()];
  }
}

class Mutated : public testing::TestWithParam<const char *> {};
TEST_P(Mutated, NeverCrashes) {
  auto members = membersOf(std::string("tests/models/") + GetParam() + ".pt2");
  std::string name = programName(members);
  const io::Json original = io::Json::parse(members[name]);
  std::mt19937 random(20240607);
  int imported = 0;
  for (int round = 0; round < 150; ++round) {
    io::Json changed = original;
    // Edits near the nodes matter most.
    for (unsigned i = 0, n = 1 + random() % 2; i < n; ++i)
      if (random() % 3 && changed.is_object() && changed["graph_module"].is_object())
        mutate(changed["graph_module"]["graph"], random);
      else
        mutate(changed, random);
    members[name] = changed.dump(-1, ' ', false, io::Json::error_handler_t::replace);
    Outcome outcome = importBytes(makeZip(members));
    imported += outcome.imported;
    EXPECT_TRUE(outcome.imported || !outcome.errors.empty()) << "seed round " << round;
  }
  EXPECT_LT(imported, 150);
}
INSTANTIATE_TEST_SUITE_P(Models, Mutated,
                         testing::Values("mlp_dynamic", "views_inplace", "dtypes", "control_flow", "detect_head", "moe",
                                         "lstm_cell_loop"),
                         [](const auto &info) { return std::string(info.param); });

TEST(Hostile, PayloadsOutOfBounds) {
  auto members = membersOf("tests/models/mlp_dynamic.pt2");
  std::string config;
  for (const auto &[name, data] : members)
    if (name.find("weights_config.json") != std::string::npos) config = name;
  auto expect = [&](const std::function<void(io::Json &)> &change, const std::string &part) {
    auto changed = members;
    io::Json json = io::Json::parse(changed[config]);
    change(json["config"]["up.weight"]);
    changed[config] = json.dump();
    Outcome outcome = importBytes(makeZip(changed));
    EXPECT_FALSE(outcome.imported);
    EXPECT_NE(outcome.errors.find(part), std::string::npos) << outcome.errors;
  };
  expect([](io::Json &p) { p["path_name"] = "../weight_0"; }, "unsafe record name");
  expect([](io::Json &p) { p["path_name"] = "weight_99"; }, "the archive has no record");
  expect([](io::Json &p) { p["use_pickle"] = true; }, "the tensor is pickled (a tensor subclass");
  expect([](io::Json &p) { p["tensor_meta"]["storage_offset"] = {{"as_int", 1}}; }, "its view leaves the");
  expect([](io::Json &p) { p["tensor_meta"]["strides"][0] = {{"as_int", INT64_MAX}}; }, "its size overflows");
  expect([](io::Json &p) { p["tensor_meta"]["sizes"][0] = {{"as_int", -1}}; }, "a stored tensor needs plain sizes");
  expect(
      [](io::Json &p) {
        p["tensor_meta"]["sizes"] = io::Json::array({{{"as_int", 1 << 30}}, {{"as_int", 1 << 30}}}),
        p["tensor_meta"]["strides"] = io::Json::array({{{"as_int", 0}}, {{"as_int", 0}}});
      },
      "");
  expect([](io::Json &p) { p["tensor_meta"]["layout"] = 2; }, "only dense strided tensors are supported");
  expect([](io::Json &p) { p["tensor_meta"]["strides"] = io::Json::array({{{"as_int", 1}}}); },
         "sizes and strides differ in number");
}

} // namespace
