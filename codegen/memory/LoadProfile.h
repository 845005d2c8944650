// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file The bytes live at each moment, under changes.
#ifndef STATOR_CODEGEN_MEMORY_LOADPROFILE_H
#define STATOR_CODEGEN_MEMORY_LOADPROFILE_H

#include "codegen/memory/Block.h"

namespace stator::memory {

/// A segment tree over the moments at which blocks begin or end. All operations are O(log n).
class LoadProfile {
public:
  /// The load of \p blocks; times asked about later must be starts or ends of these.
  explicit LoadProfile(const std::vector<Block> &blocks);

  /// Adds \p bytes to all moments of [lower, upper).
  void add(int64_t lower, int64_t upper, int64_t bytes);
  /// The most bytes at a moment of [lower, upper).
  int64_t most(int64_t lower, int64_t upper) const;

private:
  size_t indexOf(int64_t time) const;

  std::vector<int64_t> times;
  size_t leaves = 1;
  // most[i] is the maximum below node i without what is pending at its ancestors; pending[i] applies to all below i.
  std::vector<int64_t> maximum, pending;
};

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_LOADPROFILE_H
