// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Size expressions: parsed once at load, evaluated with checked 64-bit arithmetic when the sizes of a call are known.
#ifndef STATOR_RUNTIME_ARTIFACT_EXPRESSION_H
#define STATOR_RUNTIME_ARTIFACT_EXPRESSION_H

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stator::runtime {

using SymbolId = uint32_t;
using ExprId = uint32_t;

/// One expression in postfix form.
class Expression {
public:
  enum class Op : uint8_t { Constant, Symbol, Add, Subtract, Multiply, Negate, FloorDiv, CeilDiv, Mod, Min, Max };
  struct Instruction {
    Op op;
    int64_t operand; // the constant, or the number of the symbol
  };

  /// Parses the grammar of docs/artifact-format.md over the given symbols. At most 4096 characters and 64 levels.
  static Expression parse(std::string_view text, const std::vector<std::string> &symbols);
  static Expression constant(int64_t value);

  /// False on overflow or division by zero (`problem` then says which). `symbols` has a value for every symbol.
  bool evaluate(const int64_t *symbols, int64_t &result, const char *&problem) const;

  const std::vector<SymbolId> &uses() const { return usedSymbols; }

private:
  friend class ExpressionParser;
  std::vector<Instruction> code;
  std::vector<SymbolId> usedSymbols; // sorted, each once
};

/// All expressions of one plan, each text once; steps name them by number.
class ExpressionTable {
public:
  explicit ExpressionTable(std::vector<std::string> symbols) : symbols(std::move(symbols)) {}

  ExprId add(std::string_view text);
  ExprId add(int64_t constant) { return add(std::string_view(std::to_string(constant))); }

  size_t size() const { return expressions.size(); }
  const Expression &operator[](ExprId id) const { return expressions[id]; }
  const std::string &text(ExprId id) const { return *texts[id]; }
  const std::vector<std::string> &symbolNames() const { return symbols; }

private:
  std::vector<std::string> symbols;
  std::vector<Expression> expressions;
  std::vector<const std::string *> texts; // keys of `ids`, which never move
  std::map<std::string, ExprId, std::less<>> ids;
};

} // namespace stator::runtime
#endif
