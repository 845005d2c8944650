// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A position in a token list, with the few questions the parser's parts ask of it.
#pragma once

#include "runtime/simulator/ptx/Lexer.h"

namespace stator::sim::ptx {

class Cursor {
public:
  explicit Cursor(const std::vector<Token> &tokens) : tokens(tokens) {}

  const Token &peek(size_t ahead = 0) const {
    size_t index = at + ahead;
    return tokens[index < tokens.size() ? index : tokens.size() - 1];
  }
  const Token &take() {
    const Token &token = peek();
    if (token.kind != TokenKind::end) ++at;
    return token;
  }
  uint32_t line() const { return peek().line; }
  bool accept(char c) {
    if (!peek().is(c)) return false;
    take();
    return true;
  }
  bool acceptDot(std::string_view word) {
    if (!peek().isDot(word)) return false;
    take();
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(std::string("expected '") + c + "', found " + describe(peek()));
  }
  std::string expectWord(const char *what) {
    if (peek().kind != TokenKind::word) fail(std::string("expected ") + what + ", found " + describe(peek()));
    return std::string(take().text);
  }
  /// An integer constant with optional sign.
  int64_t expectInteger(const char *what) {
    bool minus = accept('-');
    if (peek().kind != TokenKind::integer) fail(std::string("expected ") + what + ", found " + describe(peek()));
    auto value = static_cast<int64_t>(take().bits);
    return minus ? static_cast<int64_t>(-static_cast<uint64_t>(value)) : value;
  }
  [[noreturn]] void fail(const std::string &what) const { throw SyntaxError(line(), what); }

  static std::string describe(const Token &token) {
    if (token.kind == TokenKind::end) return "the end of the text";
    return "'" + (token.kind == TokenKind::dotWord ? "." : std::string()) + std::string(token.text) + "'";
  }

private:
  const std::vector<Token> &tokens;
  size_t at = 0;
};

} // namespace stator::sim::ptx
