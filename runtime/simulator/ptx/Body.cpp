// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/simulator/ptx/Body.h"
#include "runtime/simulator/ptx/Declarations.h"

#include <unordered_map>

namespace stator::sim::ptx {

namespace {

constexpr uint32_t kMostRegisters = 1u << 20;
constexpr size_t kDeepestScope = 256, kDeepestOperand = 4;

/// `%r<13>`: thirteen registers from `first`.
struct Range {
  uint32_t first, count;
};

struct Scope {
  uint32_t id, parent;
  std::unordered_map<std::string, uint32_t> registers;
  std::unordered_map<std::string, Range> ranges;
  std::unordered_map<std::string, std::string> variables; ///< to the unique name
  std::unordered_map<std::string, std::string> labels;    ///< to the unique name
};

class BodyParser {
public:
  BodyParser(Cursor &cursor, const Module &module, Function &function)
      : cursor(cursor), module(module), function(function) {}

  void run() {
    open();
    for (uint32_t i = 0; i < function.registers.size(); ++i) scopes[0].registers[function.registers[i].name] = i;
    while (!stack.empty()) parseItem();
    for (size_t i = 0; i < function.statements.size(); ++i)
      for (Operand &operand : function.statements[i].operands) resolveLabels(operand, statementScope[i]);
    for (auto &[name, list] : function.targetLists)
      for (std::string &target : list) target = uniqueLabel(target, 0);
  }

private:
  void open() {
    if (stack.size() >= kDeepestScope) cursor.fail("scopes are nested too deeply");
    uint32_t id = static_cast<uint32_t>(scopes.size());
    scopes.push_back({id, stack.empty() ? kNone : stack.back(), {}, {}, {}, {}});
    stack.push_back(id);
  }
  std::string unique(const std::string &name) const {
    return stack.back() == 0 ? name : name + "@" + std::to_string(stack.back());
  }

  void parseItem() {
    const Token &token = cursor.peek();
    if (token.kind == TokenKind::end) cursor.fail("function " + function.name + " is not closed");
    if (cursor.accept('{')) return open();
    if (cursor.accept('}')) return stack.pop_back();
    if (cursor.accept(';')) return;
    if (token.kind == TokenKind::dotWord) return parseDirective();
    if (token.kind == TokenKind::word && cursor.peek(1).is(':')) {
      std::string name(cursor.take().text);
      cursor.take();
      if (cursor.peek().isDot("branchtargets") || cursor.peek().isDot("calltargets")) {
        cursor.take();
        std::vector<std::string> &list = function.targetLists[name];
        do list.push_back(cursor.expectWord("a label"));
        while (cursor.accept(','));
        cursor.expect(';');
        return;
      }
      if (cursor.acceptDot("callprototype")) return parsePrototype(name);
      if (!scopes[stack.back()].labels.emplace(name, unique(name)).second)
        cursor.fail("label " + name + " is defined twice");
      function.labels[unique(name)] = static_cast<uint32_t>(function.statements.size());
      return;
    }
    parseStatement();
  }

  void parsePrototype(const std::string &name) {
    Function prototype;
    std::vector<bool> regs;
    if (cursor.peek().is('(')) prototype.results = parseParams(cursor, regs);
    cursor.expectWord("_");
    if (cursor.peek().is('(')) prototype.params = parseParams(cursor, regs);
    while (!cursor.accept(';')) {
      if (cursor.peek().kind == TokenKind::end) cursor.fail("prototype is not finished");
      cursor.take();
    }
    function.prototypes[name] = std::move(prototype);
  }

  void parseDirective() {
    const Token &token = cursor.take();
    if (token.text == "reg") return parseRegisters();
    if (token.text == "loc") {
      sourceFile = static_cast<uint32_t>(cursor.expectInteger("a file number"));
      sourceLine = static_cast<uint32_t>(cursor.expectInteger("a line number"));
      cursor.expectInteger("a column");
      // `, function_name label, inlined_at file line column` follows where the code was inlined.
      while (cursor.accept(',')) {
        while (cursor.peek().line == token.line && !cursor.peek().is(',') && !cursor.peek().is(';') &&
               cursor.peek().kind != TokenKind::end)
          cursor.take();
      }
      return;
    }
    if (token.text == "pragma") {
      while (!cursor.accept(';')) {
        if (cursor.peek().kind == TokenKind::end) cursor.fail("pragma is not finished");
        cursor.take();
      }
      return;
    }
    Space space = spaceNamed(token.text);
    if (space != Space::shared && space != Space::local && space != Space::param && space != Space::global &&
        space != Space::constant)
      throw SyntaxError(token.line, "unknown directive ." + std::string(token.text) + " in a function");
    for (Variable &variable : parseVariables(cursor, space)) {
      std::string name = unique(variable.name);
      if (!scopes[stack.back()].variables.emplace(variable.name, name).second)
        cursor.fail("variable " + variable.name + " is declared twice");
      variable.name = name;
      function.variables.push_back(std::move(variable));
    }
  }

