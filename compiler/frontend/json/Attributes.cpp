// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/Attributes.h"
#include "dialects/graph/Choices.h"
#include "dialects/graph/Graph.h"
#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::graph_json {
namespace {

constexpr size_t maxAttributeText = 1u << 16;

bool isInt(const Json &value) {
  return value.is_number_integer() && !(value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX));
}

/// The attributes that a number may stand for.
void fromInteger(MLIRContext *context, int64_t value, SmallVectorImpl<Attribute> &out) {
  Builder b(context);
  out.push_back(b.getI64IntegerAttr(value));
  for (unsigned width : {32, 16, 8})
    if (llvm::isIntN(width, value)) out.push_back(b.getIntegerAttr(b.getIntegerType(width), value));
  out.push_back(b.getIndexAttr(value));
}

void fromList(MLIRContext *context, const Json &list, SmallVectorImpl<Attribute> &out) {
  Builder b(context);
  bool ints = true, numbers = true, bools = true, dims = true, strings = true;
  for (const Json &value : list) {
    ints &= isInt(value);
    numbers &= value.is_number();
    bools &= value.is_boolean();
    dims &= isInt(value) || value.is_string();
    strings &= value.is_string();
  }
  auto all = [&](auto convert) {
    SmallVector<decltype(convert(list[0]))> values;
    for (const Json &value : list) values.push_back(convert(value));
    return values;
  };
  if (ints) {
    auto values = all([](const Json &value) { return value.get<int64_t>(); });
    out.push_back(b.getDenseI64ArrayAttr(values));
    if (llvm::all_of(values, [](int64_t value) { return llvm::isInt<32>(value); }))
      out.push_back(b.getDenseI32ArrayAttr(SmallVector<int32_t>(values.begin(), values.end())));
  }
  if (numbers) out.push_back(b.getDenseF64ArrayAttr(all([](const Json &value) { return value.get<double>(); })));
  if (bools) out.push_back(b.getDenseBoolArrayAttr(all([](const Json &value) { return value.get<bool>(); })));
  if (dims) {
    auto values = all([&](const Json &value) { return dimFrom(context, value); });
    if (!llvm::is_contained(values, DimExpr())) out.push_back(graph::ShapeAttr::get(context, values));
  }
  if (strings)
    out.push_back(b.getArrayAttr(
        all([&](const Json &value) -> Attribute { return b.getStringAttr(value.get_ref<const std::string &>()); })));
}

/// The text of an attribute as MLIR writes it; null where it is none. The parser recurses, so nesting is bounded first.
Attribute fromText(MLIRContext *context, StringRef text) {
  int depth = 0;
  for (char c : text) {
    depth += c == '[' || c == '{' || c == '<' || c == '(';
    depth -= c == ']' || c == '}' || c == '>' || c == ')';
    if (depth > 64 || depth < -64) return {};
  }
  ScopedDiagnosticHandler quiet(context, [](Diagnostic &) { return success(); });
  return parseAttribute(text, context, Type(), nullptr, /*isKnownNullTerminated=*/false);
}

/// All that the value may stand for, in order of preference; empty where it is nothing.
SmallVector<Attribute> candidates(MLIRContext *context, const Json &value) {
  Builder b(context);
  SmallVector<Attribute> out;
  if (value.is_boolean()) {
    out.push_back(b.getBoolAttr(value.get<bool>()));
    if (value.get<bool>()) out.push_back(b.getUnitAttr());
  } else if (isInt(value)) {
    fromInteger(context, value.get<int64_t>(), out);
  } else if (value.is_string()) {
    out.push_back(b.getStringAttr(value.get_ref<const std::string &>()));
  } else if (value.is_array()) {
    fromList(context, value, out);
  }
  if (value.is_number())
    out.append({b.getF64FloatAttr(value.get<double>()), b.getF32FloatAttr(float(value.get<double>()))});
  if (isInt(value) || value.is_string())
    if (DimExpr dim = dimFrom(context, value)) out.push_back(graph::ShapeAttr::get(context, {dim}));
  return out;
}

/// Whether the op's declaration allows it; the reason goes to `why`.
bool accepts(OperationName op, StringRef name, Attribute attribute, std::string *why = nullptr) {
  MLIRContext *context = op.getContext();
  ScopedDiagnosticHandler quiet(context, [&](Diagnostic &diagnostic) {
    if (why) *why = diagnostic.str();
    return success();
  });
  NamedAttrList list;
  list.append(name, attribute);
  return succeeded(op.verifyInherentAttrs(list, [&]() { return emitError(UnknownLoc::get(context)); }));
}

bool declares(OperationName op, StringRef name) {
  return llvm::any_of(op.getAttributeNames(), [&](StringAttr each) { return each.getValue() == name; });
}

std::optional<StringRef> mlirText(const Json &value) {
  if (!value.is_object()) return std::nullopt;
  auto found = value.find("mlir");
  if (found == value.end() || !found->is_string()) return std::nullopt;
  return StringRef(found->get_ref<const std::string &>());
}

Attribute readMlir(MLIRContext *context, const Node &node) {
  node.onlyKeys({"mlir"});
  Node text = node.get("mlir");
  Attribute attribute = fromText(context, text.text(maxAttributeText));
  if (!attribute) text.refuse("is no attribute in MLIR's syntax");
  return attribute;
}

