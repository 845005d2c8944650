// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/StepReader.h"

#include "runtime/src/Failure.h"

#include <algorithm>
#include <charconv>

namespace stator::runtime {
namespace {

constexpr uint32_t maxNesting = 32;
constexpr uint32_t maxSteps = 1 << 20;

std::string optionalString(const Json &json, const char *key) {
  const Json *text = json.find(key);
  return text ? text->string(key) : std::string();
}

std::optional<float> optionalFloat(const Json &json, const char *key) {
  const Json *text = json.find(key);
  if (!text) return std::nullopt;
  const std::string &digits = text->string(key);
  float value;
  auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code != std::errc() || end != digits.data() + digits.size() || !(value - value == 0))
    fail(STATOR_BAD_ARTIFACT, "manifest: '%s': '%.40s' is not a finite number", key, digits.c_str());
  return value;
}

Relation readRelation(const std::string &text) {
  static constexpr std::pair<std::string_view, Relation> names[] = {{"eq", Relation::Eq}, {"ne", Relation::Ne},
                                                                    {"lt", Relation::Lt}, {"le", Relation::Le},
                                                                    {"gt", Relation::Gt}, {"ge", Relation::Ge}};
  for (auto &[name, relation] : names)
    if (name == text) return relation;
  fail(STATOR_BAD_ARTIFACT, "manifest: unknown relation '%.40s'", text.c_str());
}

} // namespace

ExprId readExpression(Plan &plan, const Json &json) {
  if (json.isInteger()) return plan.expressions.add(json.integer("expression"));
  return plan.expressions.add(std::string_view(json.string("expression")));
}

stator_dtype readDtype(const Json &json) {
  const std::string &text = json.string("dtype");
#define STATOR_COMPARE(NAME, NUMBER, TEXT, BITS)                                                                       \
  if (text == TEXT) return STATOR_DTYPE_##NAME;
  STATOR_DTYPES(STATOR_COMPARE)
#undef STATOR_COMPARE
  fail(STATOR_BAD_ARTIFACT, "manifest: unknown dtype '%.40s'", text.c_str());
}

BufferId StepReader::buffer(const Json &json, const char *key, bool written) {
  int64_t id = json.at(key).integer(key, 0, int64_t(plan.buffers.size()) - 1);
  const Buffer *target = &plan.buffers[id];
  if (target->space == Buffer::Space::View) target = &plan.buffers[target->index];
  if (written && target->space == Buffer::Space::Weight)
    fail(STATOR_BAD_ARTIFACT, "manifest: a step writes to buffer %lld, a weight", (long long)id);
  return BufferId(id);
}

ExprId StepReader::expression(const Json &json, const char *key, int64_t missing) {
  const Json *value = json.find(key);
  return value ? readExpression(plan, *value) : plan.expressions.add(missing);
}

std::optional<ExprId> StepReader::optionalExpression(const Json &json, const char *key) {
  const Json *value = json.find(key);
  return value ? std::optional<ExprId>(readExpression(plan, *value)) : std::nullopt;
}

std::vector<ExprId> StepReader::expressions(const Json &json, const char *key) {
  std::vector<ExprId> result;
  if (const Json *list = json.find(key))
    for (const Json &item : list->array(key)) result.push_back(readExpression(plan, item));
  return result;
}

void StepReader::readTriple(const Json &json, const char *key, ExprId (&out)[3]) {
  std::vector<ExprId> list = expressions(json, key);
  if (list.size() != 3) fail(STATOR_BAD_ARTIFACT, "manifest: '%s' must be a list of three", key);
  std::copy(list.begin(), list.end(), out);
}

LaunchStep StepReader::readLaunch(const Json &json) {
  LaunchStep launch;
  launch.module = optionalString(json, "module");
  launch.kernel = json.at("kernel").string("kernel");
  for (const Json &id : json.at("buffers").array("buffers"))
    launch.buffers.push_back(BufferId(id.integer("buffers", 0, int64_t(plan.buffers.size()) - 1)));
  if (plan.device == DeviceKind::Host) {
    launch.sizes = expressions(json, "sizes");
    launch.count = readExpression(plan, json.at("count"));
    launch.grain = expression(json, "grain", 1);
    return launch;
  }
  if (const Json *scalars = json.find("scalars")) {
    for (const Json &scalar : scalars->array("scalars")) {
      const Json *wide = scalar.find("i64");
      launch.scalars.push_back({wide != nullptr, readExpression(plan, wide ? *wide : scalar.at("i32"))});
    }
  }
  readTriple(json, "grid", launch.grid);
  readTriple(json, "block", launch.block);
  launch.shared = expression(json, "shared", 0);
  return launch;
}

Operand StepReader::readOperand(const Json &json) {
  Operand operand;
  operand.buffer = buffer(json, "buffer", false);
  operand.dtype = readDtype(json.at("dtype"));
  operand.dims = expressions(json, "dims");
  operand.strides = expressions(json, "strides");
  operand.offset = expression(json, "offset", 0);
  if (operand.dims.size() > STATOR_MAX_RANK ||
      (!operand.strides.empty() && operand.strides.size() != operand.dims.size()))
    fail(STATOR_BAD_ARTIFACT, "manifest: an operand has %zu dims and %zu strides", operand.dims.size(),
         operand.strides.size());
  return operand;
}

