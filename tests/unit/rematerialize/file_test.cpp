// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-remat/Generate.h"
#include "tools/stator-remat/InstanceFile.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace stator::remat;

static Instance read(const std::string &text) {
  std::istringstream in(text);
  return readInstance(in);
}

/// An instance of one good node and `second` as the next line.
static std::string errorOf(const std::string &second) {
  return read("{\"nodes\": "
              "[\n{\"id\":0,\"inputs\":[],\"bytes\":1,\"cost\":2,\"is_recomputable\":true,\"must_keep\":false},\n" +
              second + "\n]}")
      .error;
}
static std::string node(const std::string &id, const std::string &inputs, const std::string &bytes,
                        const std::string &cost,
                        const std::string &rest = "\"is_recomputable\":true,\"must_keep\":false") {
  return "{\"id\":" + id + ",\"inputs\":" + inputs + ",\"bytes\":" + bytes + ",\"cost\":" + cost + "," + rest + "}";
}

TEST(InstanceFile, ReadsWhatItWrites) {
  for (const char *name : {"transformer:2:1", "random:40:5", "skips:30:1", "chain:3"}) {
    Graph graph = generate::byName(name);
    graph.regions = {{Region::Kind::Keep, "k", {0}}, {Region::Kind::Checkpoint, "c \"quoted\"", {1, 2}}};
    Instance back = read(writeInstance(graph, "the \"name\"\n"));
    ASSERT_EQ(back.error, "") << name;
    EXPECT_EQ(back.name, "the \"name\"\n");
    ASSERT_EQ(back.graph.nodes.size(), graph.nodes.size());
    for (size_t k = 0; k < graph.nodes.size(); ++k) {
      const Node &a = graph.nodes[k], &b = back.graph.nodes[k];
      EXPECT_EQ(a.name, b.name);
      EXPECT_EQ(a.inputs, b.inputs);
      EXPECT_EQ(a.bytes, b.bytes);
      EXPECT_EQ(a.cost, b.cost);
      EXPECT_EQ(a.recomputable, b.recomputable);
      EXPECT_EQ(a.keep, b.keep);
      EXPECT_EQ(a.backward, b.backward);
    }
    ASSERT_EQ(back.graph.regions.size(), 2u);
    EXPECT_EQ(back.graph.regions[1].nodes, (std::vector<int32_t>{1, 2}));
    EXPECT_EQ(back.graph.regions[1].name, "c \"quoted\"");
    EXPECT_EQ(back.graph.regions[0].kind, Region::Kind::Keep);
  }
}

TEST(InstanceFile, PassesOverUnknownMembers) {
  Instance i =
      read("{\"config\": {\"a\": [1, {\"nodes\": null}], \"b\": -1e5}, \"nodes\": ["
           "{\"id\":0,\"flops\":[1,{\"id\":\"x\"}],\"inputs\":[],\"bytes\":1,\"cost\":2.5,\"is_recomputable\":true,"
           "\"must_keep\":false,\"id2\":null}]}");
  EXPECT_EQ(i.error, "");
  ASSERT_EQ(i.graph.nodes.size(), 1u);
  EXPECT_EQ(i.graph.nodes[0].cost, 2.5);
}

