// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What shape rules and verifiers of every family are written with: refusals that name both parties, checks of dimension
// numbers, bounds of expressions at an op, and sizes during evaluation.
//
// Attributes come from files, so every rule holds for any list of any numbers: a rule checks before it indexes, adds or
// divides, and a rule that type inference shares with a verifier is written once, over a Refusal.
#ifndef STATOR_DIALECTS_GRAPH_SHAPERULES_H
#define STATOR_DIALECTS_GRAPH_SHAPERULES_H

#include "dialects/graph/Complaint.h"
#include "dialects/graph/Graph.h"

namespace stator::graph {

/// `what` is 'dim', 'permutation[1]', ...: refuses a number outside [0, rank).
mlir::LogicalResult checkDim(const Refusal &refuse, const llvm::Twine &what, int64_t dim, int64_t rank);
/// Refuses a list whose length is not `rank`.
mlir::LogicalResult checkLength(const Refusal &refuse, llvm::StringRef what, size_t length, int64_t rank);
/// Refuses numbers outside [0, rank) and repeated ones.
mlir::LogicalResult checkDistinctDims(const Refusal &refuse, llvm::StringRef what, llvm::ArrayRef<int64_t> dims,
                                      int64_t rank);
/// Refuses unequal dimensions: "dimension 1 is s0 in operand #0 and 4 in operand #1". A party is named by `aName`.
mlir::LogicalResult checkSameDim(const Refusal &refuse, unsigned aDim, DimExpr a, llvm::StringRef aName, unsigned bDim,
                                 DimExpr b, llvm::StringRef bName, mlir::Value bValue);
/// Refuses unequal ranks and unequal dimensions, except dimension `except` (-1: none).
mlir::LogicalResult checkSameDims(const Refusal &refuse, mlir::Value a, llvm::StringRef aName, mlir::Value b,
                                  llvm::StringRef bName, int64_t except = -1);
/// Refuses unequal element types.
mlir::LogicalResult checkSameElementType(const Refusal &refuse, mlir::Value a, llvm::StringRef aName, mlir::Value b,
                                         llvm::StringRef bName);

inline mlir::RankedTensorType tensorTypeOf(mlir::Value value) {
  return llvm::cast<mlir::RankedTensorType>(value.getType());
}

/// Bounds of `expr` under the symbols of the function around `op`.
DimRange rangeAt(mlir::Operation *op, DimExpr expr);
/// a <= b for all symbol values; false where that cannot be seen. Null expressions are never ordered.
bool provablyAtMost(mlir::Operation *op, DimExpr a, DimExpr b);
/// a > b for all symbol values.
bool provablyAbove(mlir::Operation *op, DimExpr a, DimExpr b);

/// Constant expressions, for attributes that hold one expression per dimension.
ShapeAttr constantDims(mlir::MLIRContext *context, llvm::ArrayRef<int64_t> values);

/// The value of `expr` during evaluation; reports an unknown symbol or an overflow.
mlir::FailureOr<int64_t> evaluateDim(EvalEnv &env, mlir::Operation *op, DimExpr expr);
mlir::FailureOr<llvm::SmallVector<int64_t>> evaluateDims(EvalEnv &env, mlir::Operation *op,
                                                         llvm::ArrayRef<DimExpr> dims);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_SHAPERULES_H
