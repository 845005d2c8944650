// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/lower/FusionShape.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static std::optional<FusionShape> reductionShape(graph::FusionOp fusion) {
  MLIRContext *context = fusion.getContext();
  FusionShape shape;
  bool found = false;
  DenseMap<Value, unsigned> level;
  for (Operation &op : fusion.getBody().front().without_terminator()) {
    unsigned depth = 0;
    for (Value operand : op.getOperands()) depth = std::max(depth, level.lookup(operand));
    if (auto reduction = dyn_cast<ReductionOpInterface>(op)) {
      ArrayRef<int64_t> dims = reduction.getReducedDims();
      SmallVector<DimExpr> sizes = graph::dimsOf(op.getOperand(0).getType());
      bool contiguous = !dims.empty() && dims.back() - dims.front() + 1 == int64_t(dims.size());
      if (!contiguous) return std::nullopt;
      ArrayRef<DimExpr> all(sizes);
      DimExpr outer = graph::numElements(all.take_front(dims.front()), context);
      DimExpr reduced = graph::numElements(all.slice(dims.front(), dims.size()), context);
      DimExpr inner = graph::numElements(all.drop_front(dims.back() + 1), context);
      if (!outer || !reduced || !inner) return std::nullopt;
      if (!found) {
        found = true;
        shape.domain = sizes;
        shape.reducedBegin = dims.front();
        shape.reducedEnd = dims.back() + 1;
        shape.outer = outer;
        shape.reduced = reduced;
        shape.inner = inner;
      } else if (outer != shape.outer || reduced != shape.reduced || inner != shape.inner) {
        return std::nullopt;
      }
      if (shape.levels.size() <= depth) shape.levels.resize(depth + 1);
      shape.levels[depth].push_back(&op);
      ++depth;
    }
    for (Value result : op.getResults()) level[result] = depth;
  }
  if (!found) return std::nullopt;
  shape.rows = DimExpr::mul(shape.outer, shape.inner);
  shape.elements = shape.rows ? DimExpr::mul(shape.rows, shape.reduced) : DimExpr();
  if (!shape.elements) return std::nullopt;
  for (Value value : fusion.getBody().front().getTerminator()->getOperands()) {
    DimExpr count = graph::numElements(graph::dimsOf(value.getType()), context);
    if (count != shape.rows && count != shape.elements) return std::nullopt;
    shape.fullDomain.push_back(count != shape.rows);
  }
  return shape;
}

std::optional<FusionShape> shapeOf(graph::FusionOp fusion) {
  bool reduces = llvm::any_of(fusion.getBody().front(), [](Operation &op) { return isa<ReductionOpInterface>(op); });
  if (reduces)
    if (auto shape = reductionShape(fusion)) return shape;
  MLIRContext *context = fusion.getContext();
  FusionShape shape;
  auto results = fusion.getBody().front().getTerminator()->getOperands();
  if (results.empty()) return std::nullopt;
  shape.domain = graph::dimsOf(results[0].getType());
  shape.elements = shape.rows = shape.outer = graph::numElements(shape.domain, context);
  shape.reduced = shape.inner = DimExpr::constant(context, 1);
  if (!shape.elements) return std::nullopt;
  for (Value value : results) {
    if (graph::numElements(graph::dimsOf(value.getType()), context) != shape.elements) return std::nullopt;
    shape.fullDomain.push_back(true);
  }
  return shape;
}

void FusionShape::print(llvm::raw_ostream &os) const {
  os << graph::shapeText(domain);
  if (!isReduction()) return;
  os << " as " << outer.str() << " x (" << reduced.str() << ") x " << inner.str() << ", " << levels.size() << " levels of";
  for (auto &level : levels) os << " " << level.size();
}

} // namespace stator::codegen