TEST(InstanceFile, SaysWhereANodeIsWrong) {
  EXPECT_EQ(errorOf(node("1", "[0]", "5", "1")), "");
  EXPECT_EQ(errorOf(node("2", "[0]", "5", "1")),
            "line 3: nodes[1].id: must be 1 (ids count from 0 in the given order), not 2");
  EXPECT_EQ(errorOf(node("0", "[0]", "5", "1")),
            "line 3: nodes[1].id: must be 1 (ids count from 0 in the given order), not 0");
  EXPECT_EQ(errorOf(node("1", "[0]", "-5", "1")), "line 3: nodes[1].bytes: must be an integer from 0 to 2^60, not -5");
  EXPECT_EQ(errorOf(node("1", "[0]", "1.5", "1")),
            "line 3: nodes[1].bytes: must be an integer from 0 to 2^60, not 1.5");
  EXPECT_EQ(errorOf(node("1", "[0]", "99999999999999999999", "1")),
            "line 3: nodes[1].bytes: must be an integer from 0 to 2^60, not 99999999999999999999");
  EXPECT_EQ(errorOf(node("1", "[0]", "9223372036854775808", "1")),
            "line 3: nodes[1].bytes: must be an integer from 0 to 2^60, not 9223372036854775808");
  EXPECT_EQ(errorOf(node("1", "[0]", "1152921504606846976", "1")),
            "line 3: nodes[1]: the sizes add up to more than 2^60 bytes");
  EXPECT_EQ(errorOf(node("1", "[0]", "\"5\"", "1")), "line 3: nodes[1].bytes: must be a number, not a string");
  EXPECT_EQ(errorOf(node("1", "[0]", "null", "1")), "line 3: nodes[1].bytes: must be a number, not null");
  EXPECT_EQ(errorOf(node("1", "[0]", "{}", "1")), "line 3: nodes[1].bytes: must be a number, not an object");
  EXPECT_EQ(errorOf(node("1", "[0]", "5", "-1")), "line 3: nodes[1].cost: must be a number from 0 to 2^53, not -1");
  EXPECT_EQ(errorOf(node("1", "[0]", "5", "1e300")),
            "line 3: nodes[1].cost: must be a number from 0 to 2^53, not 1e300");
  EXPECT_EQ(errorOf(node("1", "[7]", "5", "1")), "line 3: nodes[1]: reads unknown node 7");
  EXPECT_EQ(errorOf(node("1", "[0,0]", "5", "1")), "line 3: nodes[1]: reads node 0 twice");
  EXPECT_EQ(errorOf(node("1", "[-1]", "5", "1")), "line 3: nodes[1].inputs[0]: must be a node id, not -1");
  EXPECT_EQ(errorOf(node("1", "[0,4294967296]", "5", "1")),
            "line 3: nodes[1].inputs[1]: must be a node id, not 4294967296");
  EXPECT_EQ(errorOf(node("1", "[[0]]", "5", "1")), "line 3: nodes[1].inputs[0]: must be a node id, not a list");
  EXPECT_EQ(errorOf(node("1", "0", "5", "1")), "line 3: nodes[1].inputs: must be a list, not a number");
  EXPECT_EQ(errorOf(node("1", "[1]", "5", "1")), "nodes: they read each other on a cycle: 1 -> 1");
  EXPECT_EQ(errorOf(node("1", "[2]", "5", "1") + ",\n" + node("2", "[0]", "5", "1")),
            "line 3: nodes[1]: reads node 2, which does not stand before it");
  EXPECT_EQ(errorOf(node("1", "[2]", "5", "1") + ",\n" + node("2", "[0,1]", "5", "1")),
            "nodes: they read each other on a cycle: 1 -> 2 -> 1");
  EXPECT_EQ(errorOf(node("1", "[0]", "5", "1", "\"is_recomputable\":1,\"must_keep\":false")),
            "line 3: nodes[1].is_recomputable: must be true or false, not a number");
  EXPECT_EQ(errorOf(node("1", "[0]", "5", "1", "\"is_recomputable\":true")), "line 3: nodes[1]: has no \"must_keep\"");
  EXPECT_EQ(errorOf(node("1", "[0]", "5", "1", "\"bytes\":5")), "line 3: nodes[1].bytes: given twice");
  EXPECT_EQ(errorOf("5"), "line 3: nodes[1]: must be an object, not a number");
  EXPECT_EQ(errorOf("[]"), "line 3: nodes[1]: must be an object, not a list");
}

