// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Finds two rectangles (a life by a range of addresses) that overlap.
#ifndef STATOR_CODEGEN_MEMORY_OVERLAP_H
#define STATOR_CODEGEN_MEMORY_OVERLAP_H

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace stator::memory {

struct Rectangle {
  int64_t lower, upper; ///< live in [lower, upper)
  int64_t start, end;   ///< at [start, end)
};

/// Indices of two rectangles with a point in common, if there are any. Empty rectangles overlap nothing. O(n log n).
std::optional<std::pair<int, int>> findOverlap(const std::vector<Rectangle> &rectangles);

} // namespace stator::memory

#endif // STATOR_CODEGEN_MEMORY_OVERLAP_H
