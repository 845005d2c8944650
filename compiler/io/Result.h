// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value, or the sentence that says why there is none.
#ifndef STATOR_COMPILER_IO_RESULT_H
#define STATOR_COMPILER_IO_RESULT_H

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace stator::io {

/// Why something could not be read or written: one sentence, no full stop, names the file where that helps.
struct Error {
  std::string text;
};

template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : content(std::move(value)) {}
  Result(Error error) : why(std::move(error.text)) {}
  explicit operator bool() const { return content.has_value(); }
  T &operator*() { return *content; }
  const T &operator*() const { return *content; }
  T *operator->() { return &*content; }
  const T *operator->() const { return &*content; }
  /// Empty where there is a value.
  const std::string &error() const { return why; }
  Error takeError() { return {std::move(why)}; }

private:
  std::optional<T> content;
  std::string why;
};

/// Success or an error text.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : why(std::move(error.text)) { assert(!why.empty()); }
  explicit operator bool() const { return why.empty(); }
  const std::string &error() const { return why; }
  Error takeError() { return {std::move(why)}; }

private:
  std::string why;
};

} // namespace stator::io

#endif // STATOR_COMPILER_IO_RESULT_H
