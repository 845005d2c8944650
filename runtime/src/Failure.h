// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How the runtime's inside reports errors: it throws a Failure, and the C API turns it into status and text.
#ifndef STATOR_RUNTIME_FAILURE_H
#define STATOR_RUNTIME_FAILURE_H

#include "stator/runtime.h"

#include <exception>
#include <string>

namespace stator::runtime {

/// One error of one call. Never leaves the library.
class Failure : public std::exception {
public:
  Failure(stator_status status, std::string message) : status(status), message(std::move(message)) {}
  const char *what() const noexcept override { return message.c_str(); }

  stator_status status;
  std::string message;
  bool located = false; // the message names the step already
};

/// Throws a Failure with printf-formatted text. Names from files are passed as arguments, never as the format.
[[noreturn]] void fail(stator_status status, const char *format, ...) __attribute__((format(printf, 2, 3)));

/// Product and sum of numbers that came from a file or a caller; false on overflow.
inline bool multiplyInto(int64_t &value, int64_t factor) { return !__builtin_mul_overflow(value, factor, &value); }
inline bool addInto(int64_t &value, int64_t summand) { return !__builtin_add_overflow(value, summand, &value); }

} // namespace stator::runtime
#endif
