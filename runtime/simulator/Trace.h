// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A disassembled trace of one warp: every instruction it executes, the lanes that take part, and what they computed.
#pragma once

#include "runtime/simulator/Warp.h"

#include <functional>
#include <string>

namespace stator::sim {

/// Sees the instructions of one warp of a launch before and after they are executed.
class WarpTrace {
public:
  struct Options {
    uint32_t block[3] = {0, 0, 0}; ///< block of the grid
    uint32_t warp = 0;             ///< warp of the block
    uint32_t lanes = kAllLanes;    ///< lanes whose values are printed
    uint64_t limit = 10000;        ///< lines; the trace stops there and says so
  };
  /// `write` receives one line at a time, without its end.
  WarpTrace(const Options &options, std::function<void(const std::string &)> write)
      : options(options), write(std::move(write)) {}

  bool watches(const Warp &warp) const;
  void before(Warp &warp, const Instr &instr, uint32_t mask);
  void after(Warp &warp, const Instr &instr, uint32_t mask);

private:
  std::string values(Warp &warp, size_t reg, Type type, uint32_t mask) const;

  Options options;
  std::function<void(const std::string &)> write;
  std::vector<uint8_t> file; ///< the registers before the instruction
  uint64_t lines = 0;
};

} // namespace stator::sim
