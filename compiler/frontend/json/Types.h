// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor types as `"dtype": "f32", "shape": ["s0", 64]`.
#ifndef STATOR_COMPILER_FRONTEND_JSON_TYPES_H
#define STATOR_COMPILER_FRONTEND_JSON_TYPES_H

#include "compiler/frontend/json/Node.h"
#include "compiler/io/DType.h"
#include "dialects/graph/Symbols.h"

namespace stator::graph_json {

using Json = io::Json;
/// Keys in the order in which they are written.
using Written = nlohmann::ordered_json;

constexpr size_t maxRank = STATOR_MAX_RANK;

/// "f32", "bool", ...; the names of io/DType.h. Null type where there is none.
mlir::Type elementTypeOf(mlir::MLIRContext *context, io::DType dtype);
io::DType dtypeOf(mlir::Type elementType);
mlir::Type readElementType(mlir::MLIRContext *context, const Node &node);

/// An integer or an expression.
graph::DimExpr readDim(mlir::MLIRContext *context, const Node &node);
/// Null where the value cannot be one; says nothing.
graph::DimExpr dimFrom(mlir::MLIRContext *context, const Json &value);
Written writeDim(graph::DimExpr dim);

/// The members `dtype` and `shape` of an object. Sizes are not negative, the number of elements fits 64 bits.
mlir::RankedTensorType readTensorType(mlir::MLIRContext *context, const Node &object);
/// Adds the members. False where the type cannot be written (it is none of the graph dialect's).
bool writeTensorType(Written &object, mlir::Type type);

} // namespace stator::graph_json

#endif // STATOR_COMPILER_FRONTEND_JSON_TYPES_H
