// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/Unpickler.h"
#include "compiler/frontend/torch_export/AtenSchemas.h"
#include <gtest/gtest.h>

using namespace stator::torch_export;

namespace {

std::string text(const std::string &s) { return std::string("X") + char(s.size()) + std::string(3, '\0') + s; }
/// One tensor of storage `key`: torch._utils._rebuild_tensor_v2(storage, offset, size, stride, False, OrderedDict()).
std::string tensor(const std::string &key, const std::string &storage = "FloatStorage") {
  return "ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + "ctorch\n" + storage + "\n" + text(key) +
         text("cpu") + "K\x06tQK\x01K\x02K\x03\x86K\x03K\x01\x86\x89" + "ccollections\nOrderedDict\n)RtR";
}
std::string file(const std::string &body) { return std::string("\x80\x02", 2) + body + "."; }

TEST(Unpickler, ReadsTensors) {
  auto result =
      unpickleTensors(file("}(" + text("a.weight") + tensor("0") + text("b") + "ctorch._utils\n_rebuild_parameter\n(" +
                           tensor("1", "LongStorage") + "\x88" + "ccollections\nOrderedDict\n)RtRu"));
  ASSERT_TRUE(result) << result.error();
  ASSERT_EQ(result->size(), 2u);
  const Payload &a = result->at("a.weight");
  EXPECT_EQ(a.record, "0");
  EXPECT_EQ(a.type, ScalarType::Float32);
  EXPECT_EQ(a.offset, 1);
  EXPECT_EQ(a.sizes, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(a.strides, (std::vector<int64_t>{3, 1}));
  EXPECT_EQ(result->at("b").type, ScalarType::Int64);
}

TEST(Unpickler, NeverCallsAnything) {
  for (std::string bad :
       {std::string("cos\nsystem\n") + text("true") + "\x85R", std::string("cbuiltins\neval\n") + text("1") + "\x85R",
        std::string("ctorch\nload\n)R"), std::string("ctorch._utils\n_rebuild_tensor\n)R"), std::string("}b"),
        std::string("i"), std::string("(ios\nsystem\n"), std::string("\x8c\x02os\x8c\x06system\x93)R"),
        std::string("}\x81"), std::string("P0\n")}) {
    auto result = unpickleTensors(file(bad));
    EXPECT_FALSE(result) << bad;
  }
}

TEST(Unpickler, DamagedFiles) {
  std::string whole = file("}(" + text("a") + tensor("0") + "u");
  ASSERT_TRUE(unpickleTensors(whole));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(unpickleTensors(whole.substr(0, n))) << n;
  for (size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      std::string changed = whole;
      changed[i] = char(changed[i] ^ (1 << bit));
      auto result = unpickleTensors(changed); // An error or a table; never a crash.
      (void)result;
    }
  EXPECT_FALSE(unpickleTensors(file("]2]a")));
  EXPECT_FALSE(unpickleTensors(std::string(10000, '(')));
  EXPECT_FALSE(unpickleTensors(file(std::string("X\xff\xff\xff\xff", 5))));
}

TEST(Unpickler, SaysWhatIsWrong) {
  auto errorOf = [](const std::string &body) {
    auto result = unpickleTensors(file(body));
    return result ? "none" : result.error();
  };
  EXPECT_EQ(errorOf(std::string("]q\0h\0a", 6)), "the pickled table of tensors holds itself");
  EXPECT_EQ(errorOf(std::string(size_t(1) << 25, 'N')), "the pickled table of tensors holds too many values");
  std::string bad = tensor("0");
  bad.replace(bad.find("K\x02K\x03\x86"), 5, "K\x02\x85"); // One size, two strides.
  EXPECT_EQ(errorOf("}(" + text("a") + bad + "u"), "the pickled table of tensors has a tensor with bad sizes");
}

TEST(AtenSchemas, TableAndDefaults) {
  SchemaTable table;
  const Schema *add = table.find("aten.add_.Tensor");
  ASSERT_TRUE(add);
  EXPECT_TRUE(add->writes());
  EXPECT_TRUE(add->arguments[0].written);
  EXPECT_EQ(add->find("alpha")->defaultValue->scalars[0].integer, 1);
  const Schema *slice = table.find("aten.slice.Tensor");
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->results[0].alias, 'a');
  EXPECT_EQ(slice->find("start")->defaultValue->kind, Argument::Kind::None);
  const Schema *lstm = table.find("aten.lstm.input");
  ASSERT_TRUE(lstm);
  EXPECT_EQ(lstm->results.size(), 3u);
  EXPECT_EQ(lstm->find("hx")->type, "Tensor[]");
  EXPECT_EQ(table.find("aten.layer_norm.default")->find("eps")->defaultValue->scalars[0].real, 1e-5);
  EXPECT_EQ(table.find("aten.max_pool2d.default")->find("stride")->defaultValue->kind, Argument::Kind::Ints);
  EXPECT_EQ(table.find("aten.pad.default")->find("mode")->defaultValue->text, "constant");
  EXPECT_EQ(table.find("aten.no_such_operator.default"), nullptr);
  EXPECT_FALSE(parseSchema("broken"));
  EXPECT_FALSE(parseSchema("f(Tensor) -> Tensor"));
}

TEST(Unpickler, SaysWhy) {
  auto holds = [](const std::string &bytes, const std::string &part) {
    auto result = unpickleTensors(bytes);
    ASSERT_FALSE(result) << part;
    EXPECT_NE(result.error().find(part), std::string::npos) << result.error() << " does not say " << part;
  };
  holds(std::string("\x80\x02", 2), "ends without STOP");
  holds(file("}}"), "STOP with 2 values");
  holds(file("R"), "takes a value from an empty stack");
  holds(file("\x86"), "takes a value from an empty stack");
  holds(file(std::string("X\xff\xff\xff\x7f", 5)), "is cut off");
  holds(file("c" + std::string(300, 'a') + "\nb\n"), "has an overlong name");
  holds(file("}u"), "has no MARK");
  holds(file("}(" + text("a") + "u"), "has a key without a value");
  holds(file("h\x07"), "recalls what it has not remembered");
  holds(file("q\x01"), "remembers nothing");
  holds(file("K\x01Q"), "has an unknown persistent id");
  holds(file("ctorch._utils\n_rebuild_tensor_v2\n)R"), "in an unknown way");
}

} // namespace
