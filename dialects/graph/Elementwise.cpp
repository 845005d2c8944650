// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Elementwise.h"

using namespace mlir;

namespace stator::graph {

LogicalResult verifyElementwise(Operation *op, bool floatOnly, bool integerOnly) {
  Type first = cast<RankedTensorType>(op->getOperand(0).getType()).getElementType();
  for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
    Type element = cast<RankedTensorType>(operand.getType()).getElementType();
    if (element != first)
      return op->emitOpError() << "needs operands of one element type: operand #0 has " << first << ", operand #" << i
                               << " has " << element;
  }
  if (floatOnly && !isa<FloatType>(first)) return op->emitOpError() << "has no meaning for " << first << ": cast to a float type first";
  if (integerOnly && !isa<IntegerType>(first)) return op->emitOpError() << "has no meaning for " << first << ": it works on bits";
  return success();
}

void evaluateElementwise(ArrayRef<const HostTensor *> operands, HostTensor &result,
                         function_ref<double(ArrayRef<double>)> onFloat,
                         function_ref<int64_t(ArrayRef<int64_t>, bool)> onInteger) {
  Type element = operands[0]->elementType;
  if (isa<FloatType>(element)) {
    SmallVector<double, 3> values(operands.size());
    for (int64_t i = 0, n = result.size(); i < n; ++i) {
      for (auto [k, operand] : llvm::enumerate(operands)) values[k] = operand->getDouble(i);
      double value = onFloat(values);
      if (result.isFloat()) result.setDouble(i, value);
      else result.setInt(i, value != 0);
    }
    return;
  }
  bool isUnsigned = element.isUnsignedInteger() || element.isInteger(1);
  SmallVector<int64_t, 3> values(operands.size());
  for (int64_t i = 0, n = result.size(); i < n; ++i) {
    for (auto [k, operand] : llvm::enumerate(operands)) values[k] = operand->getInt(i);
    result.setInt(i, onInteger(values, isUnsigned));
  }
}

LogicalResult OpTrait::verifySameShape(Operation *op) {
  auto check = [&](Value reference, StringRef referenceName, Value other, const Twine &otherName) -> LogicalResult {
    SmallVector<DimExpr> want = dimsOf(reference.getType()), have = dimsOf(other.getType());
    if (want == have) return success();
    InFlightDiagnostic diagnostic = op->emitOpError() << "needs one shape: ";
    if (want.size() != have.size()) {
      diagnostic << otherName << " has shape " << shapeText(have) << " where " << referenceName << " has " << shapeText(want);
    } else {
      for (auto [d, pair] : llvm::enumerate(llvm::zip(want, have))) {
        auto [w, h] = pair;
        if (w == h) continue;
        diagnostic << "dimension " << d << " of " << otherName << " is " << h.str() << ", of " << referenceName << " "
                   << w.str();
        break;
      }
    }
    if (Operation *definition = other.getDefiningOp(); definition && definition != op)
      diagnostic.attachNote(definition->getLoc()) << otherName << " comes from here";
    if (Operation *definition = reference.getDefiningOp())
      diagnostic.attachNote(definition->getLoc()) << referenceName << " comes from here";
    return failure();
  };
  Value reference = op->getOperand(0);
  for (auto [i, operand] : llvm::enumerate(op->getOperands().drop_front()))
    if (failed(check(reference, "operand #0", operand, "operand #" + Twine(i + 1)))) return failure();
  for (auto [i, result] : llvm::enumerate(op->getResults()))
    if (failed(check(reference, "operand #0", result, "result #" + Twine(i)))) return failure();
  return success();
}

} // namespace stator::graph