PostOp StepReader::readPostOp(const Json &json) {
  PostOp post;
  post.op = json.at("op").string("op");
  post.alpha = optionalFloat(json, "alpha");
  post.beta = optionalFloat(json, "beta");
  if (const Json *operand = json.find("operand")) post.operand = readOperand(*operand);
  return post;
}

LibraryStep StepReader::readLibrary(const Json &json, uint32_t depth) {
  LibraryStep step;
  step.library = json.at("library").string("library");
  step.operation = json.at("operation").string("operation");
  step.index = plan.librarySteps++;
  for (const auto &[key, value] : json.at("parameters").object("parameters")) {
    if (key == "post") {
      for (const Json &post : value.array("post")) step.post.push_back(readPostOp(post));
    } else if (value.isObject()) {
      step.operands.emplace_back(key, readOperand(value));
      if (key == "out") buffer(value, "buffer", true);
    } else if (value.isArray()) {
      std::vector<int64_t> list;
      for (const Json &item : value.array("parameters")) list.push_back(item.integer("parameters"));
      step.attributes.emplace_back(key, std::move(list));
    } else {
      step.attributes.emplace_back(key, std::vector<int64_t>{value.integer("parameters")});
    }
  }
  if (const Json *fallback = json.find("fallback")) step.fallback = readBlock(*fallback, depth + 1);
  return step;
}

FillStep StepReader::readFill(const Json &json) {
  FillStep fill;
  fill.to = buffer(json, "to", true);
  fill.bits = uint64_t(json.at("bits").integer("bits"));
  fill.width = uint32_t(json.at("width").integer("width", 1, 8));
  if ((fill.width & (fill.width - 1)) != 0)
    stator::runtime::fail(STATOR_BAD_ARTIFACT, "manifest: 'width' must be 1, 2, 4 or 8");
  fill.offset = expression(json, "offset", 0);
  fill.bytes = optionalExpression(json, "bytes");
  return fill;
}

ReadSymbolStep StepReader::readReadSymbol(const Json &json) {
  ReadSymbolStep read;
  const std::string &name = json.at("symbol").string("symbol");
  auto symbol = std::find_if(symbols.begin(), symbols.end(), [&](const Symbol &s) { return s.name == name; });
  if (symbol == symbols.end() || !symbol->dataDependent())
    fail(STATOR_BAD_ARTIFACT, "manifest: 'read_symbol' of '%.100s', which is no data-dependent symbol", name.c_str());
  read.symbol = SymbolId(symbol - symbols.begin());
  read.from = buffer(json, "from", false);
  read.offset = expression(json, "offset", 0);
  read.dtype = readDtype(json.at("dtype"));
  if (read.dtype > STATOR_DTYPE_I64) fail(STATOR_BAD_ARTIFACT, "manifest: 'read_symbol' needs an integer dtype");
  return read;
}

Step StepReader::readStep(const Json &json, uint32_t depth) {
  Step step;
  step.label = optionalString(json, "label");
  step.source = optionalString(json, "source");
  if (const Json *cost = json.find("cost"))
    step.cost = StepCost{readExpression(plan, cost->at("read")), readExpression(plan, cost->at("written")),
                         readExpression(plan, cost->at("operations"))};
  step.depth = depth;
  step.index = next++;
  if (next > maxSteps) fail(STATOR_BAD_ARTIFACT, "manifest: more than %u steps", maxSteps);
  const std::string &op = json.at("op").string("op");
  if (op == "launch") {
    step.what = readLaunch(json);
  } else if (op == "library") {
    step.what = readLibrary(json, depth);
  } else if (op == "copy") {
    CopyStep copy{buffer(json, "from", false), buffer(json, "to", true), expression(json, "from_offset", 0),
                  expression(json, "to_offset", 0), optionalExpression(json, "bytes")};
    step.what = copy;
  } else if (op == "fill") {
    step.what = readFill(json);
  } else if (op == "read_symbol") {
    step.what = readReadSymbol(json);
  } else if (op == "assert") {
    step.what = AssertStep{readExpression(plan, json.at("left")), readExpression(plan, json.at("right")),
                           readRelation(json.at("relation").string("relation")), optionalString(json, "message")};
  } else if (op == "if") {
    IfStep branch{buffer(json, "predicate", false), readBlock(json.at("then"), depth + 1), {}};
    if (const Json *other = json.find("else")) branch.elseSteps = readBlock(*other, depth + 1);
    step.what = std::move(branch);
  } else if (op == "while") {
    WhileStep loop;
    loop.condition = readBlock(json.at("condition"), depth + 1);
    loop.predicate = buffer(json, "predicate", false);
    loop.body = readBlock(json.at("body"), depth + 1);
    loop.limit = optionalExpression(json, "limit");
    step.what = std::move(loop);
  } else if (op == "collective") {
    fail(STATOR_UNAVAILABLE, "manifest: collectives are not available in this runtime");
  } else {
    fail(STATOR_BAD_ARTIFACT, "manifest: this runtime has no step '%.40s'", op.c_str());
  }
  return step;
}

Block StepReader::readBlock(const Json &json, uint32_t depth) {
  if (depth > maxNesting) fail(STATOR_BAD_ARTIFACT, "manifest: steps are nested deeper than %u", maxNesting);
  Block block;
  const Json::Array &steps = json.array("steps");
  block.reserve(steps.size());
  for (const Json &step : steps) block.push_back(readStep(step, depth));
  return block;
}

} // namespace stator::runtime
