// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rows of Elementwise.td expand to.
#ifndef STATOR_DIALECTS_GRAPH_ELEMENTWISE_H
#define STATOR_DIALECTS_GRAPH_ELEMENTWISE_H

#include "dialects/graph/Graph.h"
#include <cmath>

namespace stator::graph {

/// Refuses element types that the op has no meaning for, and operands of unequal element types.
mlir::LogicalResult verifyElementwise(mlir::Operation *op, bool floatOnly, bool integerOnly);

/// Applies one function to every element: on doubles for float operands, on 64-bit integers otherwise.
void evaluateElementwise(llvm::ArrayRef<const HostTensor *> operands, HostTensor &result,
                         llvm::function_ref<double(llvm::ArrayRef<double>)> onFloat,
                         llvm::function_ref<int64_t(llvm::ArrayRef<int64_t>, bool isUnsigned)> onInteger);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_ELEMENTWISE_H
