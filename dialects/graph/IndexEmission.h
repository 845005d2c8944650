// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic that several families emit.
//
// Compiled code never touches memory outside a tensor, whatever a file or an index tensor says: an index that cannot be
// shown to be inside is clamped, and an operand that may be empty where the result is not is read under a guard.
#ifndef STATOR_DIALECTS_GRAPH_INDEXEMISSION_H
#define STATOR_DIALECTS_GRAPH_INDEXEMISSION_H

#include "dialects/graph/ShapeRules.h"

namespace stator::graph {

/// `index` moved into [0, size), for a size of at least 1.
mlir::Value emitClamped(ElementEmitter &e, mlir::Value index, mlir::Value size);

/// The index that an element of an index tensor stands for in a dimension of `size`: negative ones count from the end,
/// and what is out of range then is clamped.
mlir::Value emitWrapped(ElementEmitter &e, Scalar element, DimExpr size);

/// The element of `operand` at `indices`, which are inside except that dimensions `checked` may be empty: 0 there.
Scalar emitReadUnlessEmpty(ElementEmitter &e, mlir::OpOperand &operand, mlir::ValueRange indices,
                           llvm::ArrayRef<int64_t> checked);

/// Where an element of a reshape's result stands in its operand. Dimensions that map one to one, and dimensions of size 1,
/// need no arithmetic; merged ones need products, split ones divisions.
llvm::SmallVector<mlir::Value> emitReshapedIndices(ElementEmitter &e, llvm::ArrayRef<DimExpr> operand,
                                                   llvm::ArrayRef<DimExpr> result, mlir::ValueRange indices);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_INDEXEMISSION_H
