// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-remat/CountingIterator.h"
#include "tools/stator-remat/InstanceFile.h"

#include <nlohmann/json.hpp>

#include <fstream>
#include <limits>

namespace stator::remat {

namespace {

constexpr size_t kMaxDepth = 32;

/// Builds the graph from the parser's events; no document tree, so no recursion and no memory beyond the graph.
class Reader {
public:
  using number_integer_t = nlohmann::json::number_integer_t;
  using number_unsigned_t = nlohmann::json::number_unsigned_t;
  using number_float_t = nlohmann::json::number_float_t;
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  Reader(Instance &instance, const Position &position) : out(instance), position(position) {}

  bool null() { return scalar("null"); }
  bool boolean(bool b) {
    if (bool *to = boolTarget()) return *to = b, true;
    return scalar("a boolean");
  }
  bool number_integer(number_integer_t n) { return number(double(n), n, n >= 0, std::to_string(n)); }
  bool number_unsigned(number_unsigned_t n) {
    bool fits = n <= number_unsigned_t(std::numeric_limits<int64_t>::max());
    return number(double(n), fits ? int64_t(n) : 0, fits, std::to_string(n));
  }
  bool number_float(number_float_t x, const string_t &text) { return number(x, 0, false, text.substr(0, 40)); }
  bool string(string_t &s);
  bool binary(binary_t &) { return scalar("binary data"); }
  bool start_object(size_t) { return start(false); }
  bool start_array(size_t) { return start(true); }
  bool key(string_t &name);
  bool end_object();
  bool end_array() { return leave(); }
  bool parse_error(size_t, const std::string &, const nlohmann::detail::exception &e) {
    std::string what = e.what();
    size_t from = what.find("syntax error"), to = what.find("; last read");
    if (from == std::string::npos) from = std::min(what.size(), what.find(": ") + 2);
    return fail("column " + std::to_string(position.column) + ": " +
                    what.substr(from, to == std::string::npos ? to : to - from),
                false);
  }
  void finish();

private:
  enum class In { Nothing, Root, Nodes, Node, Inputs, Regions, Region, Members, Skipped };
  struct Level {
    In in;
    bool array;
    std::string key;
    size_t index = 0;
    uint32_t seen = 0; ///< known keys met
  };
  In in() const { return levels.empty() ? In::Nothing : levels.back().in; }
  const std::string &member() const { return levels.back().key; }
  std::string path() const;
  bool fail(const std::string &what, bool withPath = true);
  bool scalar(const std::string &what);
  bool number(double real, int64_t whole, bool isWhole, const std::string &text);
  bool start(bool array);
  bool leave() {
    levels.pop_back();
    return counted();
  }
  /// After a complete value: the next one of an array has the next index.
  bool counted() {
    if (!levels.empty() && levels.back().array) ++levels.back().index;
    return true;
  }
  bool *boolTarget();
  std::string findCycle() const;

