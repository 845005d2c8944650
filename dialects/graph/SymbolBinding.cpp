// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/SymbolBinding.h"
#include "dialects/graph/Graph.h"

using namespace mlir;

namespace stator::graph {

namespace {

/// One dimension of one argument: what its type says, and its size.
struct Observation {
  unsigned argument;
  unsigned dim;
  DimExpr expr;
  int64_t size;
};

class Binder {
public:
  Binder(func::FuncOp function, ArrayRef<const HostTensor *> arguments, EvalEnv &env)
      : function(function), arguments(arguments), env(env) {}

  LogicalResult run() {
    if (failed(observe())) return failure();
    // Symbols that stand alone first, then what they do not determine; each round binds at least one symbol.
    for (const Observation &seen : observations)
      if (seen.expr.getKind() == DimKind::Symbol && failed(bind(seen.expr.getSymbol(), seen.size, seen)))
        return failure();
    for (bool progress = true; progress;) {
      progress = false;
      for (const Observation &seen : observations) {
        auto symbol = onlyUnbound(seen.expr);
        auto value = symbol ? solve(seen, *symbol) : std::nullopt;
        if (!value) continue;
        if (failed(bind(*symbol, *value, seen))) return failure();
        progress = true;
      }
    }
    for (const Observation &seen : observations) {
      auto value = evaluate(seen.expr, {});
      if (!value)
        return fail(place(seen) + " is " + Twine(seen.size) + ", from which " + seen.expr.str() + " cannot be solved");
      if (*value != seen.size)
        return fail(place(seen) + " is " + Twine(seen.size) + ", not " + seen.expr.str() +
                    (seen.expr.isConstant() ? "" : " = " + std::to_string(*value)) + origins(seen.expr));
    }
    return success();
  }

private:
  LogicalResult fail(const Twine &text) {
    env.message = text.str();
    return failure();
  }
  std::string argumentName(unsigned argument) {
    auto name = function.getArgAttrOfType<StringAttr>(argument, nameAttrName);
    return ("argument " + Twine(argument) + (name ? " '" + name.getValue() + "'" : Twine())).str();
  }
  std::string place(const Observation &seen) {
    return ("dimension " + Twine(seen.dim) + " of " + argumentName(seen.argument)).str();
  }
  /// Where the symbols of an expression got their values.
  std::string origins(DimExpr expr) {
    std::string text;
    expr.forEachSymbol([&](StringRef symbol) {
      auto from = origin.find(symbol);
      if (from != origin.end()) text += (" (" + symbol + " is " + place(from->second) + ")").str();
    });
    return text;
  }

  LogicalResult observe() {
    for (auto [i, argument] : llvm::enumerate(arguments)) {
      auto type = dyn_cast<RankedTensorType>(function.getArgumentTypes()[i]);
      if (!type) return fail(argumentName(i) + " is not a tensor");
      if (argument->elementType != type.getElementType()) {
        std::string text;
        llvm::raw_string_ostream os(text);
        os << argumentName(i) << " has element type " << argument->elementType << ", not " << type.getElementType();
        return fail(text);
      }
      if (argument->rank() != type.getRank())
        return fail(argumentName(i) + " has rank " + Twine(argument->rank()) + ", not " + Twine(type.getRank()));
      for (auto [d, expr] : llvm::enumerate(dimsOf(type))) {
        if (argument->shape[d] < 0) return fail(argumentName(i) + " has a negative size");
        observations.push_back({unsigned(i), unsigned(d), expr, argument->shape[d]});
      }
    }
    return success();
  }

  LogicalResult bind(StringRef symbol, int64_t value, const Observation &seen) {
    auto [known, isNew] = env.symbols.try_emplace(symbol, value);
    if (!isNew) {
      if (known->second == value) return success();
      return fail(place(seen) + " is " + Twine(value) + ", but " + symbol + " is " + Twine(known->second) +
                  origins(seen.expr));
    }
    DimRange range = symbolRange(function, symbol);
    if (value < range.min || value > range.max)
      return fail(place(seen) + " is " + Twine(seen.size) + ", which puts " + symbol + " = " + Twine(value) +
                  " outside its bounds [" + Twine(range.min) + ", " + Twine(range.max) + "]");
    origin.try_emplace(symbol, seen);
    return success();
  }

  std::optional<int64_t> evaluate(DimExpr expr, std::optional<int64_t> assumed) {
    return expr.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
      auto known = env.symbols.find(symbol);
      return known != env.symbols.end() ? known->second : assumed;
    });
  }

  std::optional<StringRef> onlyUnbound(DimExpr expr) {
    std::optional<StringRef> found;
    bool several = false;
    expr.forEachSymbol([&](StringRef symbol) {
      if (env.symbols.count(symbol)) return;
      several |= found && *found != symbol;
      found = symbol;
    });
    return several ? std::nullopt : found;
  }

  /// The symbol's value if the expression is linear in it, as far as four of its values can tell: a guess among several
  /// would size the results wrongly.
  std::optional<int64_t> solve(const Observation &seen, StringRef symbol) {
    auto atZero = evaluate(seen.expr, 0), atOne = evaluate(seen.expr, 1), atTwo = evaluate(seen.expr, 2);
    int64_t slope, rest, next;
    if (!atZero || !atOne || !atTwo || __builtin_sub_overflow(*atTwo, *atOne, &next) ||
        __builtin_sub_overflow(*atOne, *atZero, &slope) || __builtin_sub_overflow(seen.size, *atZero, &rest) ||
        slope == 0 || slope != next || (slope == -1 && rest == INT64_MIN) || rest % slope != 0)
      return std::nullopt;
    int64_t value = rest / slope;
    return evaluate(seen.expr, value) == seen.size ? std::optional<int64_t>(value) : std::nullopt;
  }

  func::FuncOp function;
  ArrayRef<const HostTensor *> arguments;
  EvalEnv &env;
  SmallVector<Observation> observations;
  llvm::StringMap<Observation> origin;
};

} // namespace

LogicalResult bindSymbols(func::FuncOp function, ArrayRef<const HostTensor *> arguments, EvalEnv &env) {
  return Binder(function, arguments, env).run();
}

} // namespace stator::graph
