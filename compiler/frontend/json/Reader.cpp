// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/GraphJson.h"
#include "compiler/frontend/json/Locations.h"
#include "compiler/io/File.h"
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Verifier.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace stator::graph_json {
namespace {

constexpr uint64_t maxDocument = uint64_t(1) << 30;
constexpr size_t maxOps = 1u << 20, maxFunctions = 4096, maxValues = 1u << 16;

/// The values that ops may name at one place, innermost region last.
class Names {
public:
  void define(const Node &node, StringRef name, Value value) {
    if (!values.try_emplace(name, value).second) node.refuse("there is a value '" + name.take_front(80) + "' already");
    order.push_back(name.str());
  }
  Value find(const Node &node) const {
    StringRef name = node.name();
    if (Value value = values.lookup(name)) return value;
    std::vector<std::string> known;
    // The nearest of the latest: a million distances would be slow.
    for (auto &each : llvm::reverse(order)) {
      known.push_back(each);
      if (known.size() == 4096) break;
    }
    node.refuse("no value '" + name.take_front(80) + "' is defined before this" + didYouMean(name, known));
  }
  size_t mark() const { return order.size(); }
  /// Forgets what was defined since.
  void rewind(size_t mark) {
    for (; order.size() > mark; order.pop_back()) values.erase(order.back());
  }

private:
  llvm::StringMap<Value> values;
  std::vector<std::string> order;
};

class Reader {
public:
  Reader(MLIRContext *context, const std::string &path)
      : context(context), path(path), builder(context), locations(context, path) {}

  OwningOpRef<ModuleOp> read(const Json &json) {
    Node root(json);
    root.onlyKeys(
        {"$schema", "format", "version", "name", "location", "weights", "locations", "functions", "attributes"});
    if (Node format = root.get("format"); format.text() != "stator-graph") format.refuse("must be \"stator-graph\"");
    if (Node version = root.get("version"); version.integer() != 1)
      version.refuse("this is version " + Twine(version.integer()) + "; this program reads version 1");
    if (auto table = root.find("weights")) weights.read(context, *table, llvm::sys::path::parent_path(path).str());
    if (auto table = root.find("locations")) locations.readTable(*table);
    Location loc = root.has("location") ? locations.of(root) : Location(FileLineColLoc::get(context, path, 0, 0));
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    if (auto name = root.find("name")) module->setSymName(name->name());
    if (auto attributes = root.find("attributes"))
      for (NamedAttribute each : readFreeAttributes(context, *attributes)) setFree(*attributes, *module, each);
    Node functions = root.get("functions");
    if (functions.size() == 0 || functions.size() > maxFunctions)
      functions.refuse("has 1 to " + Twine(maxFunctions) + " entries");
    functions.forEach([&](const Node &node) { readFunction(node, *module); });
    verify(root, *module, /*whole=*/true);
    return module;
  }

private:
  /// Attributes that no op declares have a dialect's prefix.
  void setFree(const Node &node, Operation *op, NamedAttribute attribute) {
    if (!attribute.getName().strref().contains('.'))
      node.refuse("the name '" + attribute.getName().strref() + "' needs a dot");
    op->setAttr(attribute.getName(), attribute.getValue());
  }

  void verify(const Node &node, Operation *op, bool whole) {
    std::string text;
    ScopedDiagnosticHandler capture(context, [&](Diagnostic &diagnostic) {
      text += (text.empty() ? "" : "; ") + diagnostic.str();
      for (Diagnostic &note : diagnostic.getNotes()) text += " (" + note.str() + ")";
      return success();
    });
    if (failed(mlir::verify(op, whole))) node.refuse(text);
  }

  Location locationOf(const Node &node) { return locations.of(node); }

  void readSymbols(const Node &list, func::FuncOp function) {
    SmallVector<Attribute> symbols;
    list.forEach([&](const Node &node) {
      node.onlyKeys({"name", "min", "max"});
      Node name = node.get("name");
      // A symbol is an identifier: it stands in expressions.
      std::string error;
      graph::DimExpr symbol = graph::DimExpr::parse(context, name.name(), error);
      if (!symbol || symbol.getKind() != graph::DimKind::Symbol || symbol.getSymbol() != name.name())
        name.refuse("'" + name.name().take_front(80) + "' is no identifier");
      int64_t min = node.has("min") ? node.get("min").integer() : 0;
      int64_t max = node.has("max") ? node.get("max").integer() : INT64_MAX;
      if (min < 0 || min > max) node.refuse("the bounds [" + Twine(min) + ", " + Twine(max) + "] hold no size");
      symbols.push_back(graph::SymbolAttr::get(context, name.name(), min, max));
    });
    if (!symbols.empty()) function->setAttr(graph::symbolsAttrName, builder.getArrayAttr(symbols));
  }

  void readInput(const Node &node, Block &block, SmallVectorImpl<DictionaryAttr> &attributes) {
    node.onlyKeys({"name", "dtype", "shape", "key", "state", "initial", "attributes", "location"});
    RankedTensorType type = readTensorType(context, node);
    Node name = node.get("name");
    names.define(name, name.name(), block.addArgument(type, locationOf(node)));
    NamedAttrList list;
    if (auto more = node.find("attributes")) list = readFreeAttributes(context, *more);
    if (auto state = node.find("state")) list.set(graph::stateAttrName, builder.getStringAttr(state->name()));
    if (auto initial = node.find("initial")) {
      if (!node.has("state")) initial->refuse("only a state has an initial value");
      list.set(graph::initialAttrName, readElements(context, *initial, type, weights));
    }
    auto key = node.find("key");
    if (key ? !key->isNull() : !node.has("state"))
      list.set(graph::nameAttrName, builder.getStringAttr(key ? key->name() : name.name()));
    attributes.push_back(list.getDictionary(context));
  }

  void readFunction(const Node &node, ModuleOp module) {
    node.onlyKeys(
        {"name", "private", "symbols", "inputs", "ops", "outputs", "location", "outputs_location", "attributes"});
    names = Names();
    builder.setInsertionPointToEnd(module.getBody());
    Location loc = locationOf(node);
    auto function = func::FuncOp::create(builder, loc, node.get("name").name(), builder.getFunctionType({}, {}));
    if (auto hidden = node.find("private"); hidden && hidden->boolean()) function.setPrivate();
    if (auto more = node.find("attributes"))
      for (NamedAttribute each : readFreeAttributes(context, *more)) setFree(*more, function, each);
    if (auto symbols = node.find("symbols")) readSymbols(*symbols, function);
    Block &block = *function.addEntryBlock();
    SmallVector<DictionaryAttr> inputAttributes, outputAttributes;
    Node inputs = node.get("inputs");
    if (inputs.size() > maxValues) inputs.refuse("has more than " + Twine(maxValues) + " entries");
    inputs.forEach([&](const Node &input) { readInput(input, block, inputAttributes); });
    node.get("ops").forEach([&](const Node &op) { readOp(op, block); });
    SmallVector<Value> results;
    node.get("outputs").forEach([&](const Node &output) {
      NamedAttrList list;
      if (output.isString()) {
        results.push_back(names.find(output));
      } else {
        output.onlyKeys({"value", "updates", "updates_input", "attributes"});
        results.push_back(names.find(output.get("value")));
        if (auto more = output.find("attributes")) list = readFreeAttributes(context, *more);
        if (auto state = output.find("updates")) list.set(graph::updatesAttrName, builder.getStringAttr(state->name()));
        if (auto input = output.find("updates_input"))
          list.set(graph::updatesInputAttrName, builder.getI64IntegerAttr(input->integer()));
      }
      outputAttributes.push_back(list.getDictionary(context));
    });
    builder.setInsertionPointToEnd(&block);
    func::ReturnOp::create(builder, node.has("outputs_location") ? locations.of(node, "outputs_location") : loc,
                           results);
    function.setFunctionType(builder.getFunctionType(block.getArgumentTypes(), ValueRange(results).getTypes()));
    function.setAllArgAttrs(inputAttributes);
    function.setAllResultAttrs(outputAttributes);
    verify(node, function, /*whole=*/false);
  }

  OperationName operationName(const Node &node) {
    StringRef name = node.name();
    OperationName op(("graph." + name).str(), context);
    if (op.isRegistered() && !op.hasTrait<OpTrait::IsTerminator>()) return op;
    if (op.isRegistered()) node.refuse("'" + name + "' ends a region: give its values as 'outputs'");
    std::vector<std::string> known;
    for (RegisteredOperationName each : context->getRegisteredOperations())
      if (each.getDialectNamespace() == "graph") known.push_back(each.stripDialect().str());
    node.refuse("there is no op '" + name.take_front(80) + "'" + didYouMean(name, known));
  }

  void readOp(const Node &node, Block &block) {
    node.onlyKeys({"op", "operands", "results", "attributes", "regions", "location"});
    if (++ops > maxOps) node.refuse("has more than " + Twine(maxOps) + " ops");
    OperationName name = operationName(node.get("op"));
    OperationState state(locationOf(node), name);
    if (auto operands = node.find("operands")) {
      if (operands->size() > maxValues) operands->refuse("has more than " + Twine(maxValues) + " entries");
      operands->forEach([&](const Node &operand) { state.operands.push_back(names.find(operand)); });
    }
    auto results = node.find("results");
    if (results) {
      if (results->size() > maxValues) results->refuse("has more than " + Twine(maxValues) + " entries");
      results->forEach([&](const Node &result) {
        result.onlyKeys({"name", "dtype", "shape"});
        state.types.push_back(readTensorType(context, result));
      });
    }
    auto first = state.types.empty() ? RankedTensorType() : cast<RankedTensorType>(state.types[0]);
    if (auto attributes = node.find("attributes"))
      attributes->forEachMember([&](StringRef key, const Node &value) {
        state.addAttribute(key, readAttribute(name, key, value, first, weights));
      });
    auto regions = node.find("regions");
    if (regions && regions->size() > 8) regions->refuse("has more than 8 entries");
    for (size_t i = 0, n = regions ? regions->size() : 0; i < n; ++i) state.addRegion();
    // The result types are given, so nothing is inferred before the op's own verifier has seen its operands and
    // attributes.
    Operation *op = Operation::create(state);
    block.push_back(op);
    if (regions) {
      bool isolated = name.hasTrait<OpTrait::IsIsolatedFromAbove>();
      Names outer;
      if (isolated) std::swap(outer, names);
      for (size_t i = 0; i < regions->size(); ++i) readRegion((*regions)[i], op->getRegion(i));
      if (isolated) std::swap(outer, names);
    }
    verify(node, op, /*whole=*/false);
    if (results)
      for (size_t i = 0; i < results->size(); ++i) {
        Node result = (*results)[i];
        names.define(result, result.get("name").name(), op->getResult(i));
      }
  }

  void readRegion(const Node &node, Region &region) {
    node.onlyKeys({"inputs", "ops", "outputs", "outputs_location"});
    size_t mark = names.mark();
    Block &block = region.emplaceBlock();
    if (auto inputs = node.find("inputs")) {
      if (inputs->size() > maxValues) inputs->refuse("has more than " + Twine(maxValues) + " entries");
      inputs->forEach([&](const Node &input) {
        input.onlyKeys({"name", "dtype", "shape", "location"});
        Value argument = block.addArgument(readTensorType(context, input), locationOf(input));
        names.define(input, input.get("name").name(), argument);
      });
    }
    if (auto list = node.find("ops")) list->forEach([&](const Node &op) { readOp(op, block); });
    SmallVector<Value> values;
    node.get("outputs").forEach([&](const Node &output) { values.push_back(names.find(output)); });
    builder.setInsertionPointToEnd(&block);
    graph::YieldOp::create(builder, locations.of(node, "outputs_location"), values);
    names.rewind(mark);
  }

  MLIRContext *context;
  const std::string &path;
  OpBuilder builder;
  LocationReader locations;
  Weights weights;
  Names names;
  size_t ops = 0;
};

} // namespace

OwningOpRef<ModuleOp> readGraphJsonText(MLIRContext &context, StringRef text, const std::string &path) {
  context.loadDialect<graph::GraphDialect, func::FuncDialect>();
  io::JsonLimits limits;
  limits.lines = true;
  auto json = io::parseJson(std::string_view(text.data(), text.size()), "'" + path + "'", limits);
  if (!json) {
    emitError(FileLineColLoc::get(&context, path, 0, 0)) << json.error();
    return {};
  }
  std::string why;
  size_t line = 0;
  try {
    return Reader(&context, path).read(*json);
  } catch (const Refused &refused) {
    why = refused.what();
    line = refused.line;
  }
  emitError(FileLineColLoc::get(&context, path, line, 0)) << why;
  return {};
}

OwningOpRef<ModuleOp> readGraphJson(MLIRContext &context, const std::string &path) {
  auto bytes = io::readFile(path, maxDocument);
  if (bytes) return readGraphJsonText(context, StringRef(bytes->data(), bytes->size()), path);
  emitError(FileLineColLoc::get(&context, path, 0, 0)) << bytes.error();
  return {};
}

} // namespace stator::graph_json
