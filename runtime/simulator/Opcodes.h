// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The opcode table. One row says which PTX forms it accepts, which operands it takes, and which function executes it;
// adding an opcode is adding a row to one of the files in ops/.
#pragma once

#include "runtime/simulator/Instruction.h"

#include <string>
#include <vector>

namespace stator::sim {

namespace ptx {
struct Statement;
}
class Decoder;

/// Fills operands that the letters of Row::operands cannot describe. Throws DecodeError through the decoder.
using Decode = void (*)(Decoder &decoder, const ptx::Statement &statement, Instr &instr);

struct Row {
  /// The opcode with its suffixes in order: `add.rn|rz|rm|rp?.ftz?.sat?.f32`. `|` separates alternatives, a trailing
  /// `?` makes a suffix optional, `m64*` takes any that begins so (the row's decoder looks closer). Matching is greedy
  /// from left to right.
  const char *form;
  /// One letter an operand, in order, filling d, a, b, c, e, f: p predicate, P predicate or pair `p|q` (q goes to f),
  /// b/h/w/d/q 8/16/32/64/128-bit, f f32 and e f64 (decimal constants convert), s 32-bit shift amount or count,
  /// v a vector `{x, y}` whose elements go to the instruction's list. Null: `decode` does it all.
  const char *operands;
  Execute execute;
  OpClass kind;
  Decode decode = nullptr;
};

/// A list of rows, as each file of ops/ gives one.
struct Rows {
  const Row *first;
  size_t count;
};

/// Finds the row for an opcode and fills `modifiers` from its suffixes; null where no row matches.
const Row *findRow(const std::string &opcode, const std::vector<std::string> &suffixes, Modifiers &modifiers);

/// All rows, for tests and the coverage listing.
std::vector<const Row *> allRows();

} // namespace stator::sim
