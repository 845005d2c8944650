// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/plan/Plan.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

#include "dialects/plan/PlanDialect.cpp.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.cpp.inc"

namespace stator::plan {

void PlanDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/plan/PlanTypes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/plan/Plan.cpp.inc"
      >();
}

LogicalResult BufferOp::verify() {
  StringRef space = getSpace();
  auto need = [&](bool present, StringRef what) -> LogicalResult {
    return present ? LogicalResult(success()) : emitOpError() << "in space " << space << " needs " << what;
  };
  auto one = [](std::optional<graph::ShapeAttr> exprs) { return exprs && exprs->getDims().size() == 1; };
  if (space == "input" || space == "output" || space == "state") return need(getIndex().has_value(), "an index");
  if (space == "weight") return need(getWeight().has_value(), "a weight's name");
  if (space == "arena" || space == "dynamic") return need(one(getBytes()), "one expression for its bytes");
  if (space == "view") return need(one(getBytes()) && one(getOffset()) && getOf(), "bytes, offset and the buffer that it is part of");
  return emitOpError() << "has unknown space '" << space << "'";
}

} // namespace stator::plan

#define GET_OP_CLASSES
#include "dialects/plan/Plan.cpp.inc"
