// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which operations become one kernel.
//
// A kernel iterates over one *domain*, a list of dimensions. Every value in it is "the element at an index that follows
// from the domain's": its *map* says, for each dimension of the value, which domain dimension it takes (or none: index
// 0), as long as picking is all that happens. The planner walks a block from its end to its beginning; an operation either
// joins the kernels that use its results or starts one. Example, softmax over [B, S]:
//
//   %m = reduce_max %x dims [1]          joins: its map in the kernel is (0), the rows of the domain; the kernel
//                                        becomes a reduction with reduced dims [1]
//   %d = sub %x, broadcast(reshape %m)   joins, map (0, 1)
//   %e = exp %d                          joins, map (0, 1)
//   %s = sum %e dims [1]                 joins, map (0)
//   %y = div %e, broadcast(reshape %s)   starts the kernel: domain [B, S], map (0, 1)
//
// What joins, and why not:
//   - Index operations (broadcast, transpose, slice, gather, ...) join every kernel that reads them, copied if need be: index
//     arithmetic is cheaper than memory. A reshape that moves elements between dimensions does not: between kernels it
//     is only another name for the same bytes, and costs nothing.
//   - Elementwise operations join the one kernel that uses them. Used by several, they join one as a further output if they
//     run over its whole domain (or its rows) and no cycle arises.
//   - A reduction joins a kernel with the same domain and reduced dimensions, or a kernel over its own result (which then
//     takes the reduction's operand as its domain).
//   - A matmul or convolution joins a kernel of elementwise work over its result, whose epilogue that becomes. On the
//     operand side only index operations that stay strided join it.
//   - Work is not repeated: an expensive value does not join where it would be computed for several indices of the
//     domain that all need the same element, or through a window.
#ifndef STATOR_PASSES_FUSE_FUSIONPLAN_H
#define STATOR_PASSES_FUSE_FUSIONPLAN_H

#include "dialects/graph/Graph.h"
#include "llvm/ADT/SetVector.h"

namespace stator::fuse {

/// For each dimension of a value the domain dimension whose index it takes, or -1.
using IndexMap = llvm::SmallVector<int64_t, 6>;

struct Kernel {
  /// `loop`, `reduce`, or the name of the one op that decides how it runs (matmul, convolution, sort, ...).
  std::string kind = "loop";
  llvm::SmallVector<graph::DimExpr> domain;
  /// Domain dimensions that `reduce` kernels reduce, ascending and contiguous.
  llvm::SmallVector<int64_t> reduced;
  /// The ops, each before its producers.
  llvm::SetVector<mlir::Operation *> ops;
  /// Whether the kernel computes this op's results for others too (false for copies of index ops).
  llvm::DenseSet<mlir::Operation *> homes;
  /// The map of every value computed in the kernel that has one; absent: reached through other index arithmetic.
  llvm::DenseMap<mlir::Value, IndexMap> maps;
  /// In how many ways (different index arithmetic) a value is reached.
  llvm::DenseMap<mlir::Value, unsigned> ways;
  /// Values reached on the operand side of the contraction or inside a window: read many times for each element.
  llvm::DenseSet<mlir::Value> readMany;
};

/// Two neighbours that were not fused, for --explain.
struct Refusal {
  mlir::Operation *producer, *consumer;
  std::string reason;
};

struct FusionPlan {
  std::vector<Kernel> kernels;
  std::vector<Refusal> refusals;
  /// Kernels that contain an op: its home first.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<unsigned, 2>> kernelsOf;
};

/// Plans the ops of one block; nested regions are planned by themselves. Deterministic.
FusionPlan planFusion(mlir::Block &block);

} // namespace stator::fuse

#endif // STATOR_PASSES_FUSE_FUSIONPLAN_H
