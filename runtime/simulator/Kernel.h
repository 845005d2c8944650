// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A kernel ready to run: decoded code, the layout of a warp's register file, and what a launch must provide.
#pragma once

#include "runtime/simulator/Instruction.h"
#include "runtime/simulator/ptx/Syntax.h"

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

namespace stator::sim {

/// Special registers that a kernel can read. The first group is fixed when a block starts, the second when a warp is
/// set up, the third changes and is refreshed before each read.
enum class Special : uint8_t {
  tidX,
  tidY,
  tidZ,
  ntidX,
  ntidY,
  ntidZ,
  ctaidX,
  ctaidY,
  ctaidZ,
  nctaidX,
  nctaidY,
  nctaidZ,
  clusteridX,
  clusteridY,
  clusteridZ,
  nclusteridX,
  nclusteridY,
  nclusteridZ,
  clusterCtaidX,
  clusterCtaidY,
  clusterCtaidZ,
  clusterNctaidX,
  clusterNctaidY,
  clusterNctaidZ,
  clusterCtarank,
  clusterNctarank,
  isExplicitCluster,
  workspaceLow, ///< %envreg1 and %envreg2: where a cooperative launch keeps its grid's barrier
  workspaceHigh,
  envregNone,
  smid,
  nsmid,
  gridid,
  nwarpid,
  dynamicSmemSize,
  totalSmemSize,
  laneid,
  warpid,
  lanemaskEq,
  lanemaskLe,
  lanemaskLt,
  lanemaskGe,
  lanemaskGt,
  clock,
  clockHi,
  clock64,
  globaltimer,
  globaltimerLo,
  globaltimerHi,
  activemaskNone
};
constexpr bool changes(Special s) { return s >= Special::clock; }

/// One value written into every lane when a warp is set up. `sharedRelative`: an offset in the block's shared memory,
/// moved by the block's place in its cluster.
struct Constant {
  Slot slot;
  uint8_t bytes;
  bool sharedRelative;
  uint64_t low, high;
};

/// A kernel parameter read at a fixed offset: a value like a constant, written when a warp is set up for a launch.
struct ParamUse {
  Slot slot;
  uint32_t offset;
  uint8_t bytes, registerBytes;
  bool isSigned;
};

struct SpecialUse {
  Special which;
  Slot slot;
  uint8_t bytes;
};

/// A kernel or function whose text cannot run here: the message names kernel, line and text.
struct DecodeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SharedVariable {
  std::string name;
  uint64_t offset, bytes;
};

/// An address operand of an instruction that has several: base register (or constant) plus offset.
struct AddressOperand {
  Slot base;
  int64_t offset;
  bool wide; ///< the base has 64 bits
  Space space;
};

/// A `.func` that the kernel may call. Its registers and its parameters have a place of their own in the file, and each
/// lane keeps its return address in `returnTo`.
struct Callee {
  const ptx::Function *function = nullptr;
  uint32_t entry = 0;
  Slot returnTo;
};

/// A register of the text and its place in the warp's register file.
struct NamedRegister {
  const ptx::Register *declared;
  Slot slot;
};

struct Kernel {
  std::string name;
  const ptx::Function *function = nullptr;
  std::vector<Instr> code;
  std::vector<Slot> slots; ///< what Instr::list refers to
  std::vector<Constant> constants;
  std::vector<SpecialUse> specials;
  std::vector<ParamUse> paramUses;
  std::vector<Callee> callees;
  std::vector<AddressOperand> addresses; ///< what Instr::addresses refers to
  /// Registers of wgmma: for each instruction those that it touches, and what executes it (see Wgmma.h).
  std::vector<std::vector<uint32_t>> wgmmaTouches;
  std::vector<Execute> wgmmaOriginal;
  uint32_t wgmmaRegisters = 0;
  std::vector<SharedVariable> shared;
  std::vector<NamedRegister> registers;
  std::vector<uint32_t> unsteady; ///< branches that follow a clock or the place on the chip
  std::vector<std::string> texts;            ///< statement text per instruction, for reports
  std::vector<std::vector<uint32_t>> blocks; ///< successors of each basic block
  std::vector<uint32_t> blockOf, blockFirst; ///< per instruction; per block
  uint32_t dataBytes = 0, poisonCount = 1;
  uint32_t paramBytes = 0, localBytes = 0, sharedBytes = 0;
  uint32_t dynamicSharedAlign = 16;
  uint32_t callParamBase = 0;       ///< where call parameters lie in a thread's local memory
  bool usesAsync = false;           ///< asynchronous operations or mbarriers: accesses look out for them
  bool usesGridOrder = false;       ///< atomics, fences or volatile accesses: blocks run in one fixed interleaving
  bool usesPartialBarriers = false; ///< named barriers or mbarriers: warps of a block are ordered pairwise
  uint32_t registersPerThread = 0;  ///< an estimate for occupancy: 32-bit registers live at once

  /// Can control get from instruction `from` to instruction `to`?
  bool reaches(uint32_t from, uint32_t to) const;
  /// Does control go from `from` to the kernel's end without doing anything else?
  bool onlyExits(uint32_t from) const;
};

/// Addresses of module-level variables, chosen by whoever loads the module.
using SymbolAddresses = std::map<std::string, uint64_t>;

/// Decodes entry `function` of `module`. Throws DecodeError.
std::unique_ptr<Kernel> decodeKernel(const ptx::Module &module, const ptx::Function &function,
                                     const SymbolAddresses &symbols, std::string_view text);

/// Finds Kernel::unsteady: what a clock, a timer or %smid reaches through registers.
void findUnsteady(Kernel &kernel);

} // namespace stator::sim
