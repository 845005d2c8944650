// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The JSON of manifests and safetensors headers: integers only, no duplicate keys, bounded depth.
#ifndef STATOR_RUNTIME_ARTIFACT_JSON_H
#define STATOR_RUNTIME_ARTIFACT_JSON_H

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace stator::runtime {

/// A parsed value. Accessors check the kind and throw a Failure (STATOR_BAD_ARTIFACT) that names `what`.
class Json {
public:
  using Array = std::vector<Json>;
  using Member = std::pair<std::string, Json>;
  using Object = std::vector<Member>;

  /// Parses a whole text; `what` names it in errors. Numbers must be integers in int64; \u escapes become UTF-8;
  /// nesting is at most 128; duplicate keys and trailing bytes are errors.
  static Json parse(std::string_view text, const char *what);

  bool isNull() const { return std::holds_alternative<std::monostate>(value); }
  bool isInteger() const { return std::holds_alternative<int64_t>(value); }
  bool isString() const { return std::holds_alternative<std::string>(value); }
  bool isArray() const { return std::holds_alternative<Array>(value); }
  bool isObject() const { return std::holds_alternative<Object>(value); }

  int64_t integer(const char *what) const;
  int64_t integer(const char *what, int64_t low, int64_t high) const;
  bool boolean(const char *what) const;
  const std::string &string(const char *what) const;
  const Array &array(const char *what) const;
  const Object &object(const char *what) const;

  /// Member `key` of an object, nullptr if it is absent (or this is no object).
  const Json *find(std::string_view key) const;
  /// Member `key`; absent is an error.
  const Json &at(const char *key) const;

  std::variant<std::monostate, bool, int64_t, std::string, Array, Object> value;
};

} // namespace stator::runtime
#endif
