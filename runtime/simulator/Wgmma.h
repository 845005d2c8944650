// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma.mma_async: matrix operations of warpgroups that run beside their warps.
//
// Each warp computes the sixteen rows of the result that are its own. From issue to the wait that covers an operation
// its registers must not be touched, its operands in shared memory must not be written, and a register that other
// instructions have touched needs a wgmma.fence before an operation uses it. To find touches, the executors of all
// other instructions that name such registers are wrapped when the kernel is decoded.
#pragma once

#include "runtime/simulator/AsyncEngine.h"

#include <deque>

namespace stator::sim {

/// Instr::tag of wgmma.mma_async. Its list holds the results (Instr::addresses of them), then A's registers.
inline constexpr uint32_t kWgmmaColumns = 0xffff, kWgmmaNegateA = 1u << 16, kWgmmaNegateB = 1u << 17,
                          kWgmmaTransA = 1u << 18, kWgmmaTransB = 1u << 19, kWgmmaARegisters = 1u << 20;

/// Sixteen bytes of an operand in shared memory: of one row or column and several k, or the reverse (`transposed`).
struct WgmmaOperand {
  bool inRegisters = false, transposed = false;
  unsigned perChunk = 0;          ///< elements
  std::vector<AsyncRange> chunks; ///< by outer index (or k, when transposed), then by group of `perChunk` of the other
  unsigned groups = 0;            ///< chunks of one outer index (or k)
};

struct WgmmaOp {
  const Instr *instr = nullptr;
  WgmmaOperand a, b;
  bool accumulates = true; ///< scale-d
  uint32_t group = 0, segment = 0;
  bool computed = false;
};

/// A warp's operations in flight, and the state of the registers that wgmma instructions name (by their number).
struct WarpWgmma {
  std::deque<WgmmaOp> operations;
  uint32_t committed = 0;
  uint64_t issued = 0;
  bool fenced = false;             ///< a wgmma.fence has been executed
  std::vector<uint8_t> dirty;      ///< touched since the last wgmma.fence
  std::vector<uint16_t> reading;   ///< operations in flight whose A it holds
  std::vector<uint16_t> writing;   ///< operations in flight whose result it is
  std::vector<const Instr *> last; ///< the newest of those
};

/// What the four warps of a warpgroup have executed; they must agree.
struct WarpgroupLog {
  struct Entry {
    const Instr *instr;
    uint64_t a, b; ///< descriptors
  };
  std::deque<Entry> entries;
  uint64_t first = 0, counts[4] = {};
};

std::unique_ptr<WarpWgmma> startWgmma(const Kernel &kernel);
/// Wraps the executors of instructions that touch registers of wgmma.
void guardWgmma(Kernel &kernel);
/// Notes that a warp executes an operation, and reports where its warpgroup's others did not.
void logWgmma(Warp &warp, const Instr &instr, uint64_t a, uint64_t b);
/// Registers of an operation in flight, or of one to come: checks, and marks (or clears) them.
void checkWgmmaRegisters(Warp &warp, const Instr &instr);
void markWgmmaRegisters(Warp &warp, const Instr &instr, bool begins);
/// Completes all but the newest `keep` groups.
void waitWgmma(Warp &warp, uint32_t keep);
/// The block has ended: operations nobody has waited for, and warpgroups whose warps differ, are reported.
void finishWgmma(Block &block);

/// The arithmetic, on the warp's registers.
void computeWgmma(Warp &warp, WgmmaOp &op);

} // namespace stator::sim
