// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/MathExpansion.h"
#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

using namespace mlir;

namespace stator::codegen {

void expandMath(ModuleOp module) {
  RewritePatternSet patterns(module.getContext());
  MathPolynomialApproximationOptions options;
  populateMathPolynomialApproximationPatterns(patterns, options);
  (void)applyPatternsGreedily(module, std::move(patterns));
}

} // namespace stator::codegen