TEST(InstanceFile, SaysWhereTheDocumentIsWrong) {
  EXPECT_EQ(read("[]").error, "line 1: the instance must be an object, not a list");
  EXPECT_EQ(read("17").error, "line 1: the instance must be an object, not a number");
  EXPECT_EQ(read("{}").error, "the instance has no \"nodes\"");
  EXPECT_EQ(read("{\"nodes\": {}}").error, "line 1: nodes: must be a list, not an object");
  EXPECT_EQ(read("{\"nodes\": [],\n\"nodes\": []}").error, "line 2: nodes: given twice");
  EXPECT_EQ(read("{\"nodes\": []}").error, "");
  EXPECT_EQ(read("{\"nodes\": [], \"regions\": [{\"kind\": \"drop\"}]}").error,
            "line 1: regions[0].kind: must be \"checkpoint\" or \"keep\", not \"drop\"");
  EXPECT_EQ(read("{\"nodes\": [], \"regions\": [{\"kind\": \"keep\", \"nodes\": [3]}]}").error,
            "line 1: regions[0]: unknown node 3");
  EXPECT_EQ(read("{\"nodes\": [], \"regions\": [{\"nodes\": []}]}").error, "line 1: regions[0]: has no \"kind\"");
  EXPECT_EQ(read("{\"nodes\": [], \"regions\": [{\"kind\": \"keep\"}]}").error, "line 1: regions[0]: has no \"nodes\"");
  std::string broken = read("{\"nodes\": [\n\n  {\"id\" true}]}").error;
  EXPECT_EQ(broken.substr(0, 18), "line 3: column 12:") << broken;
  for (const char *text :
       {"", "{", "{\"nodes\": [", "{\"nodes\": []} x", "\xff\xfe", "{\"nodes\": [\"\xff\"]}", "{\"a\": 1e999}"})
    EXPECT_NE(read(text).error, "") << text;
}

TEST(InstanceFile, RefusesDeepNesting) {
  std::string deep = "{\"x\": " + std::string(1000000, '[');
  EXPECT_NE(read(deep).error.find("nested deeper than 32 levels"), std::string::npos);
  std::string objects = "{\"x\": ";
  for (int k = 0; k < 100000; ++k) objects += "{\"a\":";
  EXPECT_NE(read(objects).error.find("nested deeper than 32 levels"), std::string::npos);
}

TEST(Generate, TakesOnlyWhatItKnows) {
  for (const char *bad : {"", "chain", "chain:", "chain:0", "chain:-3", "chain:3:4", "chain:9999999999",
                          "inception:3:0", "skips:2:1", "lstm:x", "chain:1 ", "nothing:3", "unet:40", "resnet:1"})
    EXPECT_TRUE(generate::byName(bad).nodes.empty()) << bad;
  for (const char *good : {"chain:1", "resnet:1:1", "unet:1", "transformer:1:0", "lstm:1", "inception:1:1", "skips:3:0",
                           "random:1:0", "resnet:12:2", "unet:12"}) {
    EXPECT_FALSE(generate::byName(good).nodes.empty()) << good;
    EXPECT_EQ(validate(generate::byName(good)), "") << good;
  }
}

// Every prefix and many one-byte changes of a good file: an answer, never a crash.
TEST(InstanceFile, SurvivesDamage) {
  const std::string good = writeInstance(generate::byName("transformer:1:1"), "x");
  ASSERT_EQ(read(good).error, "");
  for (size_t n = 0; n + 2 < good.size(); n += 7) EXPECT_NE(read(good.substr(0, n)).error, "") << n;
  Random random(3);
  for (int k = 0; k < 3000; ++k) {
    std::string bad = good;
    bad[random.below(uint32_t(bad.size()))] = char(random.below(256));
    Instance i = read(bad);
    if (i.error.empty()) {
      EXPECT_EQ(validate(i.graph), "");
    }
  }
}

TEST(InstanceFile, WritesWholeFilesOrNothing) {
  namespace fs = std::filesystem;
  std::string pattern = (fs::temp_directory_path() / "stator-remat-XXXXXX").string();
  ASSERT_NE(mkdtemp(pattern.data()), nullptr);
  fs::path dir = pattern, file = dir / "out.json";
  EXPECT_EQ(writeFileAtomically(file, "one"), "");
  EXPECT_EQ(writeFileAtomically(file, "two"), "");
  std::stringstream text;
  text << std::ifstream(file).rdbuf();
  EXPECT_EQ(text.str(), "two");
  EXPECT_NE(writeFileAtomically(dir, "x"), "");                                       // a directory
  EXPECT_NE(writeFileAtomically(dir / "none" / "x", "x"), "");                        // no such directory
  EXPECT_EQ(std::distance(fs::directory_iterator(dir), fs::directory_iterator()), 1); // no temporaries left
  fs::remove_all(dir);
  EXPECT_NE(readInstanceFile(dir / "gone.json").error.find("cannot be read"), std::string::npos);
}
