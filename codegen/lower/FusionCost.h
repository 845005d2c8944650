// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a fusion must cost at least, whoever computes it: the bytes of its inputs that it needs, each read once, the
// bytes of its results, and its arithmetic. Profiles and the simulator's counters are shown beside it.
#ifndef STATOR_CODEGEN_LOWER_FUSIONCOST_H
#define STATOR_CODEGEN_LOWER_FUSIONCOST_H

#include "dialects/graph/Graph.h"

namespace stator::codegen {

/// Expressions over the symbols of the function around the fusion; null where a number leaves int64.
struct FusionCost {
  /// Bytes needed of each input: of one that is only sliced or gathered from, no more than the elements taken.
  llvm::SmallVector<graph::DimExpr> read;
  /// Bytes of each result.
  llvm::SmallVector<graph::DimExpr> written;
  /// One for each scalar operation and element, one for each element that is reduced, two for each product of a
  /// contraction.
  graph::DimExpr operations;
};

FusionCost costOf(graph::FusionOp fusion);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_LOWER_FUSIONCOST_H
