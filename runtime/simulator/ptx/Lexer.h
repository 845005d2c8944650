// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PTX text to tokens.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace stator::sim::ptx {

/// A mistake in PTX text; `line` counts from 1.
struct SyntaxError : std::runtime_error {
  SyntaxError(uint32_t line, const std::string &what)
      : std::runtime_error("line " + std::to_string(line) + ": " + what), line(line) {}
  uint32_t line;
};

/// The text is of a PTX version that is not known here.
struct VersionError : SyntaxError {
  using SyntaxError::SyntaxError;
};

enum class TokenKind : uint8_t {
  word,    ///< identifier: `%r1`, `$L__BB0_1`, `ld`, `_`
  dotWord, ///< `.global`, `.shared::cluster`, `.2d`; text without the dot
  integer, ///< value in `bits`
  float32, ///< 0f3F800000; bits in `bits`
  float64, ///< 0d3FF0000000000000 or 1.5; bits in `bits`
  string,  ///< text without the quotes
  punct,   ///< one character
  end
};

struct Token {
  TokenKind kind = TokenKind::end;
  bool spaced = false; ///< white space stood before it
  uint32_t line = 0;
  std::string_view text;
  uint64_t bits = 0;

  bool is(char c) const { return kind == TokenKind::punct && text[0] == c; }
  bool isWord(std::string_view w) const { return kind == TokenKind::word && text == w; }
  bool isDot(std::string_view w) const { return kind == TokenKind::dotWord && text == w; }
};

/// All tokens of `text`, an `end` token last. Tokens refer into `text`. Throws SyntaxError.
std::vector<Token> tokenize(std::string_view text);

} // namespace stator::sim::ptx
