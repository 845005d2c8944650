// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/simplify/MoveReshapes.h"
#include "dialects/graph/Graph.h"

using namespace mlir;
using namespace stator::graph;

namespace stator::simplify {

bool feedsContractionsOnly(Value value) {
  SmallVector<Value> work{value};
  for (size_t i = 0; i < work.size(); ++i) {
    if (work.size() > 32) return false;
    for (Operation *user : work[i].getUsers()) {
      if (isa<MatmulOp, ConvolutionOp>(user)) continue;
      if (!isa<ReshapeOp, TransposeOp, SliceOp, BroadcastOp>(user)) return false;
      work.push_back(user->getResult(0));
    }
  }
  return !value.use_empty();
}

namespace {

using Dims = SmallVector<DimExpr>;

bool isLiteral(Value value) {
  while (value.getDefiningOp<BroadcastOp>() || value.getDefiningOp<ReshapeOp>() || value.getDefiningOp<TransposeOp>())
    value = value.getDefiningOp()->getOperand(0);
  return isa<FloatType>(getElementTypeOrSelf(value)) ? ConstantOp::splatDouble(value).has_value()
                                                     : ConstantOp::splatInt(value).has_value();
}

/// The reshape behind `value` that moves elements between dimensions; null where it only adds or drops units.
ReshapeOp movingReshape(Value value) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  return reshape && !reshape.getOperandDims(0) ? reshape : ReshapeOp();
}

Value reshaped(PatternRewriter &rewriter, Location loc, Value value, ArrayRef<DimExpr> dims) {
  Type type = tensorOf(dims, getElementTypeOrSelf(value));
  return type == value.getType() ? value : ReshapeOp::create(rewriter, loc, type, value).getResult();
}

/// For each dimension of `whole` the dimensions of `parts` whose product it is, where `parts` comes of `whole` by
/// splitting dimensions only; a dimension of size 1 has itself, and `parts` may have other units anywhere.
std::optional<SmallVector<Dims>> splitInto(ArrayRef<DimExpr> whole, ArrayRef<DimExpr> parts) {
  SmallVector<Dims> result;
  size_t next = 0;
  for (DimExpr size : whole) {
    Dims &own = result.emplace_back();
    if (size.isConstant(1)) {
      own.push_back(size);
      continue;
    }
    if (size.isConstant(0)) return std::nullopt;
    DimExpr product;
    while (product != size) {
      while (next < parts.size() && parts[next].isConstant(1)) ++next;
      if (next == parts.size()) return std::nullopt;
      own.push_back(parts[next]);
      product = product ? DimExpr::mul(product, parts[next]) : parts[next];
      ++next;
      if (!product) return std::nullopt;
    }
  }
  while (next < parts.size() && parts[next].isConstant(1)) ++next;
  return next == parts.size() ? std::optional(result) : std::nullopt;
}

Dims flattened(ArrayRef<Dims> lists) {
  Dims all;
  for (const Dims &list : lists) all.append(list);
  return all;
}

/// reshape(slice(x)) -> slice(reshape(x)) where the reshape splits dimensions that the slice takes whole pieces of.
struct RaisePastSlice : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto slice = op.getX().getDefiningOp<SliceOp>();
    if (!slice || op.getOperandDims(0) || !feedsContractionsOnly(op)) return failure();
    Dims from = dimsOf(slice.getX().getType()), taken = dimsOf(slice.getType());
    auto parts = splitInto(taken, dimsOf(op.getType()));
    if (!parts) return failure();
    Dims source, result, starts;
    SmallVector<int64_t> steps;
    DimExpr zero = DimExpr::constant(getContext(), 0);
    for (size_t d = 0; d < from.size(); ++d) {
      DimExpr start = slice.getStarts().getDims()[d], size = from[d];
      int64_t step = slice.getSteps()[d];
      ArrayRef<DimExpr> own = (*parts)[d];
      bool whole = size == taken[d] && start == zero && step == 1;
      if (own.size() > 1 && !whole) {
        DimExpr inner = numElements(own.drop_front(), getContext());
        if (step != 1 || !inner || !inner.isConstant() || !start.isConstant() || !size.isConstant()) return failure();
        int64_t piece = inner.getConstant();
        if (piece == 0 || start.getConstant() % piece != 0 || size.getConstant() % piece != 0) return failure();
        start = DimExpr::constant(getContext(), start.getConstant() / piece);
        size = DimExpr::constant(getContext(), size.getConstant() / piece);
      } else if (own.size() > 1) {
        size = own[0];
      }
      source.push_back(size);
      starts.push_back(start);
      steps.push_back(step);
      result.append(own.begin(), own.end());
      for (DimExpr rest : own.drop_front()) {
        source.push_back(rest);
        starts.push_back(zero);
        steps.push_back(1);
      }
    }
    Value moved = reshaped(rewriter, op.getLoc(), slice.getX(), source);
    Type type = tensorOf(result, op.getType().getElementType());
    moved = SliceOp::create(rewriter, slice.getLoc(), type, moved, ShapeAttr::get(getContext(), starts), steps);
    rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), moved, dimsOf(op.getType())));
    return success();
  }
};

