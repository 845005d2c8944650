// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value in a document, which knows where it stands, so that every refusal names the place.
#ifndef STATOR_COMPILER_FRONTEND_JSON_NODE_H
#define STATOR_COMPILER_FRONTEND_JSON_NODE_H

#include "compiler/frontend/DidYouMean.h"
#include "compiler/io/Json.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"
#include <initializer_list>
#include <optional>
#include <stdexcept>

namespace stator::graph_json {

/// Longest name of a value, function, symbol or attribute.
constexpr size_t maxName = 4096;

/// Why a document is refused.
struct Refused : std::runtime_error {
  Refused(size_t line, const std::string &why) : std::runtime_error(why), line(line) {}
  size_t line;
};

/// A view of one value. Children hold a pointer to their parent: use them within its life. Every accessor throws
/// Refused, with the path of the value (`functions[0].ops[3].operands`), where the value is not what is asked for.
class Node {
public:
  explicit Node(const io::Json &root) : value(&root) {}

  const io::Json &json() const { return *value; }
  [[noreturn]] void refuse(const llvm::Twine &why) const;
  /// Line of the innermost object around it.
  size_t line() const;

  /// Refuses what is no object, or has another key.
  void onlyKeys(std::initializer_list<const char *> keys) const;
  /// The member, where it is there.
  std::optional<Node> find(const char *key) const;
  Node get(const char *key) const;
  bool has(const char *key) const { return find(key).has_value(); }
  void forEachMember(llvm::function_ref<void(llvm::StringRef key, const Node &)> visit) const;

  bool isArray() const { return value->is_array(); }
  bool isString() const { return value->is_string(); }
  bool isNull() const { return value->is_null(); }
  size_t size() const;
  Node operator[](size_t index) const;
  void forEach(llvm::function_ref<void(const Node &)> visit) const;

  /// Text of at most `limit` bytes, without control characters.
  llvm::StringRef text(size_t limit = maxName) const;
  /// An identifier: text that is not empty.
  llvm::StringRef name() const;
  int64_t integer() const;
  bool boolean() const;

private:
  Node(const io::Json *value, const Node *parent, const char *key, size_t index)
      : value(value), parent(parent), key(key), index(index) {}
  std::string path() const;

  const io::Json *value;
  const Node *parent = nullptr;
  const char *key = nullptr;
  size_t index = 0;
};

} // namespace stator::graph_json

#endif // STATOR_COMPILER_FRONTEND_JSON_NODE_H
