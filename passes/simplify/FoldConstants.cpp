// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/HostElements.h"
#include "passes/simplify/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Transforms/RegionUtils.h"

#define DEBUG_TYPE "stator-fold-constants"

using namespace mlir;
using namespace stator::graph;

namespace stator::simplify {
#define GEN_PASS_DEF_FOLDCONSTANTS
#include "passes/simplify/Passes.h.inc"

namespace {

struct FoldConstantsPass : impl::FoldConstantsBase<FoldConstantsPass> {
  using FoldConstantsBase::FoldConstantsBase;

  void runOnOperation() override {
    OpBuilder b(&getContext());
    // In program order, so that chains fold in one walk.
    getOperation().walk([&](Operation *op) {
      // A view of a constant is free where it is read; evaluated it would be bytes of its own.
      if (!isa<EvaluableOpInterface>(op) || isa<ConstantOp, ViewOpInterface>(op) || !isMemoryEffectFree(op) ||
          op->getNumOperands() == 0 || !llvm::all_of(op->getOperands(), isConstant) || !worthStoring(op))
        return;
      FailureOr<SmallVector<HostTensor>> values = evaluate(op, 0);
      if (failed(values)) return;
      b.setInsertionPoint(op);
      for (auto [result, value] : llvm::zip_equal(op->getResults(), *values))
        result.replaceAllUsesWith(
            ConstantOp::create(b, op->getLoc(), elementsOf(value, cast<RankedTensorType>(result.getType()))));
      ++numFolded;
    });
    // What only the folded ops read goes with them.
    IRRewriter rewriter(&getContext());
    (void)runRegionDCE(rewriter, getOperation()->getRegions());
  }

  /// A constant, seen through views or not.
  static bool isConstant(Value value) {
    while (value.getDefiningOp<ViewOpInterface>()) value = value.getDefiningOp()->getOperand(0);
    return value.getDefiningOp<ConstantOp>() != nullptr;
  }

  static int64_t bytesOf(Value value) {
    auto type = cast<RankedTensorType>(value.getType());
    if (!type.hasStaticShape()) return -1;
    int64_t bytes = elementBytes(type.getElementType());
    for (int64_t size : type.getShape())
      if (__builtin_mul_overflow(bytes, size, &bytes)) return -1;
    return bytes;
  }

  bool worthStoring(Operation *op) {
    int64_t made = 0, read = 0;
    for (Value operand : op->getOperands()) read += std::max<int64_t>(0, bytesOf(operand));
    for (Value result : op->getResults()) {
      int64_t bytes = bytesOf(result);
      if (bytes < 0) return false;
      made += bytes;
    }
    return made <= maxBytes || made <= read;
  }

  /// The values of a constant, of a view of one, or of an op on such.
  static FailureOr<SmallVector<HostTensor>> evaluate(Operation *op, int depth) {
    if (depth > 64) return failure();
    SmallVector<HostTensor> operands;
    for (Value operand : op->getOperands()) {
      auto values = evaluate(operand.getDefiningOp(), depth + 1);
      if (failed(values)) return failure();
      operands.push_back((*values)[cast<OpResult>(operand).getResultNumber()]);
    }
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      std::string error;
      auto tensor = hostTensorOf(constant.getValue(), error);
      if (failed(tensor)) return failure();
      return SmallVector<HostTensor>{*tensor};
    }
    auto values = foldByEvaluation(op, operands, INT64_MAX);
    if (!values) return failure();
    return *values;
  }
};

} // namespace
} // namespace stator::simplify
