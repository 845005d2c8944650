// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/CheckProgram.h"
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator {
namespace {

class FunctionCheck {
public:
  explicit FunctionCheck(func::FuncOp function) : function(function) {}

  LogicalResult run() {
    if (!function.getBody().hasOneBlock())
      return fail() << "function '" << function.getName() << "' must have one block";
    for (Type type : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      if (!graph::hasDims(type))
        return fail() << "function '" << function.getName()
                      << "' has a value that is no tensor of known dimensions: " << type;
    if (failed(declarations())) return failure();
    arguments();
    results();
    uses();
    for (auto &symbol : declared)
      if (!given.contains(symbol.getKey()))
        fail() << "the size '" << symbol.getKey() << "' can be read from no input, and nothing in '"
               << function.getName() << "' gives it a value";
    return good;
  }

private:
  InFlightDiagnostic fail() {
    good = failure();
    return emitError(function.getLoc());
  }

  LogicalResult declarations() {
    Attribute attribute = function->getAttr(graph::symbolsAttrName);
    if (!attribute) return success();
    auto list = dyn_cast<ArrayAttr>(attribute);
    if (!list) return fail() << "'" << graph::symbolsAttrName << "' is a list of symbols";
    for (Attribute each : list) {
      auto symbol = dyn_cast<graph::SymbolAttr>(each);
      if (!symbol) return fail() << "'" << graph::symbolsAttrName << "' is a list of symbols, not " << each;
      if (!declared.insert(symbol.getName()).second)
        return fail() << "the size '" << symbol.getName() << "' is declared twice";
      // A number that the program computes may be negative; only sizes are not.
      if (symbol.getMin() > symbol.getMax())
        return fail() << "the size '" << symbol.getName() << "' has the bounds [" << symbol.getMin() << ", "
                      << symbol.getMax() << "]";
    }
    return success();
  }

  void arguments() {
    for (BlockArgument argument : function.getArguments()) {
      unsigned i = argument.getArgNumber();
      auto type = cast<RankedTensorType>(argument.getType());
      Attribute state = function.getArgAttr(i, graph::stateAttrName);
      if (!state) {
        // Readable: the size holds one symbol.
        for (DimExpr dim : graph::dimsOf(type)) {
          llvm::StringSet<> names;
          dim.forEachSymbol([&](StringRef name) { names.insert(name); });
          if (names.size() == 1) given.insert(names.begin()->getKey());
        }
        continue;
      }
      auto name = dyn_cast<StringAttr>(state);
      if (!name) {
        fail() << "argument " << i << ": the name of a state is text";
        continue;
      }
      if (!states.try_emplace(name.getValue(), type).second)
        fail() << "argument " << i << ": there is a state '" << name.getValue() << "' already";
      if (!type.hasStaticShape())
        fail() << "argument " << i << ": the state '" << name.getValue() << "' has a size that is no number: " << type;
      if (Attribute initial = function.getArgAttr(i, graph::initialAttrName)) {
        auto elements = dyn_cast<ElementsAttr>(initial);
        if (!elements || elements.getShapedType() != type)
          fail() << "argument " << i << ": the initial value of state '" << name.getValue() << "' is not of type "
                 << type;
      }
    }
  }

  void results() {
    for (unsigned r = 0; r < function.getNumResults(); ++r) {
      Type type = function.getResultTypes()[r];
      if (Attribute updates = function.getResultAttr(r, graph::updatesAttrName)) {
        auto name = dyn_cast<StringAttr>(updates);
        auto known = name ? states.find(name.getValue()) : states.end();
        if (known == states.end())
          fail() << "result " << r << " updates the unknown state " << updates;
        else if (known->second != type)
          fail() << "result " << r << " updates the state '" << name.getValue() << "' of type " << known->second
                 << " with " << type;
      }
      if (Attribute updates = function.getResultAttr(r, graph::updatesInputAttrName)) {
        auto number = dyn_cast<IntegerAttr>(updates);
        bool isArgument = number && number.getValue().getSignificantBits() <= 64 && number.getValue().sge(0) &&
                          number.getValue().slt(function.getNumArguments());
        if (!isArgument)
          fail() << "result " << r << " updates an input that is not there: " << updates;
        else if (function.getArgumentTypes()[number.getInt()] != type)
          fail() << "result " << r << " updates input " << number.getInt() << " of type "
                 << function.getArgumentTypes()[number.getInt()] << " with " << type;
      }
    }
  }

  void expression(DimExpr dim, Location at) {
    dim.forEachSymbol([&](StringRef name) {
      if (declared.contains(name) || !reported.insert(name).second) return;
      good = failure();
      emitError(at) << "the size '" << name << "' is not declared by function '" << function.getName() << "'";
    });
  }
  void type(Type type, Location at) {
    if (graph::hasDims(type))
      for (DimExpr dim : graph::dimsOf(type)) expression(dim, at);
  }
  void uses() {
    for (Type each : llvm::concat<const Type>(function.getArgumentTypes(), function.getResultTypes()))
      type(each, function.getLoc());
    function.getBody().walk([&](Operation *op) {
      for (Type each : op->getResultTypes()) type(each, op->getLoc());
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (BlockArgument argument : block.getArguments()) type(argument.getType(), op->getLoc());
      for (NamedAttribute attribute : op->getAttrDictionary())
        if (auto dims = dyn_cast<graph::ShapeAttr>(attribute.getValue()))
          for (DimExpr dim : dims.getDims()) expression(dim, op->getLoc());
      if (auto bind = dyn_cast<graph::BindSymbolOp>(op)) {
        given.insert(bind.getSymbol());
        if (!declared.contains(bind.getSymbol()) && reported.insert(bind.getSymbol()).second) {
          good = failure();
          emitError(op->getLoc()) << "the size '" << bind.getSymbol() << "' is not declared by function '"
                                  << function.getName() << "'";
        }
      }
    });
  }

  func::FuncOp function;
  LogicalResult good = success();
  llvm::StringSet<> declared, given, reported;
  llvm::StringMap<Type> states;
};

} // namespace

LogicalResult checkProgram(ModuleOp module) {
  LogicalResult good = success();
  bool any = false;
  for (auto function : module.getOps<func::FuncOp>()) {
    any = true;
    if (failed(FunctionCheck(function).run())) good = failure();
  }
  if (!any) return emitError(module.getLoc()) << "the program has no function";
  return good;
}

} // namespace stator
