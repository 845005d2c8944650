// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Linear layers of one input (query, key and value of an attention) as one: their weights lie one below the other, and
// what each gave is a slice of the whole. For targets whose contractions read slices of a packed tensor as fast as dense
// tensors.
#include "dialects/graph/HostElements.h"
#include "passes/simplify/MoveReshapes.h"
#include "passes/simplify/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

#define DEBUG_TYPE "stator-merge-matmuls"

using namespace mlir;
using namespace stator::graph;

namespace stator::simplify {
#define GEN_PASS_DEF_MERGEMATMULS
#include "passes/simplify/Passes.h.inc"

namespace {

/// x * transpose(weight) (+ bias).
struct Linear {
  MatmulOp matmul;
  ConstantOp weight, bias;
  /// The value after the bias.
  Value result;
  int64_t outputs, depth;
};

std::optional<Linear> linearOf(MatmulOp op) {
  auto weight = op.getRhs().getDefiningOp<ConstantOp>();
  if (!weight || !weight->hasOneUse() || weight.getType().getRank() != 2 || !op.getTransposeRhs() ||
      op.getTransposeLhs())
    return std::nullopt;
  Linear linear{op, weight, {}, op.getResult(), weight.getType().getDimSize(0), weight.getType().getDimSize(1)};
  if (op->hasOneUse()) {
    auto add = dyn_cast<AddOp>(*op->user_begin());
    Value other = !add ? Value() : add->getOperand(0) == op.getResult() ? add->getOperand(1) : add->getOperand(0);
    auto broadcast = other ? other.getDefiningOp<BroadcastOp>() : BroadcastOp();
    auto bias = broadcast ? broadcast.getX().getDefiningOp<ConstantOp>() : ConstantOp();
    // One number for each output, along the last dimension.
    if (bias && bias.getType().getRank() == 1 && bias.getType().getDimSize(0) == linear.outputs) {
      linear.bias = bias;
      linear.result = add->getResult(0);
    }
  }
  return linear;
}

/// The elements of the constants one after the other, as a tensor of `shape`; null where they cannot be read.
Value stacked(OpBuilder &b, Location loc, ArrayRef<ConstantOp> parts, ArrayRef<int64_t> shape) {
  Type element = getElementTypeOrSelf(parts[0]->getResult(0));
  HostTensor all(element, shape);
  if (!all.ok()) return {};
  size_t filled = 0;
  for (ConstantOp part : parts) {
    std::string error;
    FailureOr<HostTensor> tensor = hostTensorOf(part.getValue(), error);
    if (failed(tensor) || filled + tensor->bytes() > all.bytes()) return {};
    std::memcpy(all.mutableData() + filled, tensor->data(), tensor->bytes());
    filled += tensor->bytes();
  }
  return ConstantOp::create(b, loc, elementsOf(all, RankedTensorType::get(shape, element)));
}

struct MergeMatmulsPass : impl::MergeMatmulsBase<MergeMatmulsPass> {
  void runOnOperation() override {
    SmallVector<MatmulOp> matmuls;
    getOperation().walk([&](MatmulOp op) { matmuls.push_back(op); });
    llvm::MapVector<std::pair<Value, Block *>, SmallVector<Linear>> groups;
    for (MatmulOp op : matmuls)
      if (auto linear = linearOf(op); linear && feedsContractionsOnly(linear->result))
        groups[{op.getLhs(), op->getBlock()}].push_back(*linear);
    for (auto &[key, group] : groups) {
      SmallVector<Linear> alike;
      for (Linear &linear : group)
        if (bool(linear.bias) == bool(group[0].bias)) alike.push_back(linear);
      if (alike.size() >= 2) merge(alike);
    }
    // Reshapes that stand between the slices and their readers, here and in packed projections of the program's own.
    RewritePatternSet patterns(&getContext());
    populateReadPackedPatterns(patterns);
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns)))) signalPassFailure();
  }

  void merge(ArrayRef<Linear> group) {
    // Everything but the input is constant, so the first place serves all.
    MatmulOp first = group[0].matmul;
    for (const Linear &linear : group)
      if (linear.matmul->isBeforeInBlock(first)) first = linear.matmul;
    OpBuilder b(first);
    SmallVector<Location> locations;
    SmallVector<ConstantOp> weights, biases;
    int64_t outputs = 0;
    for (const Linear &linear : group) {
      locations.push_back(linear.result.getLoc());
      weights.push_back(linear.weight);
      if (linear.bias) biases.push_back(linear.bias);
      if (__builtin_add_overflow(outputs, linear.outputs, &outputs)) return;
    }
    Location loc = b.getFusedLoc(locations);
    Value weight = stacked(b, loc, weights, {outputs, group[0].depth});
    Value bias = biases.empty() ? Value() : stacked(b, loc, biases, {outputs});
    if (!weight || (!biases.empty() && !bias)) return;
    SmallVector<DimExpr> dims = dimsOf(first.getType());
    Type element = first.getType().getElementType();
    auto typeOf = [&](int64_t columns) {
      dims.back() = DimExpr::constant(&getContext(), columns);
      return tensorOf(dims, element);
    };
    Value all = MatmulOp::create(b, loc, typeOf(outputs), first.getLhs(), weight, /*transpose_lhs=*/false,
                                 /*transpose_rhs=*/true);
    if (bias) all = AddOp::create(b, loc, all, BroadcastOp::create(b, loc, all.getType(), bias).getResult());
    int64_t start = 0;
    for (Linear linear : group) {
      SmallVector<int64_t> starts(dims.size(), 0), steps(dims.size(), 1);
      starts.back() = start;
      start += linear.outputs;
      Value result = linear.result;
      result.replaceAllUsesWith(
          SliceOp::create(b, result.getLoc(), typeOf(linear.outputs), all, starts, steps).getResult());
    }
    for (Linear linear : group) {
      if (linear.bias) linear.result.getDefiningOp()->erase();
      linear.matmul->erase();
      if (linear.weight->use_empty()) linear.weight->erase();
    }
    numMerged += group.size();
  }
};

} // namespace
} // namespace stator::simplify
