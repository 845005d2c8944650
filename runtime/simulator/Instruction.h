// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A decoded instruction: everything that can be resolved before the launch is resolved here, so that an executor reads
// only offsets into the warp's register file.
#pragma once

#include "runtime/simulator/Types.h"

namespace stator::sim {

class Warp;
struct Instr;
struct Row;

/// Runs one instruction for the lanes of `mask` (never empty).
using Execute = void (*)(Warp &warp, const Instr &instr, uint32_t mask);

/// Where an operand lives in the warp's register file: byte offset of its 32 lanes, and the index of the 32-bit mask
/// whose bit l says that lane l's value is undefined. Constants and special registers are operands like any other:
/// their lanes are filled in when a warp is set up, and they share poison mask 0, which stays empty.
struct Slot {
  uint32_t data = 0, poison = 0;
};

enum class Compare : uint8_t { none, eq, ne, lt, le, gt, ge, equ, neu, ltu, leu, gtu, geu, num, nan };
enum class Logic : uint8_t { none, andOp, orOp, xorOp };

/// The suffixes of an opcode that executors ask for; filled while a row's form is matched.
struct Modifiers {
  Type types[4] = {Type::none, Type::none, Type::none, Type::none};
  uint8_t typeCount = 0;
  Rounding round = Rounding::none;
  bool ftz = false, sat = false, satfinite = false, relu = false, nan = false, xorsign = false, wide = false,
       approx = false, noftz = false, uniform = false, nonCoherent = false, trans = false;
  Compare compare = Compare::none;
  Logic logic = Logic::none;
  Space space = Space::generic, space2 = Space::generic;
  bool hasSpace = false;
  Order order = Order::weak;
  Scope scope = Scope::none;
  uint8_t vector = 1;
};

/// What an instruction counts as.
enum class OpClass : uint8_t {
  integer,
  floating,
  fp64,
  half,
  convert,
  move,
  compare,
  control,
  load,
  store,
  atomic,
  barrier,
  collective,
  special,
  tensor,
  asyncCopy,
  fence,
  internal
};

struct Instr {
  Execute execute = nullptr;
  Slot d, a, b, c, e, f;
  static constexpr uint32_t kAlways = 0xffffffffu;
  uint32_t guard = kAlways; ///< data offset of the guarding predicate
  uint32_t guardPoison = 0;
  bool guardNegated = false;
  uint8_t negated = 0;       ///< bit i: source predicate i is negated (a is bit 0)
  uint8_t bytes = 0;         ///< memory: bytes of one element; conversions: see Convert.cpp
  uint8_t registerBytes = 0; ///< memory: width of the data registers
  bool wideAddress = true;   ///< memory: the address register has 64 bits
  bool last = false;         ///< ends a basic block
  Modifiers mods;
  int64_t offset = 0;               ///< memory: added to the address; otherwise whatever the row's decoder keeps here
  uint32_t target = 0;              ///< branches: index of the target
  uint32_t list = 0, listCount = 0; ///< further operands, in Kernel::slots
  uint32_t addresses = 0;           ///< first of several address operands, in Kernel::addresses
  /// Asynchronous reductions: combines `bytes` bytes at `from` into those at `to`; null: a copy.
  void (*reduce)(uint8_t *to, const uint8_t *from, uint32_t bytes) = nullptr;
  const Row *row = nullptr;
  uint32_t index = 0; ///< of itself
  uint32_t line = 0;  ///< in the PTX text
  uint32_t sourceFile = 0, sourceLine = 0;
  uint32_t tag = 0; ///< free for the row: barrier id, call index, shape number
};

} // namespace stator::sim
