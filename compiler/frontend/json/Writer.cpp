// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/GraphJson.h"
#include "compiler/frontend/json/Locations.h"
#include "compiler/frontend/json/Print.h"
#include "compiler/io/File.h"
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace stator::graph_json {
namespace {

/// The node name that a location holds, or "".
StringRef nodeName(Location location) {
  while (true) {
    if (auto fused = dyn_cast<FusedLoc>(location)) {
      if (fused.getLocations().empty()) return "";
      location = fused.getLocations().front();
    } else if (auto name = dyn_cast<NameLoc>(location)) {
      return name.getName();
    } else {
      return "";
    }
  }
}

class Writer {
public:
  explicit Writer(ModuleOp module) : module(module), locations(weights) {}

  Written write(const std::string &weightsFile) {
    reserveNames();
    Written functions = Written::array();
    for (Operation &op : *module.getBody()) {
      auto function = dyn_cast<func::FuncOp>(op);
      if (!function || !function.getBody().hasOneBlock()) return fail(&op, "is no function with one block");
      functions.push_back(writeFunction(function));
    }
    Written root = {{"format", "stator-graph"}, {"version", 1}};
    if (auto name = module.getSymName()) root["name"] = text(*name);
    root["location"] = locations.write(module.getLoc());
    freeAttributes(root, module, module->getDiscardableAttrDictionary(), {});
    if (Written table = weights.table(weightsFile); !table.is_null()) root["weights"] = std::move(table);
    if (!locations.table().empty()) root["locations"] = locations.table();
    root["functions"] = std::move(functions);
    return root;
  }

  std::string error;
  WeightsWriter weights;

private:
  Written fail(Operation *op, const Twine &why) {
    if (error.empty())
      error = ("'" + op->getName().getStringRef() + "' cannot be written as graph JSON: it " + why).str();
    return {};
  }
  std::string text(StringRef content) {
    if (!llvm::json::isUTF8(content) && error.empty()) error = "a name is not UTF-8 and cannot stand in graph JSON";
    return content.str();
  }

  void reserveNames() {
    auto reserve = [&](Attribute attribute) {
      attribute.walk([&](DenseResourceElementsAttr resource) { weights.reserve(resource.getRawHandle().getKey()); });
    };
    module.walk([&](Operation *op) { reserve(op->getAttrDictionary()); });
  }

  /// A name for the value: the node's, made unique by a number.
  std::string define(Value value, StringRef wish) {
    std::string base = wish.size() <= 200 && llvm::json::isUTF8(wish) &&
                               llvm::none_of(wish, [](unsigned char c) { return c < 0x20 || c == 0x7f; })
                           ? wish.str()
                           : "";
    if (base.empty()) base = "v";
    std::string name = base;
    while (!taken.insert(name).second) name = base + "." + std::to_string(++counters[base]);
    names[value] = name;
    return name;
  }

  void freeAttributes(Written &object, Operation *op, DictionaryAttr attributes, ArrayRef<StringRef> without) {
    Written more = Written::object();
    if (attributes)
      for (NamedAttribute each : attributes) {
        if (llvm::is_contained(without, each.getName().strref())) continue;
        Written value = writeAttribute({}, each.getName(), each.getValue(), {}, weights);
        if (value.is_null())
          return (void)fail(op, "has an attribute '" + each.getName().strref() + "' that JSON cannot hold");
        more[text(each.getName())] = std::move(value);
      }
    if (!more.empty()) object["attributes"] = std::move(more);
  }

  Written symbols(func::FuncOp function) {
    Written list = Written::array();
    auto attribute = function->getAttrOfType<ArrayAttr>(graph::symbolsAttrName);
    if (!attribute) return list;
    for (auto symbol : attribute.getAsRange<graph::SymbolAttr>()) {
      Written row = {{"name", text(symbol.getName())}, {"min", symbol.getMin()}};
      if (symbol.getMax() != INT64_MAX) row["max"] = symbol.getMax();
      list.push_back(std::move(row));
    }
    return list;
  }

  Written input(func::FuncOp function, BlockArgument argument) {
    unsigned i = argument.getArgNumber();
    auto key = function.getArgAttrOfType<StringAttr>(i, graph::nameAttrName);
    auto state = function.getArgAttrOfType<StringAttr>(i, graph::stateAttrName);
    std::string name = define(argument, key ? key.getValue() : state ? state.getValue() : nodeName(argument.getLoc()));
    Written row = {{"name", name}};
    if (!writeTensorType(row, argument.getType())) return fail(function, "has an argument that is no tensor");
    if (state) row["state"] = text(state.getValue());
    if (!key && !state)
      row["key"] = nullptr;
    else if (key && (state || key.getValue() != name))
      row["key"] = text(key.getValue());
    if (auto initial = function.getArgAttrOfType<ElementsAttr>(i, graph::initialAttrName)) {
      row["initial"] = weights.write(initial, cast<RankedTensorType>(argument.getType()));
      if (row["initial"].is_null()) return fail(function, "has an initial value that JSON cannot hold");
    }
    freeAttributes(row, function, function.getArgAttrDict(i),
                   {graph::nameAttrName, graph::stateAttrName, graph::initialAttrName});
    row["location"] = locations.write(argument.getLoc());
    return row;
  }

  Written output(func::FuncOp function, unsigned i, Value value) {
    Written row = {{"value", names[value]}};
    if (auto state = function.getResultAttrOfType<StringAttr>(i, graph::updatesAttrName))
      row["updates"] = text(state.getValue());
    auto updated = function.getResultAttrOfType<IntegerAttr>(i, graph::updatesInputAttrName);
    if (updated) row["updates_input"] = updated.getInt();
    freeAttributes(row, function, function.getResultAttrDict(i), {graph::updatesAttrName, graph::updatesInputAttrName});
    return row.size() == 1 ? row["value"] : row;
  }

  Written writeFunction(func::FuncOp function) {
    names.clear();
    taken.clear();
    counters.clear();
    Written object = {{"name", text(function.getName())}};
    if (function.isPrivate()) object["private"] = true;
    if (Written list = symbols(function); !list.empty()) object["symbols"] = std::move(list);
    freeAttributes(object, function, function->getDiscardableAttrDictionary(), {graph::symbolsAttrName});
    object["location"] = locations.write(function.getLoc());
    Block &block = function.getBody().front();
    object["inputs"] = Written::array();
    for (BlockArgument argument : block.getArguments()) object["inputs"].push_back(input(function, argument));
    object["ops"] = writeOps(block);
    object["outputs"] = Written::array();
    Operation *terminator = block.getTerminator();
    if (!isa<func::ReturnOp>(terminator)) return fail(terminator, "is no op of the graph dialect");
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      object["outputs"].push_back(output(function, i, value));
    if (terminator->getLoc() != function.getLoc()) object["outputs_location"] = locations.write(terminator->getLoc());
    return object;
  }

  Written writeOps(Block &block) {
    Written list = Written::array();
    for (Operation &op : block.without_terminator()) {
      list.push_back(writeOp(op));
      if (!error.empty()) break;
    }
    return list;
  }

  Written writeOp(Operation &op) {
    if (!isa_and_nonnull<graph::GraphDialect>(op.getDialect())) return fail(&op, "is no op of the graph dialect");
    Written object = {{"op", op.getName().stripDialect().str()}};
    if (op.getNumOperands()) object["operands"] = Written::array();
    for (Value operand : op.getOperands()) object["operands"].push_back(names[operand]);
    auto first = op.getNumResults() ? dyn_cast<RankedTensorType>(op.getResult(0).getType()) : RankedTensorType();
    Written attributes = Written::object();
    for (NamedAttribute each : op.getAttrDictionary()) {
      Written value = writeAttribute(op.getName(), each.getName(), each.getValue(), first, weights);
      if (value.is_null()) return fail(&op, "has an attribute '" + each.getName().strref() + "' that JSON cannot hold");
      attributes[text(each.getName())] = std::move(value);
    }
    if (!attributes.empty()) object["attributes"] = std::move(attributes);
    Written results = Written::array();
    StringRef wish = nodeName(op.getLoc());
    for (Value result : op.getResults()) {
      Written row = {{"name", define(result, wish.empty() ? op.getName().stripDialect() : wish)}};
      if (!writeTensorType(row, result.getType())) return fail(&op, "has a result that is no tensor");
      results.push_back(std::move(row));
    }
    if (!results.empty()) object["results"] = std::move(results);
    object["location"] = locations.write(op.getLoc());
    if (op.getNumRegions()) object["regions"] = Written::array();
    for (Region &region : op.getRegions()) object["regions"].push_back(writeRegion(op, region));
    return object;
  }

  Written writeRegion(Operation &op, Region &region) {
    // Four levels of JSON for each region; readers stop at 128.
    if (++depth > 24) return fail(&op, "is nested too deep");
    Written object = Written::object();
    if (!region.hasOneBlock()) return fail(&op, "has a region that is not one block");
    Block &block = region.front();
    if (block.getNumArguments()) object["inputs"] = Written::array();
    for (BlockArgument argument : block.getArguments()) {
      Written row = {{"name", define(argument, nodeName(argument.getLoc()))}};
      if (!writeTensorType(row, argument.getType())) return fail(&op, "has an argument that is no tensor");
      row["location"] = locations.write(argument.getLoc());
      object["inputs"].push_back(std::move(row));
    }
    object["ops"] = writeOps(block);
    if (!error.empty()) return {};
    object["outputs"] = Written::array();
    Operation *terminator = block.getTerminator();
    for (Value value : terminator->getOperands()) object["outputs"].push_back(names[value]);
    object["outputs_location"] = locations.write(terminator->getLoc());
    --depth;
    return object;
  }

  ModuleOp module;
  LocationWriter locations;
  llvm::DenseMap<Value, std::string> names;
  llvm::StringSet<> taken;
  llvm::StringMap<unsigned> counters;
  int depth = 0;
};

} // namespace

io::Result<Document> writeGraphJson(ModuleOp module, const std::string &weightsFile) {
  Writer writer(module);
  Written root = writer.write(weightsFile);
  if (!writer.error.empty()) return io::Error{writer.error};
  Document document;
  try {
    document.text = print(root);
  } catch (const std::exception &error) {
    return io::Error{"the program holds text that is not UTF-8 and cannot stand in graph JSON"};
  }
  document.weights = writer.weights.tensors();
  return document;
}

io::Status writeGraphJsonFile(ModuleOp module, const std::string &path) {
  StringRef stem = StringRef(path).ends_with(".json") ? StringRef(path).drop_back(5) : StringRef(path);
  std::string weights = (stem + ".weights.safetensors").str();
  auto document = writeGraphJson(module, llvm::sys::path::filename(weights).str());
  if (!document) return document.takeError();
  if (!document->weights.tensors.empty())
    if (io::Status status = io::writeSafetensors(weights, document->weights); !status) return status;
  return io::writeFile(path, {document->text});
}

} // namespace stator::graph_json