  void parseRegisters() {
    Type type = Type::none;
    while (cursor.peek().kind == TokenKind::dotWord) {
      if (cursor.peek().isDot("v2") || cursor.peek().isDot("v4")) cursor.fail("vector registers are not supported");
      type = typeNamed(cursor.take().text);
    }
    if (type == Type::none) cursor.fail("expected a register type");
    do {
      std::string name = cursor.expectWord("a register name");
      uint32_t count = 1;
      bool range = cursor.accept('<');
      if (range) {
        int64_t n = cursor.expectInteger("a register count");
        cursor.expect('>');
        if (n < 0 || n > kMostRegisters) cursor.fail("too many registers");
        count = static_cast<uint32_t>(n);
      }
      auto first = static_cast<uint32_t>(function.registers.size());
      if (first + count > kMostRegisters) cursor.fail("too many registers");
      for (uint32_t i = 0; i < count; ++i)
        function.registers.push_back({range ? name + std::to_string(i) : name, type});
      if (range)
        scopes[stack.back()].ranges[name] = {first, count};
      else
        scopes[stack.back()].registers[name] = first;
    } while (cursor.accept(','));
    cursor.expect(';');
  }

  uint32_t findRegister(const std::string &name) const {
    size_t digits = name.size();
    while (digits > 0 && name[digits - 1] >= '0' && name[digits - 1] <= '9') --digits;
    for (uint32_t id = stack.back(); id != kNone; id = scopes[id].parent) {
      const Scope &scope = scopes[id];
      if (auto it = scope.registers.find(name); it != scope.registers.end()) return it->second;
      // Every split of the trailing digits may be a range: `%r1<20>` declares %r10.
      for (size_t cut = digits; cut < name.size() && name.size() - cut <= 9; ++cut) {
        auto it = scope.ranges.find(name.substr(0, cut));
        if (it == scope.ranges.end() || (name[cut] == '0' && cut + 1 < name.size())) continue;
        auto index = static_cast<uint32_t>(std::stoul(name.substr(cut)));
        if (index < it->second.count) return it->second.first + index;
      }
    }
    return kNone;
  }

  std::string findVariable(const std::string &name) const {
    for (uint32_t id = stack.back(); id != kNone; id = scopes[id].parent)
      if (auto it = scopes[id].variables.find(name); it != scopes[id].variables.end()) return it->second;
    return name;
  }

  std::string uniqueLabel(const std::string &name, uint32_t scope) const {
    for (uint32_t id = scope; id != kNone; id = scopes[id].parent)
      if (auto it = scopes[id].labels.find(name); it != scopes[id].labels.end()) return it->second;
    return name;
  }

  void resolveLabels(Operand &operand, uint32_t scope) const {
    if (operand.kind == Operand::Kind::symbol) operand.name = uniqueLabel(operand.name, scope);
    for (Operand &part : operand.parts) resolveLabels(part, scope); // as deep as kDeepestOperand
  }

  void parseStatement() {
    Statement statement;
    statement.line = cursor.line();
    statement.sourceFile = sourceFile;
    statement.sourceLine = sourceLine;
    if (cursor.accept('@')) {
      statement.guardNegated = cursor.accept('!');
      std::string name = cursor.expectWord("a predicate");
      statement.guard = findRegister(name);
      if (statement.guard == kNone || function.registers[statement.guard].type != Type::pred)
        cursor.fail(name + " is not a predicate register");
    }
    statement.opcode = cursor.expectWord("an instruction");
    while (cursor.peek().kind == TokenKind::dotWord) statement.modifiers.emplace_back(cursor.take().text);
    while (!cursor.accept(';')) {
      if (!statement.operands.empty()) cursor.expect(',');
      statement.operands.push_back(parseOperand(0));
      if (statement.operands.size() > 64) cursor.fail("too many operands");
    }
    function.statements.push_back(std::move(statement));
    statementScope.push_back(stack.back());
  }

