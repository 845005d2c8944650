// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/normalize/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "stator-decompose"

using namespace mlir;
using namespace stator::graph;

namespace stator::normalize {
#define GEN_PASS_DEF_DECOMPOSEOPS
#include "passes/normalize/Passes.h.inc"

namespace {

bool isContiguous(ArrayRef<int64_t> dims) {
  for (auto [i, d] : llvm::enumerate(dims))
    if (d != dims[0] + int64_t(i)) return false;
  return true;
}

/// Moves the reduced dimensions to the end. Row-major positions among them (argmax) stay what they were, since their order does.
void gatherReducedDims(ReductionOpInterface reduction) {
  ArrayRef<int64_t> dims = reduction.getReducedDims();
  Value x = reduction->getOperand(0);
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  SmallVector<int64_t> permutation;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(dims, d)) permutation.push_back(d);
  int64_t kept = permutation.size();
  permutation.append(dims.begin(), dims.end());
  OpBuilder b(reduction);
  SmallVector<int64_t> last;
  for (int64_t d = kept; d < rank; ++d) last.push_back(d);
  Value transposed = TransposeOp::create(b, reduction->getLoc(), x, permutation);
  reduction->setOperand(0, transposed);
  reduction->setAttr("dims", b.getDenseI64ArrayAttr(last));
}

struct DecomposeOpsPass : impl::DecomposeOpsBase<DecomposeOpsPass> {
  void runOnOperation() override {
    // What a decomposition builds may itself decompose; each round handles what the last one made.
    for (bool changed = true; changed;) {
      changed = false;
      SmallVector<DecomposableOpInterface> found;
      getOperation().walk([&](DecomposableOpInterface op) { found.push_back(op); });
      for (DecomposableOpInterface op : found) {
        OpBuilder b(op);
        SmallVector<Value> values = op.decompose(b);
        if (values.empty()) continue;
        op->replaceAllUsesWith(values);
        op->erase();
        ++numDecomposed;
        changed = true;
      }
    }
    getOperation().walk([&](ReductionOpInterface op) {
      if (isContiguous(op.getReducedDims())) return;
      gatherReducedDims(op);
      ++numDecomposed;
    });
  }
};

} // namespace
} // namespace stator::normalize
