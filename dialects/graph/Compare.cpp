// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Elementwise.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerCompareOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Compare.cpp.inc"
      >();
}

Scalar WhereOp::emitScalar(ScalarBuilder &s, ArrayRef<Scalar> v) { return s.select(v[0], v[1], v[2]); }

LogicalResult WhereOp::evaluate(EvalEnv &, ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  for (int64_t i = 0, n = results[0].size(); i < n; ++i)
    results[0].copyElement(i, operands[0]->getInt(i) ? *operands[1] : *operands[2], i);
  return success();
}

Scalar CastOp::emitScalar(ScalarBuilder &s, ArrayRef<Scalar> v) {
  return s.cast(v[0], computeType(getType().getElementType()));
}

/// Truncation toward zero that saturates at `width` bits; NaN gives 0.
static int64_t saturate(double value, unsigned width, bool isUnsigned) {
  if (std::isnan(value)) return 0;
  double low = isUnsigned ? 0 : -std::ldexp(1.0, width - 1), high = std::ldexp(1.0, isUnsigned ? width : width - 1);
  if (value <= low) return int64_t(low);
  if (value >= high) return isUnsigned ? int64_t(width == 64 ? UINT64_MAX : (uint64_t(1) << width) - 1) : int64_t(~uint64_t(0) >> (65 - width));
  return isUnsigned ? int64_t(uint64_t(value)) : int64_t(value);
}

LogicalResult CastOp::evaluate(EvalEnv &, ArrayRef<const HostTensor *> operands, MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  HostTensor &y = results[0];
  Type to = y.elementType;
  for (int64_t i = 0, n = y.size(); i < n; ++i) {
    if (x.isFloat()) {
      double value = x.getDouble(i);
      if (y.isFloat()) y.setDouble(i, value);
      else if (to.isInteger(1)) y.setInt(i, value != 0 || std::isnan(value));
      else if (to.getIntOrFloatBitWidth() == 64) y.setInt(i, saturate(value, 64, to.isUnsignedInteger()));
      else y.setInt(i, saturate(value, 32, to.isUnsignedInteger(32)));
    } else if (y.isFloat()) {
      bool isU64 = x.elementType.isUnsignedInteger(64);
      y.setDouble(i, isU64 ? double(uint64_t(x.getInt(i))) : double(x.getInt(i)));
    } else {
      y.setInt(i, x.getInt(i));
    }
  }
  return success();
}

OpFoldResult CastOp::fold(FoldAdaptor) { return getX().getType() == getType() ? getX() : OpFoldResult(); }

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Compare.cpp.inc"
