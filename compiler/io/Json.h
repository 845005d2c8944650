// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JSON from strangers: parsed with hard limits.
#ifndef STATOR_COMPILER_IO_JSON_H
#define STATOR_COMPILER_IO_JSON_H

#include "compiler/io/Result.h"
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string_view>

namespace stator::io {

using Json = nlohmann::json;

struct JsonLimits {
  size_t depth = 128;
  /// Values of every kind together.
  size_t values = 1u << 26;
  /// Gives every object a member `jsonLineKey` with the number of the line that it begins on.
  bool lines = false;
};

/// No document can hold this key: it is not UTF-8.
inline constexpr const char *jsonLineKey = "\xff";

/// Parses one JSON document. Refuses nesting beyond the limit, duplicate keys in any object, integers that leave 64
/// bits (an integer never passes through a double), floating-point numbers that overflow, invalid UTF-8 and trailing
/// bytes. `what` names the document in errors.
Result<Json> parseJson(std::string_view text, const std::string &what, JsonLimits limits = {});

} // namespace stator::io

#endif // STATOR_COMPILER_IO_JSON_H
