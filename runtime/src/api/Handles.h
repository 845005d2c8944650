// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The objects behind the C API's opaque types, and the guard that keeps exceptions inside.
#ifndef STATOR_RUNTIME_API_HANDLES_H
#define STATOR_RUNTIME_API_HANDLES_H

#include "runtime/src/Failure.h"
#include "runtime/src/execute/Session.h"

#include <cstring>

struct stator_model {
  std::shared_ptr<stator::runtime::Model> model;
};

struct stator_session {
  stator::runtime::Session session;
};

namespace stator::runtime {

inline stator_status report(stator_error *error, stator_status status, const char *message) noexcept {
  if (error) {
    error->status = status;
    size_t length = std::min(std::strlen(message), sizeof error->message - 1);
    std::memcpy(error->message, message, length);
    error->message[length] = '\0';
  }
  return status;
}

/// Runs `body` and turns whatever it throws into status and text.
template <typename Body> stator_status guard(stator_error *error, const Body &body) noexcept {
  try {
    body();
    return report(error, STATOR_OK, "");
  } catch (const Failure &failure) {
    return report(error, failure.status, failure.message.c_str());
  } catch (const std::bad_alloc &) {
    return report(error, STATOR_OUT_OF_MEMORY, "out of memory");
  } catch (const std::exception &exception) {
    return report(error, STATOR_INTERNAL, exception.what());
  } catch (...) {
    return report(error, STATOR_INTERNAL, "an unknown exception");
  }
}

/// The caller's options in this version's form: fields that an older caller does not know are zero; a newer caller may
/// not set fields that this version does not know.
template <typename Options> Options readOptions(const Options *given) {
  Options options = {};
  if (!given) return options;
  size_t size = given->struct_size;
  if (size < sizeof(size_t) || size > 4096) fail(STATOR_INVALID_ARGUMENT, "struct_size of the options is %zu", size);
  const char *bytes = reinterpret_cast<const char *>(given);
  for (size_t i = sizeof options; i < size; ++i)
    if (bytes[i] != 0) fail(STATOR_INVALID_ARGUMENT, "the options set a field that this runtime does not know");
  std::memcpy(&options, given, std::min(size, sizeof options));
  return options;
}

inline void require(const void *pointer, const char *name) {
  if (!pointer) fail(STATOR_INVALID_ARGUMENT, "%s is NULL", name);
}

} // namespace stator::runtime
#endif
