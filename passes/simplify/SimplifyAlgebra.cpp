// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "passes/simplify/MoveReshapes.h"
#include "passes/simplify/Passes.h"
#include <cmath>

#define DEBUG_TYPE "stator-simplify-algebra"

using namespace mlir;
using namespace stator::graph;

namespace stator::simplify {
#define GEN_PASS_DEF_SIMPLIFYALGEBRA
#include "passes/simplify/Passes.h.inc"

namespace {

/// The splat constant behind broadcasts, reshapes and transposes.
std::optional<double> splatOf(Value value) {
  while (value.getDefiningOp<BroadcastOp>() || value.getDefiningOp<ReshapeOp>() || value.getDefiningOp<TransposeOp>())
    value = value.getDefiningOp()->getOperand(0);
  if (isa<FloatType>(getElementTypeOrSelf(value))) return ConstantOp::splatDouble(value);
  if (auto integer = ConstantOp::splatInt(value)) return double(*integer);
  return std::nullopt;
}

bool isFloat(Value value) { return isa<FloatType>(getElementTypeOrSelf(value)); }

/// x + (-0) and integer x + 0; x - 0; x * 1; x / 1: exact for every x.
struct DropNeutralElement : RewritePattern {
  DropNeutralElement(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}
  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<AddOp, SubOp, MulOp, DivOp>(op)) return failure();
    auto isNeutral = [&](Value value) {
      auto splat = splatOf(value);
      if (!splat) return false;
      if (isa<MulOp, DivOp>(op)) return *splat == 1;
      if (*splat != 0) return false;
      // -0 is the neutral element of float addition: 0 would turn -0 into +0. Subtraction is the other way round.
      return !isFloat(value) || std::signbit(*splat) == isa<AddOp>(op);
    };
    Value kept;
    if (isNeutral(op->getOperand(1))) kept = op->getOperand(0);
    else if (isa<AddOp, MulOp>(op) && isNeutral(op->getOperand(0))) kept = op->getOperand(1);
    if (!kept || kept.getType() != op->getResult(0).getType()) return failure();
    rewriter.replaceOp(op, kept);
    return success();
  }
};

/// -(-x), not(not x).
template <typename Op> struct CancelInvolution : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;
  LogicalResult matchAndRewrite(Op op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().template getDefiningOp<Op>();
    if (!inner || inner.getX().getType() != op.getType()) return failure();
    rewriter.replaceOp(op, inner.getX());
    return success();
  }
};

/// A cast that loses nothing followed by another: the first changes no value, so the second can start from its operand.
struct MergeCasts : OpRewritePattern<CastOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(CastOp op, PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<CastOp>();
    if (!inner) return failure();
    Type from = inner.getX().getType().getElementType(), middle = inner.getType().getElementType();
    Type to = op.getType().getElementType();
    // Only float widening: integers to floats change what a later cast to an integer or bool sees for big values.
    auto wider = [](Type narrow, Type wide) {
      if (!isa<FloatType>(narrow) || !isa<FloatType>(wide)) return false;
      return (narrow.isF16() || narrow.isBF16()) ? wide.isF32() || wide.isF64() : narrow.isF32() && wide.isF64();
    };
    if (!wider(from, middle)) return failure();
    if (from == to) {
      rewriter.replaceOp(op, inner.getX());
      return success();
    }
    // f16 -> f32 -> integer equals f16 -> integer, which emission does through f32 anyway.
    rewriter.replaceOpWithNewOp<CastOp>(op, op.getType(), inner.getX());
    return success();
  }
};

/// A transpose of the last two dimensions of a matmul's operand is a flag of the matmul.
struct TransposeIntoMatmul : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto swapsLast = [](Value value) {
      auto transpose = value.getDefiningOp<TransposeOp>();
      if (!transpose) return TransposeOp();
      ArrayRef<int64_t> permutation = transpose.getPermutation();
      int64_t rank = permutation.size();
      for (int64_t d = 0; d < rank; ++d) {
        int64_t want = d < rank - 2 ? d : d == rank - 2 ? rank - 1 : rank - 2;
        if (permutation[d] != want) return TransposeOp();
      }
      return transpose;
    };
    bool shared = op.getRhs().getType().getRank() != op.getLhs().getType().getRank();
    if (auto lhs = shared ? TransposeOp() : swapsLast(op.getLhs())) {
      rewriter.modifyOpInPlace(op, [&] {
        op.getLhsMutable().assign(lhs.getX());
        op.setTransposeLhs(!op.getTransposeLhs());
      });
      return success();
    }
    if (auto rhs = swapsLast(op.getRhs())) {
      rewriter.modifyOpInPlace(op, [&] {
        op.getRhsMutable().assign(rhs.getX());
        op.setTransposeRhs(!op.getTransposeRhs());
      });
      return success();
    }
    return failure();
  }
};

struct SimplifyAlgebraPass : impl::SimplifyAlgebraBase<SimplifyAlgebraPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropNeutralElement, CancelInvolution<NegOp>, CancelInvolution<BitwiseNotOp>, MergeCasts,
                 TransposeIntoMatmul>(&getContext());
    populateMoveReshapePatterns(patterns);
    GreedyRewriteConfig config;
    config.setUseTopDownTraversal(true);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns), config))) signalPassFailure();
  }
};

} // namespace
} // namespace stator::simplify
