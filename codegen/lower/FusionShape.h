// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The iteration space of a fusion, as every target's templates see it.
//
// A `reduce` fusion runs over outer x reduced x inner, the flattened groups of its domain's dimensions: softmax over the
// last dimension of [8, 128, 64] has outer = 1024, reduced = 64, inner = 1; a mean over dimension 1 of the same tensor has
// outer = 8, reduced = 128, inner = 64. Its reductions stand in levels: those of level 1 need no other reduction, those of
// level 2 need results of level 1 (the sum of exp(x - max)), and so on; each level is one pass over the reduced group.
#ifndef STATOR_CODEGEN_LOWER_FUSIONSHAPE_H
#define STATOR_CODEGEN_LOWER_FUSIONSHAPE_H

#include "dialects/graph/Graph.h"

namespace stator::codegen {

struct FusionShape {
  /// Dimensions of the common domain (of result 0 where nothing is reduced).
  llvm::SmallVector<graph::DimExpr> domain;
  /// The reduced group [reducedBegin, reducedEnd) of the domain; empty where nothing is reduced.
  unsigned reducedBegin = 0, reducedEnd = 0;
  /// Products of the groups. `rows` = outer * inner, `elements` = rows * reduced.
  graph::DimExpr outer, reduced, inner, rows, elements;
  /// levels[k]: the reductions computed in pass k.
  llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> levels;
  /// For each result: has it an element for every element of the domain (else: for every row)?
  llvm::SmallVector<bool> fullDomain;

  bool isReduction() const { return !levels.empty(); }
  void print(llvm::raw_ostream &os) const;
};

/// Nullopt where the body's reductions do not share one domain with one contiguous reduced group, or a result is neither
/// full nor per row: elemental emission without a reduction template is then right for it.
std::optional<FusionShape> shapeOf(graph::FusionOp fusion);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_LOWER_FUSIONSHAPE_H
