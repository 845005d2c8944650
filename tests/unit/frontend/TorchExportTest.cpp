// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/TorchExport.h"
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/MLIRContext.h"
#include "tests/unit/frontend/RunModel.h"
#include <filesystem>
#include <gtest/gtest.h>

using namespace mlir;
using namespace stator;

namespace {

/// The handed models, as tests/models holds them; tests run in the source folder.
std::string modelFile(const std::string &name) { return "tests/models/" + name; }

class HandedModel : public testing::TestWithParam<const char *> {};

/// Imports, verifies, and gives PyTorch's numbers.
TEST_P(HandedModel, ImportsAndRuns) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  std::string name = GetParam();
  auto module = torch_export::importTorchExport(context, modelFile(name + ".pt2"));
  ASSERT_TRUE(module);
  module->walk([&](Operation *op) {
    if (op->getDialect()->getNamespace() == "graph" && !isa<graph::YieldOp>(op)) {
      EXPECT_FALSE(isa<UnknownLoc>(op->getLoc()));
    }
  });
  for (std::string tag : {"", "2"}) {
    std::string in = modelFile(name + ".in" + tag + ".safetensors");
    if (!std::filesystem::exists(in)) continue;
    std::string state = modelFile(name + ".state" + tag + ".safetensors");
    if (!std::filesystem::exists(state)) state.clear();
    EXPECT_EQ(tests::runAndCompare(*module, in, modelFile(name + ".out" + tag + ".safetensors"), state), "")
        << name << tag;
  }
}

INSTANTIATE_TEST_SUITE_P(All, HandedModel,
                         testing::Values("batchnorm_train", "bert_mini", "bf16_autocast", "control_flow", "detect_head",
                                         "digits_cnn", "dtypes", "gpt2_mini", "llama_decode", "llama_prefill", "lstm",
                                         "lstm_cell_loop", "mlp", "mlp_dynamic", "mobile_small", "moe", "ops_order",
                                         "ops_special", "ops_unpool", "ops_vision", "recommend", "resnet_small", "semantics",
                                         "unet_small", "views_inplace", "vit_small"),
                         [](const auto &info) { return std::string(info.param); });

func::FuncOp mainOf(ModuleOp module) { return module.lookupSymbol<func::FuncOp>("main"); }

TEST(TorchExport, Signature) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = torch_export::importTorchExport(context, modelFile("gpt2_mini.pt2"));
  ASSERT_TRUE(module);
  auto function = mainOf(*module);
  ASSERT_EQ(function.getNumArguments(), 1u);
  EXPECT_EQ(function.getArgAttrOfType<StringAttr>(0, graph::nameAttrName).getValue(), "input_ids");
  auto symbols = function->getAttrOfType<ArrayAttr>(graph::symbolsAttrName);
  ASSERT_TRUE(symbols);
  ASSERT_EQ(symbols.size(), 2u);
  auto batch = cast<graph::SymbolAttr>(symbols[1]), sequence = cast<graph::SymbolAttr>(symbols[0]);
  EXPECT_EQ(sequence.getMin(), 2);
  EXPECT_EQ(sequence.getMax(), 64);
  EXPECT_EQ(batch.getMax(), 16);
}

TEST(TorchExport, MutatedBuffersAreStates) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = torch_export::importTorchExport(context, modelFile("batchnorm_train.pt2"));
  ASSERT_TRUE(module);
  auto function = mainOf(*module);
  std::vector<std::string> states;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto name = function.getArgAttrOfType<StringAttr>(i, graph::stateAttrName)) {
      states.push_back(name.str());
      EXPECT_TRUE(function.getArgAttrOfType<ElementsAttr>(i, graph::initialAttrName));
    }
  llvm::sort(states);
  EXPECT_EQ(states, (std::vector<std::string>{"bn.num_batches_tracked", "bn.running_mean", "bn.running_var", "seen"}));
  // The weights of the convolution are constants with their names.
  std::vector<std::string> weights;
  module->walk([&](graph::ConstantOp op) {
    if (op.getName()) weights.push_back(op.getName()->str());
  });
  llvm::sort(weights);
  EXPECT_EQ(weights, (std::vector<std::string>{"bn.bias", "bn.weight", "c.bias", "c.weight"}));
}

TEST(TorchExport, LocationsAreTheUsersLines) {
  MLIRContext context(MLIRContext::Threading::DISABLED);
  auto module = torch_export::importTorchExport(context, modelFile("mlp.pt2"));
  ASSERT_TRUE(module);
  bool found = false;
  module->walk([&](graph::GeluOp op) {
    std::string text;
    llvm::raw_string_ostream(text) << op.getLoc();
    found = text.find("make_models.py\":18") != std::string::npos && text.find("\"gelu\"") != std::string::npos &&
            text.find("s.down(F.gelu") != std::string::npos;
  });
  EXPECT_TRUE(found);
}

} // namespace
