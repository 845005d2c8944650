// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// cp.async: copies from global to shared memory that run beside their thread.
//
// From issue to the wait that covers it, the destination bytes are marked "in flight": whoever reads or writes them is
// reported. When the bytes really move is the mode's choice: at issue (early), at the wait (late), or either (random),
// so that a kernel which is right by luck in one mode is wrong in another. After the wait the bytes are a write of the
// waiting lane, so that other threads need a barrier before they read them.
#pragma once

#include "runtime/simulator/Access.h"

namespace stator::sim {

struct WarpAsync {
  struct Copy {
    const Instr *instr;
    uint32_t pending; ///< lanes that have not waited for it
    bool moved;
    uint32_t bytes;
    Places to, from;
    Access access;
    uint32_t sourceBytes[kLanes]; ///< the rest is filled with zeros
    uint32_t group[kLanes];       ///< number of the lane's group
    uint64_t serial;
  };
  std::vector<Copy> copies;
  uint64_t issued = 0;
  uint32_t committed[kLanes] = {}; ///< groups that each lane has closed
};

/// Issues a copy for the lanes of `copy.pending`, whose places are resolved.
void issueCopy(Warp &warp, WarpAsync::Copy &copy);
/// Completes, for the lanes of `mask`, every copy but those of each lane's newest `keep` groups. `all`: open ones too.
void completeCopies(Warp &warp, uint32_t mask, uint32_t keep, bool all);
/// Completes, for the lanes of `mask`, the copies issued before number `serial`.
void completeCopiesBefore(Warp &warp, uint32_t mask, uint64_t serial);

} // namespace stator::sim