/// reshape(transpose(x)) -> transpose(reshape(x)) where the reshape splits dimensions only.
struct RaisePastTranspose : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ReshapeOp op, PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    if (!transpose || op.getOperandDims(0) || !feedsContractionsOnly(op)) return failure();
    auto parts = splitInto(dimsOf(transpose.getType()), dimsOf(op.getType()));
    if (!parts) return failure();
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    SmallVector<Dims> source(permutation.size());
    for (size_t i = 0; i < permutation.size(); ++i) source[permutation[i]] = (*parts)[i];
    SmallVector<int64_t> first(1, 0), moved;
    for (const Dims &list : source) first.push_back(first.back() + int64_t(list.size()));
    for (int64_t d : permutation)
      for (size_t k = 0; k < source[d].size(); ++k) moved.push_back(first[d] + int64_t(k));
    Value value = reshaped(rewriter, op.getLoc(), transpose.getX(), flattened(source));
    value = TransposeOp::create(rewriter, transpose.getLoc(), value, moved);
    rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), value, dimsOf(op.getType())));
    return success();
  }
};

/// transpose(reshape(matmul)) -> reshape(transpose(matmul)) where the reshape merges dimensions: the matmul can then
/// write its result transposed.
struct LowerPastTranspose : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(TransposeOp op, PatternRewriter &rewriter) const override {
    auto reshape = movingReshape(op.getX());
    if (!reshape || !reshape->hasOneUse() || !reshape.getX().getDefiningOp<MatmulOp>()) return failure();
    Dims whole = dimsOf(reshape.getType()), source = dimsOf(reshape.getX().getType());
    auto parts = splitInto(whole, source);
    if (!parts || flattened(*parts) != source) return failure();
    SmallVector<int64_t> first(1, 0), moved;
    for (const Dims &list : *parts) first.push_back(first.back() + int64_t(list.size()));
    for (int64_t d : op.getPermutation())
      for (size_t k = 0; k < (*parts)[d].size(); ++k) moved.push_back(first[d] + int64_t(k));
    Value value = TransposeOp::create(rewriter, op.getLoc(), reshape.getX(), moved);
    rewriter.replaceOp(op, reshaped(rewriter, reshape.getLoc(), value, dimsOf(op.getType())));
    return success();
  }
};

/// matmul(reshape(x), w) -> reshape(matmul(x, w)) where w is one matrix and the reshape merges rows.
struct LowerPastLinear : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    auto reshape = movingReshape(op.getLhs());
    if (!reshape || op.getTransposeLhs() || op.getRhs().getType().getRank() != 2) return failure();
    Dims source = dimsOf(reshape.getX().getType()), merged = dimsOf(reshape.getType());
    auto parts = splitInto(merged, source);
    if (!parts) return failure();
    DimExpr depth = merged.back();
    Dims rows = flattened(ArrayRef(*parts).drop_back());
    if (rows.size() <= merged.size() - 1) return failure();
    Dims lhs = rows;
    lhs.push_back(depth);
    Dims result = rows;
    result.push_back(dimsOf(op.getType()).back());
    Value x = reshaped(rewriter, reshape.getLoc(), reshape.getX(), lhs);
    Value product =
        MatmulOp::create(rewriter, op.getLoc(), tensorOf(result, op.getType().getElementType()), x, op.getRhs(),
                         /*transpose_lhs=*/false, op.getTransposeRhs());
    rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), product, dimsOf(op.getType())));
    return success();
  }
};

/// matmul(a, reshape(broadcast(b))) -> reshape(matmul(reshape(a), broadcast(b))) where the reshape merges batch
/// dimensions: the product then reads each repeated matrix in place. Either side.
struct LowerPastBatch : OpRewritePattern<MatmulOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(MatmulOp op, PatternRewriter &rewriter) const override {
    for (bool isRhs : {true, false}) {
      Value side = isRhs ? op.getRhs() : op.getLhs(), other = isRhs ? op.getLhs() : op.getRhs();
      auto reshape = movingReshape(side);
      if (!reshape || !reshape.getX().getDefiningOp<BroadcastOp>()) continue;
      Dims merged = dimsOf(reshape.getType()), opposite = dimsOf(other.getType());
      auto parts = splitInto(merged, dimsOf(reshape.getX().getType()));
      size_t rank = merged.size();
      if (!parts || rank < 3 || opposite.size() != rank || (*parts)[rank - 1].size() != 1 ||
          (*parts)[rank - 2].size() != 1 || ArrayRef(merged).drop_back(2) != ArrayRef(opposite).drop_back(2))
        continue;
      Dims batch = flattened(ArrayRef(*parts).drop_back(2)), result = batch;
      auto matrixOf = [&](ArrayRef<DimExpr> dims) {
        Dims all = batch;
        all.append(dims.end() - 2, dims.end());
        return all;
      };
      Dims product = dimsOf(op.getType());
      result.append(product.end() - 2, product.end());
      Value a = reshaped(rewriter, op.getLoc(), reshape.getX(), matrixOf(merged));
      Value b = reshaped(rewriter, op.getLoc(), other, matrixOf(opposite));
      Value moved = MatmulOp::create(rewriter, op.getLoc(), tensorOf(result, op.getType().getElementType()),
                                     isRhs ? b : a, isRhs ? a : b, op.getTransposeLhs(), op.getTransposeRhs());
      rewriter.replaceOp(op, reshaped(rewriter, op.getLoc(), moved, product));
      return success();
    }
    return failure();
  }
};

