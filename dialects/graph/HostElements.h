// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Between constants in the IR and tensors on the host, and folding by evaluation.
#ifndef STATOR_DIALECTS_GRAPH_HOSTELEMENTS_H
#define STATOR_DIALECTS_GRAPH_HOSTELEMENTS_H

#include "dialects/interfaces/HostTensor.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

namespace stator::graph {

/// The elements as a host tensor. Dense and resource elements are viewed where they lie (valid as long as the
/// attribute's context); splats and literals of bool are expanded. Fails with a message where a resource has no bytes
/// or not as many as its type needs.
mlir::FailureOr<HostTensor> hostTensorOf(mlir::ElementsAttr elements, std::string &error);

/// The tensor as a literal of `type` (static, of its shape and element type): a splat where all elements are equal bit
/// for bit.
mlir::DenseElementsAttr elementsOf(const HostTensor &tensor, mlir::RankedTensorType type);

/// The results of `op` on these operands. Nothing where the op has an effect or regions, cannot be evaluated, fails on
/// these operands, has a result whose shape is symbolic, or results of more than `maxElements` elements together.
std::optional<llvm::SmallVector<HostTensor>> foldByEvaluation(mlir::Operation *op, llvm::ArrayRef<HostTensor> operands,
                                                              int64_t maxElements);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_HOSTELEMENTS_H
