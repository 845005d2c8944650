// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tools/stator-plan/InstanceFile.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <istream>
#include <string_view>
#include <unistd.h>
#include <unordered_map>

namespace stator::memory {
namespace {

constexpr size_t kMostLine = 64 * 1024, kMostId = 256, kMostRows = 50'000'000;

/// Reads a table line by line and knows where it is.
class Table {
public:
  Table(std::istream &in, std::string name) : in(in), name(std::move(name)) {}

  /// The next line that is not empty, cut into fields. False at the end or at an error.
  bool next(std::vector<std::string_view> &fields) {
    while (true) {
      if (!getLine()) return false;
      if (text.empty()) continue;
      if (text.find('"') != std::string::npos) return fail("quoted fields are not supported");
      if (std::any_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 && c != '\t'; }))
        return fail("a control character");
      break;
    }
    fields.clear();
    std::string_view rest = text;
    for (size_t comma; (comma = rest.find(',')) != std::string_view::npos; rest.remove_prefix(comma + 1))
      fields.push_back(trim(rest.substr(0, comma)));
    fields.push_back(trim(rest));
    return true;
  }

  /// The line with the names of the columns; finds where each of \p wanted is, -1 if it is missing.
  bool header(const std::vector<std::string_view> &wanted, size_t required, bool othersToo, std::vector<int> &columns) {
    std::vector<std::string_view> fields;
    if (!next(fields))
      return error.empty() ? fail("the file is empty: expected a line with the names of the columns") : false;
    width = fields.size();
    columns.assign(wanted.size(), -1);
    for (size_t i = 0; i < fields.size(); ++i) {
      size_t k = std::find(wanted.begin(), wanted.end(), fields[i]) - wanted.begin();
      if (k == wanted.size()) {
        if (!othersToo) return fail("unknown column '" + shown(fields[i]) + "'");
        continue;
      }
      if (columns[k] >= 0) return fail("column '" + shown(fields[i]) + "' twice");
      columns[k] = static_cast<int>(i);
    }
    for (size_t k = 0; k < required; ++k)
      if (columns[k] < 0) return fail("no column '" + std::string(wanted[k]) + "'");
    return true;
  }

  /// The next row, which has as many fields as the header.
  bool row(std::vector<std::string_view> &fields) {
    if (!next(fields)) return false;
    if (fields.size() != width)
      return fail("expected " + std::to_string(width) + " fields, found " + std::to_string(fields.size()));
    return true;
  }

  bool number(std::string_view field, std::string_view column, int64_t &value) {
    const char *end = field.data() + field.size();
    auto [at, code] = std::from_chars(field.data(), end, value);
    if (code == std::errc::result_out_of_range)
      return fail(std::string(column) + " '" + shown(field) + "' is out of range");
    if (code != std::errc() || at != end)
      return fail(std::string(column) + " '" + shown(field) + "' is not an integer");
    return true;
  }

  bool id(std::string_view field) {
    if (field.empty()) return fail("the id is empty");
    return field.size() <= kMostId || fail("the id is longer than 256 bytes");
  }

  bool fail(const std::string &what) {
    error = name + ":" + std::to_string(line) + ": " + what;
    return false;
  }
  bool failAt(size_t where, const std::string &what) {
    line = where;
    return fail(what);
  }

  std::string error;
  size_t line = 0;

private:
  bool getLine() {
    text.clear();
    std::streambuf *buffer = in.rdbuf();
    int c = buffer->sbumpc();
    if (c == EOF) return false;
    ++line;
    for (; c != EOF && c != '\n'; c = buffer->sbumpc()) {
      text.push_back(static_cast<char>(c));
      if (text.size() > kMostLine) return fail("the line is longer than 65536 bytes");
    }
    if (!text.empty() && text.back() == '\r') text.pop_back();
    if (line == 1 && text.compare(0, 3, "\xef\xbb\xbf") == 0) text.erase(0, 3);
    return true;
  }

  static std::string_view trim(std::string_view field) {
    while (!field.empty() && (field.front() == ' ' || field.front() == '\t')) field.remove_prefix(1);
    while (!field.empty() && (field.back() == ' ' || field.back() == '\t')) field.remove_suffix(1);
    return field;
  }

  static std::string shown(std::string_view field) {
    return std::string(field.substr(0, 40)) + (field.size() > 40 ? "..." : "");
  }

  std::istream &in;
  std::string name, text;
  size_t width = 0;
};

} // namespace

