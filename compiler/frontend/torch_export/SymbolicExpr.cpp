// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/SymbolicExpr.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::torch_export {
namespace {

constexpr int maxDepth = 64;

/// A quotient on its way to a rounding function; the divisor is null where there is none.
struct Fraction {
  DimExpr numerator, divisor;
  explicit operator bool() const { return bool(numerator); }
};

class Parser {
public:
  Parser(MLIRContext *context, StringRef text, std::string &error) : context(context), rest(text), error(error) {}

  DimExpr whole() {
    Fraction value = sum(0);
    if (value && !rest.ltrim().empty()) return fail("unexpected '" + rest.ltrim().take_front(16) + "'").numerator;
    return integral(value);
  }

private:
  Fraction fail(const Twine &message) {
    if (error.empty()) error = message.str();
    return {};
  }
  DimExpr number(int64_t value) { return DimExpr::constant(context, value); }
  bool take(StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }
  bool peek(StringRef token) {
    rest = rest.ltrim();
    return rest.starts_with(token);
  }
  /// The value itself where nothing remains to be divided.
  DimExpr integral(Fraction value) {
    if (!value || !value.divisor || value.divisor.isConstant(1)) return value.numerator;
    // Exact division of a polynomial (Mul(Rational(1, 2), ...)) is floor division without a remainder.
    DimExpr quotient = DimExpr::floorDiv(value.numerator, value.divisor);
    if (!quotient) fail("division by zero or overflow");
    return quotient;
  }
  Fraction checked(DimExpr numerator, DimExpr divisor = {}) {
    if (!numerator) return fail("division by zero, or the size leaves 64 bits");
    return {numerator, divisor};
  }

  Fraction sum(int depth) {
    Fraction value = product(depth);
    while (value) {
      bool minus = peek("-") && take("-");
      if (!minus && !take("+")) break;
      Fraction term = product(depth);
      DimExpr a = integral(value), b = integral(term);
      if (!a || !b) return {};
      value = checked(minus ? DimExpr::sub(a, b) : DimExpr::add(a, b));
    }
    return value;
  }
  Fraction product(int depth) {
    Fraction value = power(depth);
    while (value) {
      if (peek("**")) break;
      if (take("*")) {
        value = multiply(value, power(depth));
      } else if (take("//")) {
        value = binary(DimExpr::floorDiv, value, power(depth));
      } else if (take("/")) {
        Fraction divisor = power(depth);
        DimExpr b = integral(divisor);
        if (!b) return {};
        value = checked(value.numerator, value.divisor ? DimExpr::mul(value.divisor, b) : b);
      } else if (take("%")) {
        value = binary(DimExpr::mod, value, power(depth));
      } else {
        break;
      }
    }
    return value;
  }
  Fraction power(int depth) {
    Fraction value = atom(depth + 1);
    if (value && take("**")) return raise(value, atom(depth + 1));
    return value;
  }

  Fraction multiply(Fraction a, Fraction b) {
    if (!a || !b) return {};
    DimExpr divisor = a.divisor && b.divisor ? DimExpr::mul(a.divisor, b.divisor) : a.divisor ? a.divisor : b.divisor;
    return checked(DimExpr::mul(a.numerator, b.numerator), divisor);
  }
  Fraction binary(DimExpr (*function)(DimExpr, DimExpr), Fraction a, Fraction b) {
    DimExpr x = integral(a), y = integral(b);
    return x && y ? checked(function(x, y)) : Fraction();
  }
  Fraction raise(Fraction base, Fraction exponent) {
    DimExpr n = integral(exponent);
    if (!base || !n) return {};
    auto times = n.asConstant();
    if (!times || *times < -8 || *times > 8) return fail("a power with an exponent that is not a small number");
    Fraction result{number(1), {}};
    Fraction factor = base;
    if (*times < 0) factor = {base.divisor ? base.divisor : number(1), base.numerator};
    for (int64_t i = 0; i < std::abs(*times) && result; ++i) result = multiply(result, factor);
    return result;
  }

