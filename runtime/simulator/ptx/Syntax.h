// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the parser makes of a PTX module: names resolved to registers, nothing interpreted yet.
#pragma once

#include "runtime/simulator/Types.h"

#include <map>
#include <string>
#include <vector>

namespace stator::sim::ptx {

inline constexpr uint32_t kNone = 0xffffffffu;

/// One operand as written. Registers are indices into Function::registers.
struct Operand {
  enum class Kind : uint8_t {
    reg,     ///< `reg`; `second` is q of `p|q` (kNone where absent, and `hasSecond` tells a sink apart)
    special, ///< `%tid.x`; name
    symbol,  ///< variable, label or function; name, plus `value` bytes
    integer, ///< value
    float32, ///< value holds the bits
    float64,
    sink,    ///< `_`
    vector,  ///< `{a, b}`; parts
    address, ///< `[base+offset, {..}]`; parts[0] is the base, `value` the offset, further parts follow it
    list     ///< `(a, b)` of a call
  };
  Kind kind = Kind::sink;
  bool negated = false; ///< `!%p`
  bool hasSecond = false;
  uint32_t reg = kNone, second = kNone;
  int64_t value = 0;
  std::string name;
  std::vector<Operand> parts;
};

struct Statement {
  uint32_t line = 0;
  uint32_t guard = kNone;
  bool guardNegated = false;
  std::string opcode;                 ///< the base mnemonic: "ld"
  std::vector<std::string> modifiers; ///< {"global", "v4", "f32"}
  std::vector<Operand> operands;
  uint32_t sourceFile = 0, sourceLine = 0; ///< from `.loc`; 0 where absent

  std::string mnemonic() const {
    std::string text = opcode;
    for (const std::string &m : modifiers) text += "." + m;
    return text;
  }
};

struct Register {
  std::string name;
  Type type = Type::none;
};

/// Address of another symbol inside an initialiser: 8 (or 4) bytes at `offset`.
struct Relocation {
  uint64_t offset;
  unsigned bytes;
  std::string symbol;
  int64_t addend;
  bool generic;
};

struct Variable {
  std::string name;
  Space space = Space::global;
  Type type = Type::none;
  uint64_t align = 1, bytes = 0;
  bool isExtern = false, visible = false, unsized = false;
  uint32_t line = 0;
  std::vector<uint8_t> init; ///< shorter than `bytes`: the rest is zero
  std::vector<Relocation> relocations;
};

struct Param {
  std::string name;
  Type type = Type::none;
  uint64_t align = 1, bytes = 0, offset = 0;
  uint32_t reg = kNone; ///< a `.reg` parameter of a function
};

struct Function {
  std::string name;
  bool isEntry = false, hasBody = false, noReturn = false;
  uint32_t line = 0;
  std::vector<Param> params, results;
  uint32_t maxThreads[3] = {0, 0, 0}, requiredThreads[3] = {0, 0, 0}, requiredCluster[3] = {0, 0, 0};
  uint32_t maxRegisters = 0, minBlocksPerSm = 0;
  bool explicitCluster = false;
  std::vector<Register> registers;
  std::vector<Variable> variables; ///< .shared/.local/.param declared in the body, names made unique by scope
  std::vector<Statement> statements;
  std::map<std::string, uint32_t> labels;                      ///< to the index of the statement that follows
  std::map<std::string, std::vector<std::string>> targetLists; ///< .branchtargets / .calltargets
  std::map<std::string, Function> prototypes;                  ///< .callprototype

  uint64_t paramBytes() const { return params.empty() ? 0 : params.back().offset + params.back().bytes; }
};

struct Module {
  unsigned versionMajor = 0, versionMinor = 0;
  std::string target; ///< "sm_90a"
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::map<uint32_t, std::string> files;
};

/// Parses a whole module. Throws SyntaxError with the line of the first mistake.
Module parse(std::string_view text);

} // namespace stator::sim::ptx
