// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The walk of a tensor copy: which bytes of global memory belong to which bytes of shared memory.
#pragma once

#include "runtime/simulator/TensorMap.h"

#include <functional>

namespace stator::sim {

/// A run of a box's bytes that lie together on both sides.
struct BoxRun {
  uint64_t shared;  ///< offset in the block's shared memory, swizzled
  uint64_t address; ///< in global memory; meaningless where `inside` is false
  uint32_t bytes;
  bool inside; ///< of the tensor
};

struct BoxPlace {
  int32_t coordinates[TensorMap::kMostRank] = {};
  uint32_t offsets[3] = {}; ///< im2col
  uint64_t shared = 0;      ///< offset of the box in shared memory
};

/// Bytes that the box moves (those outside the tensor count), and the shared memory it spans.
uint64_t boxBytes(const TensorMap &map);
uint64_t boxSpan(const TensorMap &map);
/// Calls `visit` for every run; stops when it answers false.
void walkBox(const TensorMap &map, const BoxPlace &place, const std::function<bool(const BoxRun &)> &visit);

} // namespace stator::sim