  Instance &out;
  const Position &position;
  std::vector<Level> levels;
  std::vector<size_t> nodeLine, regionLine;
  bool sawNodes = false;
};

} // namespace

std::string Reader::path() const {
  std::string text;
  for (const Level &l : levels) {
    if (l.array)
      text += "[" + std::to_string(l.index) + "]";
    else if (!l.key.empty())
      text += (text.empty() ? "" : ".") + l.key.substr(0, 60);
  }
  return text;
}

bool Reader::fail(const std::string &what, bool withPath) {
  if (out.error.empty()) {
    std::string where = withPath ? path() : "";
    out.error = "line " + std::to_string(position.line) + ": " + (where.empty() ? "" : where + ": ") + what;
  }
  return false;
}

/// A value of a kind that its place does not want, or one inside what is passed over.
bool Reader::scalar(const std::string &what) {
  switch (in()) {
  case In::Nothing: return fail("the instance must be an object, not " + what);
  case In::Nodes:
  case In::Regions: return fail("must be an object, not " + what);
  case In::Inputs:
  case In::Members: return fail("must be a node id, not " + what);
  case In::Root:
    if (member() == "nodes" || member() == "regions") return fail("must be a list, not " + what);
    break;
  case In::Node:
    if (member() == "inputs") return fail("must be a list, not " + what);
    if (member() == "id" || member() == "bytes" || member() == "cost") return fail("must be a number, not " + what);
    if (member() == "is_recomputable" || member() == "must_keep" || member() == "is_backward")
      return fail("must be true or false, not " + what);
    break;
  case In::Region:
    if (member() == "nodes") return fail("must be a list, not " + what);
    if (member() == "kind") return fail("must be \"checkpoint\" or \"keep\", not " + what);
    break;
  case In::Skipped: break;
  }
  return counted();
}

bool *Reader::boolTarget() {
  if (in() != In::Node) return nullptr;
  Node &node = out.graph.nodes.back();
  if (member() == "is_recomputable") return &node.recomputable;
  if (member() == "must_keep") return &node.keep;
  if (member() == "is_backward") return &node.backward;
  return nullptr;
}

bool Reader::number(double real, int64_t whole, bool isWhole, const std::string &text) {
  constexpr int64_t most = std::numeric_limits<int32_t>::max();
  if (in() == In::Inputs || in() == In::Members) {
    if (!isWhole || whole > most) return fail("must be a node id, not " + text);
    auto &list = in() == In::Inputs ? out.graph.nodes.back().inputs : out.graph.regions.back().nodes;
    list.push_back(int32_t(whole));
    return counted();
  }
  if (in() != In::Node) return scalar("a number");
  Node &node = out.graph.nodes.back();
  if (member() == "id") {
    size_t expected = out.graph.nodes.size() - 1;
    if (!isWhole || size_t(whole) != expected)
      return fail("must be " + std::to_string(expected) + " (ids count from 0 in the given order), not " + text);
  } else if (member() == "bytes") {
    if (!isWhole || whole > kMaxTotalBytes) return fail("must be an integer from 0 to 2^60, not " + text);
    node.bytes = whole;
  } else if (member() == "cost") {
    if (!(real >= 0 && real <= kMaxTotalCost)) return fail("must be a number from 0 to 2^53, not " + text);
    node.cost = real;
  } else {
    return scalar("a number");
  }
  return true;
}

bool Reader::string(string_t &s) {
  if (in() == In::Root && member() == "name") return out.name = s, true;
  if (in() == In::Node && member() == "name") return out.graph.nodes.back().name = s, true;
  if (in() == In::Region && member() == "name") return out.graph.regions.back().name = s, true;
  if (in() == In::Region && member() == "kind") {
    if (s != "checkpoint" && s != "keep")
      return fail("must be \"checkpoint\" or \"keep\", not \"" + s.substr(0, 40) + "\"");
    out.graph.regions.back().kind = s == "keep" ? Region::Kind::Keep : Region::Kind::Checkpoint;
    return true;
  }
  return scalar("a string");
}

bool Reader::start(bool array) {
  if (levels.size() >= kMaxDepth) return fail("nested deeper than " + std::to_string(kMaxDepth) + " levels");
  const std::string what = array ? "a list" : "an object";
  In next = In::Skipped;
  switch (in()) {
  case In::Nothing:
    if (array) return fail("the instance must be an object, not a list");
    next = In::Root;
    break;
  case In::Root:
    if (member() == "nodes") next = In::Nodes;
    if (member() == "regions") next = In::Regions;
    if (next != In::Skipped && !array) return fail("must be a list, not an object");
    sawNodes |= next == In::Nodes;
    break;
  case In::Nodes:
    if (array) return fail("must be an object, not a list");
    if (out.graph.nodes.size() >= kMaxNodes) return fail("too many nodes (limit " + std::to_string(kMaxNodes) + ")");
    out.graph.nodes.emplace_back();
    nodeLine.push_back(position.line);
    next = In::Node;
    break;
  case In::Regions:
    if (array) return fail("must be an object, not a list");
    out.graph.regions.emplace_back();
    regionLine.push_back(position.line);
    next = In::Region;
    break;
  case In::Node:
  case In::Region:
    if (array && member() == (in() == In::Node ? "inputs" : "nodes")) {
      next = in() == In::Node ? In::Inputs : In::Members;
      break;
    }
    if (!scalar(what)) return false;
    break;
  case In::Inputs:
  case In::Members: return scalar(what);
  case In::Skipped: break;
  }
  levels.push_back({next, array, {}, 0, 0});
  return true;
}

bool Reader::key(string_t &name) {
  static const char *const known[] = {"nodes", "regions",         "name",      "id",          "inputs", "bytes",
                                      "cost",  "is_recomputable", "must_keep", "is_backward", "kind"};
  levels.back().key = name;
  if (in() == In::Skipped) return true;
  for (size_t k = 0; k < std::size(known); ++k)
    if (name == known[k]) {
      if (levels.back().seen & (1u << k)) return fail("given twice");
      levels.back().seen |= 1u << k;
    }
  return true;
}

bool Reader::end_object() {
  levels.back().key.clear();
  uint32_t seen = levels.back().seen;
  if (in() == In::Node) {
    constexpr std::pair<int, const char *> needed[] = {{3, "id"},   {4, "inputs"},          {5, "bytes"},
                                                       {6, "cost"}, {7, "is_recomputable"}, {8, "must_keep"}};
    for (auto [bit, name] : needed)
      if (!(seen & (1u << bit))) return fail(std::string("has no \"") + name + "\"");
  }
  if (in() == In::Region && !(seen & (1u << 10))) return fail("has no \"kind\"");
  if (in() == In::Region && !(seen & 1u)) return fail("has no \"nodes\"");
  return leave();
}

/// A cycle as "3 -> 7 -> 3" (each node reads the next), empty if there is none.  Ids must be in range.
std::string Reader::findCycle() const {
  const auto &nodes = out.graph.nodes;
  std::vector<uint8_t> state(nodes.size(), 0); // 0 new, 1 on the path, 2 done
  std::vector<std::pair<int32_t, size_t>> path;
  for (size_t root = 0; root < nodes.size(); ++root) {
    if (state[root]) continue;
    path.assign(1, {int32_t(root), 0});
    state[root] = 1;
    while (!path.empty()) {
      auto &[v, next] = path.back();
      if (next == nodes[v].inputs.size()) {
        state[v] = 2;
        path.pop_back();
        continue;
      }
      int32_t i = nodes[v].inputs[next++];
      if (state[i] == 0) {
        state[i] = 1;
        path.push_back({i, 0});
      } else if (state[i] == 1) {
        size_t at = path.size();
        while (path[--at].first != i) {
        }
        std::string text;
        for (size_t shown = 0; at < path.size(); ++at, ++shown)
          text += shown < 8 ? std::to_string(path[at].first) + " -> " : shown == 8 ? "... -> " : "";
        return text + std::to_string(i);
      }
    }
  }
  return {};
}

void Reader::finish() {
  if (!out.error.empty()) return;
  if (!sawNodes) {
    out.error = "the instance has no \"nodes\"";
    return;
  }
  const auto &nodes = out.graph.nodes;
  bool inRange = true, forward = true;
  for (size_t k = 0; k < nodes.size(); ++k)
    for (int32_t i : nodes[k].inputs) {
      inRange &= size_t(i) < nodes.size();
      forward &= size_t(i) < k;
    }
  std::string cycle = inRange && !forward ? findCycle() : "";
  if (!cycle.empty()) {
    out.error = "nodes: they read each other on a cycle: " + cycle;
    return;
  }
  out.error = validate(out.graph);
  // "nodes[3]: ..." stands at the line where that node begins.
  size_t open = out.error.find('['), colon = out.error.find(':');
  if (open == std::string::npos || colon == std::string::npos || open > colon) return;
  size_t index = std::stoul(out.error.substr(open + 1));
  const auto &lines = out.error.compare(0, open, "nodes") == 0 ? nodeLine : regionLine;
  if (index < lines.size()) out.error = "line " + std::to_string(lines[index]) + ": " + out.error;
}

Instance readInstance(std::istream &in) {
  Instance instance;
  Position position;
  Reader reader(instance, position);
  Counting first(std::istreambuf_iterator<char>(in), &position), last(std::istreambuf_iterator<char>(), &position);
  nlohmann::json::sax_parse(first, last, &reader);
  reader.finish();
  return instance;
}

Instance readInstanceFile(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  Instance instance;
  if (file.peek(); !file && !file.eof()) {
    instance.error = path + ": cannot be read";
    return instance;
  }
  instance = readInstance(file);
  if (!instance.error.empty()) instance.error = path + ": " + instance.error;
  return instance;
}

} // namespace stator::remat
