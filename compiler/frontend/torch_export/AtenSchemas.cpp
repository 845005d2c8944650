// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/AtenSchemas.h"
#include <cstdlib>

namespace stator::torch_export {
namespace {

constexpr char schemaLines[] =
#include "compiler/frontend/torch_export/AtenSchemas.inc"
    ;

/// Operators of other libraries that exports keep whole.
constexpr std::string_view otherLibraries[] = {
    "transformers.grouped_mm_fallback.default(Tensor input, Tensor weight, Tensor offs) -> Tensor",
    "torchvision.roi_align.default(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width, int sampling_ratio, bool aligned) -> Tensor",
    "torchvision.roi_pool.default(Tensor input, Tensor rois, float spatial_scale, SymInt pooled_height, SymInt "
    "pooled_width) -> (Tensor, Tensor)",
    "torchvision.deform_conv2d.default(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt "
    "stride_h, SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, SymInt "
    "offset_groups, bool use_mask) -> Tensor",
};

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

/// Splits at commas outside brackets and quotes.
std::vector<std::string_view> split(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '"') quoted = !quoted;
    if (quoted) continue;
    if (c == '(' || c == '[') ++depth;
    if (c == ')' || c == ']') --depth;
    if (c != ',' || depth != 0) continue;
    parts.push_back(trim(text.substr(start, i - start)));
    start = i + 1;
  }
  if (!trim(text.substr(start)).empty()) parts.push_back(trim(text.substr(start)));
  return parts;
}

std::optional<ScalarArg> number(std::string_view text, bool &isReal) {
  std::string copy(text);
  char *end = nullptr;
  ScalarArg value;
  isReal = copy.find_first_of(".eni") != std::string::npos;
  value.real = std::strtod(copy.c_str(), &end);
  if (copy.empty() || *end) return std::nullopt;
  if (!isReal) value.integer = std::strtoll(copy.c_str(), nullptr, 10);
  return value;
}

std::optional<Argument> parseDefault(std::string_view text) {
  Argument argument;
  if (text == "None") return argument;
  if (text == "True" || text == "False") {
    argument.kind = Argument::Kind::Bool;
    argument.scalars.push_back({"", text == "True", 0});
    return argument;
  }
  if (text.size() >= 2 && text.front() == '"') {
    argument.kind = Argument::Kind::String;
    argument.text = text.substr(1, text.size() - 2);
    return argument;
  }
  bool isList = !text.empty() && text.front() == '[', real = false;
  std::vector<std::string_view> parts =
      isList ? split(text.substr(1, text.size() - 2)) : std::vector<std::string_view>{text};
  for (std::string_view part : parts) {
    if (isList && (part == "True" || part == "False")) {
      argument.scalars.push_back({"", part == "True", 0});
      argument.kind = Argument::Kind::Bools;
      continue;
    }
    auto value = number(part, real);
    if (!value) return std::nullopt;
    argument.scalars.push_back(*value);
  }
  if (argument.kind == Argument::Kind::None)
    argument.kind = isList ? (real ? Argument::Kind::Floats : Argument::Kind::Ints)
                           : (real ? Argument::Kind::Float : Argument::Kind::Int);
  return argument;
}

/// `Tensor(a!) self`, `int[2] stride=[]`; `results` have no names.
std::optional<SchemaArgument> parseArgument(std::string_view text, bool isResult) {
  SchemaArgument argument;
  if (size_t equals = text.find('='); equals != std::string_view::npos && !isResult) {
    argument.defaultValue = parseDefault(trim(text.substr(equals + 1)));
    if (!argument.defaultValue) return std::nullopt;
    text = trim(text.substr(0, equals));
  }
  size_t space = text.rfind(' ');
  bool named = space != std::string_view::npos;
  if (!named && !isResult) return std::nullopt;
  if (named) argument.name = text.substr(space + 1);
  std::string_view type = named ? text.substr(0, space) : text;
  if (size_t open = type.find('('); open != std::string_view::npos) {
    size_t close = type.find(')', open);
    if (close == std::string_view::npos || close == open + 1) return std::nullopt;
    argument.alias = type[open + 1];
    argument.written = type.substr(open, close - open).find('!') != std::string_view::npos;
    argument.type = std::string(type.substr(0, open)) + std::string(type.substr(close + 1));
  } else {
    argument.type = type;
  }
  return argument;
}

} // namespace

const SchemaArgument *Schema::find(std::string_view name) const {
  for (const SchemaArgument &argument : arguments)
    if (argument.name == name) return &argument;
  return nullptr;
}

bool Schema::writes() const {
  for (const SchemaArgument &argument : arguments)
    if (argument.written) return true;
  return false;
}

std::optional<Schema> parseSchema(std::string_view text) {
  size_t open = text.find('('), arrow = text.rfind(") -> ");
  if (open == std::string_view::npos || arrow == std::string_view::npos || arrow < open) return std::nullopt;
  Schema schema;
  for (std::string_view part : split(text.substr(open + 1, arrow - open - 1))) {
    if (part == "*") continue;
    auto argument = parseArgument(part, false);
    if (!argument) return std::nullopt;
    schema.arguments.push_back(std::move(*argument));
  }
  std::string_view results = trim(text.substr(arrow + 5));
  if (!results.empty() && results.front() == '(') results = results.substr(1, results.size() - 2);
  for (std::string_view part : split(results)) {
    auto result = parseArgument(part, true);
    if (!result) return std::nullopt;
    schema.results.push_back(std::move(*result));
  }
  return schema;
}

SchemaTable::SchemaTable() {
  auto add = [&](std::string_view line, std::string target) {
    if (target.find('.', target.find('.') + 1) == std::string::npos) target += ".default";
    texts.emplace(std::move(target), line);
  };
  std::string_view rest(schemaLines, sizeof(schemaLines) - 1);
  while (!rest.empty()) {
    size_t end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    add(line, "aten." + std::string(line.substr(0, line.find('('))));
  }
  for (std::string_view line : otherLibraries) add(line, std::string(line.substr(0, line.find('('))));
}

const Schema *SchemaTable::find(const std::string &target) {
  if (auto known = parsed.find(target); known != parsed.end()) return &known->second;
  auto text = texts.find(target);
  if (text == texts.end()) return nullptr;
  auto schema = parseSchema(text->second);
  return schema ? &parsed.emplace(target, std::move(*schema)).first->second : nullptr;
}

} // namespace stator::torch_export
