// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/ptx/Lexer.h"

#include <cstdlib>
#include <cstring>

namespace stator::sim::ptx {

namespace {

bool isAlpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }
bool isFollow(char c) { return isAlpha(c) || isDigit(c) || c == '$'; }
int hexDigit(char c) {
  if (isDigit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

class Lexer {
public:
  explicit Lexer(std::string_view text) : text(text) {}

  std::vector<Token> run() {
    std::vector<Token> tokens;
    tokens.reserve(text.size() / 4);
    for (;;) {
      bool spaced = skipBlank();
      Token token = next();
      token.spaced = spaced;
      tokens.push_back(token);
      if (token.kind == TokenKind::end) return tokens;
    }
  }

private:
  char peek(size_t ahead = 0) const { return at + ahead < text.size() ? text[at + ahead] : '\0'; }

  bool skipBlank() {
    size_t begin = at;
    for (; at < text.size();) {
      char c = text[at];
      if (c == '\n') {
        ++line;
        ++at;
      } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v' || c == '\0') {
        ++at;
      } else if (c == '/' && peek(1) == '/') {
        while (at < text.size() && text[at] != '\n') ++at;
      } else if (c == '/' && peek(1) == '*') {
        uint32_t opened = line;
        at += 2;
        while (at < text.size() && !(text[at] == '*' && peek(1) == '/')) line += text[at++] == '\n';
        if (at >= text.size()) throw SyntaxError(opened, "comment is not closed");
        at += 2;
      } else {
        break;
      }
    }
    return at != begin;
  }

  Token make(TokenKind kind, size_t begin, size_t end, uint64_t bits = 0) {
    Token token;
    token.kind = kind;
    token.line = line;
    token.text = text.substr(begin, end - begin);
    token.bits = bits;
    return token;
  }

  Token next() {
    if (at >= text.size()) return make(TokenKind::end, at, at);
    size_t begin = at;
    char c = text[at];
    if (isDigit(c)) return number();
    if (isAlpha(c) || c == '$' || (c == '%' && (isFollow(peek(1))))) {
      ++at;
      while (isFollow(peek())) ++at;
      return make(TokenKind::word, begin, at);
    }
    if (c == '.' && isFollow(peek(1))) {
      ++at;
      while (isFollow(peek()) || (peek() == ':' && peek(1) == ':')) at += peek() == ':' ? 2 : 1;
      return make(TokenKind::dotWord, begin + 1, at);
    }
    if (c == '"') {
      size_t close = text.find_first_of("\"\n", at + 1);
      if (close == std::string_view::npos || text[close] == '\n') throw SyntaxError(line, "string is not closed");
      at = close + 1;
      return make(TokenKind::string, begin + 1, close);
    }
    if (std::memchr("{}[](),;:<>@!|=+-*/%&^~?.", c, 25)) {
      ++at;
      return make(TokenKind::punct, begin, at);
    }
    throw SyntaxError(line, std::string("unexpected character '") + c + "'");
  }

  uint64_t hexRun(size_t digits, const char *what) {
    uint64_t value = 0;
    size_t count = 0;
    for (int d; (d = hexDigit(peek())) >= 0; ++at, ++count) value = value << 4 | static_cast<unsigned>(d);
    if (digits ? count != digits : (count == 0 || count > 16))
      throw SyntaxError(line, std::string("malformed ") + what);
    return value;
  }

  Token number() {
    size_t begin = at;
    char kind = peek(1);
    if (peek() == '0' && (kind == 'f' || kind == 'F')) {
      at += 2;
      uint64_t bits = hexRun(8, "0f constant");
      return make(TokenKind::float32, begin, at, bits);
    }
    if (peek() == '0' && (kind == 'd' || kind == 'D')) {
      at += 2;
      uint64_t bits = hexRun(16, "0d constant");
      return make(TokenKind::float64, begin, at, bits);
    }
    uint64_t value = 0;
    if (peek() == '0' && (kind == 'x' || kind == 'X')) {
      at += 2;
      value = hexRun(0, "hexadecimal constant");
    } else if (peek() == '0' && (kind == 'b' || kind == 'B')) {
      at += 2;
      for (; peek() == '0' || peek() == '1'; ++at) value = value << 1 | (peek() == '1');
    } else {
      while (isDigit(peek())) ++at;
      bool decimal = peek() == '.' && isDigit(peek(1));
      if (decimal || ((peek() == 'e' || peek() == 'E') && (isDigit(peek(1)) || peek(1) == '-' || peek(1) == '+')))
        return decimalFloat(begin);
      bool octal = text[begin] == '0';
      for (size_t i = begin; i < at; ++i) {
        unsigned digit = static_cast<unsigned>(text[i] - '0'), base = octal ? 8 : 10;
        if (digit >= base) throw SyntaxError(line, "malformed octal constant");
        if (value > (UINT64_MAX - digit) / base) throw SyntaxError(line, "integer constant is too large");
        value = value * base + digit;
      }
    }
    size_t end = at;
    if (peek() == 'U' || peek() == 'u') ++at;
    if (isFollow(peek())) throw SyntaxError(line, "malformed number");
    return make(TokenKind::integer, begin, end, value);
  }

  Token decimalFloat(size_t begin) {
    if (peek() == '.') ++at;
    while (isDigit(peek())) ++at;
    if (peek() == 'e' || peek() == 'E') {
      ++at;
      if (peek() == '-' || peek() == '+') ++at;
      while (isDigit(peek())) ++at;
    }
    double value = std::strtod(std::string(text.substr(begin, at - begin)).c_str(), nullptr);
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return make(TokenKind::float64, begin, at, bits);
  }

  std::string_view text;
  size_t at = 0;
  uint32_t line = 1;
};

} // namespace

std::vector<Token> tokenize(std::string_view text) { return Lexer(text).run(); }

} // namespace stator::sim::ptx
