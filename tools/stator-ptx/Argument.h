// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Kernel arguments as the command line spells them: numbers, and device buffers filled in many ways.
#pragma once

#include "tools/stator-ptx/Element.h"

#include <stdexcept>
#include <vector>

namespace stator::ptxtool {

/// What is wrong with the command line or a file; the text is meant for people.
struct UsageError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Argument {
  enum class Kind : uint8_t { number, buffer, same, bytes };
  Kind kind = Kind::number;
  std::string name; ///< in reports; empty: none was given
  sim::Type type = sim::Type::f32;
  uint64_t bits = 0;         ///< number
  std::vector<size_t> shape; ///< buffer, elements
  bool defined = true;       ///< buffer: false leaves its bytes uninitialised
  std::vector<uint8_t> data; ///< buffer: the elements; bytes: the parameter itself
  size_t other = 0;          ///< same: the argument whose buffer this one points into
  uint64_t offset = 0;       ///< same: bytes behind its start

  size_t count() const {
    size_t n = 1;
    for (size_t extent : shape) n *= extent;
    return n;
  }
};

/// Elements that a buffer may have.
inline constexpr uint64_t kMostBytes = uint64_t{1} << 36;

/// Parses `[NAME=]SPEC`. SPEC: `TYPE:NUMBER`, `zeros|ones|undefined|iota[:TYPE]:SHAPE`, `fill:TYPE:SHAPE:NUMBER`,
/// `random[:TYPE]:SHAPE:SEED[:LOW:HIGH]`, `list:TYPE:A,B,..`, `file:PATH.npy`, `same:INDEX[:BYTES]`, `bytes:HEX`.
/// SHAPE is a count or extents as in 64x32; TYPE is f32 where it is left out. Throws UsageError.
Argument parseArgument(const std::string &text);

/// Reads a NumPy array file. Throws UsageError.
Argument readNpy(const std::string &path);
/// Writes elements as a NumPy array file; bf16 becomes u2. Throws UsageError.
void writeNpy(const std::string &path, sim::Type type, const std::vector<size_t> &shape,
              const std::vector<uint8_t> &data);

} // namespace stator::ptxtool
