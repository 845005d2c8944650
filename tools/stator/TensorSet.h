// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Named tensors from files, at random, and compared with others.
#ifndef STATOR_TOOLS_STATOR_TENSORSET_H
#define STATOR_TOOLS_STATOR_TENSORSET_H

#include "compiler/io/Safetensors.h"
#include <map>
#include <string>
#include <vector>

namespace stator::cli {

/// What a program says about an input: its sizes, -1 where they depend on symbols (then `least` and `most` bound them).
struct InputSpec {
  std::string name;
  io::DType type;
  std::vector<int64_t> shape, least, most;
  std::vector<std::string> symbols; // per dimension, "" where the size is a number
};

/// Reads `--in` arguments: FILE.safetensors, or NAME=FILE.npy. Keys are input names or positions ("0", "1", ...).
io::Result<std::map<std::string, io::Tensor>> readTensors(const std::vector<std::string> &arguments);

/// Picks the tensors of the inputs in order: by name, else by position. `arguments` are those that the tensors came from: a
/// NAME=FILE.npy that names no input is an error.
io::Result<std::vector<io::Tensor>> pickInputs(const std::vector<InputSpec> &specs, const std::map<std::string, io::Tensor> &tensors,
                                               const std::vector<std::string> &arguments);

/// Normally distributed floats, small non-negative integers, coin flips; the same for the same seed. A symbol gets its
/// lower bound, raised to 2 where its bounds allow.
std::vector<io::Tensor> randomInputs(const std::vector<InputSpec> &specs, uint64_t seed);

struct Tolerance {
  double rtol = -1, atol = -1; // negative: by element type, for a whole network
};

/// Compares one tensor; "" where it matches, else one line: the worst element, its index and both values. Integers and
/// bools must be equal; NaN matches NaN, infinities only themselves.
std::string compareTensor(const io::Tensor &got, const io::Tensor &expected, Tolerance tolerance);

} // namespace stator::cli

#endif // STATOR_TOOLS_STATOR_TENSORSET_H
