// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Preconditions.h"
#include "dialects/graph/Graph.h"

using namespace mlir;

namespace stator::graph {

namespace {
class Collector {
public:
  explicit Collector(Operation *op) : op(op) {}
  SmallVector<Precondition> found;

  DimExpr constant(int64_t value) { return DimExpr::constant(op->getContext(), value); }

  bool proven(DimExpr left, DimExpr right) {
    DimExpr difference = left && right ? DimExpr::sub(left, right) : DimExpr();
    return difference && rangeOf(difference, [&](StringRef name) { return symbolRange(op, name); }).min >= 0;
  }
  void atLeast(DimExpr left, DimExpr right, const Twine &text) {
    if (!proven(left, right)) add(left, "ge", right, text);
  }
  void equal(DimExpr left, DimExpr right, const Twine &text) {
    if (left != right) add(left, "eq", right, text);
  }

  /// Where `size` is not 0, elements start + i * step (i < size) lie in [0, extent).
  void window(ArrayRef<DimExpr> starts, ArrayRef<int64_t> steps, Type windowType, Type xType) {
    for (auto [d, start] : llvm::enumerate(starts)) {
      DimExpr size = dimOf(windowType, d), extent = dimOf(xType, d);
      DimExpr end = reach(start, {size}, {constant(steps[d])});
      std::string text = "elements " + start.str() + " and on, " + size.str() + " in steps of " +
                         std::to_string(steps[d]) + ", must lie inside dimension " + std::to_string(d) + " of size " +
                         extent.str();
      inside(start, end, extent, {size}, text);
    }
  }

  /// One past the last of offset + sum(i[d] * strides[d]), i[d] < sizes[d].
  DimExpr reach(DimExpr offset, ArrayRef<DimExpr> sizes, ArrayRef<DimExpr> strides) {
    DimExpr end = offset ? DimExpr::add(offset, constant(1)) : offset;
    for (auto [size, stride] : llvm::zip_equal(sizes, strides)) {
      DimExpr last = DimExpr::sub(size, constant(1));
      DimExpr extent = last ? DimExpr::mul(last, stride) : last;
      end = end && extent ? DimExpr::add(end, extent) : DimExpr();
    }
    return end;
  }

  /// first >= 0 and end <= limit, unless one of `sizes` is 0.
  void inside(DimExpr first, DimExpr end, DimExpr limit, ArrayRef<DimExpr> sizes, const Twine &text) {
    if (!proven(first, constant(0))) atLeast(unlessEmpty(first, sizes), constant(0), text);
    if (!proven(limit, end)) atLeast(limit, unlessEmpty(end, sizes), text);
  }

  /// `value`, and 0 where one of `sizes` is 0.
  DimExpr unlessEmpty(DimExpr value, ArrayRef<DimExpr> sizes) {
    for (DimExpr size : sizes) {
      bool some = rangeOf(size, [&](StringRef name) { return symbolRange(op, name); }).min >= 1;
      if (value && !some) value = DimExpr::mul(value, DimExpr::min(size, constant(1)));
    }
    return value;
  }

private:
  void add(DimExpr left, StringLiteral relation, DimExpr right, const Twine &text) {
    if (left && right) found.push_back({left, relation, right, text.str()});
  }
  Operation *op;
};
} // namespace

SmallVector<Precondition> preconditionsOf(Operation *op) {
  Collector c(op);
  // Indices address `dim`; along the others they go no further than x.
  auto along = [&](Value x, Value indices, int64_t dim) {
    for (int64_t d = 0, rank = cast<RankedTensorType>(x.getType()).getRank(); d < rank; ++d) {
      DimExpr have = dimOf(x.getType(), d), want = dimOf(indices.getType(), d);
      if (d != dim)
        c.atLeast(have, want,
                  "dimension " + Twine(d) + " of the indices is " + want.str() + ", above the " + have.str() +
                      " of operand #0");
    }
  };
  if (auto shape = dyn_cast<AssertShapeOp>(op)) {
    SmallVector<DimExpr> have = dimsOf(shape.getX().getType()), want = dimsOf(shape.getType());
    for (auto [d, is] : llvm::enumerate(have))
      c.equal(is, want[d], "dimension " + Twine(d) + " is " + is.str() + " and must equal " + want[d].str());
  } else if (auto topk = dyn_cast<TopkOp>(op)) {
    DimExpr size = dimOf(topk.getX().getType(), topk.getDim());
    c.atLeast(size, c.constant(topk.getK()),
              "topk takes " + Twine(topk.getK()) + " elements of a dimension of size " + size.str());
  } else if (auto slice = dyn_cast<SliceOp>(op)) {
    c.window(slice.getStarts().getDims(), slice.getSteps(), slice.getType(), slice.getX().getType());
  } else if (auto update = dyn_cast<UpdateSliceOp>(op)) {
    c.window(update.getStarts().getDims(), update.getSteps(), update.getUpdates().getType(), update.getType());
  } else if (auto strided = dyn_cast<StridedOp>(op)) {
    SmallVector<DimExpr> sizes = dimsOf(strided.getType());
    ArrayRef<DimExpr> strides = strided.getStrides().getDims();
    DimExpr offset = strided.getOffset().getDims()[0], limit = dimOf(strided.getX().getType(), 0);
    std::string text = "strides and offset leave an operand of " + limit.str() + " elements";
    c.inside(offset, c.reach(offset, sizes, strides), limit, sizes, text);
    for (DimExpr stride : strides)
      if (!c.proven(stride, c.constant(0))) c.atLeast(c.unlessEmpty(stride, sizes), c.constant(0), text);
  } else if (auto resize = dyn_cast<ResizeOp>(op)) {
    SmallVector<DimExpr> from = dimsOf(resize.getX().getType()), to = dimsOf(resize.getType());
    for (auto [d, size] : llvm::enumerate(from))
      c.atLeast(size, c.unlessEmpty(c.constant(1), to), "makes elements from none");
  } else if (auto gather = dyn_cast<GatherOp>(op)) {
    along(gather.getX(), gather.getIndices(), gather.getDim());
  } else if (auto scatter = dyn_cast<ScatterOp>(op)) {
    along(scatter.getX(), scatter.getIndices(), scatter.getDim());
  }
  return std::move(c.found);
}

} // namespace stator::graph
