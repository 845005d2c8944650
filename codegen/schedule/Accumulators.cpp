// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/Accumulators.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace stator::codegen {

SmallVector<Value> Accumulators::identities() {
  SmallVector<Value> values;
  elementTypes.clear();
  counts.clear();
  for (Operation *op : reductions) {
    SmallVector<Scalar> identity = cast<ReductionOpInterface>(op).emitIdentity(body.s);
    counts.push_back(identity.size());
    for (Scalar scalar : identity) {
      values.push_back(scalar.value);
      elementTypes.push_back(scalar.type);
    }
  }
  return values;
}

SmallVector<Scalar> Accumulators::wrap(ValueRange values, size_t first, size_t count) {
  SmallVector<Scalar> scalars;
  for (size_t i = first; i < first + count; ++i) scalars.push_back({values[i], elementTypes[i]});
  return scalars;
}

/// Sums may be taken in any order: that is what makes them vector sums. Only the accumulation is marked so.
static SmallVector<Scalar> combineInAnyOrder(BodyEmitter &body, ReductionOpInterface op, ArrayRef<Scalar> a,
                                             ArrayRef<Scalar> c) {
  Block *block = body.s.b.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();
  SmallVector<Scalar> combined = op.emitCombine(body.s, a, c);
  for (auto it = before ? std::next(before->getIterator()) : block->begin(); it != block->end(); ++it)
    if (isa<arith::AddFOp, arith::MulFOp>(*it))
      it->setAttr("fastmath", arith::FastMathFlagsAttr::get(it->getContext(), arith::FastMathFlags::reassoc));
    else if (isa<arith::MaximumFOp, arith::MinimumFOp>(*it)) // Which zero an extremum is depends on the order as well.
      it->setAttr("fastmath", arith::FastMathFlagsAttr::get(it->getContext(), arith::FastMathFlags::nsz));
  return combined;
}

SmallVector<Value> Accumulators::accumulate(ValueRange carried, const Coordinates &at, Value j) {
  ScalarBuilder &s = body.s;
  // Elements first, so that the accumulation stands together at the end.
  SmallVector<Scalar> elements;
  for (Operation *op : reductions)
    elements.push_back(body.wideValueAt(op->getOperand(0), at.full(op->getOperand(0), j)));
  SmallVector<Value> next;
  for (auto [i, op] : llvm::enumerate(reductions)) {
    auto reduction = cast<ReductionOpInterface>(op);
    SmallVector<Scalar> lifted = reduction.emitLift(s, elements[i], s.index(j));
    SmallVector<Scalar> total = combineInAnyOrder(body, reduction, wrap(carried, next.size(), counts[i]), lifted);
    for (Scalar scalar : total) next.push_back(scalar.value);
  }
  return next;
}

SmallVector<Value> Accumulators::combine(ValueRange a, ValueRange c) {
  SmallVector<Value> next;
  for (auto [i, op] : llvm::enumerate(reductions)) {
    size_t first = next.size();
    for (Scalar scalar :
         cast<ReductionOpInterface>(op).emitCombine(body.s, wrap(a, first, counts[i]), wrap(c, first, counts[i])))
      next.push_back(scalar.value);
  }
  return next;
}

SmallVector<Scalar> Accumulators::finish(ValueRange last) {
  SmallVector<Scalar> results;
  size_t first = 0;
  for (auto [i, op] : llvm::enumerate(reductions)) {
    results.push_back(cast<ReductionOpInterface>(op).emitFinish(body.s, wrap(last, first, counts[i])));
    first += counts[i];
  }
  return results;
}
void Accumulators::define(ValueRange last, const Coordinates &at) { define(finish(last), at); }
void Accumulators::define(ArrayRef<Scalar> results, const Coordinates &at) {
  for (auto [op, result] : llvm::zip_equal(reductions, results))
    body.define(op->getResult(0), at.row(op->getResult(0)), result);
}

} // namespace stator::codegen
