// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/Domain.h"

using namespace mlir;

namespace stator::codegen {

SmallVector<Value> Coordinates::full(Value tensor, Value j) const {
  IndexForms &f = body.indices;
  Value reduced = body.size(shape.reduced), inner_ = body.size(shape.inner);
  Value linear = f.add(f.mul(f.add(f.mul(outer, reduced), j), inner_), inner);
  return f.delinearize(linear, body.sizes(tensor));
}
SmallVector<Value> Coordinates::row(Value tensor) const {
  IndexForms &f = body.indices;
  Value linear = f.add(f.mul(outer, body.size(shape.inner)), inner);
  return f.delinearize(linear, body.sizes(tensor));
}

Value domainRoot(Value result) {
  while (Operation *op = result.getDefiningOp()) {
    if (!isa<graph::TransposeOp, graph::ReshapeOp>(op)) break;
    result = op->getOperand(0);
  }
  return result;
}

SmallVector<Value> forwardIndex(BodyEmitter &body, Value root, Value result, ValueRange at) {
  SmallVector<Operation *> path;
  for (Value value = result; value != root; value = path.back()->getOperand(0)) path.push_back(value.getDefiningOp());
  SmallVector<Value> index(at);
  for (Operation *op : llvm::reverse(path)) {
    if (auto transpose = dyn_cast<graph::TransposeOp>(op)) {
      SmallVector<Value> moved;
      for (int64_t dim : transpose.getPermutation()) moved.push_back(index[dim]);
      index = moved;
    } else {
      Value linear = body.indices.linearize(index, body.sizes(op->getOperand(0)));
      index = body.indices.delinearize(linear, body.sizes(op->getResult(0)));
    }
  }
  return index;
}

} // namespace stator::codegen