std::string readInstance(std::istream &in, const std::string &name, Instance &instance) {
  Table table(in, name);
  const std::vector<std::string_view> names = {"id", "lower", "upper", "size", "alignment", "offset"};
  std::vector<int> columns;
  std::vector<std::string_view> fields;
  std::unordered_map<std::string, size_t> lineOf;
  std::vector<size_t> lines;
  instance = Instance();
  if (!table.header(names, 4, false, columns)) return table.error;
  while (table.row(fields)) {
    Buffer buffer;
    std::string_view id = fields[columns[0]];
    if (!table.id(id) || !table.number(fields[columns[1]], "lower", buffer.lower) ||
        !table.number(fields[columns[2]], "upper", buffer.upper) ||
        !table.number(fields[columns[3]], "size", buffer.size))
      return table.error;
    if (columns[4] >= 0 && !fields[columns[4]].empty() &&
        !table.number(fields[columns[4]], "alignment", buffer.alignment))
      return table.error;
    if (columns[5] >= 0 && !fields[columns[5]].empty()) {
      if (!table.number(fields[columns[5]], "offset", buffer.fixedOffset)) return table.error;
      if (buffer.fixedOffset < 0) return table.fail("the offset is negative"), table.error;
    }
    auto [it, fresh] = lineOf.emplace(std::string(id), table.line);
    if (!fresh)
      return table.fail("id '" + it->first + "' is already on line " + std::to_string(it->second)), table.error;
    if (instance.ids.size() == kMostRows) return table.fail("more than 50,000,000 buffers"), table.error;
    instance.ids.push_back(it->first);
    instance.problem.buffers.push_back(buffer);
    lines.push_back(table.line);
  }
  if (!table.error.empty()) return table.error;
  std::optional<Fault> fault = findFault(instance.problem);
  if (!fault) return "";
  if (fault->buffer == kNone) return name + ": " + fault->what;
  std::string text = instance.ids[fault->buffer] + ": " + fault->what;
  if (fault->other != kNone)
    text += " (" + instance.ids[fault->other] + " on line " + std::to_string(lines[fault->other]) + ")";
  return table.failAt(lines[fault->buffer], text), table.error;
}

std::string readPlan(std::istream &in, const std::string &name, const Instance &instance, Plan &plan) {
  Table table(in, name);
  std::vector<int> columns;
  std::vector<std::string_view> fields;
  std::unordered_map<std::string_view, size_t> indexOf;
  for (size_t u = 0; u < instance.ids.size(); ++u) indexOf[instance.ids[u]] = u;
  plan = Plan();
  plan.offsets.assign(instance.ids.size(), kNone);
  plan.shared.assign(instance.ids.size(), false);
  plan.arenas.resize(1);
  if (!table.header({"id", "offset"}, 2, true, columns)) return table.error;
  while (table.row(fields)) {
    int64_t offset;
    auto it = indexOf.find(fields[columns[0]]);
    if (it == indexOf.end())
      return table.fail("there is no buffer '" + std::string(fields[columns[0]].substr(0, 40)) + "'"), table.error;
    if (!table.number(fields[columns[1]], "offset", offset)) return table.error;
    if (offset < 0 || offset > (int64_t(1) << 62))
      return table.fail("the offset is negative or too large"), table.error;
    if (plan.offsets[it->second] != kNone)
      return table.fail("buffer '" + std::string(it->first) + "' is placed twice"), table.error;
    plan.offsets[it->second] = offset;
    plan.arenas[0].bytes =
        std::max(plan.arenas[0].bytes, offset + mostBytes(instance.problem, instance.problem.buffers[it->second]));
  }
  if (!table.error.empty()) return table.error;
  for (size_t u = 0; u < instance.ids.size(); ++u)
    if (plan.offsets[u] == kNone) return name + ": buffer '" + instance.ids[u] + "' is not placed";
  return "";
}

std::string formatPlan(const Instance &instance, const Plan &plan) {
  std::string text = "id,offset\n";
  for (size_t u = 0; u < instance.ids.size(); ++u)
    text += instance.ids[u] + "," + std::to_string(plan.offsets[u]) + "\n";
  return text;
}

std::string formatInstance(const Instance &instance) {
  std::string text = "id,lower,upper,size,alignment\n";
  for (size_t u = 0; u < instance.ids.size(); ++u) {
    const Buffer &b = instance.problem.buffers[u];
    text += instance.ids[u];
    for (int64_t value : {b.lower, b.upper, b.size, b.alignment}) text += "," + std::to_string(value);
    text += "\n";
  }
  return text;
}

std::string writeWhole(const std::string &path, const std::string &text) {
  const std::string part = path + ".part" + std::to_string(getpid());
  auto reason = [&](const std::string &what) { return what + ": " + std::strerror(errno); };
  {
    std::ofstream out(part, std::ios::binary | std::ios::trunc);
    if (!out) return reason(path + ": cannot be written");
    out.write(text.data(), static_cast<std::streamsize>(text.size()));
    out.close();
    if (!out) {
      std::string wrong = reason(path + ": cannot be written");
      std::remove(part.c_str());
      return wrong;
    }
  }
  if (std::rename(part.c_str(), path.c_str()) != 0) {
    std::string wrong = reason(path + ": cannot be replaced");
    std::remove(part.c_str());
    return wrong;
  }
  return "";
}

} // namespace stator::memory
