// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit/Artifact.h"
#include "dialects/graph/Evaluator.h"
#include "tools/stator/Command.h"
#include "tools/stator/Executions.h"
#include <chrono>

using namespace mlir;

namespace stator::cli {
namespace {

io::DType dtypeOf(Type element) { return io::dtypeFromName(codegen::dtypeName(element)); }

io::Tensor toTensor(const HostTensor &tensor) {
  io::Tensor result;
  result.type = dtypeOf(tensor.elementType);
  result.shape.assign(tensor.shape.begin(), tensor.shape.end());
  result.bytes = io::Buffer::copyOf(std::string_view(tensor.data(), tensor.bytes()));
  return result;
}

class EvaluatorExecution final : public Execution {
public:
  EvaluatorExecution(std::unique_ptr<MLIRContext> context, OwningOpRef<ModuleOp> module, func::FuncOp function)
      : context(std::move(context)), module(std::move(module)), function(function), evaluator(function),
        origins(outputOrigins(*this->module)) {
    for (BlockArgument argument : function.getArguments()) {
      unsigned n = argument.getArgNumber();
      if (function.getArgAttr(n, graph::stateAttrName)) continue;
      auto type = cast<RankedTensorType>(argument.getType());
      InputSpec spec;
      auto name = function.getArgAttrOfType<StringAttr>(n, graph::nameAttrName);
      spec.name = name ? name.str() : std::to_string(specs.size());
      spec.type = dtypeOf(type.getElementType());
      for (graph::DimExpr dim : graph::dimsOf(type)) {
        graph::DimRange range = graph::rangeOf(dim, [&](StringRef symbol) { return graph::symbolRange(function, symbol); });
        spec.shape.push_back(dim.asConstant().value_or(-1));
        spec.least.push_back(range.min);
        spec.most.push_back(range.max);
        spec.symbols.push_back(dim.isConstant() ? "" : dim.str());
      }
      specs.push_back(spec);
      types.push_back(type.getElementType());
    }
  }

  const std::vector<InputSpec> &inputs() const override { return specs; }

  bool run(const std::vector<io::Tensor> &inputs, std::map<std::string, io::Tensor> *outputs, double &milliseconds,
           std::string &error) override {
    SmallVector<HostTensor> tensors;
    for (auto [i, input] : llvm::enumerate(inputs)) {
      if (input.type != specs[i].type) {
        error = "input '" + specs[i].name + "' is " + std::string(io::dtypeName(input.type)) + ", the program takes " +
                std::string(io::dtypeName(specs[i].type));
        return false;
      }
      tensors.push_back(HostTensor::view(types[i], input.shape, input.bytes.data()));
    }
    auto begin = std::chrono::steady_clock::now();
    auto results = evaluator.run(tensors);
    milliseconds = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    if (failed(results)) {
      error = evaluator.error().str();
      return false;
    }
    unsigned number = 0;
    for (auto [i, result] : llvm::enumerate(*results)) {
      if (function.getResultAttr(i, graph::updatesAttrName) || function.getResultAttr(i, graph::updatesInputAttrName)) continue;
      if (outputs) (*outputs)[std::to_string(number++)] = toTensor(result);
    }
    return true;
  }

  std::map<std::string, io::Tensor> state() const override {
    std::map<std::string, io::Tensor> result;
    for (auto &entry : evaluator.state) result[entry.getKey().str()] = toTensor(entry.getValue());
    return result;
  }
  std::string describe() const override { return "evaluator"; }
  std::string originOfOutput(const std::string &name) const override {
    size_t i = std::strtoul(name.c_str(), nullptr, 10);
    return i < origins.size() ? origins[i] : "";
  }

private:
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  graph::Evaluator evaluator;
  std::vector<InputSpec> specs;
  std::vector<Type> types;
  std::vector<std::string> origins;
};

} // namespace

std::vector<std::string> outputOrigins(ModuleOp module) {
  std::vector<std::string> origins;
  auto functions = module.getOps<func::FuncOp>();
  if (functions.empty()) return origins;
  Operation *terminator = (*functions.begin()).getBody().front().getTerminator();
  for (Value value : terminator->getOperands()) {
    Operation *op = value.getDefiningOp();
    origins.push_back(op ? op->getName().getStringRef().str() + " at " + graph::describe(op->getLoc()) : "an input");
  }
  return origins;
}

std::unique_ptr<Execution> evaluateModule(std::unique_ptr<MLIRContext> context, OwningOpRef<ModuleOp> module) {
  auto functions = module->getOps<func::FuncOp>();
  if (functions.empty()) return fail("the program has no function"), nullptr;
  func::FuncOp function = *functions.begin();
  return std::make_unique<EvaluatorExecution>(std::move(context), std::move(module), function);
}

} // namespace stator::cli
