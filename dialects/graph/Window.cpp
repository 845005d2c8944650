// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Window.h"
#include "dialects/graph/Choices.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerWindowOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Window.cpp.inc"
      >();
  ResizeOp::attachInterface<ModeChoices<ResizeOp, ResizeModeAttr, ResizeMode, symbolizeResizeMode>>(*getContext());
}

LogicalResult WindowOp::checkRank(Value x) const {
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  if (rank < 3 || rank > 5)
    return (complain() << "needs [N, C, spatial...] with one to three spatial dimensions, not rank " << rank)
        .at(x, "the operand");
  return success();
}

LogicalResult WindowOp::checkList(Value x, StringRef what, ArrayRef<int64_t> list, int64_t least) const {
  int64_t spatial = cast<RankedTensorType>(x.getType()).getRank() - 2;
  if (int64_t(list.size()) != spatial)
    return (complain() << "needs one number per spatial dimension in '" << what << "': it has " << list.size()
                       << " for " << spatial)
        .at(x, "the operand");
  for (int64_t value : list)
    if (value < least || value > windowLimit)
      return complain() << "needs numbers from " << least << " to " << windowLimit << " in '" << what << "', not "
                        << value;
  return success();
}

DimExpr WindowOp::outputSize(Value x, int64_t spatialDim, int64_t padding, DimExpr kernel, int64_t dilation,
                             int64_t stride) const {
  MLIRContext *context = kernel.getContext();
  auto number = [&](int64_t value) { return DimExpr::constant(context, value); };
  DimExpr padded = DimExpr::add(dimOf(x.getType(), 2 + spatialDim), number(padding));
  DimExpr window = DimExpr::add(DimExpr::mul(DimExpr::sub(kernel, number(1)), number(dilation)), number(1));
  DimExpr size = DimExpr::add(DimExpr::floorDiv(DimExpr::sub(padded, window), number(stride)), number(1));
  if (!size) {
    (complain() << "has an output size in spatial dimension " << spatialDim << " that does not fit 64 bits")
        .at(x, "the operand");
    return {};
  }
  DimExpr room = DimExpr::sub(padded, window);
  if (room.isConstant() && room.getConstant() < 0) {
    (complain() << "has a window of " << window << " elements in spatial dimension " << spatialDim
                << ", larger than the padded input of " << padded)
        .at(x, "the input");
    return {};
  }
  return size;
}

FailureOr<SmallVector<DimExpr>> inferPool(WindowOp op, Value x, ArrayRef<int64_t> kernel, ArrayRef<int64_t> strides,
                                          ArrayRef<int64_t> padding, ArrayRef<int64_t> dilations, bool ceilMode) {
  if (failed(op.checkRank(x)) || failed(op.checkList(x, "kernel", kernel, 1)) ||
      failed(op.checkList(x, "strides", strides, 1)) || failed(op.checkList(x, "padding", padding, 0)) ||
      failed(op.checkList(x, "dilations", dilations, 1)))
    return failure();
  MLIRContext *context = x.getContext();
  SmallVector<DimExpr> result = llvm::to_vector(ArrayRef(dimsOf(x.getType())).take_front(2));
  for (int64_t d = 0; d < int64_t(kernel.size()); ++d) {
    int64_t window = (kernel[d] - 1) * dilations[d] + 1;
    if (padding[d] > window / 2) {
      op.complain() << "has padding " << padding[d] << " in spatial dimension " << d
                    << ", more than half of its window of " << window;
      return failure();
    }
    int64_t roundUp = ceilMode ? strides[d] - 1 : 0;
    DimExpr size =
        op.outputSize(x, d, 2 * padding[d] + roundUp, DimExpr::constant(context, kernel[d]), dilations[d], strides[d]);
    if (!size) return failure();
    if (ceilMode) {
      // The last window begins inside the input or its left padding, never in the right padding.
      DimExpr begins = DimExpr::add(dimOf(x.getType(), 2 + d), DimExpr::constant(context, padding[d] - 1));
      DimExpr last = DimExpr::add(DimExpr::floorDiv(begins, DimExpr::constant(context, strides[d])),
                                  DimExpr::constant(context, 1));
      size = DimExpr::min(size, last);
    }
    result.push_back(size);
  }
  return result;
}

LogicalResult verifyFloatElements(Operation *op) {
  Value x = op->getOperand(0);
  if (isa<FloatType>(cast<RankedTensorType>(x.getType()).getElementType())) return success();
  return (Complaint(op) << "needs floating-point elements").at(x, "the operand");
}

LogicalResult verifySpatialChange(Operation *op) {
  Value x = op->getOperand(0);
  if (failed(WindowOp{op->getLoc(), op->getName().getStringRef()}.checkRank(x))) return failure();
  auto from = cast<RankedTensorType>(x.getType()), to = cast<RankedTensorType>(op->getResult(0).getType());
  if (from.getElementType() != to.getElementType())
    return (Complaint(op) << "cannot change the element type to " << to.getElementType()).at(x, "the operand");
  if (from.getRank() != to.getRank())
    return (Complaint(op) << "cannot change the rank to " << to.getRank()).at(x, "the operand");
  for (unsigned d : {0, 1})
    if (dimOf(from, d) != dimOf(to, d))
      return (Complaint(op) << "changes dimension " << d << " from " << dimOf(from, d) << " to " << dimOf(to, d)
                            << ", which is not spatial")
          .at(x, "the operand");
  for (int64_t d = 2; d < from.getRank(); ++d)
    if (dimOf(from, d).isConstant(0) && !dimOf(to, d).isConstant(0))
      return (Complaint(op) << "makes " << dimOf(to, d) << " elements in spatial dimension " << d - 2 << " from none")
          .at(x, "the operand");
  return success();
}

SmallVector<Scalar> emitLoops(ElementEmitter &e, ArrayRef<Value> lower, ArrayRef<Value> upper, ArrayRef<Scalar> initial,
                              function_ref<SmallVector<Scalar>(ArrayRef<Value>, ArrayRef<Scalar>)> body) {
  if (lower.empty()) return body({}, initial);
  return e.loop(lower[0], upper[0], e.index(1), initial, [&](Value i, ArrayRef<Scalar> state) {
    return emitLoops(e, lower.drop_front(), upper.drop_front(), state,
                     [&](ArrayRef<Value> rest, ArrayRef<Scalar> innerState) {
                       SmallVector<Value> all{i};
                       all.append(rest.begin(), rest.end());
                       return body(all, innerState);
                     });
  });
}

Value emitBoth(ElementEmitter &e, Value a, Value b) {
  if (!a || !b) return a ? a : b;
  return arith::AndIOp::create(e.s.b, e.s.loc, a, b);
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Window.cpp.inc"
