// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Plan.h"

#include "runtime/src/Failure.h"
#include "runtime/src/artifact/StepReader.h"

#include <algorithm>
#include <set>

namespace stator::runtime {
namespace {

constexpr int64_t maxCount = 1 << 20;

std::vector<Symbol> readSymbols(const Json &function) {
  std::vector<Symbol> symbols;
  const Json *list = function.find("symbols");
  if (!list) return symbols;
  std::set<std::string> names;
  for (const Json &json : list->array("symbols")) {
    Symbol symbol;
    symbol.name = json.at("name").string("name");
    if (!names.insert(symbol.name).second)
      fail(STATOR_BAD_ARTIFACT, "manifest: symbol '%.100s' stands twice", symbol.name.c_str());
    if (const Json *min = json.find("min")) symbol.min = min->integer("min");
    if (const Json *max = json.find("max")) symbol.max = max->integer("max");
    if (symbol.min > symbol.max)
      fail(STATOR_BAD_ARTIFACT, "manifest: symbol '%.100s' has min > max", symbol.name.c_str());
    if (const Json *input = json.find("input")) symbol.input = int(input->integer("input", 0, maxCount));
    if (const Json *dim = json.find("dim")) symbol.dim = int(dim->integer("dim", 0, STATOR_MAX_RANK - 1));
    if (const Json *scale = json.find("scale")) symbol.scale = scale->integer("scale", 1, INT64_MAX);
    if (const Json *offset = json.find("offset")) symbol.offset = offset->integer("offset");
    symbols.push_back(std::move(symbol));
  }
  return symbols;
}

bool usesData(const Plan &plan, ExprId id, const std::vector<Symbol> &symbols) {
  const std::vector<SymbolId> &uses = plan.expressions[id].uses();
  return std::any_of(uses.begin(), uses.end(), [&](SymbolId s) { return symbols[s].dataDependent(); });
}

std::vector<TensorSpec> readTensors(const Json &function, const char *key, Plan &plan,
                                    const std::vector<Symbol> &symbols) {
  std::vector<TensorSpec> result;
  const Json *list = function.find(key);
  if (!list) return result;
  for (const Json &json : list->array(key)) {
    TensorSpec spec;
    spec.name = json.at("name").string("name");
    spec.dtype = readDtype(json.at("dtype"));
    const Json::Array &shape = json.at("shape").array("shape");
    if (shape.size() > STATOR_MAX_RANK)
      fail(STATOR_BAD_ARTIFACT, "manifest: '%.100s' has rank %zu", spec.name.c_str(), shape.size());
    for (const Json &dim : shape) {
      spec.shape.push_back(readExpression(plan, dim));
      spec.dataDependent |= usesData(plan, spec.shape.back(), symbols);
    }
    if (const Json *mutated = json.find("mutated")) spec.mutated = mutated->boolean("mutated");
    if (const Json *initial = json.find("initial")) spec.initial = initial->string("initial");
    result.push_back(std::move(spec));
  }
  return result;
}

void checkSignature(const Plan &plan, const std::vector<Symbol> &symbols) {
  for (const TensorSpec &spec : plan.inputs)
    if (spec.dataDependent)
      fail(STATOR_BAD_ARTIFACT, "manifest: the shape of '%.100s' depends on data", spec.name.c_str());
  for (const TensorSpec &spec : plan.states)
    for (ExprId dim : spec.shape)
      if (!plan.expressions[dim].uses().empty())
        fail(STATOR_BAD_ARTIFACT, "manifest: the shape of state '%.100s' is not constant", spec.name.c_str());
  for (const Symbol &symbol : symbols) {
    if (symbol.dataDependent()) continue;
    if (symbol.input >= int(plan.inputs.size()) || symbol.dim >= int(plan.inputs[symbol.input].shape.size()))
      fail(STATOR_BAD_ARTIFACT, "manifest: symbol '%.100s' is read from a size that is not there", symbol.name.c_str());
    stator_dtype dtype = plan.inputs[symbol.input].dtype;
    if (symbol.dim < 0 && (dtype > STATOR_DTYPE_I64 || dtype == STATOR_DTYPE_U64))
      fail(STATOR_BAD_ARTIFACT, "manifest: symbol '%.100s' is read from an input of type %s", symbol.name.c_str(),
           stator_dtype_name(dtype));
  }
}

Buffer readBuffer(const Json &json, Plan &plan) {
  using Space = Buffer::Space;
  static constexpr std::pair<std::string_view, Space> names[] = {
      {"input", Space::Input}, {"output", Space::Output}, {"state", Space::State},    {"weight", Space::Weight},
      {"arena", Space::Arena}, {"view", Space::View},     {"dynamic", Space::Dynamic}};
  const std::string &text = json.at("space").string("space");
  auto name = std::find_if(std::begin(names), std::end(names), [&](auto &n) { return n.first == text; });
  if (name == std::end(names)) fail(STATOR_BAD_ARTIFACT, "manifest: unknown space '%.40s'", text.c_str());

  Buffer buffer;
  buffer.space = name->second;
  if (const Json *label = json.find("label")) buffer.label = label->string("label");
  auto index = [&](const Json &json, size_t count) { return uint32_t(json.integer("buffer", 0, int64_t(count) - 1)); };
  switch (buffer.space) {
  case Space::Input: buffer.index = index(json.at("index"), plan.inputs.size()); break;
  case Space::Output: buffer.index = index(json.at("index"), plan.outputs.size()); break;
  case Space::State: buffer.index = index(json.at("index"), plan.states.size()); break;
  case Space::Weight: buffer.weight = json.at("name").string("name"); break;
  case Space::Arena:
    if (const Json *arena = json.find("arena"))
      buffer.index = index(*arena, plan.arenas.size());
    else if (plan.arenas.empty())
      fail(STATOR_BAD_ARTIFACT, "manifest: a buffer lies in an arena, but the plan has none");
    break;
  case Space::View:
    buffer.index = index(json.at("of"), plan.buffers.size());
    if (plan.buffers[buffer.index].space == Space::View) fail(STATOR_BAD_ARTIFACT, "manifest: a view of a view");
    break;
  case Space::Dynamic: break;
  }
  if (buffer.space == Space::Arena || buffer.space == Space::View || buffer.space == Space::Dynamic) {
    buffer.bytes = readExpression(plan, json.at("bytes"));
    if (buffer.space != Space::Dynamic) buffer.offset = readExpression(plan, json.at("offset"));
  }
  return buffer;
}

void listSteps(const Block &block, std::vector<const Step *> &all) {
  for (const Step &step : block) {
    all.push_back(&step);
    if (auto *library = std::get_if<LibraryStep>(&step.what)) {
      if (library->fallback) listSteps(*library->fallback, all);
    } else if (auto *branch = std::get_if<IfStep>(&step.what)) {
      listSteps(branch->thenSteps, all);
      listSteps(branch->elseSteps, all);
    } else if (auto *loop = std::get_if<WhileStep>(&step.what)) {
      listSteps(loop->condition, all);
      listSteps(loop->body, all);
    }
  }
}

Plan readPlan(const Json &json, const Json &function, const std::vector<Symbol> &symbols) {
  std::vector<std::string> names;
  for (const Symbol &symbol : symbols) names.push_back(symbol.name);
  Plan plan{ExpressionTable(std::move(names))};
  const std::string &device = json.at("device").string("device");
  if (device != "host" && device != "cuda")
    fail(STATOR_BAD_ARTIFACT, "manifest: unknown device '%.40s'", device.c_str());
  plan.device = device == "host" ? DeviceKind::Host : DeviceKind::Cuda;
  plan.inputs = readTensors(function, "inputs", plan, symbols);
  plan.outputs = readTensors(function, "outputs", plan, symbols);
  plan.states = readTensors(function, "states", plan, symbols);
  checkSignature(plan, symbols);

  if (const Json *alignment = json.find("io_alignment")) {
    plan.ioAlignment = alignment->integer("io_alignment", 1, STATOR_ALIGNMENT);
    if ((plan.ioAlignment & (plan.ioAlignment - 1)) != 0)
      fail(STATOR_BAD_ARTIFACT, "manifest: 'io_alignment' must be a power of two");
  }
  if (const Json *arenas = json.find("arenas")) {
    for (const Json &arena : arenas->array("arenas")) {
      ArenaSpec spec{MemoryKind::Device, readExpression(plan, arena.at("bytes")), std::nullopt};
      if (const Json *memory = arena.find("memory")) {
        const std::string &text = memory->string("memory");
        if (text != "device" && text != "host")
          fail(STATOR_BAD_ARTIFACT, "manifest: unknown memory '%.40s'", text.c_str());
        if (text == "host") spec.memory = MemoryKind::Host;
      }
      if (const Json *bound = arena.find("live_load")) spec.liveLoad = readExpression(plan, *bound);
      if (usesData(plan, spec.bytes, symbols))
        fail(STATOR_BAD_ARTIFACT, "manifest: the size of an arena depends on data");
      plan.arenas.push_back(spec);
    }
  }
  for (const Json &buffer : json.at("buffers").array("buffers")) plan.buffers.push_back(readBuffer(buffer, plan));
  plan.steps = StepReader(plan, symbols).readBlock(json.at("steps"), 0);
  return plan;
}

} // namespace

const Operand *LibraryStep::operand(std::string_view name) const {
  for (const auto &[key, value] : operands)
    if (key == name) return &value;
  return nullptr;
}

const std::vector<int64_t> *LibraryStep::attribute(std::string_view name) const {
  for (const auto &[key, value] : attributes)
    if (key == name) return &value;
  return nullptr;
}

const char *Step::kind() const {
  static constexpr const char *names[] = {"launch", "library", "copy", "fill", "read_symbol", "assert", "if", "while"};
  static_assert(std::size(names) == std::variant_size_v<decltype(what)>);
  return names[what.index()];
}

const char *Step::name() const {
  if (auto *launch = std::get_if<LaunchStep>(&what)) return launch->kernel.c_str();
  if (auto *library = std::get_if<LibraryStep>(&what)) return library->operation.c_str();
  return "";
}

const Plan *Function::plan(DeviceKind device) const {
  for (const Plan &plan : plans)
    if (plan.device == device) return &plan;
  return nullptr;
}

std::vector<Function> readFunctions(const Json &functions) {
  std::vector<Function> result;
  for (const Json &json : functions.array("functions")) {
    Function function;
    function.name = json.at("name").string("name");
    function.symbols = readSymbols(json);
    for (const Json &plan : json.at("plans").array("plans"))
      function.plans.push_back(readPlan(plan, json, function.symbols));
    if (function.plans.empty())
      fail(STATOR_BAD_ARTIFACT, "manifest: function '%.100s' has no plan", function.name.c_str());
    result.push_back(std::move(function));
  }
  if (result.empty()) fail(STATOR_BAD_ARTIFACT, "manifest: no function");
  // Only now do the steps stay where they are.
  for (Function &function : result)
    for (Plan &plan : function.plans) listSteps(plan.steps, plan.allSteps);
  return result;
}

} // namespace stator::runtime
