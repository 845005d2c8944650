// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading dimension expressions: one grammar, over plain text and over MLIR's token stream.
//
//   sum     = product (('+' | '-') product)*
//   product = atom ('*' atom)*
//   atom    = integer | symbol | function '(' sum ',' sum ')' | '(' sum ')'
#include "dialects/graph/Graph.h"
#include "dialects/graph/Symbols.h"

using namespace mlir;

namespace stator::graph {
namespace {

constexpr int maxDepth = 64;

/// What the grammar needs of its input; each call consumes the token if it is there.
struct Tokens {
  virtual ~Tokens() = default;
  virtual bool punctuation(char c) = 0;
  virtual std::optional<int64_t> integer() = 0;
  virtual std::optional<StringRef> word() = 0;
  /// Reports and returns null.
  virtual DimExpr fail(const Twine &message) = 0;
  virtual MLIRContext *context() = 0;
};

DimExpr parseSum(Tokens &tokens, int depth);

DimExpr parseCall(Tokens &tokens, StringRef function, int depth) {
  SmallVector<DimExpr> arguments;
  do {
    arguments.push_back(parseSum(tokens, depth));
    if (!arguments.back()) return {};
  } while (tokens.punctuation(','));
  if (!tokens.punctuation(')')) return tokens.fail("expected ')' after the arguments of " + function);
  using Binary = DimExpr (*)(DimExpr, DimExpr);
  Binary build = llvm::StringSwitch<Binary>(function)
                     .Case("floordiv", DimExpr::floorDiv)
                     .Case("ceildiv", DimExpr::ceilDiv)
                     .Case("mod", DimExpr::mod)
                     .Case("min", DimExpr::min)
                     .Case("max", DimExpr::max)
                     .Default(nullptr);
  if (!build) return tokens.fail("unknown function '" + function + "': expected floordiv, ceildiv, mod, min or max");
  bool variadic = function == "min" || function == "max";
  if (arguments.size() < 2 || (arguments.size() > 2 && !variadic))
    return tokens.fail("'" + function + "' takes two arguments");
  DimExpr result = arguments[0];
  for (DimExpr next : ArrayRef(arguments).drop_front()) {
    result = build(result, next);
    if (!result) return tokens.fail("division by zero or overflow in '" + function + "'");
  }
  return result;
}

DimExpr parseAtom(Tokens &tokens, int depth) {
  if (depth > maxDepth) return tokens.fail("dimension expression is nested deeper than 64 levels");
  if (auto value = tokens.integer()) return DimExpr::constant(tokens.context(), *value);
  if (tokens.punctuation('(')) {
    DimExpr inner = parseSum(tokens, depth + 1);
    if (inner && !tokens.punctuation(')')) return tokens.fail("expected ')'");
    return inner;
  }
  if (auto name = tokens.word()) {
    if (tokens.punctuation('(')) return parseCall(tokens, *name, depth + 1);
    return DimExpr::symbol(tokens.context(), *name);
  }
  return tokens.fail("expected a number, a symbol or '(' in a dimension expression");
}

DimExpr parseProduct(Tokens &tokens, int depth) {
  DimExpr result = parseAtom(tokens, depth);
  while (result && tokens.punctuation('*')) {
    DimExpr factor = parseAtom(tokens, depth);
    if (!factor) return {};
    result = DimExpr::mul(result, factor);
    if (!result) return tokens.fail("dimension expression overflows 64 bits");
  }
  return result;
}

DimExpr parseSum(Tokens &tokens, int depth) {
  DimExpr result = parseProduct(tokens, depth);
  while (result) {
    bool minus = tokens.punctuation('-');
    if (!minus && !tokens.punctuation('+')) break;
    DimExpr term = parseProduct(tokens, depth);
    if (!term) return {};
    result = minus ? DimExpr::sub(result, term) : DimExpr::add(result, term);
    if (!result) return tokens.fail("dimension expression overflows 64 bits");
  }
  return result;
}

struct TextTokens final : Tokens {
  TextTokens(MLIRContext *context, StringRef text, std::string &error) : ctx(context), text(text), error(error) {}
  bool punctuation(char c) override {
    text = text.ltrim(" \t\n");
    return text.consume_front(StringRef(&c, 1));
  }
  std::optional<int64_t> integer() override {
    text = text.ltrim(" \t\n");
    StringRef rest = text;
    bool negative = rest.consume_front("-");
    StringRef digits = rest.take_while(llvm::isDigit);
    if (digits.empty()) return std::nullopt;
    int64_t value;
    // A number too big for int64 is left in the text, so the caller reports it as not a number.
    if ((negative ? ("-" + digits).str() : digits.str()).size() > 20 ||
        StringRef(text.data(), digits.size() + negative).getAsInteger(10, value))
      return std::nullopt;
    text = rest.drop_front(digits.size());
    return value;
  }
  std::optional<StringRef> word() override {
    text = text.ltrim(" \t\n");
    if (text.empty() || !(llvm::isAlpha(text[0]) || text[0] == '_')) return std::nullopt;
    StringRef name = text.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
    text = text.drop_front(name.size());
    return name;
  }
  DimExpr fail(const Twine &message) override {
    if (error.empty()) error = message.str();
    return {};
  }
  MLIRContext *context() override { return ctx; }

  MLIRContext *ctx;
  StringRef text;
  std::string &error;
};

struct AsmTokens final : Tokens {
  explicit AsmTokens(AsmParser &parser) : parser(parser) {}
  bool punctuation(char c) override {
    switch (c) {
    case '+': return succeeded(parser.parseOptionalPlus());
    case '*': return succeeded(parser.parseOptionalStar());
    case '(': return succeeded(parser.parseOptionalLParen());
    case ')': return succeeded(parser.parseOptionalRParen());
    case ',': return succeeded(parser.parseOptionalComma());
    default: return false; // Printed forms write a negative coefficient, never a minus.
    }
  }
  std::optional<int64_t> integer() override {
    int64_t value;
    OptionalParseResult parsed = parser.parseOptionalInteger(value);
    if (!parsed.has_value() || failed(*parsed)) return std::nullopt;
    return value;
  }
  std::optional<StringRef> word() override {
    StringRef name;
    if (failed(parser.parseOptionalKeyword(&name))) return std::nullopt;
    return name;
  }
  DimExpr fail(const Twine &message) override {
    parser.emitError(parser.getCurrentLocation(), message);
    return {};
  }
  MLIRContext *context() override { return parser.getContext(); }

  AsmParser &parser;
};

} // namespace

DimExpr DimExpr::parse(MLIRContext *context, StringRef text, std::string &error) {
  TextTokens tokens(context, text, error);
  DimExpr result = parseSum(tokens, 0);
  if (result && !tokens.text.trim(" \t\n").empty())
    return tokens.fail("unexpected '" + tokens.text.take_front(16) + "' in a dimension expression");
  return result;
}

Attribute ShapeAttr::parse(AsmParser &parser, Type) {
  SmallVector<DimExpr> dims;
  AsmTokens tokens(parser);
  if (parser.parseLess()) return {};
  if (failed(parser.parseOptionalGreater())) {
    do {
      dims.push_back(parseSum(tokens, 0));
      if (!dims.back()) return {};
    } while (succeeded(parser.parseOptionalComma()));
    if (parser.parseGreater()) return {};
  }
  return ShapeAttr::get(parser.getContext(), dims);
}

void ShapeAttr::print(AsmPrinter &printer) const {
  printer << '<';
  llvm::interleaveComma(getDims(), printer, [&](DimExpr dim) { dim.print(printer.getStream()); });
  printer << '>';
}

} // namespace stator::graph