/// elementwise(reshape(x), other...) -> reshape(elementwise(x, other...)) where only this op reads the reshape, and
/// each other operand is reshaped alike, a literal, or repeated along what the reshape moves: the work then stands next
/// to x's producer and joins its kernel.
struct LowerPastElementwise : RewritePattern {
  LowerPastElementwise(MLIRContext *context) : RewritePattern(MatchAnyOpTypeTag(), 1, context) {}

  /// `broadcast` as one to `target`, of which the result's dimensions are split or merged; null where that cannot be
  /// said.
  static Value repeated(PatternRewriter &rewriter, BroadcastOp broadcast, ArrayRef<DimExpr> target, bool dry) {
    Dims merged = dimsOf(broadcast.getType()), own = dimsOf(broadcast.getX().getType());
    bool splits = true;
    auto parts = splitInto(merged, target);
    if (!parts) {
      parts = splitInto(target, merged);
      splits = false;
    }
    if (!parts) return {};
    // Of every group of dimensions that were split or merged, the operand has all or none.
    Dims dims;
    int64_t missing = int64_t(merged.size() - own.size());
    size_t from = 0, to = 0;
    for (const Dims &list : *parts) {
      size_t fromCount = splits ? 1 : list.size(), toCount = splits ? list.size() : 1;
      // Units that splitInto passed over would shift the count.
      ArrayRef<DimExpr> many = splits ? target : ArrayRef<DimExpr>(merged);
      size_t at = splits ? to : from;
      if (at + list.size() > many.size() || many.slice(at, list.size()) != ArrayRef<DimExpr>(list)) return {};
      if (from + fromCount > merged.size() || to + toCount > target.size()) return {};
      bool all = true, none = true;
      for (size_t d = from; d < from + fromCount; ++d) {
        bool has = int64_t(d) >= missing && own[d - missing] == merged[d];
        bool lacks = int64_t(d) < missing || own[d - missing].isConstant(1);
        all &= has;
        none &= lacks;
      }
      if (!all && !none) return {};
      for (size_t d = to; d < to + toCount; ++d)
        dims.push_back(none ? DimExpr::constant(rewriter.getContext(), 1) : target[d]);
      from += fromCount;
      to += toCount;
    }
    if (from != merged.size() || to != target.size()) return {};
    if (dry) return broadcast.getX();
    Value x = reshaped(rewriter, broadcast.getLoc(), broadcast.getX(), dims);
    Type type = tensorOf(target, getElementTypeOrSelf(x));
    return BroadcastOp::create(rewriter, broadcast.getLoc(), type, x);
  }

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    if (!isa<ScalarOpInterface>(op) || op->getNumResults() != 1) return failure();
    Dims dims;
    bool found = false;
    for (Value operand : op->getOperands()) {
      auto reshape = movingReshape(operand);
      if (!reshape || isLiteral(operand)) continue;
      if (!operand.hasOneUse()) return failure();
      Dims source = dimsOf(reshape.getX().getType());
      if (found && dims != source) return failure();
      dims = source;
      found = true;
    }
    if (!found) return failure();
    for (Value operand : op->getOperands()) {
      if (isLiteral(operand) || movingReshape(operand)) continue;
      auto broadcast = operand.getDefiningOp<BroadcastOp>();
      if (!broadcast || !repeated(rewriter, broadcast, dims, /*dry=*/true)) return failure();
    }
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      if (isLiteral(operand))
        operands.push_back(reshaped(rewriter, op->getLoc(), operand, dims));
      else if (auto reshape = movingReshape(operand))
        operands.push_back(reshape.getX());
      else
        operands.push_back(repeated(rewriter, operand.getDefiningOp<BroadcastOp>(), dims, /*dry=*/false));
    }
    OperationState state(op->getLoc(), op->getName(), operands, tensorOf(dims, getElementTypeOrSelf(op->getResult(0))),
                         op->getAttrs());
    Operation *moved = rewriter.create(state);
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op->getResult(0).getType(), moved->getResult(0));
    return success();
  }
};

} // namespace

void populateMoveReshapePatterns(RewritePatternSet &patterns) {
  patterns.add<RaisePastTranspose, LowerPastTranspose, LowerPastLinear, LowerPastBatch, LowerPastElementwise>(
      patterns.getContext());
}

void populateReadPackedPatterns(RewritePatternSet &patterns) {
  populateMoveReshapePatterns(patterns);
  patterns.add<RaisePastSlice>(patterns.getContext());
}

} // namespace stator::simplify
