// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/ShapeMaps.h"

using namespace mlir;

namespace stator::graph {

std::optional<SmallVector<int64_t>> reshapedDims(Type from, Type to) {
  SmallVector<DimExpr> source = dimsOf(from), target = dimsOf(to);
  SmallVector<int64_t> map;
  size_t next = 0;
  for (DimExpr size : source) {
    if (size.isConstant(1)) {
      map.push_back(-1);
      continue;
    }
    while (next < target.size() && target[next].isConstant(1)) ++next;
    if (next == target.size() || target[next] != size) return std::nullopt;
    map.push_back(next++);
  }
  while (next < target.size() && target[next].isConstant(1)) ++next;
  return next == target.size() ? std::optional(map) : std::nullopt;
}

std::optional<SmallVector<int64_t>> broadcastDims(Type from, Type to) {
  SmallVector<DimExpr> source = dimsOf(from), target = dimsOf(to);
  int64_t missing = int64_t(target.size()) - int64_t(source.size());
  SmallVector<int64_t> map;
  for (auto [d, size] : llvm::enumerate(source)) {
    bool repeats = size.isConstant(1) && !target[d + missing].isConstant(1);
    map.push_back(repeats ? -1 : int64_t(d) + missing);
  }
  return map;
}

std::optional<SmallVector<int64_t>> transposedDims(ArrayRef<int64_t> permutation) {
  SmallVector<int64_t> map(permutation.size());
  for (auto [i, d] : llvm::enumerate(permutation)) map[d] = i;
  return map;
}

} // namespace stator::graph
