// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "stator-fold-scales"

using namespace mlir;
using namespace stator::graph;

namespace stator::simplify {
#define GEN_PASS_DEF_FOLDSCALES
#include "passes/simplify/Passes.h.inc"

namespace {

/// A constant [C] vector (behind views) that is broadcast along the channels of `type`: returns the value of shape [C].
Value channelVector(Value value, RankedTensorType type) {
  auto broadcast = value.getDefiningOp<BroadcastOp>();
  if (!broadcast) return {};
  Value source = broadcast.getX();
  auto sourceType = cast<RankedTensorType>(source.getType());
  int64_t missing = type.getRank() - sourceType.getRank();
  DimExpr channels = dimOf(type, 1);
  if (!channels.isConstant()) return {};
  for (int64_t d = 0; d < sourceType.getRank(); ++d)
    if (sourceType.getDimSize(d) != (d + missing == 1 ? channels.getConstant() : 1)) return {};
  // All other sizes are 1, so the elements are the channels in order, unless a channel count of 1 hides a missing dimension.
  if (sourceType.getNumElements() != channels.getConstant()) return {};
  return source;
}

bool isConstantBehindViews(Value value) {
  while (value.getDefiningOp<ViewOpInterface>()) value = value.getDefiningOp()->getOperand(0);
  return value.getDefiningOp<ConstantOp>() != nullptr;
}

/// mul(convolution(x, w), scale per channel) -> convolution(x, w * scale per output channel).
struct FoldScale : OpRewritePattern<MulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MulOp op, PatternRewriter &rewriter) const override {
    for (unsigned side : {0u, 1u}) {
      auto convolution = op->getOperand(side).getDefiningOp<ConvolutionOp>();
      if (!convolution || !convolution->hasOneUse() || !isa<FloatType>(op.getType().getElementType())) continue;
      Value scale = channelVector(op->getOperand(1 - side), op.getType());
      if (!scale || !isConstantBehindViews(scale) || !isConstantBehindViews(convolution.getWeight())) continue;
      // A transposed convolution has its output channels, per group, in dimension 1.
      if (convolution.getTransposed() && convolution.getGroups() != 1) continue;
      auto weight = convolution.getWeight().getType();
      int64_t channelDim = convolution.getTransposed() ? 1 : 0;
      SmallVector<int64_t> shape(weight.getRank(), 1);
      shape[channelDim] = weight.getDimSize(channelDim);
      Location loc = rewriter.getFusedLoc({convolution.getLoc(), op.getLoc()});
      Value aligned = ReshapeOp::create(rewriter, loc, RankedTensorType::get(shape, weight.getElementType()), scale);
      Value wide = BroadcastOp::create(rewriter, loc, weight, aligned);
      Value scaled = MulOp::create(rewriter, loc, convolution.getWeight(), wide);
      rewriter.modifyOpInPlace(convolution, [&] {
        convolution.getWeightMutable().assign(scaled);
        convolution->setLoc(loc);
      });
      // The constant folder multiplies; the convolution has to come after the new weight.
      convolution->moveAfter(scaled.getDefiningOp());
      rewriter.replaceOp(op, convolution.getResult());
      return success();
    }
    return failure();
  }
};

struct FoldScalesPass : impl::FoldScalesBase<FoldScalesPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<FoldScale>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }
};

} // namespace
} // namespace stator::simplify
