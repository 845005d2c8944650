// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/Failure.h"

#include <cstdarg>
#include <cstdio>

namespace stator::runtime {

void fail(stator_status status, const char *format, ...) {
  char text[sizeof(stator_error::message)];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  throw Failure(status, text);
}

} // namespace stator::runtime