  Operand parseOperand(size_t depth) {
    if (depth > kDeepestOperand) cursor.fail("operand is nested too deeply");
    Operand operand;
    if (cursor.accept('!')) {
      operand = parseOperand(depth + 1);
      operand.negated = true;
      return operand;
    }
    const Token &token = cursor.peek();
    if (token.is('{')) return parseParts(operand, '}', Operand::Kind::vector, depth);
    if (token.is('(')) return parseParts(operand, ')', Operand::Kind::list, depth);
    if (token.is('[')) return parseAddress(depth);
    if (token.is('-') || token.is('+') || token.is('~') || token.kind == TokenKind::integer ||
        token.kind == TokenKind::float32 || token.kind == TokenKind::float64)
      return parseNumber();
    if (token.kind != TokenKind::word) cursor.fail("expected an operand, found " + Cursor::describe(token));
    parseName(operand);
    if (cursor.accept('|')) {
      operand.hasSecond = true;
      std::string second = cursor.expectWord("a register");
      if (second != "_") {
        operand.second = findRegister(second);
        if (operand.second == kNone) cursor.fail("unknown register " + second);
      }
    }
    return operand;
  }

  void parseName(Operand &operand) {
    std::string name(cursor.take().text);
    if (name == "_") {
      operand.kind = Operand::Kind::sink;
      return;
    }
    operand.reg = findRegister(name);
    if (operand.reg != kNone) {
      operand.kind = Operand::Kind::reg;
      return;
    }
    if (name[0] == '%' && findVariable(name) == name) {
      operand.kind = Operand::Kind::special;
      if (cursor.peek().kind == TokenKind::dotWord && !cursor.peek().spaced)
        name += "." + std::string(cursor.take().text);
      operand.name = name;
      return;
    }
    operand.kind = Operand::Kind::symbol;
    operand.name = findVariable(name);
    if (cursor.peek().is('+') || cursor.peek().is('-')) {
      cursor.accept('+');
      operand.value = cursor.expectInteger("an offset");
    }
  }

  Operand parseNumber() {
    Operand operand;
    bool minus = false, invert = false;
    for (;;) {
      if (cursor.accept('-'))
        minus = !minus;
      else if (cursor.accept('~'))
        invert = true;
      else if (!cursor.accept('+'))
        break;
    }
    const Token &token = cursor.take();
    uint64_t bits = token.bits;
    if (token.kind == TokenKind::integer) {
      operand.kind = Operand::Kind::integer;
      if (minus) bits = -bits;
      if (invert) bits = ~bits;
    } else if (token.kind == TokenKind::float32 || token.kind == TokenKind::float64) {
      bool single = token.kind == TokenKind::float32;
      operand.kind = single ? Operand::Kind::float32 : Operand::Kind::float64;
      if (minus) bits ^= uint64_t{1} << (single ? 31 : 63);
    } else {
      throw SyntaxError(token.line, "expected a number, found " + Cursor::describe(token));
    }
    operand.value = static_cast<int64_t>(bits);
    return operand;
  }

  Operand parseParts(Operand operand, char close, Operand::Kind kind, size_t depth) {
    cursor.take();
    operand.kind = kind;
    while (!cursor.accept(close)) {
      if (!operand.parts.empty()) cursor.expect(',');
      operand.parts.push_back(parseOperand(depth + 1));
      if (operand.parts.size() > 256) cursor.fail("too many elements");
    }
    return operand;
  }

  Operand parseAddress(size_t depth) {
    cursor.take();
    Operand address;
    address.kind = Operand::Kind::address;
    Operand base = parseOperand(depth + 1);
    address.value = base.kind == Operand::Kind::symbol ? base.value : 0;
    base.value = base.kind == Operand::Kind::symbol ? 0 : base.value;
    if (cursor.peek().is('+') || cursor.peek().is('-')) {
      cursor.accept('+');
      address.value += cursor.expectInteger("an offset");
    }
    address.parts.push_back(std::move(base));
    while (cursor.accept(',')) address.parts.push_back(parseOperand(depth + 1));
    cursor.expect(']');
    return address;
  }

  Cursor &cursor;
  const Module &module;
  Function &function;
  std::vector<Scope> scopes;
  std::vector<uint32_t> stack;
  std::vector<uint32_t> statementScope;
  uint32_t sourceFile = 0, sourceLine = 0;
};

} // namespace

void parseBody(Cursor &cursor, const Module &module, Function &function) { BodyParser(cursor, module, function).run(); }

} // namespace stator::sim::ptx
