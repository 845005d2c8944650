// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit/Signature.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
/// size = scale * symbol + offset.
struct LinearSize {
  StringRef symbol;
  int64_t scale = 1, offset = 0;
  bool isPlain() const { return scale == 1 && offset == 0; }
};
struct SymbolSource {
  int64_t input, dim;
  LinearSize size;
};
} // namespace

static std::optional<LinearSize> linearSize(DimExpr size) {
  LinearSize result;
  auto term = [&](DimExpr expr) {
    if (expr.getKind() == graph::DimKind::Symbol) {
      result.symbol = expr.getSymbol();
      return true;
    }
    if (expr.getKind() != graph::DimKind::Mul || expr.getOperands().size() != 2) return false;
    DimExpr x = expr.getOperands()[0], y = expr.getOperands()[1];
    if (y.isConstant()) std::swap(x, y);
    if (!x.isConstant() || y.getKind() != graph::DimKind::Symbol || x.getConstant() <= 0) return false;
    result.scale = x.getConstant();
    result.symbol = y.getSymbol();
    return true;
  };
  if (term(size)) return result;
  if (size.getKind() != graph::DimKind::Add || size.getOperands().size() != 2) return std::nullopt;
  DimExpr x = size.getOperands()[0], y = size.getOperands()[1];
  if (y.isConstant()) std::swap(x, y);
  if (!x.isConstant() || !term(y)) return std::nullopt;
  result.offset = x.getConstant();
  return result;
}

/// The dimension that is the symbol, else one that is linear in it.
static std::optional<SymbolSource> sourceOf(func::FuncOp function, StringRef symbol) {
  std::optional<SymbolSource> best;
  int64_t input = 0;
  for (BlockArgument argument : function.getArguments()) {
    if (function.getArgAttr(argument.getArgNumber(), graph::stateAttrName)) continue;
    for (auto [d, size] : llvm::enumerate(graph::dimsOf(argument.getType()))) {
      auto linear = linearSize(size);
      if (!linear || linear->symbol != symbol) continue;
      if (!best || (linear->isPlain() && !best->size.isPlain())) best = SymbolSource{input, int64_t(d), *linear};
    }
    ++input;
  }
  return best;
}

Signature signatureOf(func::FuncOp function, WeightTable &weights) {
  Builder b(function.getContext());
  Signature signature;
  auto dictionary = [&](std::string name, Type type) {
    NamedAttrList dict;
    dict.set("name", b.getStringAttr(name));
    dict.set("type", TypeAttr::get(type));
    return dict;
  };
  llvm::SmallBitVector mutated(function.getNumArguments());
  for (unsigned r = 0; r < function.getNumResults(); ++r)
    if (auto input = function.getResultAttrOfType<IntegerAttr>(r, graph::updatesInputAttrName)) mutated.set(input.getInt());

  if (auto declared = function->getAttrOfType<ArrayAttr>(graph::symbolsAttrName))
    for (auto symbol : declared.getAsRange<graph::SymbolAttr>()) {
      NamedAttrList dict;
      dict.set("name", b.getStringAttr(symbol.getName()));
      dict.set("min", b.getI64IntegerAttr(symbol.getMin()));
      dict.set("max", b.getI64IntegerAttr(symbol.getMax()));
      if (auto source = sourceOf(function, symbol.getName())) {
        dict.set("input", b.getI64IntegerAttr(source->input));
        dict.set("dim", b.getI64IntegerAttr(source->dim));
        if (source->size.scale != 1) dict.set("scale", b.getI64IntegerAttr(source->size.scale));
        if (source->size.offset != 0) dict.set("offset", b.getI64IntegerAttr(source->size.offset));
      } else {
        signature.dataSymbols.insert(symbol.getName());
      }
      signature.symbols.push_back(dict.getDictionary(b.getContext()));
    }
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    if (auto state = function.getArgAttrOfType<StringAttr>(i, graph::stateAttrName)) {
      signature.argumentIndex.push_back(signature.states.size());
      NamedAttrList dict = dictionary(state.str(), argument.getType());
      if (auto initial = function.getArgAttrOfType<ElementsAttr>(i, graph::initialAttrName))
        dict.set("initial", b.getStringAttr(weights.add(initial, state)));
      signature.states.push_back(dict.getDictionary(b.getContext()));
      continue;
    }
    signature.argumentIndex.push_back(signature.inputs.size());
    auto name = function.getArgAttrOfType<StringAttr>(i, graph::nameAttrName);
    NamedAttrList dict = dictionary(name ? name.str() : std::to_string(signature.inputs.size()), argument.getType());
    if (mutated.test(i)) dict.set("mutated", b.getUnitAttr());
    signature.inputs.push_back(dict.getDictionary(b.getContext()));
  }
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    if (function.getResultAttr(r, graph::updatesAttrName) || function.getResultAttr(r, graph::updatesInputAttrName)) continue;
    auto name = function.getResultAttrOfType<StringAttr>(r, graph::nameAttrName);
    signature.outputs.push_back(dictionary(name ? name.str() : std::to_string(signature.outputs.size()),
                                           function.getResultTypes()[r])
                                    .getDictionary(b.getContext()));
  }
  return signature;
}

} // namespace stator::codegen
