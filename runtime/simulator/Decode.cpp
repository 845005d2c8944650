// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The steps of decoding: callees, memory layout, statements, block order.
#include "runtime/simulator/AddressSpace.h"
#include "runtime/simulator/Decoder.h"
#include "runtime/simulator/Flow.h"
#include "runtime/simulator/Wgmma.h"
#include "runtime/simulator/ops/Tables.h"

#include <algorithm>

namespace stator::sim {

using ptx::Function;
using ptx::kNone;
using ptx::Operand;
using ptx::Statement;

Decoder::Decoder(const ptx::Module &module, const Function &entry, const SymbolAddresses &symbols,
                 std::string_view text)
    : module(module), entry(entry), symbols(symbols) {
  for (size_t at = 0; at <= text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    at = end + 1;
  }
}

void Decoder::fail(const std::string &what) const {
  std::string message = "kernel " + entry.name;
  if (statement) {
    message += ", line " + std::to_string(statement->line) + ": " + what;
    message += ": '" + std::string(lineText(statement->line)) + "'";
  } else {
    message += ": " + what;
  }
  throw DecodeError(message);
}

std::string_view Decoder::lineText(uint32_t line) const {
  if (line == 0 || line > lines.size()) return {};
  std::string_view text = lines[line - 1];
  size_t first = text.find_first_not_of(" \t\r"), last = text.find_last_not_of(" \t\r");
  return first == std::string_view::npos ? std::string_view() : text.substr(first, last - first + 1);
}

std::unique_ptr<Kernel> Decoder::run() {
  kernel = std::make_unique<Kernel>();
  kernel->name = entry.name;
  kernel->function = &entry;
  kernel->paramBytes = static_cast<uint32_t>(entry.paramBytes());
  // Mask 0 stays empty; mask 1 and the first 512 bytes belong to `_`.
  kernel->poisonCount = 2;
  kernel->dataBytes = 16 * kLanes;
  sinkSlot = {0, 1};
  reachCallees();
  layOutMemory();
  for (FunctionState &state : states) layOutRegisters(state);
  for (FunctionState &state : states) decodeFunction(state);
  statement = nullptr;
  finish();
  return std::move(kernel);
}

void Decoder::reachCallees() {
  std::map<std::string, size_t> known{{entry.name, 0}};
  std::vector<const Function *> reached{&entry};
  std::vector<std::set<size_t>> callees(1);
  for (size_t i = 0; i < reached.size(); ++i) {
    for (const Statement &s : reached[i]->statements) {
      if (s.opcode != "call") continue;
      for (const Operand &operand : s.operands) {
        if (operand.kind != Operand::Kind::symbol) continue;
        auto it = std::find_if(module.functions.begin(), module.functions.end(),
                               [&](const Function &f) { return f.name == operand.name; });
        if (it == module.functions.end() || !it->hasBody) continue;
        auto [place, isNew] = known.emplace(operand.name, reached.size());
        if (isNew) {
          reached.push_back(&*it);
          callees.emplace_back();
        }
        callees[i].insert(place->second);
      }
    }
  }
  // A function's registers have one place in the file, so a function must not be active twice in one lane.
  std::vector<uint32_t> incoming(reached.size(), 0), ready;
  for (const auto &set : callees)
    for (size_t to : set) ++incoming[to];
  if (incoming[0] == 0) ready.push_back(0);
  size_t sorted = 0;
  while (!ready.empty()) {
    size_t at = ready.back();
    ready.pop_back();
    ++sorted;
    for (size_t to : callees[at])
      if (--incoming[to] == 0) ready.push_back(static_cast<uint32_t>(to));
  }
  if (sorted != reached.size()) fail("recursive calls are not supported");
  for (const Function *function : reached) states.push_back({function, {}, 0, {}});
}

void Decoder::layOutMemory() {
  std::set<std::string> used;
  for (const FunctionState &state : states)
    for (const Statement &s : state.function->statements)
      for (const Operand &operand : s.operands) {
        used.insert(operand.name);
        for (const Operand &part : operand.parts) {
          used.insert(part.name);
          for (const Operand &inner : part.parts) used.insert(inner.name);
        }
      }
  uint64_t shared = 0, local = 0;
  std::vector<std::pair<std::string, const ptx::Variable *>> dynamic;
  auto align = [](uint64_t at, uint64_t to) { return (at + to - 1) / to * to; };
  auto place = [&](const std::string &key, const ptx::Variable &variable) {
    if (variable.space == Space::shared) {
      if (variable.unsized) {
        dynamic.emplace_back(key, &variable);
        return;
      }
      shared = align(shared, variable.align);
      places[key] = {Space::shared, shared};
      kernel->shared.push_back({variable.name, shared, variable.bytes});
      shared += variable.bytes;
    } else {
      local = align(local, variable.align);
      places[key] = {variable.space, local};
      local += variable.bytes;
    }
    sizes[key] = variable.bytes;
    if (shared > (1u << kClusterShift) || local > kLocalBytesPerThread)
      fail("variable " + variable.name + " does not fit its state space");
  };
  for (const ptx::Variable &variable : module.variables)
    if (variable.space == Space::shared && used.count(variable.name)) place(variable.name, variable);
  for (const FunctionState &state : states) {
    const Function &f = *state.function;
    for (const ptx::Variable &variable : f.variables)
      if (variable.space == Space::shared || variable.space == Space::local || variable.space == Space::param)
        place(f.name + "/" + variable.name, variable);
    if (&f == &entry) continue;
    for (const auto *list : {&f.params, &f.results})
      for (const ptx::Param &param : *list) {
        ptx::Variable variable;
        variable.name = param.name;
        variable.space = Space::param;
        variable.align = param.align;
        variable.bytes = param.bytes;
        place(f.name + "/" + param.name, variable);
      }
  }
  kernel->sharedBytes = static_cast<uint32_t>(shared);
  uint64_t dynamicBase = shared;
  for (const auto &[key, variable] : dynamic) {
    kernel->dynamicSharedAlign = std::max<uint32_t>(kernel->dynamicSharedAlign, static_cast<uint32_t>(variable->align));
    dynamicBase = align(shared, kernel->dynamicSharedAlign);
  }
  for (const auto &[key, variable] : dynamic) places[key] = {Space::shared, dynamicBase};
  kernel->localBytes = static_cast<uint32_t>(align(local, 16));
}

void Decoder::layOutRegisters(FunctionState &state) {
  for (const ptx::Register &reg : state.function->registers) {
    unsigned bytes = reg.type == Type::pred ? 0 : sizeOf(reg.type);
    state.registers.push_back(temporary(bytes));
    kernel->registers.push_back({&reg, state.registers.back()});
  }
  if (state.function != &entry) state.returnTo = temporary(4);
}

void Decoder::decodeFunction(FunctionState &state) {
  current = &state;
  functionStart.push_back(static_cast<uint32_t>(decoded.size()));
  const Function &f = *state.function;
  std::multimap<uint32_t, std::string> labelAt;
  for (const auto &[name, index] : f.labels) labelAt.emplace(index, name);
  for (uint32_t i = 0; i <= f.statements.size(); ++i) {
    for (auto [it, end] = labelAt.equal_range(i); it != end; ++it)
      labels[f.name + "/" + it->second] = static_cast<uint32_t>(decoded.size());
    if (i < f.statements.size()) decodeStatement(f.statements[i]);
  }
  // Whatever falls off the end returns.
  ptx::Statement end;
  end.opcode = "ret";
  end.line = f.statements.empty() ? f.line : f.statements.back().line;
  decodeStatement(end);
}

void Decoder::decodeStatement(const Statement &s) {
  statement = &s;
  Instr instr;
  instr.row = findRow(s.opcode, s.modifiers, instr.mods);
  if (!instr.row) {
    static const std::set<std::string> absent = {
        "tcgen05", "multimem", "tensormap", "clusterlaunchcontrol", "tex", "tld4", "suld", "sust", "sured"};
    fail((absent.count(s.opcode) ? "not simulated: " : "unknown instruction ") + s.mnemonic());
  }
  instr.execute = instr.row->execute;
  instr.line = s.line;
  instr.sourceFile = s.sourceFile;
  instr.sourceLine = s.sourceLine;
  if (s.guard != kNone) {
    Slot guard = registerSlot(s.guard);
    instr.guard = guard.data;
    instr.guardPoison = guard.poison;
    instr.guardNegated = s.guardNegated;
  }
  toRefresh.clear();
  size_t fixupCount[3] = {fixups.size(), tableFixups.size(), callFixups.size()};
  if (instr.row->operands) decodeByLetters(s, instr, instr.row->operands);
  if (instr.row->decode) instr.row->decode(*this, s, instr);
  refreshSpecials(decoded.size());
  auto here = static_cast<uint32_t>(decoded.size());
  for (size_t i = fixupCount[0]; i < fixups.size(); ++i) fixups[i].first = here;
  for (size_t i = fixupCount[1]; i < tableFixups.size(); ++i) tableFixups[i].first = here;
  for (size_t i = fixupCount[2]; i < callFixups.size(); ++i) callFixups[i].first = here;
  decoded.push_back(instr);
  decodedText.emplace_back(lineText(s.line));
}

void Decoder::refreshSpecials(size_t) {
  for (const SpecialUse &use : toRefresh) {
    Instr instr;
    instr.row = &refreshRow();
    instr.execute = instr.row->execute;
    instr.d = use.slot;
    instr.tag = static_cast<uint32_t>(use.which);
    instr.bytes = use.bytes;
    instr.line = statement->line;
    decoded.push_back(instr);
    decodedText.emplace_back(lineText(statement->line));
  }
}

void Decoder::decodeByLetters(const Statement &s, Instr &instr, const char *letters) {
  size_t count = std::char_traits<char>::length(letters);
  if (s.operands.size() != count)
    fail("expected " + std::to_string(count) + " operands, found " + std::to_string(s.operands.size()));
  Slot *slots[] = {&instr.d, &instr.a, &instr.b, &instr.c, &instr.e, &instr.f};
  for (size_t i = 0; i < count; ++i) {
    const Operand &operand = s.operands[i];
    bool isDestination = i == 0;
    auto take = [&](unsigned bytes, Number number) {
      return isDestination ? destination(operand, bytes) : source(operand, bytes, number);
    };
    Slot &slot = *slots[i];
    switch (letters[i]) {
    case 'p':
      slot = predicate(operand, isDestination);
      if (!isDestination && operand.negated) instr.negated |= static_cast<uint8_t>(1u << (i - 1));
      break;
    case 'P':
      slot = predicate(operand, true);
      if (operand.hasSecond) instr.f = operand.second == kNone ? sinkSlot : registerSlot(operand.second);
      break;
    case 'b': slot = take(1, Number::integer); break;
    case 'h': slot = take(2, Number::integer); break;
    case 'w': slot = take(4, Number::integer); break;
    case 'd': slot = take(8, Number::integer); break;
    case 'q': slot = take(16, Number::integer); break;
    case 'f': slot = take(4, Number::f32); break;
    case 'e': slot = take(8, Number::f64); break;
    default: fail("row " + std::string(instr.row->form) + " has an unknown operand letter");
    }
  }
}

void Decoder::finish() {
  auto size = static_cast<uint32_t>(decoded.size());
  std::vector<std::vector<uint32_t>> extra(size); // targets of each control instruction, as text positions
  auto labelOf = [&](const std::string &name) {
    auto it = labels.find(name);
    if (it == labels.end()) fail("unknown label " + name.substr(name.find('/') + 1));
    return it->second;
  };
  std::vector<uint8_t> leader(size + 1, 0);
  for (uint32_t start : functionStart) leader[start] = 1;
  for (auto &[instr, name] : fixups) extra[instr].push_back(labelOf(name));
  std::map<uint32_t, std::vector<uint32_t>> tables;
  for (auto &[instr, name] : tableFixups) {
    uint32_t target = labelOf(name);
    extra[instr].push_back(target);
    tables[instr].push_back(target);
  }
  std::vector<std::vector<uint32_t>> returnSites(states.size());
  std::map<uint32_t, uint32_t> calleeOf;
  for (auto &[instr, name] : callFixups)
    for (size_t i = 0; i < states.size(); ++i)
      if (states[i].function->name == name) {
        extra[instr].push_back(functionStart[i]);
        returnSites[i].push_back(instr + 1);
        calleeOf[instr] = static_cast<uint32_t>(i);
      }
  for (uint32_t i = 0; i < size; ++i)
    if (decoded[i].last) {
      leader[i + 1] = 1;
      for (uint32_t to : extra[i]) leader[to] = 1;
    }
  // Blocks in the order of the text.
  std::vector<uint32_t> first, blockAt(size);
  for (uint32_t i = 0; i < size; ++i) {
    if (leader[i]) first.push_back(i);
    blockAt[i] = static_cast<uint32_t>(first.size() - 1);
  }
  auto endOf = [&](uint32_t block) { return block + 1 < first.size() ? first[block + 1] : size; };
  BlockGraph graph(first.size());
  std::vector<uint8_t> fallsThrough(first.size());
  for (uint32_t block = 0; block < first.size(); ++block) {
    uint32_t lastIndex = endOf(block) - 1;
    const Instr &last = decoded[lastIndex];
    std::set<uint32_t> next;
    for (uint32_t to : extra[lastIndex])
      if (last.last) next.insert(blockAt[to]);
    bool leaves = last.last && last.guard == Instr::kAlways;
    bool returns = isReturn(last);
    fallsThrough[block] = !leaves;
    if (returns)
      for (size_t i = 0; i < states.size(); ++i)
        if (functionStart[i] <= lastIndex && (i + 1 == states.size() || lastIndex < functionStart[i + 1]))
          for (uint32_t site : returnSites[i]) next.insert(blockAt[site]);
    if (fallsThrough[block] && block + 1 < first.size()) next.insert(block + 1);
    graph[block].assign(next.begin(), next.end());
  }
  std::vector<uint32_t> order = weakTopologicalOrder(graph);
  // Emit, closing gaps with jumps.
  std::vector<uint32_t> newStart(first.size(), kNone), newIndex(size, kNone);
  Kernel &k = *kernel;
  std::vector<std::pair<uint32_t, uint32_t>> jumps;
  std::vector<uint32_t> rank(first.size(), kNone);
  for (uint32_t i = 0; i < order.size(); ++i) rank[order[i]] = i;
  for (uint32_t i = 0; i < order.size(); ++i) {
    uint32_t block = order[i];
    newStart[block] = static_cast<uint32_t>(k.code.size());
    k.blockFirst.push_back(newStart[block]);
    for (uint32_t at = first[block]; at < endOf(block); ++at) {
      newIndex[at] = static_cast<uint32_t>(k.code.size());
      k.code.push_back(decoded[at]);
      k.texts.push_back(decodedText[at]);
    }
    if (fallsThrough[block] && (i + 1 == order.size() || order[i + 1] != block + 1)) {
      Instr jump;
      jump.row = &jumpRow();
      jump.execute = jump.row->execute;
      jump.line = k.code.back().line;
      jump.last = true;
      jumps.emplace_back(static_cast<uint32_t>(k.code.size()), block + 1);
      k.code.push_back(jump);
      k.texts.push_back(k.texts.back());
    }
    std::vector<uint32_t> next;
    for (uint32_t to : graph[block]) next.push_back(rank[to]);
    k.blocks.push_back(next);
    k.blockOf.resize(k.code.size(), i);
  }
  for (auto &[instr, name] : fixups)
    if (newIndex[instr] != kNone) k.code[newIndex[instr]].target = newStart[blockAt[labelOf(name)]];
  for (auto &[instr, block] : jumps) k.code[instr].target = newStart[block];
  for (auto &[instr, targets] : tables)
    if (newIndex[instr] != kNone) {
      Instr &branch = k.code[newIndex[instr]];
      branch.list = static_cast<uint32_t>(k.slots.size());
      branch.listCount = static_cast<uint32_t>(targets.size());
      for (uint32_t target : targets) k.slots.push_back({newStart[blockAt[target]], 0});
    }
  for (auto &[instr, callee] : calleeOf)
    if (newIndex[instr] != kNone) {
      Instr &call = k.code[newIndex[instr]];
      call.target = newStart[blockAt[functionStart[callee]]];
      call.tag = newStart[blockAt[instr + 1]];
      call.a = states[callee].returnTo;
    }
  for (uint32_t i = 0; i < k.code.size(); ++i) {
    Instr &instr = k.code[i];
    instr.index = i;
    OpClass kind = instr.row->kind;
    k.usesAsync |= kind == OpClass::asyncCopy;
    // Fences between proxies order nothing between blocks.
    std::string_view form = instr.row->form;
    bool proxy =
        form.rfind("fence.proxy", 0) == 0 || form.rfind("wgmma", 0) == 0 || form.rfind("fence.mbarrier_init", 0) == 0;
    k.usesGridOrder |= kind == OpClass::atomic || (kind == OpClass::fence && !proxy) || instr.mods.order != Order::weak;
  }
  findUnsteady(k);
  std::map<uint32_t, unsigned> widths;
  for (const FunctionState &state : states)
    for (size_t r = 0; r < state.registers.size(); ++r)
      if (unsigned bytes = sizeOf(state.function->registers[r].type)) widths[state.registers[r].data] = bytes;
  k.registersPerThread = estimateRegisters(k, widths);
  guardWgmma(k);
}

std::unique_ptr<Kernel> decodeKernel(const ptx::Module &module, const Function &function,
                                     const SymbolAddresses &symbols, std::string_view text) {
  return Decoder(module, function, symbols, text).run();
}

bool Kernel::reaches(uint32_t from, uint32_t to) const {
  if (blockOf[from] == blockOf[to] && from <= to) return true;
  std::vector<uint8_t> seen(blocks.size(), 0);
  std::vector<uint32_t> work{blockOf[from]};
  while (!work.empty()) {
    uint32_t block = work.back();
    work.pop_back();
    for (uint32_t next : blocks[block]) {
      if (next == blockOf[to]) return true;
      if (!seen[next]) seen[next] = 1, work.push_back(next);
    }
  }
  return false;
}

bool Kernel::onlyExits(uint32_t from) const {
  for (size_t steps = 0; steps < code.size(); ++steps) {
    const Instr &instr = code[from];
    if (instr.guard != Instr::kAlways) return false;
    if (isReturn(instr) || isExit(instr)) return true;
    if (!isJump(instr)) return false;
    from = instr.target;
  }
  return false;
}

} // namespace stator::sim