  Fraction atom(int depth) {
    if (depth > maxDepth) return fail("nested deeper than 64 levels");
    if (take("(")) {
      Fraction inner = sum(depth);
      if (inner && !take(")")) return fail("expected ')'");
      return inner;
    }
    if (take("-")) return multiply({number(-1), {}}, atom(depth + 1));
    rest = rest.ltrim();
    StringRef digits = rest.take_while(llvm::isDigit);
    if (!digits.empty()) {
      int64_t value;
      if (digits.getAsInteger(10, value)) return fail("the number " + digits.take_front(40) + " does not fit 64 bits");
      rest = rest.drop_front(digits.size());
      return {number(value), {}};
    }
    StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; });
    if (word.empty()) return fail("expected a number, a symbol or a function at '" + rest.take_front(16) + "'");
    rest = rest.drop_front(word.size());
    if (!peek("(")) return symbol(word);
    take("(");
    return call(word, depth);
  }
  Fraction symbol(StringRef name) {
    if (name.empty() || !(llvm::isAlpha(name[0]) || name[0] == '_') || name.size() > 64 || name.contains('.'))
      return fail("'" + name.take_front(40) + "' is not a symbol's name");
    return {DimExpr::symbol(context, name), {}};
  }
  Fraction symbolCall() {
    StringRef quote = take("'") ? "'" : take("\"") ? "\"" : "";
    if (quote.empty()) return fail("expected the symbol's name");
    StringRef name = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    rest = rest.drop_front(name.size());
    if (!take(quote)) return fail("a symbol's name with characters other than letters, digits and '_'");
    size_t close = rest.find(')');
    if (close == StringRef::npos) return fail("expected ')'");
    rest = rest.drop_front(close + 1);
    return symbol(name);
  }
  Fraction call(StringRef function, int depth) {
    if (function == "Symbol" || function == "Dummy") return symbolCall();
    SmallVector<Fraction, 4> values;
    if (!take(")")) {
      do {
        if (take("evaluate=False") || take("evaluate=True")) continue;
        values.push_back(sum(depth + 1));
        if (!values.back()) return {};
      } while (take(","));
      if (!take(")")) return fail("expected ')' after the arguments of " + function.take_front(40));
    }
    auto reduce = [&](auto combine) {
      if (values.empty()) return fail("'" + function + "' without arguments");
      Fraction result = values[0];
      for (Fraction next : ArrayRef(values).drop_front())
        if (result) result = combine(result, next);
      return result;
    };
    auto with = [&](DimExpr (*f)(DimExpr, DimExpr)) {
      return [this, f](Fraction a, Fraction b) { return binary(f, a, b); };
    };
    size_t n = values.size();
    auto rounded = [&](DimExpr (*f)(DimExpr, DimExpr)) {
      if (n != 1) return fail("'" + function + "' takes one argument");
      return values[0].divisor ? checked(f(values[0].numerator, values[0].divisor)) : values[0];
    };
    if (function == "Add") return reduce(with(DimExpr::add));
    if (function == "Mul") return reduce([this](Fraction a, Fraction b) { return multiply(a, b); });
    if (function == "Max") return reduce(with(DimExpr::max));
    if (function == "Min") return reduce(with(DimExpr::min));
    if (function == "FloorToInt" || function == "TruncToInt" || function == "floor") return rounded(DimExpr::floorDiv);
    if (function == "CeilToInt" || function == "ceiling") return rounded(DimExpr::ceilDiv);
    if (n == 1 && (function == "Integer" || function == "Identity" || function == "ToFloat")) return values[0];
    if (n == 2) {
      if (function == "Pow" || function == "PowByNatural") return raise(values[0], values[1]);
      if (function == "FloorDiv" || function == "CleanDiv") return binary(DimExpr::floorDiv, values[0], values[1]);
      if (function == "CeilDiv") return binary(DimExpr::ceilDiv, values[0], values[1]);
      if (function == "Mod" || function == "PythonMod") return binary(DimExpr::mod, values[0], values[1]);
      if (function == "IntTrueDiv" || function == "Rational" || function == "FloatTrueDiv") {
        DimExpr a = integral(values[0]), b = integral(values[1]);
        return a && b ? checked(a, b) : Fraction();
      }
      if (function == "LShift" && values[1].numerator.isConstant() && !values[1].divisor) {
        int64_t shift = values[1].numerator.getConstant();
        if (shift < 0 || shift > 62) return fail("a shift out of range");
        return multiply(values[0], {number(int64_t(1) << shift), {}});
      }
    }
    if (n == 3 && function == "ModularIndexing")
      return binary(DimExpr::mod, binary(DimExpr::floorDiv, values[0], values[1]), values[2]);
    return fail("the function '" + function.take_front(40) + "' of " + Twine(n) + " arguments cannot be a size");
  }

  MLIRContext *context;
  StringRef rest;
  std::string &error;
};

} // namespace

DimExpr parseSymbolic(MLIRContext *context, StringRef text, std::string &error) {
  error.clear();
  DimExpr result = Parser(context, text, error).whole();
  return error.empty() ? result : DimExpr();
}

} // namespace stator::torch_export
