// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/frontend/HandmadeArchive.h"
#include "compiler/io/File.h"
#include "compiler/io/Json.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include <algorithm>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

namespace stator::tests {

using io::Json;

static void put(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += char(value >> (8 * i));
}

std::string makeZip(const std::map<std::string, std::string> &members) {
  std::string out, directory;
  for (const auto &[name, data] : members) {
    uint32_t crc = uint32_t(crc32(0, reinterpret_cast<const Bytef *>(data.data()), uInt(data.size()))),
             offset = uint32_t(out.size());
    std::string fields;
    put(fields, 20, 2), put(fields, 0, 2), put(fields, 0, 2), put(fields, 0, 4), put(fields, crc, 4),
        put(fields, data.size(), 4), put(fields, data.size(), 4);
    put(out, 0x04034b50, 4);
    out += fields;
    put(out, name.size(), 2), put(out, 0, 2);
    out += name + data;
    put(directory, 0x02014b50, 4), put(directory, 20, 2);
    directory += fields;
    put(directory, name.size(), 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2),
        put(directory, 0, 2);
    put(directory, uint64_t(0100644) << 16, 4), put(directory, offset, 4);
    directory += name;
  }
  uint32_t start = uint32_t(out.size());
  out += directory;
  put(out, 0x06054b50, 4), put(out, 0, 4), put(out, members.size(), 2), put(out, members.size(), 2);
  put(out, directory.size(), 4), put(out, start, 4), put(out, 0, 2);
  return out;
}

Outcome importBytes(const std::string &bytes, const torch_export::ImportOptions &options) {
  std::string path = testing::TempDir() + "stator_handmade_" + std::to_string(getpid()) + ".pt2";
  EXPECT_TRUE(io::writeFile(path, {bytes}));
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  Outcome outcome{false, ""};
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &diagnostic) {
    outcome.errors += diagnostic.str() + "\n";
    for (mlir::Diagnostic &note : diagnostic.getNotes()) outcome.errors += "  " + note.str() + "\n";
    return mlir::success();
  });
  outcome.imported = bool(torch_export::importTorchExport(context, path, options));
  unlink(path.c_str());
  return outcome;
}

namespace {

/// The parts between the separators that stand in no brackets and no quotes.
std::vector<std::string> split(const std::string &text, const std::string &separators) {
  std::vector<std::string> parts(1);
  int depth = 0;
  bool quoted = false;
  for (char c : text) {
    if (c == '\'') quoted = !quoted;
    if (!quoted) depth += (c == '[' || c == '{' || c == '(') - (c == ']' || c == '}' || c == ')');
    if (depth == 0 && !quoted && separators.find(c) != std::string::npos)
      parts.emplace_back();
    else
      parts.back() += c;
  }
  parts.erase(std::remove(parts.begin(), parts.end(), ""), parts.end());
  return parts;
}

std::string inner(const std::string &bracketed, size_t skip = 1) {
  return bracketed.substr(skip, bracketed.size() - skip - 1);
}

/// A program in the exporter's JSON, written from the notation.
class OneCall {
public:
  Json program(const std::string &target, const std::string &arguments, const std::string &results) {
    Json inputs = Json::array(), outputs = Json::array(), specs = Json::array();
    for (const std::string &text : split(arguments, " ")) {
      auto named = split(text, "=");
      bool hasName = named.size() == 2;
      inputs.push_back({{"name", hasName ? named[0] : ""}, {"arg", value(hasName ? named[1] : text)}, {"kind", 1}});
    }
    for (const std::string &name : names) specs.push_back({{"user_input", {{"arg", reference(name)}}}});
    for (const std::string &text : split(results, " "))
      outputs.push_back(text == "?" ? reference("y" + std::to_string(count++)) : value(text));
    Json node = {{"target", target}, {"inputs", inputs}, {"outputs", outputs}, {"metadata", Json::object()}};
    Json graph = graphOf(Json::array(), Json::array());
    graph["nodes"].push_back(node);
    graph["tensor_values"] = tensors;
    graph["sym_int_values"]["u0"] = {{"as_expr", {{"expr_str", "Symbol('u0', integer=True)"}, {"hint", nullptr}}}};
    return {
        {"graph_module", {{"graph", graph}, {"signature", {{"input_specs", specs}, {"output_specs", Json::array()}}}}},
        {"range_constraints", Json::object()},
        {"schema_version", {{"major", 8}, {"minor", 0}}}};
  }

private:
  static Json reference(const std::string &name) { return {{"as_tensor", {{"name", name}}}}; }
  static Json graphOf(Json inputs, Json outputs) {
    return {{"inputs", inputs},
            {"outputs", outputs},
            {"nodes", Json::array()},
            {"tensor_values", Json::object()},
            {"sym_int_values", Json::object()}};
  }

  Json value(const std::string &text) {
    if (text == "None") return {{"as_none", true}};
    if (text == "true" || text == "false") return {{"as_bool", text == "true"}};
    if (text == "u0") return {{"as_sym_int", {{"as_name", text}}}};
    if (text[0] == '\'') return {{"as_string", inner(text)}};
    if (text[0] == ':') return {{"as_scalar_type", types.at(text.substr(1))}};
    if (text[0] == '@') return subgraph(inner(text, 2));
    if (text[0] == '{') {
      Json list = Json::array();
      for (const std::string &each : split(inner(text), " ")) list.push_back(value(each));
      return {{"as_optional_tensors", list}};
    }
    if (text[0] == '[') {
      Json list = Json::array();
      for (const std::string &each : split(inner(text), ",")) list.push_back(Json::parse(each));
      return {{text.find('.') == std::string::npos ? "as_ints" : "as_floats", list}};
    }
    if (isalpha(text[0])) return tensor(text);
    return {{text.find('.') == std::string::npos ? "as_int" : "as_float", Json::parse(text)}};
  }

  Json tensor(const std::string &text) {
    std::string name = "x" + std::to_string(count++);
    size_t bracket = text.find('[');
    Json sizes = Json::array();
    for (const std::string &each : split(inner(text, bracket + 1), ","))
      sizes.push_back({{"as_int", std::stoll(each)}});
    tensors[name] = {{"dtype", types.at(text.substr(0, bracket))}, {"sizes", sizes}, {"layout", 7}};
    names.push_back(name);
    return reference(name);
  }

  static Json subgraph(const std::string &text) {
    Json lists[] = {Json::array(), Json::array()};
    int at = 0;
    for (const std::string &each : split(text, " ")) {
      if (each == "->")
        at = 1;
      else
        lists[at].push_back(each == "None" ? Json{{"as_none", true}} : reference(each));
    }
    return {{"as_graph", {{"name", "inner"}, {"graph", graphOf(lists[0], lists[1])}}}};
  }

  const std::map<std::string, int> types = {{"u8", 1}, {"i32", 4}, {"i64", 5}, {"f32", 7}, {"f64", 8}, {"b8", 12}};
  Json tensors = Json::object();
  std::vector<std::string> names;
  int count = 0;
};

} // namespace

Outcome importCall(const std::string &target, const std::string &arguments, const std::string &results) {
  Json program = OneCall().program(target, arguments, results);
  return importBytes(makeZip({{"r/archive_format", "pt2"}, {"r/models/model.json", program.dump()}}));
}

} // namespace stator::tests
