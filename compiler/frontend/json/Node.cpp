// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/Node.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace stator::graph_json {

std::string Node::path() const {
  llvm::SmallVector<const Node *> chain;
  for (const Node *node = this; node->parent; node = node->parent) chain.push_back(node);
  std::string text;
  for (const Node *node : llvm::reverse(chain)) {
    if (!node->key)
      text += "[" + std::to_string(node->index) + "]";
    else
      text += (text.empty() ? "" : ".") + std::string(node->key).substr(0, 80);
  }
  return text;
}

size_t Node::line() const {
  for (const Node *node = this; node; node = node->parent)
    if (node->value->is_object())
      if (auto found = node->value->find(io::jsonLineKey); found != node->value->end()) return found->get<size_t>();
  return 1;
}

void Node::refuse(const llvm::Twine &why) const {
  std::string where = path();
  throw Refused(line(), where.empty() ? why.str() : where + ": " + why.str());
}

void Node::onlyKeys(std::initializer_list<const char *> keys) const {
  if (!value->is_object()) refuse("must be an object, not " + llvm::Twine(value->type_name()));
  for (auto &[name, member] : value->items()) {
    if (name == io::jsonLineKey) continue;
    if (llvm::any_of(keys, [&](const char *key) { return name == key; })) continue;
    std::vector<std::string> known(keys.begin(), keys.end());
    refuse("unknown key '" + name.substr(0, 80) + "'" + didYouMean(name, known));
  }
}

std::optional<Node> Node::find(const char *name) const {
  if (!value->is_object()) refuse("must be an object, not " + llvm::Twine(value->type_name()));
  auto found = value->find(name);
  if (found == value->end()) return std::nullopt;
  return Node(&*found, this, name, 0);
}

Node Node::get(const char *name) const {
  std::optional<Node> found = find(name);
  if (!found) refuse("needs the key '" + llvm::Twine(name) + "'");
  return *found;
}

void Node::forEachMember(llvm::function_ref<void(llvm::StringRef, const Node &)> visit) const {
  if (!value->is_object()) refuse("must be an object, not " + llvm::Twine(value->type_name()));
  for (auto &[name, member] : value->items())
    if (name != io::jsonLineKey) visit(name, Node(&member, this, name.c_str(), 0));
}

size_t Node::size() const {
  if (!value->is_array()) refuse("must be a list, not " + llvm::Twine(value->type_name()));
  return value->size();
}

Node Node::operator[](size_t i) const { return Node(&(*value)[i], this, nullptr, i); }

void Node::forEach(llvm::function_ref<void(const Node &)> visit) const {
  for (size_t i = 0, n = size(); i < n; ++i) visit((*this)[i]);
}

llvm::StringRef Node::text(size_t limit) const {
  if (!value->is_string()) refuse("must be text, not " + llvm::Twine(value->type_name()));
  const std::string &content = value->get_ref<const std::string &>();
  if (content.size() > limit) refuse("is longer than " + llvm::Twine(limit) + " bytes");
  for (unsigned char c : content)
    if (c < 0x20 || c == 0x7f) refuse("holds a control character");
  return content;
}

llvm::StringRef Node::name() const {
  llvm::StringRef content = text();
  if (content.empty()) refuse("must not be empty");
  return content;
}

int64_t Node::integer() const {
  if (value->is_number_unsigned()) {
    uint64_t number = value->get<uint64_t>();
    if (number <= uint64_t(INT64_MAX)) return int64_t(number);
    refuse("the integer " + llvm::Twine(number) + " does not fit a signed 64-bit number");
  }
  if (!value->is_number_integer())
    refuse("must be an integer, not " + llvm::Twine(value->is_number() ? "a fraction" : value->type_name()));
  return value->get<int64_t>();
}

bool Node::boolean() const {
  if (!value->is_boolean()) refuse("must be true or false, not " + llvm::Twine(value->type_name()));
  return value->get<bool>();
}

} // namespace stator::graph_json
