// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Complaint.h"
#include "dialects/graph/Graph.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerControlOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Control.cpp.inc"
      >();
}

static RankedTensorType typeOf(Value value) { return cast<RankedTensorType>(value.getType()); }

static LogicalResult checkScalar(Operation *op, Value value, StringRef role) {
  if (typeOf(value).getRank() == 0) return success();
  return (Complaint(op) << "needs a 0-d " << role).at(value, role);
}

/// `got` (of `gotRole`, at `where`) has the types of `wanted`.
static LogicalResult checkTypes(Operation *op, Operation *where, StringRef gotRole, TypeRange got, StringRef wantedRole,
                                TypeRange wanted) {
  if (got.size() != wanted.size())
    return (Complaint(op) << "has " << got.size() << " " << gotRole << " for " << wanted.size() << " " << wantedRole)
        .at(where, gotRole);
  for (auto [i, a, b] : llvm::enumerate(got, wanted))
    if (a != b)
      return (Complaint(op) << "needs " << gotRole << " of the types of its " << wantedRole << ": number " << i
                            << " is " << a << " for " << b)
          .at(where, gotRole);
  return success();
}

LogicalResult IfOp::verify() {
  if (failed(checkScalar(*this, getCondition(), "condition"))) return failure();
  for (auto [region, role] :
       {std::pair(&getThenRegion(), "values of its then region"), {&getElseRegion(), "values of its else region"}}) {
    Operation *yield = region->front().getTerminator();
    if (failed(checkTypes(*this, yield, role, yield->getOperandTypes(), "results", getResultTypes()))) return failure();
  }
  return success();
}

LogicalResult WhileOp::verify() {
  Block &condition = getCondition().front(), &body = getBody().front();
  Operation *test = condition.getTerminator(), *next = body.getTerminator();
  TypeRange carried = getInitial().getTypes();
  if (carried.empty()) return Complaint(*this) << "carries no values, so it would never run or never end";
  if (failed(checkTypes(*this, *this, "results", getResultTypes(), "initial values", carried)) ||
      failed(
          checkTypes(*this, *this, "condition arguments", condition.getArgumentTypes(), "initial values", carried)) ||
      failed(checkTypes(*this, *this, "body arguments", body.getArgumentTypes(), "initial values", carried)) ||
      failed(checkTypes(*this, next, "values of its body", next->getOperandTypes(), "initial values", carried)))
    return failure();
  return checkTypes(*this, test, "values of its condition", test->getOperandTypes(), "tests",
                    Type(RankedTensorType::get({}, IntegerType::get(getContext(), 1))));
}

LogicalResult FusionOp::verify() {
  Block &body = getBody().front();
  Operation *yield = body.getTerminator();
  if (getName().empty()) return Complaint(*this) << "needs a name";
  if (failed(checkTypes(*this, *this, "block arguments", body.getArgumentTypes(), "inputs", getInputs().getTypes())))
    return failure();
  return checkTypes(*this, yield, "values of its body", yield->getOperandTypes(), "results", getResultTypes());
}

LogicalResult BindSymbolOp::verify() {
  if (failed(checkScalar(*this, getValue(), "value"))) return failure();
  if (!typeOf(getValue()).getElementType().isInteger(64))
    return (Complaint(*this) << "needs an i64 value").at(getValue(), "value");
  std::string error;
  DimExpr symbol = DimExpr::parse(getContext(), getSymbol(), error);
  if (!symbol || symbol.getKind() != DimKind::Symbol)
    return Complaint(*this) << "has '" << getSymbol() << "' where a symbol's name is needed";
  return success();
}

LogicalResult BindSymbolOp::evaluate(EvalEnv &env, ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor>) {
  int64_t value = operands[0]->getInt(0);
  DimRange range = symbolRange(*this, getSymbol());
  if (value < range.min || value > range.max)
    return env.error(*this, "symbol " + getSymbol() + " is " + Twine(value) + ", outside its bounds [" +
                                Twine(range.min) + ", " + Twine(range.max) + "]");
  env.symbols[getSymbol()] = value;
  return success();
}

LogicalResult AssertOp::verify() { return checkScalar(*this, getCondition(), "condition"); }

LogicalResult AssertOp::evaluate(EvalEnv &env, ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor>) {
  return operands[0]->getInt(0) ? success() : env.error(*this, getMessage());
}

LogicalResult AssertShapeOp::verify() {
  RankedTensorType from = typeOf(getX()), to = typeOf(getResult());
  if (from.getElementType() != to.getElementType())
    return (Complaint(*this) << "cannot change the element type to " << to.getElementType()).at(getX(), "the operand");
  if (from.getRank() != to.getRank())
    return (Complaint(*this) << "cannot change the rank to " << to.getRank()).at(getX(), "the operand");
  for (int64_t d = 0; d < from.getRank(); ++d) {
    DimExpr difference = DimExpr::sub(dimOf(from, d), dimOf(to, d));
    if (difference && difference.isConstant() && !difference.isConstant(0))
      return (Complaint(*this) << "can never hold: dimension " << d << " is " << dimOf(from, d) << ", not "
                               << dimOf(to, d))
          .at(getX(), "the operand");
  }
  return success();
}

Scalar AssertShapeOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  return e.element(getXMutable(), indices);
}

LogicalResult AssertShapeOp::evaluate(EvalEnv &env, ArrayRef<const HostTensor *> operands,
                                      MutableArrayRef<HostTensor> results) {
  for (int64_t d = 0; d < results[0].rank(); ++d)
    if (operands[0]->shape[d] != results[0].shape[d])
      return env.error(*this, "dimension " + Twine(d) + " is " + Twine(operands[0]->shape[d]) + ", where " +
                                  dimOf(getType(), d).str() + " is " + Twine(results[0].shape[d]));
  results[0] = *operands[0]; // Shares the bytes; host tensors copy on write.
  return success();
}

Scalar CopyOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  return e.element(getXMutable(), indices);
}

LogicalResult CopyOp::evaluate(EvalEnv &, ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  results[0] = *operands[0];
  return success();
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Control.cpp.inc"
