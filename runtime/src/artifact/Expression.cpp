// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Expression.h"

#include "runtime/src/Failure.h"

#include <algorithm>
#include <charconv>

namespace stator::runtime {
namespace {

constexpr size_t maxLength = 4096;
constexpr int maxNesting = 64;
// Each level of nesting leaves at most a sum, a product and a function's first operand waiting.
constexpr int maxStack = 4 * maxNesting + 4;

bool isNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

} // namespace

class ExpressionParser {
public:
  ExpressionParser(std::string_view text, const std::vector<std::string> &symbols) : text(text), symbols(symbols) {}

  Expression parse() {
    if (text.size() > maxLength) fail(STATOR_BAD_ARTIFACT, "expression of %zu characters is too long", text.size());
    parseSum(0);
    skipSpace();
    if (position != text.size()) error("unexpected character");
    std::vector<SymbolId> &used = result.usedSymbols;
    std::sort(used.begin(), used.end());
    used.erase(std::unique(used.begin(), used.end()), used.end());
    return std::move(result);
  }

private:
  using Op = Expression::Op;

  [[noreturn]] void error(const char *problem) const {
    fail(STATOR_BAD_ARTIFACT, "expression '%.*s%s': %s at character %zu", int(std::min<size_t>(text.size(), 200)),
         text.data(), text.size() > 200 ? "..." : "", problem, position);
  }

  void skipSpace() {
    while (position < text.size() && text[position] == ' ') ++position;
  }

  bool accept(char c) {
    skipSpace();
    if (position >= text.size() || text[position] != c) return false;
    ++position;
    return true;
  }

  void emit(Op op, int64_t operand = 0) { result.code.push_back({op, operand}); }

  void parseSum(int depth) {
    if (depth > maxNesting) error("nesting is too deep");
    parseProduct(depth);
    while (true) {
      if (accept('+')) {
        parseProduct(depth);
        emit(Op::Add);
      } else if (accept('-')) {
        parseProduct(depth);
        emit(Op::Subtract);
      } else {
        return;
      }
    }
  }

  void parseProduct(int depth) {
    parseFactor(depth);
    while (accept('*')) {
      parseFactor(depth);
      emit(Op::Multiply);
    }
  }

  void parseFactor(int depth) {
    if (depth > maxNesting) error("nesting is too deep");
    if (accept('(')) {
      parseSum(depth + 1);
      if (!accept(')')) error("expected ')'");
      return;
    }
    if (accept('-')) {
      parseFactor(depth + 1);
      emit(Op::Negate);
      return;
    }
    if (position < text.size() && isDigit(text[position])) {
      int64_t value = 0;
      auto [end, code] = std::from_chars(text.data() + position, text.data() + text.size(), value);
      if (code != std::errc()) error("an integer beyond 64 bits");
      position = end - text.data();
      emit(Op::Constant, value);
      return;
    }
    parseName(depth);
  }

  void parseName(int depth) {
    size_t start = position;
    if (position >= text.size() || !isNameStart(text[position])) error("expected a number, a symbol or '('");
    while (position < text.size() && (isNameStart(text[position]) || isDigit(text[position]))) ++position;
    std::string_view name = text.substr(start, position - start);
    if (accept('(')) {
      static constexpr std::pair<std::string_view, Op> functions[] = {
          {"floordiv", Op::FloorDiv}, {"ceildiv", Op::CeilDiv}, {"mod", Op::Mod}, {"min", Op::Min}, {"max", Op::Max}};
      auto function =
          std::find_if(std::begin(functions), std::end(functions), [&](auto &f) { return f.first == name; });
      if (function == std::end(functions)) error("unknown function");
      parseSum(depth + 1);
      if (!accept(',')) error("expected ','");
      parseSum(depth + 1);
      emit(function->second);
      // The compiler's canonical form lists all operands of a minimum or maximum in one call.
      if (function->second == Op::Min || function->second == Op::Max)
        while (accept(',')) {
          parseSum(depth + 1);
          emit(function->second);
        }
      if (!accept(')')) error("expected ')'");
      return;
    }
    auto symbol = std::find(symbols.begin(), symbols.end(), name);
    if (symbol == symbols.end()) error("unknown symbol");
    emit(Op::Symbol, symbol - symbols.begin());
    result.usedSymbols.push_back(symbol - symbols.begin());
  }

  std::string_view text;
  const std::vector<std::string> &symbols;
  size_t position = 0;
  Expression result;
};

Expression Expression::parse(std::string_view text, const std::vector<std::string> &symbols) {
  return ExpressionParser(text, symbols).parse();
}

Expression Expression::constant(int64_t value) {
  Expression result;
  result.code.push_back({Op::Constant, value});
  return result;
}

bool Expression::evaluate(const int64_t *symbols, int64_t &result, const char *&problem) const {
  int64_t stack[maxStack];
  int top = -1;
  for (const Instruction &instruction : code) {
    if (instruction.op == Op::Constant || instruction.op == Op::Symbol) {
      if (top + 1 >= maxStack) {
        problem = "is nested too deep";
        return false;
      }
      stack[++top] = instruction.op == Op::Constant ? instruction.operand : symbols[instruction.operand];
      continue;
    }
    bool overflow = false;
    if (instruction.op == Op::Negate) {
      overflow = __builtin_sub_overflow(int64_t(0), stack[top], &stack[top]);
    } else {
      int64_t b = stack[top--], &a = stack[top];
      bool divides = instruction.op == Op::FloorDiv || instruction.op == Op::CeilDiv || instruction.op == Op::Mod;
      if (divides && b == 0) {
        problem = "divides by zero";
        return false;
      }
      if (divides && b == -1) { // the one divisor whose quotient may overflow
        overflow = instruction.op != Op::Mod && __builtin_sub_overflow(int64_t(0), a, &a);
        if (instruction.op == Op::Mod) a = 0;
      } else {
        switch (instruction.op) {
        case Op::Add: overflow = __builtin_add_overflow(a, b, &a); break;
        case Op::Subtract: overflow = __builtin_sub_overflow(a, b, &a); break;
        case Op::Multiply: overflow = __builtin_mul_overflow(a, b, &a); break;
        case Op::FloorDiv: a = a / b - (a % b != 0 && (a < 0) != (b < 0)); break;
        case Op::CeilDiv: a = a / b + (a % b != 0 && (a < 0) == (b < 0)); break;
        case Op::Mod: a = a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : 0); break;
        case Op::Min: a = std::min(a, b); break;
        case Op::Max: a = std::max(a, b); break;
        default: break;
        }
      }
    }
    if (overflow) {
      problem = "overflows 64 bits";
      return false;
    }
  }
  result = stack[0];
  return true;
}

ExprId ExpressionTable::add(std::string_view text) {
  if (auto known = ids.find(text); known != ids.end()) return known->second;
  expressions.push_back(Expression::parse(text, symbols));
  auto entry = ids.emplace(std::string(text), ExprId(expressions.size() - 1)).first;
  texts.push_back(&entry->first);
  return entry->second;
}

} // namespace stator::runtime
