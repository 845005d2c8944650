// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/Locations.h"
#include "mlir/IR/Location.h"

using namespace mlir;

namespace stator::graph_json {
namespace {

/// Rows that refer to rows, which printers and diagnostics walk recursively.
constexpr int maxDepth = 256;
constexpr size_t maxRows = 1u << 20, maxParts = 1024;

/// Takes ":12" off the end.
std::optional<unsigned> takeNumber(StringRef &text) {
  auto [head, tail] = text.rsplit(':');
  unsigned number;
  if (tail.empty() || head.size() == text.size() || head.empty() || !llvm::all_of(tail, llvm::isDigit) ||
      (tail.size() > 1 && tail.front() == '0') || tail.getAsInteger(10, number))
    return std::nullopt;
  text = head;
  return number;
}

FileLineColLoc fromText(MLIRContext *context, StringRef text) {
  std::optional<unsigned> last = takeNumber(text), first = last ? takeNumber(text) : std::nullopt;
  if (first) return FileLineColLoc::get(context, text, *first, *last);
  return FileLineColLoc::get(context, text, last.value_or(0), 0);
}

std::string toText(FileLineColLoc location) {
  std::string text = location.getFilename().str();
  if (location.getLine() || location.getColumn()) text += ":" + std::to_string(location.getLine());
  if (location.getColumn()) text += ":" + std::to_string(location.getColumn());
  return text;
}

} // namespace

void LocationReader::readTable(const Node &list) {
  if (list.size() > maxRows) list.refuse("has more than " + Twine(maxRows) + " rows");
  list.forEach([&](const Node &row) {
    Row read = readRow(row);
    if (read.depth > maxDepth) row.refuse("rows refer to rows deeper than " + Twine(maxDepth));
    rows.push_back(read);
  });
}

LocationReader::Row LocationReader::read(const Node &node) const {
  if (node.isNull()) return {UnknownLoc::get(context), 0};
  if (node.isString()) return {fromText(context, node.name()), 0};
  int64_t row = node.integer();
  if (row < 0 || uint64_t(row) >= rows.size())
    node.refuse("row " + Twine(row) + " of 'locations' is not there" + (rows.empty() ? "" : " or comes later"));
  return rows[row];
}

LocationReader::Row LocationReader::readRow(const Node &row) const {
  if (!row.json().is_object()) return read(row);
  auto list = [&](const Node &parts) {
    if (parts.size() == 0 || parts.size() > maxParts) parts.refuse("has 1 to " + Twine(maxParts) + " entries");
    SmallVector<Row> read;
    parts.forEach([&](const Node &part) { read.push_back(this->read(part)); });
    return read;
  };
  if (auto file = row.find("file")) {
    row.onlyKeys({"file", "line", "column"});
    auto number = [&](const char *key) {
      auto node = row.find(key);
      int64_t value = node ? node->integer() : 0;
      if (value < 0 || value > int64_t(UINT32_MAX)) node->refuse("is no line or column");
      return unsigned(value);
    };
    return {FileLineColLoc::get(context, file->text(), number("line"), number("column")), 0};
  }
  if (auto name = row.find("name")) {
    row.onlyKeys({"name", "at"});
    Row at = row.has("at") ? read(row.get("at")) : Row{UnknownLoc::get(context), 0};
    return {NameLoc::get(StringAttr::get(context, name->text()), at.location), at.depth + 1};
  }
  if (auto call = row.find("call")) {
    // Innermost first.
    row.onlyKeys({"call"});
    SmallVector<Row> frames = list(*call);
    Row where = frames.pop_back_val();
    int depth = where.depth;
    for (const Row &frame : llvm::reverse(frames)) {
      depth = std::max(depth, frame.depth) + 1;
      where.location = CallSiteLoc::get(frame.location, where.location);
    }
    return {where.location, depth};
  }
  if (auto fused = row.find("fused")) {
    row.onlyKeys({"fused", "metadata"});
    SmallVector<Location> parts;
    int depth = 0;
    for (const Row &part : list(*fused)) {
      parts.push_back(Location(part.location));
      depth = std::max(depth, part.depth);
    }
    Attribute metadata;
    if (auto object = row.find("metadata")) metadata = readFreeAttributes(context, *object).getDictionary(context);
    return {FusedLoc::get(context, parts, metadata), depth + 1};
  }
  row.onlyKeys({"file", "name", "call", "fused"});
  row.refuse("needs one of the keys 'file', 'name', 'call' and 'fused'");
}

Location LocationReader::of(const Node &object, const char *key) const {
  if (auto node = object.find(key)) return Location(read(*node).location);
  return FileLineColLoc::get(context, document, object.line(), 0);
}

Written LocationWriter::write(Location location) {
  if (isa<UnknownLoc>(location)) return nullptr;
  auto file = dyn_cast<FileLineColLoc>(location);
  if (file && !file.getFilename().empty() && fromText(location.getContext(), toText(file)) == location)
    return toText(file);
  if (auto found = known.find(location); found != known.end()) return found->second;
  Written row;
  if (file) {
    row = {{"file", file.getFilename().str()}, {"line", file.getLine()}, {"column", file.getColumn()}};
  } else if (auto name = dyn_cast<NameLoc>(location)) {
    row = {{"name", name.getName().str()}};
    if (!isa<UnknownLoc>(name.getChildLoc())) row["at"] = write(name.getChildLoc());
  } else if (isa<CallSiteLoc>(location)) {
    Written frames = Written::array();
    Location where = location;
    while (auto call = dyn_cast<CallSiteLoc>(where)) {
      frames.push_back(write(call.getCallee()));
      where = call.getCaller();
    }
    frames.push_back(write(where));
    row = {{"call", std::move(frames)}};
  } else if (auto fused = dyn_cast<FusedLoc>(location)) {
    Written parts = Written::array();
    for (Location part : fused.getLocations()) parts.push_back(write(part));
    row = {{"fused", std::move(parts)}};
    if (auto metadata = dyn_cast_or_null<DictionaryAttr>(fused.getMetadata())) {
      Written object = Written::object();
      for (NamedAttribute each : metadata)
        if (Written value = writeAttribute({}, each.getName(), each.getValue(), {}, weights); !value.is_null())
          object[each.getName().str()] = std::move(value);
      row["metadata"] = std::move(object);
    }
  } else {
    return nullptr; // Ranges and opaque locations: none of our importers makes them.
  }
  rows.push_back(std::move(row));
  return known[location] = rows.size() - 1;
}

} // namespace stator::graph_json
