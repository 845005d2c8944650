// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rows of Reduce.td expand to.
#ifndef STATOR_DIALECTS_GRAPH_REDUCE_H
#define STATOR_DIALECTS_GRAPH_REDUCE_H

#include "dialects/graph/Graph.h"

namespace stator::graph {

/// Element types that a reduction accepts. Numbers: everything but bool.
enum class ReducedElements { Any, Numbers, Bools };

/// The operand's dimensions without `dims`, of `element`. Refuses `dims` that are out of range or not ascending.
mlir::LogicalResult inferReduction(std::optional<mlir::Location> location, llvm::StringRef op, mlir::Value x,
                                   llvm::ArrayRef<int64_t> dims, mlir::Type element,
                                   llvm::SmallVectorImpl<mlir::Type> &types);
mlir::LogicalResult verifyReduction(mlir::Operation *op, ReducedElements accepts);

/// One element of the result, by a loop over the reduced dimensions in row-major order.
Scalar emitReductionElement(ReductionOpInterface op, ElementEmitter &e, mlir::ValueRange indices);
llvm::SmallVector<Scalar> combineArgument(ScalarBuilder &s, llvm::ArrayRef<Scalar> a, llvm::ArrayRef<Scalar> b,
                                          bool largest);
Scalar finishArgument(ScalarBuilder &s, llvm::ArrayRef<Scalar> accumulator);

/// NaN if either is NaN; 0 is larger than -0.
double largerOf(double a, double b);

/// The value of no elements, by the op's name.
enum class ReducedIdentity { sum, prod, reduce_max, reduce_min, any, all };
/// Combines elements in row-major order, floats as f64.
void evaluateReduction(const HostTensor &x, llvm::ArrayRef<int64_t> dims, HostTensor &result, ReducedIdentity identity,
                       llvm::function_ref<double(double, double)> onFloat,
                       llvm::function_ref<int64_t(int64_t, int64_t, bool isUnsigned)> onInteger);
void evaluateArgument(const HostTensor &x, llvm::ArrayRef<int64_t> dims, HostTensor &result, bool largest);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_REDUCE_H
