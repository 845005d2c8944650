// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/Domain.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

/// How many of `dims` have the product `count`; nullopt where none do.
static std::optional<size_t> prefixOf(ArrayRef<DimExpr> dims, DimExpr count) {
  DimExpr product = DimExpr::constant(count.getContext(), 1);
  for (size_t taken = 0;; ++taken) {
    if (product == count) return taken;
    if (taken == dims.size() || !(product = DimExpr::mul(product, dims[taken]))) return std::nullopt;
  }
}

/// The index in `tensor` of numbers that count through consecutive groups of its dimensions, outermost first. Where
/// each group is a run of dimensions it is taken apart by itself: from one number for all, symbolic sizes that are sums
/// could not be told apart again.
static SmallVector<Value> indexOf(BodyEmitter &body, Value tensor, ArrayRef<std::pair<DimExpr, Value>> groups) {
  IndexForms &f = body.indices;
  SmallVector<DimExpr> dims = graph::dimsOf(tensor.getType());
  SmallVector<Value> sizes = body.sizes(tensor), index;
  size_t first = 0;
  for (auto [i, group] : llvm::enumerate(groups)) {
    auto [count, number] = group;
    auto rest = ArrayRef(dims).drop_front(first);
    std::optional<size_t> taken = prefixOf(rest, count);
    if (!taken) break;
    // Trailing dimensions of size 1 belong to the last group.
    if (i + 1 == groups.size())
      while (*taken < rest.size() && rest[*taken].isConstant(1)) ++*taken;
    llvm::append_range(index, f.delinearize(number, ArrayRef(sizes).slice(first, *taken)));
    first += *taken;
  }
  if (index.size() == dims.size()) return index;
  Value linear = f.constant(0);
  for (auto [count, number] : groups) linear = f.add(f.mul(linear, body.size(count)), number);
  return f.delinearize(linear, sizes);
}

SmallVector<Value> Coordinates::full(Value tensor, Value j) const {
  return indexOf(body, tensor, {{shape.outer, outer}, {shape.reduced, j}, {shape.inner, inner}});
}
SmallVector<Value> Coordinates::row(Value tensor) const {
  return indexOf(body, tensor, {{shape.outer, outer}, {shape.inner, inner}});
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
