// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which dimension of the result gives the index of which dimension of the operand (ElementalOpInterface::getOperandDims).
#ifndef STATOR_DIALECTS_GRAPH_SHAPEMAPS_H
#define STATOR_DIALECTS_GRAPH_SHAPEMAPS_H

#include "dialects/graph/Symbols.h"
#include <optional>

namespace stator::graph {

/// Where a reshape only adds or removes dimensions of size 1; nullopt where elements move between dimensions.
std::optional<llvm::SmallVector<int64_t>> reshapedDims(mlir::Type from, mlir::Type to);
std::optional<llvm::SmallVector<int64_t>> broadcastDims(mlir::Type from, mlir::Type to);
std::optional<llvm::SmallVector<int64_t>> transposedDims(llvm::ArrayRef<int64_t> permutation);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_SHAPEMAPS_H
