// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mbarrier objects: phases that complete when all arrivals have come and all announced bytes have landed.
//
// The object's state is kept beside the shared memory, whose eight bytes are marked: an ordinary access to them, or a
// copy over them, is reported. Each phase collects what its arrivals knew (races are judged by it) and hands it to
// whoever sees the phase complete.
#pragma once

#include "runtime/simulator/Race.h"

namespace stator::sim {

struct Instr;
class Block;
class Warp;

struct Mbarrier {
  static constexpr uint32_t kMost = (1u << 20) - 1; ///< arrivals, and bytes in either direction

  uint32_t expected = 0, pending = 0; ///< arrivals that a phase needs, and that the current one still lacks
  int64_t bytes = 0;                  ///< announced less landed (the tx-count)
  uint64_t phase = 0;                 ///< phases completed so far: the number of the current one
  uint32_t engine = 0;                ///< actor number of the copies that it watches
  BarrierKnowledge arriving, completed;

  /// What an arrival returns: the phase it belongs to, and how many arrivals it lacked.
  uint64_t token() const { return phase << 20 | pending; }
  std::string describe(uint32_t offset) const;
};

/// Where an mbarrier operation of one lane goes.
struct MbarrierPlace {
  Block *home = nullptr;
  uint32_t offset = 0;
  Mbarrier *object = nullptr;
};

/// The object at `offset` of `home`'s shared memory; reports and returns null where none is initialised.
Mbarrier *mbarrierAt(Warp &warp, const Instr &instr, unsigned lane, Block &home, uint32_t offset);
/// `count` arrivals. `drop`: later phases expect as many fewer. Knowledge must have been released before.
void arriveAt(Warp &warp, const Instr &instr, unsigned lane, const MbarrierPlace &place, uint32_t count, bool drop);
/// Adds `bytes` (negative: landed) to the current phase's announced bytes.
void addBytes(Warp &warp, const Instr &instr, unsigned lane, const MbarrierPlace &place, int64_t bytes);

} // namespace stator::sim
