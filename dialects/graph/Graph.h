// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph dialect, all families. See GraphBase.td for what a graph is.
#ifndef STATOR_DIALECTS_GRAPH_GRAPH_H
#define STATOR_DIALECTS_GRAPH_GRAPH_H

#include "dialects/graph/Symbols.h"
#include "dialects/interfaces/Interfaces.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/graph/GraphDialect.h.inc"
#include "dialects/graph/GatherEnums.h.inc"
#include "dialects/graph/WindowEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttributes.h.inc"

namespace stator::graph {

/// Function attribute: ArrayAttr of SymbolAttr, the symbols of its types with their bounds.
inline constexpr llvm::StringLiteral symbolsAttrName = "graph.symbols";
/// Argument attribute: StringAttr, the user's name of an input.
inline constexpr llvm::StringLiteral nameAttrName = "graph.name";
/// Argument attribute: StringAttr, the argument is the mutable state of that name, kept between calls.
inline constexpr llvm::StringLiteral stateAttrName = "graph.state";
/// Argument attribute beside graph.state: ElementsAttr, its value before the first call.
inline constexpr llvm::StringLiteral initialAttrName = "graph.initial";
/// Result attribute: StringAttr, the result is the new value of that state.
inline constexpr llvm::StringLiteral updatesAttrName = "graph.updates";
/// Result attribute: IntegerAttr, the result is written back into that argument (a mutated user input).
inline constexpr llvm::StringLiteral updatesInputAttrName = "graph.updates_input";

/// Trait of elementwise ops: operands and results have one shape, symbol for symbol.
namespace OpTrait {
mlir::LogicalResult verifySameShape(mlir::Operation *op);
template <typename ConcreteType> class SameShape : public mlir::OpTrait::TraitBase<ConcreteType, SameShape> {
public:
  static mlir::LogicalResult verifyTrait(mlir::Operation *op) { return verifySameShape(op); }
};
} // namespace OpTrait

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Unary.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Binary.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Compare.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Activation.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Contract.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Reduce.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Scan.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Shape.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Gather.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Window.h.inc"
#define GET_OP_CLASSES
#include "dialects/graph/Control.h.inc"

#endif // STATOR_DIALECTS_GRAPH_GRAPH_H
