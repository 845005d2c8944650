// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/graph/GatherEnums.cpp.inc"
#include "dialects/graph/GraphDialect.cpp.inc"
#include "dialects/graph/WindowEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "dialects/graph/GraphAttributes.cpp.inc"

namespace stator::graph {

void GraphDialect::registerAttributes() {
  registerDimExpr();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/graph/GraphAttributes.cpp.inc"
      >();
}

void GraphDialect::initialize() {
  registerAttributes();
  registerUnaryOps();
  registerBinaryOps();
  registerCompareOps();
  registerActivationOps();
  registerContractOps();
  registerReduceOps();
  registerScanOps();
  registerShapeOps();
  registerGatherOps();
  registerWindowOps();
  registerControlOps();
}

Operation *GraphDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  if (!elements || elements.getType() != type) return nullptr;
  return ConstantOp::create(builder, loc, elements);
}

} // namespace stator::graph
