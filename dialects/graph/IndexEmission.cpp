// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/IndexEmission.h"

using namespace mlir;

namespace stator::graph {

Value emitClamped(ElementEmitter &e, Value index, Value size) {
  Scalar i = e.s.index(index), last = e.s.index(e.sub(size, e.index(1)));
  return e.s.toIndex(e.s.maximum(e.s.minimum(i, last), e.s.integer(i.type, 0)));
}

Value emitWrapped(ElementEmitter &e, Scalar element, DimExpr size) {
  Scalar i = e.s.cast(element, IntegerType::get(e.s.b.getContext(), 64));
  Scalar n = e.s.index(e.size(size));
  i = e.s.select(e.s.lt(i, e.s.integer(i.type, 0)), e.s.add(i, n), i);
  return emitClamped(e, e.s.toIndex(i), e.size(size));
}

Scalar emitReadUnlessEmpty(ElementEmitter &e, OpOperand &operand, ValueRange indices, ArrayRef<int64_t> checked) {
  Operation *op = operand.getOwner();
  auto type = cast<RankedTensorType>(operand.get().getType());
  auto zero = [&] { return e.s.constant(type.getElementType(), 0); };
  std::optional<Scalar> present;
  for (int64_t dim : checked) {
    DimExpr size = dimOf(type, dim);
    if (size.isConstant(0)) return zero();
    if (rangeAt(op, size).min >= 1) continue;
    Scalar some = e.s.boolean(e.atLeast(e.size(size), e.index(1)));
    present = present ? e.s.bitAnd(*present, some) : some;
  }
  auto read = [&] { return e.element(operand, indices); };
  return present ? e.guarded(present->value, read, zero) : read();
}

SmallVector<Value> emitReshapedIndices(ElementEmitter &e, ArrayRef<DimExpr> operand, ArrayRef<DimExpr> result,
                                       ValueRange indices) {
  SmallVector<Value> at(operand.size());
  // Dimensions that matter on each side, outermost first; the operand's others are at 0.
  SmallVector<unsigned> from, to;
  bool empty = false;
  for (auto [d, dim] : llvm::enumerate(operand)) {
    empty |= dim.isConstant(0);
    if (dim.isConstant(1)) continue;
    from.push_back(d);
  }
  for (auto [d, dim] : llvm::enumerate(result)) {
    empty |= dim.isConstant(0);
    if (!dim.isConstant(1)) to.push_back(d);
  }
  if (empty) from.clear(); // No element exists, so any index will do.
  for (unsigned d = 0; d < operand.size(); ++d)
    if (!llvm::is_contained(from, d)) at[d] = e.index(0);

  size_t i = 0, j = 0;
  while (i < from.size()) {
    // The smallest runs [i, iEnd) and [j, jEnd) with equal products map onto each other, whatever stands outside them:
    // the products of what follows are equal too, so the row-major number splits there.
    size_t iEnd = from.size(), jEnd = to.size();
    SmallVector<DimExpr> products;
    DimExpr product = DimExpr::constant(operand[0].getContext(), 1);
    for (size_t q = j; q < to.size(); ++q) products.push_back(product = DimExpr::mul(product, result[to[q]]));
    product = DimExpr::constant(operand[0].getContext(), 1);
    for (size_t p = i; p < from.size(); ++p) {
      product = DimExpr::mul(product, operand[from[p]]);
      auto *found = llvm::find(products, product);
      if (!product || found == products.end()) continue;
      iEnd = p + 1;
      jEnd = j + (found - products.begin()) + 1;
      break;
    }
    Value linear = j < jEnd ? indices[to[j]] : e.index(0);
    for (size_t q = j + 1; q < jEnd; ++q) linear = e.add(e.mul(linear, e.size(result[to[q]])), indices[to[q]]);
    for (size_t p = iEnd - 1; p > i; --p) {
      Value size = e.size(operand[from[p]]);
      at[from[p]] = e.mod(linear, size);
      linear = e.floorDiv(linear, size);
    }
    at[from[i]] = linear;
    i = iEnd;
    j = jEnd;
  }
  return at;
}

} // namespace stator::graph
