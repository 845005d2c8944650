// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of the asynchronous proxy: bulk and tensor copies, their reductions, st.async and red.async.
//
// An operation is judged at its issue, with what its issuer knows. From then until it is known to be over its
// destination in shared memory is marked "in flight" and its source "being read". When the bytes really move is the
// mode's choice: at issue (early), when nothing else in the cluster can go on (late), or either (random). A completion
// is a tx-count decrease of mbarriers, or membership of a bulk group that the issuing lane waits for.
#pragma once

#include "runtime/simulator/Block.h"

#include <vector>

namespace stator::sim {

/// Combines `bytes` bytes at `from` into those at `to`.
using Reduce = void (*)(uint8_t *to, const uint8_t *from, uint32_t bytes);

/// A run of bytes whose place has been checked.
struct AsyncRange {
  uint8_t *data = nullptr, *defined = nullptr; ///< defined null: always defined
  Block *owner = nullptr;                      ///< null: global memory
  uint64_t at = 0;                             ///< offset in the owner's shared memory, or address
};

struct AsyncOp {
  struct Chunk {
    AsyncRange to, from; ///< from.data null: filled with `fill`
    uint32_t bytes = 0;
  };
  struct Signal {
    MbarrierPlace barrier;
    uint32_t bytes = 0;
    uint32_t segment = 0;
  };
  Warp *warp = nullptr;
  const Instr *instr = nullptr;
  unsigned lane = 0;
  std::vector<Chunk> chunks;
  std::vector<uint8_t> own;        ///< bytes that chunks copy from where the source is registers
  uint32_t fill = 0, fillSize = 4; ///< pattern of bytes outside the tensor, and its width
  Reduce reduce = nullptr;         ///< null: copies
  std::vector<Signal> signals;     ///< empty: a member of a bulk group
  uint32_t group = 0;
  uint32_t readSegment = 0, writeSegment = 0;
  bool moved = false, readOver = false;
  uint32_t arrivals = 0; ///< cp.async.mbarrier.arrive: lanes whose copies up to `serial` it waits for
  uint64_t serial = 0;
};

/// Checks `bytes` at `address` in `space` for one lane; reports and returns false where they may not be accessed.
bool locate(Warp &warp, const Instr &instr, unsigned lane, Space space, uint64_t address, uint32_t bytes, bool write,
            AsyncRange &range);
/// Judges and starts an operation.
void issue(Warp &warp, std::unique_ptr<AsyncOp> op);
/// cp.async.bulk.commit_group and wait_group. `readOnly`: only the sources must have been read.
void commitBulk(Warp &warp, uint32_t mask);
void waitBulk(Warp &warp, uint32_t mask, uint32_t keep, bool readOnly);
/// Completes an operation that mbarriers watch, if there is one in flight. False where there is none.
bool deliver(Cluster &cluster, Worker &worker);
/// The cluster's blocks have ended: whatever is still in flight is reported.
void finishCluster(Cluster &cluster, Worker &worker);

/// Marks a range of shared memory as being read by the asynchronous proxy, or takes the mark away.
void markReading(const AsyncRange &range, uint32_t bytes, bool begins);

} // namespace stator::sim