/// What a reader makes of `value`; null where it refuses it or needs weights for it.
Attribute wouldRead(std::optional<OperationName> op, StringRef name, MLIRContext *context, const Json &value) {
  if (auto text = mlirText(value)) return fromText(context, *text);
  if (!op || !declares(*op, name)) {
    SmallVector<Attribute> all = candidates(context, value);
    return all.empty() ? Attribute() : all.front();
  }
  if (value.is_string())
    if (Attribute choice = graph::choiceNamed(*op, name, value.get_ref<const std::string &>())) return choice;
  for (Attribute candidate : candidates(context, value))
    if (accepts(*op, name, candidate)) return candidate;
  return {};
}

Json plain(std::optional<OperationName> op, StringRef name, Attribute attribute) {
  if (op)
    if (auto choice = graph::nameOfChoice(*op, name, attribute)) return choice->str();
  if (isa<UnitAttr>(attribute)) return true;
  if (auto value = dyn_cast<BoolAttr>(attribute)) return value.getValue();
  if (auto value = dyn_cast<IntegerAttr>(attribute))
    return value.getValue().getSignificantBits() <= 64 ? Json(value.getValue().getSExtValue()) : Json();
  if (auto value = dyn_cast<FloatAttr>(attribute))
    return std::isfinite(value.getValueAsDouble()) ? Json(value.getValueAsDouble()) : Json();
  if (auto value = dyn_cast<StringAttr>(attribute)) return value.str();
  if (auto value = dyn_cast<DenseI64ArrayAttr>(attribute)) return Json(value.asArrayRef().vec());
  if (auto value = dyn_cast<DenseI32ArrayAttr>(attribute)) return Json(value.asArrayRef().vec());
  if (auto value = dyn_cast<DenseF64ArrayAttr>(attribute))
    return llvm::all_of(value.asArrayRef(), [](double x) { return std::isfinite(x); }) ? Json(value.asArrayRef().vec())
                                                                                       : Json();
  if (auto value = dyn_cast<DenseBoolArrayAttr>(attribute)) {
    Json list = Json::array();
    for (bool each : value.asArrayRef()) list.push_back(each);
    return list;
  }
  if (auto value = dyn_cast<graph::ShapeAttr>(attribute)) {
    Json list = Json::array();
    for (DimExpr dim : value.getDims()) list.push_back(dim.isConstant() ? Json(dim.getConstant()) : Json(dim.str()));
    return list;
  }
  if (auto value = dyn_cast<ArrayAttr>(attribute)) {
    Json list = Json::array();
    for (Attribute each : value) {
      auto string = dyn_cast<StringAttr>(each);
      if (!string) return {};
      list.push_back(string.str());
    }
    return list;
  }
  return {};
}

} // namespace

Attribute readAttribute(OperationName op, StringRef name, const Node &node, RankedTensorType type, Weights &weights) {
  MLIRContext *context = op.getContext();
  if (!declares(op, name)) {
    if (name.contains('.')) return readFreeAttribute(context, node);
    std::vector<std::string> known;
    for (StringAttr each : op.getAttributeNames()) known.push_back(each.str());
    node.refuse("'" + op.getStringRef() + "' has no attribute '" + name.take_front(80) + "'" + didYouMean(name, known));
  }
  if (node.isString()) {
    StringRef text = node.text(maxAttributeText);
    if (Attribute choice = graph::choiceNamed(op, name, text)) return choice;
    if (auto choices = graph::choicesOf(op, name); !choices.empty()) {
      std::vector<std::string> known;
      std::string list;
      for (StringRef choice : choices) known.push_back(choice.str()), list += (list.empty() ? "" : ", ") + choice.str();
      node.refuse("is one of " + list + ", not '" + text.take_front(80) + "'" + didYouMean(text, known));
    }
  }
  std::string why;
  if (node.json().is_object() && !mlirText(node.json())) {
    Attribute elements = readElements(context, node, type, weights);
    if (!accepts(op, name, elements, &why)) node.refuse(why);
    return elements;
  }
  if (mlirText(node.json())) {
    Attribute attribute = readMlir(context, node);
    if (!accepts(op, name, attribute, &why)) node.refuse(why);
    return attribute;
  }
  for (Attribute candidate : candidates(context, node.json()))
    if (accepts(op, name, candidate, &why)) return candidate;
  if (why.empty()) why = "cannot stand for an attribute";
  node.refuse(why);
}

Attribute readFreeAttribute(MLIRContext *context, const Node &node) {
  if (mlirText(node.json())) return readMlir(context, node);
  if (node.isString()) (void)node.text(maxAttributeText);
  SmallVector<Attribute> all = candidates(context, node.json());
  if (all.empty()) node.refuse("cannot stand for an attribute");
  return all.front();
}

NamedAttrList readFreeAttributes(MLIRContext *context, const Node &object) {
  NamedAttrList list;
  object.forEachMember([&](StringRef name, const Node &value) {
    if (name.empty() || name.size() > maxName)
      value.refuse("an attribute's name has 1 to " + Twine(maxName) + " bytes");
    list.set(name, readFreeAttribute(context, value));
  });
  return list;
}

Written writeAttribute(std::optional<OperationName> op, StringRef name, Attribute attribute, RankedTensorType type,
                       WeightsWriter &weights) {
  if (auto elements = dyn_cast<ElementsAttr>(attribute); elements && op && declares(*op, name))
    return weights.write(elements, type);
  MLIRContext *context = attribute.getContext();
  Json value = plain(op, name, attribute);
  if (!value.is_null() && wouldRead(op, name, context, value) == attribute) return value;
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  if (text.size() > maxAttributeText || fromText(context, text) != attribute) return {};
  return Written{{"mlir", text}};
}

} // namespace stator::graph_json
