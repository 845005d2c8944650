// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Minimum s-t cuts with whole capacities (Dinic 1970: shortest augmenting paths in phases).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace stator::remat {

class MinCut {
public:
  static constexpr int64_t kInfinite = int64_t(1) << 61;

  /// Vertices 0 (source), 1 (sink), 2...
  explicit MinCut(int32_t vertices) : first(size_t(vertices), -1) {}
  static constexpr int32_t source() { return 0; }
  static constexpr int32_t sink() { return 1; }

  /// Adds an arc and returns its number, under which its capacity can be changed.
  int32_t arc(int32_t from, int32_t to, int64_t capacity = 0);
  void setCapacity(int32_t arc, int64_t capacity) { capacities[arc] = capacity; }
  /// The value of a minimum cut under the capacities set last, kInfinite at most.  Always starts afresh.
  int64_t solve();
  /// After solve(): whether the vertex lies on the source's side (of the cut nearest to the source).
  bool onSourceSide(int32_t vertex) const { return level[vertex] >= 0; }

private:
  bool layer();
  int64_t augment();

  std::vector<int32_t> first, nextArc, head;
  std::vector<int64_t> capacities, residual;
  std::vector<int32_t> level, current, queue, path;
};

} // namespace stator::remat
