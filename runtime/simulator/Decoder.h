// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From a parsed function to a Kernel. Rows with unusual operands use this class in their Decode function.
#pragma once

#include "runtime/simulator/Kernel.h"
#include "runtime/simulator/Opcodes.h"

#include <set>

namespace stator::sim {

class Decoder {
public:
  Decoder(const ptx::Module &module, const ptx::Function &entry, const SymbolAddresses &symbols, std::string_view text);
  std::unique_ptr<Kernel> run();

  /// How an immediate of an operand is read.
  enum class Number : uint8_t { integer, f32, f64 };

  /// A source of exactly `bytes` (16-byte at most): register, constant, special register or address of a symbol.
  Slot source(const ptx::Operand &operand, unsigned bytes, Number number = Number::integer);
  /// A source register of at least `bytes`; `actual` receives its width (immediates get `bytes`).
  Slot wideSource(const ptx::Operand &operand, unsigned bytes, Number number, uint8_t &actual);
  /// A destination of exactly `bytes`; `_` gives a place that nobody reads.
  Slot destination(const ptx::Operand &operand, unsigned bytes);
  Slot wideDestination(const ptx::Operand &operand, unsigned bytes, uint8_t &actual);
  /// A predicate. As a source, `true`/`false` constants 1 and 0 are taken too.
  Slot predicate(const ptx::Operand &operand, bool isDestination);
  /// `[base+offset]` of a memory instruction: fills a, offset, wideAddress, and may move the space from param to local.
  void address(const ptx::Operand &operand, Instr &instr);
  /// Adds an address operand in `space` to Kernel::addresses; its index is returned.
  uint32_t addAddress(const ptx::Operand &operand, Space space);
  /// A destination `d|p` or `d`: `second` receives the predicate's slot.
  Slot pair(const ptx::Operand &operand, unsigned bytes, Slot &second);
  /// Gives a `ret` the place of its function's return address; a kernel's `ret` exits.
  void returnFrom(Instr &instr);
  /// Registers an operand list for Instr::list.
  void list(Instr &instr, const std::vector<Slot> &slots);
  Slot constant(uint64_t low, unsigned bytes, uint64_t high = 0, bool sharedRelative = false);
  /// A kernel parameter at a fixed offset, as a register of `registerBytes`.
  Slot param(uint64_t offset, unsigned bytes, unsigned registerBytes, bool isSignedType);
  /// Is `[symbol+offset]` a parameter of the kernel itself? Then `offset` receives its place.
  bool kernelParam(const ptx::Operand &address, uint64_t &offset) const;
  /// A fresh register without a name.
  Slot temporary(unsigned bytes);
  Slot sink() const { return sinkSlot; }
  /// The carry flag of add.cc and its kin.
  Slot carry() {
    if (!carrySlot.data) carrySlot = temporary(0);
    return carrySlot;
  }
  unsigned registerBytes(const ptx::Operand &operand) const; ///< 0 for predicates and what is no register
  /// The integer value of an immediate operand.
  int64_t immediate(const ptx::Operand &operand);
  void expectOperands(const ptx::Statement &statement, size_t least, size_t most);
  /// The instruction index of a label comes later: note that `instr.target` (or slots entry) wants it.
  void branchTo(Instr &instr, const std::string &label);
  void branchTable(Instr &instr, const std::string &name);
  /// Sets up a direct call of `name`; see Calls in ops/Control.cpp.
  void call(Instr &instr, const std::string &name, const ptx::Operand *results, const ptx::Operand *arguments);
  /// Places in local memory of a function's formal parameters and results, and of a `.param` variable.
  uint64_t paramPlace(const std::string &name, uint64_t *bytes = nullptr);
  [[noreturn]] void fail(const std::string &what) const;
  Kernel &result() { return *kernel; }
  const ptx::Module &ptxModule() const { return module; }

private:
  struct FunctionState {
    const ptx::Function *function;
    std::vector<Slot> registers;
    uint32_t firstBlock = 0;
    Slot returnTo;
  };
  struct Fixup {
    uint32_t instr;
    std::string label;
  };

  void reachCallees();
  void layOutMemory();
  void layOutRegisters(FunctionState &state);
  void splitBlocks();
  void decodeFunction(FunctionState &state);
  void decodeStatement(const ptx::Statement &statement);
  void decodeByLetters(const ptx::Statement &statement, Instr &instr, const char *letters);
  void refreshSpecials(size_t before);
  void finish();
  bool symbolAddress(const std::string &name, uint64_t &address, Space &space) const;
  Slot special(const std::string &name, unsigned bytes);
  Slot registerSlot(uint32_t reg) const { return current->registers[reg]; }
  std::string_view lineText(uint32_t line) const;

  const ptx::Module &module;
  const ptx::Function &entry;
  const SymbolAddresses &symbols;
  std::vector<std::string_view> lines;
  std::unique_ptr<Kernel> kernel;
  std::vector<FunctionState> states;
  FunctionState *current = nullptr;
  const ptx::Statement *statement = nullptr;
  std::map<std::tuple<uint64_t, uint64_t, unsigned, bool>, Slot> constants;
  std::map<std::pair<Special, unsigned>, Slot> specials;
  std::map<std::tuple<uint64_t, unsigned, unsigned, bool>, Slot> paramSlots;
  std::vector<SpecialUse> toRefresh;
  std::map<std::string, std::pair<Space, uint64_t>> places; ///< variables of this kernel: space and address
  std::map<std::string, uint64_t> sizes;
  std::map<std::string, uint32_t> labels; ///< "function/label" to the position in `decoded`
  std::vector<Instr> decoded;             ///< in the order of the text
  std::vector<std::string> decodedText;
  std::vector<std::pair<uint32_t, std::string>> fixups, tableFixups;
  std::vector<std::pair<uint32_t, std::string>> callFixups;
  std::vector<uint32_t> functionStart;
  Slot sinkSlot, carrySlot;
};

} // namespace stator::sim
