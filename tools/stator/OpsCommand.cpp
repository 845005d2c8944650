// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/TorchExport.h"
#include "dialects/graph/Choices.h"
#include "dialects/graph/Graph.h"
#include "mlir/IR/Builders.h"
#include "tools/stator/Command.h"
#include <iostream>
#include <nlohmann/json.hpp>

using namespace mlir;

namespace stator::cli {
namespace {

/// What an op takes for an attribute, found by asking its own constraint.
std::string kindOf(OperationName op, StringRef attribute) {
  if (auto choices = graph::choicesOf(op, attribute); !choices.empty()) return llvm::join(choices, " | ");
  Builder b(op.getContext());
  auto empty = RankedTensorType::get({0}, b.getF32Type());
  const std::pair<Attribute, const char *> kinds[] = {
      {b.getUnitAttr(), "flag"},
      {b.getBoolAttr(true), "bool"},
      {b.getI64IntegerAttr(1), "integer"},
      {b.getF64FloatAttr(1), "number"},
      {b.getStringAttr("a"), "text"},
      {b.getDenseI64ArrayAttr({}), "integers"},
      {b.getDenseF64ArrayAttr({}), "numbers"},
      {graph::ShapeAttr::get(op.getContext(), {graph::DimExpr::constant(op.getContext(), 1)}), "sizes"},
      {DenseElementsAttr::get(empty, ArrayRef<Attribute>()), "elements"}};
  ScopedDiagnosticHandler quiet(op.getContext(), [](Diagnostic &) { return success(); });
  for (auto &[value, name] : kinds) {
    NamedAttrList list;
    list.append(attribute, value);
    if (succeeded(op.verifyInherentAttrs(list, [&] { return emitError(UnknownLoc::get(op.getContext())); })))
      return name;
  }
  return "MLIR";
}

void listGraphOps(MLIRContext &context, bool asJson) {
  auto rows = nlohmann::ordered_json::array();
  for (RegisteredOperationName op : context.getRegisteredOperations()) {
    if (op.getDialectNamespace() != "graph") continue;
    auto attributes = nlohmann::ordered_json::object();
    for (StringAttr name : op.getAttributeNames()) attributes[name.str()] = kindOf(op, name);
    rows.push_back({{"op", op.stripDialect().str()}, {"attributes", attributes}});
  }
  if (asJson) {
    std::cout << rows.dump(1) << "\n";
    return;
  }
  for (auto &row : rows) {
    std::cout << row["op"].get<std::string>();
    for (auto &[name, kind] : row["attributes"].items()) std::cout << "  " << name << ": " << kind.get<std::string>();
    std::cout << "\n";
  }
}

} // namespace

void addOps(CLI::App &app, Common &common, Action &action) {
  auto graphOps = std::make_shared<bool>(false);
  CLI::App *sub = app.add_subcommand("ops", "List the operators that can be imported, or the ops of the graph dialect");
  sub->footer("Examples:\n  stator ops | grep conv\n  stator ops --graph | grep pool");
  sub->add_flag("--graph", *graphOps, "The graph dialect's ops and what their attributes are, for writing graph JSON");
  common.add(*sub, "As JSON");
  sub->callback([graphOps, &common, &action] {
    action = [graphOps, &common] {
      auto context = makeContext();
      if (*graphOps) {
        listGraphOps(*context, common.json);
        return int(Ok);
      }
      std::vector<std::string> targets = torch_export::importableTargets(*context);
      if (common.json)
        std::cout << nlohmann::json(targets).dump(1) << "\n";
      else
        for (const std::string &target : targets) std::cout << target << "\n";
      return int(Ok);
    };
  });
}

} // namespace stator::cli
