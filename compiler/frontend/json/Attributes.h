// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes, for any op.
//
// JSON has fewer kinds of values than MLIR has attributes: 1 may be an i64, an i32 or an f64, [0, 1] a list of integers
// or of dimension expressions. Which one is meant is the op's to say: a value is tried as every attribute it may stand
// for, in a fixed order, and the first that the op's own constraint accepts is taken. So there is no list of ops or of
// their attributes here, and an op that is added can be written at once.
#ifndef STATOR_COMPILER_FRONTEND_JSON_ATTRIBUTES_H
#define STATOR_COMPILER_FRONTEND_JSON_ATTRIBUTES_H

#include "compiler/frontend/json/Elements.h"
#include "mlir/IR/OperationSupport.h"

namespace stator::graph_json {

/// The attribute that `node` stands for in `op`. Names that the op does not declare must hold a dot (`graph.note`).
/// `type` is what a value of elements has without one of its own.
mlir::Attribute readAttribute(mlir::OperationName op, llvm::StringRef name, const Node &node,
                              mlir::RankedTensorType type, Weights &weights);
/// An attribute that no op declares.
mlir::Attribute readFreeAttribute(mlir::MLIRContext *context, const Node &node);
/// An object of such attributes: names of functions, arguments and modules.
mlir::NamedAttrList readFreeAttributes(mlir::MLIRContext *context, const Node &object);

/// The value from which a reader makes `attribute`; null where there is none. No `op`: as a free attribute.
Written writeAttribute(std::optional<mlir::OperationName> op, llvm::StringRef name, mlir::Attribute attribute,
                       mlir::RankedTensorType type, WeightsWriter &weights);

} // namespace stator::graph_json

#endif // STATOR_COMPILER_FRONTEND_JSON_ATTRIBUTES_H
