// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Files of tests/simulator/litmus: how they are read, run and judged. runtime/simulator/README.md describes them.
#pragma once

#include "tests/unit/simulator/Machine.h"

#include <map>
#include <set>

namespace stator::sim::test {

inline const char *const kLitmusFolder = "tests/simulator/litmus";

struct Litmus {
  struct Argument {
    bool isBuffer = false, isMap = false;
    std::string type, fill;
    size_t count = 1;                                ///< of elements; of a map, the number of its buffer
    uint32_t dims[2] = {}, box[2] = {}, swizzle = 0; ///< of a map
    uint64_t bits = 0;
  };
  /// A tensor that a memory plan would place in the buffer of an argument.
  struct Tensor {
    size_t argument;
    uint64_t offset, bytes;
    std::string name;
    bool dead; ///< its memory has been given away
  };
  std::string text, chip = "a100";
  Dim3 grid, block, cluster;
  uint32_t shared = 0;
  bool cooperative = false;
  std::vector<Argument> arguments;
  std::vector<Tensor> tensors;
  std::vector<uint64_t> seeds{0};
  std::vector<Settings::Async> modes{Settings::Async::early};
  std::set<std::string> expected;
  std::map<uint32_t, std::set<std::string>> lines; ///< kinds that must be found at lines marked with `//! KIND`
  size_t resultArgument = 0;
  std::string resultType;
  std::vector<double> result;
};

Litmus readLitmus(const std::string &path);

/// What a run showed. `wrong` is empty where it is as the file expects.
struct Verdict {
  std::set<std::string> found;
  std::string places; ///< "race line 27"
  std::string wrong;
};
/// Runs every seed and mode that the file names; stops at the first that is wrong.
Verdict judgeLitmus(const Litmus &litmus);

/// Names of all files, without `.ptx`, in order.
std::vector<std::string> allLitmus();

/// The table: one line an item, `NUMBER | what it shows | files`.
struct LitmusItem {
  unsigned number;
  std::string title;
  std::vector<std::string> files; ///< defects; each has a twin NAME-clean
};
std::vector<LitmusItem> litmusTable();

} // namespace stator::sim::test
