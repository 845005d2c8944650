// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants: literals and weights, and the scalars that other ops look for in them.
#include "dialects/graph/HostElements.h"
#include "dialects/graph/ShapeRules.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace stator::graph {

/// The bytes of a weight; nullopt where the resource is declared and not given.
static std::optional<ArrayRef<char>> bytesOf(DenseResourceElementsAttr weight) {
  AsmResourceBlob *blob = weight.getRawHandle().getBlob();
  return blob ? std::optional<ArrayRef<char>>(blob->getData()) : std::nullopt;
}

LogicalResult ConstantOp::verify() {
  RankedTensorType type = getType();
  DimExpr count = numElements(dimsOf(type), getContext());
  if (!count || !count.isConstant()) return emitOpError("has a shape that is not static, or overflows: ") << type;
  if (isa<DenseElementsAttr>(getValue())) return success();
  auto weight = dyn_cast<DenseResourceElementsAttr>(getValue());
  if (!weight) return emitOpError("holds a dense literal or a dense resource, not ") << getValue();
  int64_t bytes;
  if (__builtin_mul_overflow(count.getConstant(), int64_t(elementBytes(type.getElementType())), &bytes))
    return emitOpError("has more bytes than 64 bits count: ") << type;
  auto data = bytesOf(weight);
  if (data && int64_t(data->size()) != bytes)
    return emitOpError("needs ") << bytes << " bytes, and resource '" << weight.getRawHandle().getKey() << "' has "
                                 << data->size();
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

static int64_t integerOf(const APInt &value, Type type) {
  bool isUnsigned = type.isUnsignedInteger() || type.isInteger(1);
  return isUnsigned ? int64_t(value.getZExtValue()) : value.getSExtValue();
}

static double doubleOf(APFloat value) {
  bool losesInfo;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
  return value.convertToDouble();
}

LogicalResult ConstantOp::evaluate(EvalEnv &env, ArrayRef<const HostTensor *>, MutableArrayRef<HostTensor> results) {
  std::string error;
  FailureOr<HostTensor> value = hostTensorOf(getValue(), error);
  if (failed(value)) return env.error(*this, error);
  results[0] = std::move(*value);
  return success();
}

/// The literal that every element of `value` comes from, if all its elements are one scalar.
static SplatElementsAttr splatLiteral(Value value) {
  // Ops that only move elements keep a splat a splat; the chain is acyclic in a verified block.
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastOp, ReshapeOp, TransposeOp, SliceOp, ReverseOp, StridedOp>(op)) break;
    value = op->getOperand(0);
  }
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant ? dyn_cast<SplatElementsAttr>(constant.getValue()) : SplatElementsAttr();
}

std::optional<double> ConstantOp::splatDouble(Value value) {
  SplatElementsAttr literal = splatLiteral(value);
  if (!literal) return std::nullopt;
  if (isa<FloatType>(literal.getElementType())) return doubleOf(literal.getSplatValue<APFloat>());
  int64_t integer = integerOf(literal.getSplatValue<APInt>(), literal.getElementType());
  bool isUnsigned = literal.getElementType().isUnsignedInteger();
  return isUnsigned ? double(uint64_t(integer)) : double(integer);
}

std::optional<int64_t> ConstantOp::splatInt(Value value) {
  SplatElementsAttr literal = splatLiteral(value);
  if (!literal || isa<FloatType>(literal.getElementType())) return std::nullopt;
  return integerOf(literal.getSplatValue<APInt>(), literal.getElementType());
}

} // namespace stator::graph
