// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a stream with the line and column at hand, for error messages.
#pragma once

#include <cstddef>
#include <iterator>

namespace stator::remat {

/// Where in the text the parser is: the line of the last character taken, not counting that character.
struct Position {
  size_t line = 1, column = 0;
  bool pendingNewline = false;
  void take(char c) {
    if (pendingNewline) {
      ++line;
      column = 0;
    }
    pendingNewline = c == '\n';
    ++column;
  }
};

/// An input iterator that keeps the position.
class Counting {
public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char *;
  using reference = char;

  Counting(std::istreambuf_iterator<char> at, Position *position) : at(at), position(position) {}
  char operator*() const { return *at; }
  Counting &operator++() {
    position->take(*at);
    ++at;
    return *this;
  }
  Counting operator++(int) {
    Counting old = *this;
    ++*this;
    return old;
  }
  bool operator==(const Counting &o) const { return at == o.at; }
  bool operator!=(const Counting &o) const { return !(*this == o); }

private:
  std::istreambuf_iterator<char> at;
  Position *position;
};

} // namespace stator::remat
