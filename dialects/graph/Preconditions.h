// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op takes for granted about sizes and only a run can show: the conditions under which the evaluator refuses it.
// Compiled code checks them before the kernel that holds the op runs, or it would read what lies beside its operands.
#ifndef STATOR_DIALECTS_GRAPH_PRECONDITIONS_H
#define STATOR_DIALECTS_GRAPH_PRECONDITIONS_H

#include "dialects/graph/Symbols.h"
#include <string>

namespace stator::graph {

/// `left` relation `right`, the relation being "eq" or "ge". `text` says what is wrong where it does not hold.
struct Precondition {
  DimExpr left;
  llvm::StringLiteral relation;
  DimExpr right;
  std::string text;
};

/// The conditions of one op that the bounds of its function's symbols do not prove. An expression that leaves int64 is left
/// out: no tensor has such a size.
llvm::SmallVector<Precondition> preconditionsOf(mlir::Operation *op);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_PRECONDITIONS_H
