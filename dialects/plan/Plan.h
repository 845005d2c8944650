// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_DIALECTS_PLAN_PLAN_H
#define STATOR_DIALECTS_PLAN_PLAN_H

#include "dialects/graph/Graph.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

#include "dialects/plan/PlanDialect.h.inc"
#define GET_TYPEDEF_CLASSES
#include "dialects/plan/PlanTypes.h.inc"
#define GET_OP_CLASSES
#include "dialects/plan/Plan.h.inc"

#endif // STATOR_DIALECTS_PLAN_PLAN_H
