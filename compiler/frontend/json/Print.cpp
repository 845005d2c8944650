// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/Print.h"
#include <algorithm>

namespace stator::graph_json {
namespace {

using Json = nlohmann::ordered_json;

/// Lists and tables that stand over several lines.
bool isTall(const std::string &key) {
  static constexpr const char *tall[] = {"functions", "inputs", "ops", "regions", "locations", "tensors"};
  return std::any_of(std::begin(tall), std::end(tall), [&](const char *each) { return key == each; });
}

bool holdsTall(const Json &value) {
  if (!value.is_object()) return false;
  for (auto &[key, member] : value.items())
    if (isTall(key) && !member.empty()) return true;
  return false;
}

void write(const Json &value, const std::string &key, size_t indent, std::string &out) {
  bool isObject = value.is_object();
  if (!isObject && !value.is_array()) {
    out += value.dump();
    return;
  }
  bool lines = !value.empty() && (isTall(key) || holdsTall(value));
  // An op stands on one line up to its regions.
  bool isOp = isObject && value.contains("op");
  out += isObject ? '{' : '[';
  bool first = true;
  for (auto &[name, member] : value.items()) {
    if (!first) out += lines && !isOp ? "," : ", ";
    first = false;
    if (lines && !isOp) out += "\n" + std::string(indent + 2, ' ');
    if (isObject) out += Json(name).dump() + ": ";
    write(member, isObject ? name : "", lines ? indent + 2 : indent, out);
  }
  if (lines && !isOp) out += "\n" + std::string(indent, ' ');
  out += isObject ? '}' : ']';
}

} // namespace

std::string print(const Json &document) {
  std::string out;
  write(document, "", 0, out);
  return out + "\n";
}

} // namespace stator::graph_json
