// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs what ops emit: one element after the other, compiled in process. Emission and evaluation share nothing, so each
// checks the other.
#ifndef STATOR_TESTS_UNIT_GRAPH_EMISSIONHARNESS_H
#define STATOR_TESTS_UNIT_GRAPH_EMISSIONHARNESS_H

#include "dialects/interfaces/HostTensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace stator::graph {

/// Computes every element of every result of the function's first op, whose operands are the function's arguments in
/// order, by emitElement. Sizes that are not constant are read at run time, so nothing folds that would not fold in a
/// kernel.
mlir::FailureOr<llvm::SmallVector<HostTensor>> emitAndRun(mlir::func::FuncOp function, llvm::ArrayRef<HostTensor> inputs);

/// Reduces a 1-d operand to one element by combining lifted elements in a random order (pairs of neighbours in a shuffled
/// list, with the identity thrown in), as a template with many threads would.
mlir::FailureOr<HostTensor> emitTreeAndRun(mlir::func::FuncOp function, const HostTensor &input, unsigned seed);

} // namespace stator::graph

#endif // STATOR_TESTS_UNIT_GRAPH_EMISSIONHARNESS_H
