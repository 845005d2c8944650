// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A warp: its register file and its lanes, grouped by PC.
//
// Every lane has a PC of its own. Lanes that stand at one PC form a group; one group is current, the others are parked.
// The scheduler runs the group with the smallest PC, which (code being laid out in weak topological order) reconverges
// where a hardware's convergence barriers would. Two rules add the forward progress that independent thread scheduling
// promises: a group that has run for a slice while others could run is parked in favour of the least recently run one,
// and with a schedule seed slices are short and the choice is random.
#pragma once

#include "runtime/simulator/Instruction.h"
#include "runtime/simulator/Kernel.h"

#include <string>
#include <vector>

namespace stator::sim {

class Block;
class Worker;
struct WarpOrder;
struct WarpAsync;
class WarpTrace;
struct WarpWgmma;

/// Why a parked group cannot run.
enum class Wait : uint8_t {
  none,
  converge, ///< `.aligned`: until every live lane of the warp stands at this instruction
  gather,   ///< `.sync` with a member mask, non-aligned barriers: until the members have come, at whatever PC
  barrier,  ///< a barrier of the block; `key` is its number
  cluster,  ///< the barrier of the cluster
  mbarrier  ///< a phase of the mbarrier at shared offset `key`
};

struct Group {
  uint32_t pc = 0, mask = 0;
  Wait wait = Wait::none;
  uint64_t key = 0;
  uint64_t turn = 0;
};

/// Lanes that execute a collective together, and the instruction that each part of them stands at.
struct Parts {
  struct Part {
    const Instr *instr;
    uint32_t mask;
  };
  Part part[kLanes];
  unsigned count = 0;
  uint32_t all() const {
    uint32_t mask = 0;
    for (unsigned i = 0; i < count; ++i) mask |= part[i].mask;
    return mask;
  }
};

enum class Outlook : uint8_t { goesOn, recurs, parks };

class Warp {
public:
  /// Allocates the register file for `kernel`; constants are written once, here.
  Warp(Block &block, const Kernel &kernel, unsigned index);
  ~Warp();

  /// Prepares lanes 0..threads-1 to start at the kernel's first instruction.
  void start(unsigned threads);
  /// Runs until nothing can run or `budget` instructions are used up; subtracts what it used.
  void run(uint64_t &budget);
  bool done() const { return live == 0; }
  bool canRun() const;

  template <class T> T *lanes(Slot slot) { return reinterpret_cast<T *>(data + slot.data); }
  uint32_t &predicate(Slot slot) { return *reinterpret_cast<uint32_t *>(data + slot.data); }
  /// Marks the lanes of `mask` in `slot` as defined, except those of `undefined`.
  void define(Slot slot, uint32_t mask, uint32_t undefined) {
    uint32_t &p = poison[slot.poison];
    p = (p & ~mask) | (undefined & mask);
  }

  /// The address that lane `lane` gives for an operand of Kernel::addresses.
  uint64_t addressOf(const AddressOperand &operand, unsigned lane) {
    if (operand.wide) return lanes<uint64_t>(operand.base)[lane] + static_cast<uint64_t>(operand.offset);
    return static_cast<uint32_t>(lanes<uint32_t>(operand.base)[lane] + static_cast<uint32_t>(operand.offset));
  }

  // --- for executors of control flow and collectives ---
  /// Moves the lanes of `mask` to `target`; the others of the current group go on behind the instruction.
  void jump(uint32_t mask, uint32_t target);
  /// Ends the lanes of `mask`.
  void exit(uint32_t mask);
  /// Splits lanes that a guard excludes off, so that the current group is exactly `mask`; they go on at `after`.
  void isolate(uint32_t mask, uint32_t after);
  /// True when every live lane stands at `instr`; the current group is then all of them and goes on behind it. False:
  /// the group was parked and the instruction will be executed again.
  bool converge(const Instr &instr, uint32_t mask);
  /// Gathers `need` at instructions with the same row and `key`. True: `parts` are complete, and every part will go on
  /// behind its instruction. False: the lanes of `mask` were parked. The current group may shrink.
  bool gather(const Instr &instr, uint32_t mask, uint64_t key, uint32_t need, Parts &parts);
  /// Makes `mask`, gathered at `instr` itself, the current group again.
  void regroup(const Instr &instr, uint32_t mask);
  /// Parks the lanes of `mask` behind `instr` until release().
  void park(const Instr &instr, uint32_t mask, Wait wait, uint64_t key);
  /// The same in front of `instr`, which will be executed again.
  void parkAt(const Instr &instr, uint32_t mask, Wait wait, uint64_t key);
  /// Gives up waiting at mbarriers: the waiting instructions answer false. Did any wait?
  bool timeOut();
  /// Lets the groups that wait for (wait, key) run; those lanes are returned.
  uint32_t release(Wait wait, uint64_t key);
  /// Lets waiting groups execute their instruction again (lanes have exited).
  void retry();
  void refresh(const SpecialUse &use);

  /// Runs this warp alone until its future is clear: it changes memory or ends, it comes back to the very same state
  /// while memory stands still (and so spins for ever), or none of its lanes can run.
  Outlook lookAhead();
  /// One line a group: PC, lanes, what it waits for.
  std::string describe() const;
  /// Instruction indices of all groups, the current one included.
  std::vector<Group> allGroups() const;

  Block &block;
  Worker &worker;
  const Kernel &kernel;
  const unsigned index;
  uint32_t pc = 0;
  uint32_t active = 0, live = 0, existing = 0;
  uint8_t *data = nullptr;
  uint32_t *poison = nullptr;
  std::unique_ptr<WarpOrder> order; ///< what the lanes know of others' accesses, for race checks; null when off
  std::unique_ptr<WarpAsync> async; ///< copies in flight; null before the first
  std::unique_ptr<WarpWgmma> wgmma; ///< its matrix operations; null where the kernel has none
  bool bothExited = false;
  WarpTrace *trace = nullptr; ///< null unless somebody watches this warp
  uint32_t clusterArrived = 0,
           clusterDone = 0;            ///< lanes that have arrived at the cluster's barrier; whose phase is over
  uint32_t bulkCommitted[kLanes] = {}; ///< bulk groups that each lane has closed
  uint32_t lastTry = kAllLanes;        ///< mbarrier.try_wait that answered false just before

private:
  bool schedule();
  void updateSwitch();

  std::vector<uint8_t> file;
  std::vector<Group> parked;
  uint32_t switchAt = 0; ///< a PC at or above it asks the scheduler
  uint64_t slice = 0, turns = 0;
  bool rotated = false;
};

} // namespace stator::sim
