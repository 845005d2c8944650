// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Patterns that move reshapes out of the way of fusion.
//
// A reshape that moves elements between dimensions ([8, 64] to [8, 4, 16]) only renames bytes between kernels, but no
// kernel reaches through it. Programs put such reshapes between a matmul and its bias, between packed projections and
// the attention that reads them, between repeated heads and the product over them. They are moved to places where they
// cost no kernel:
//
//   down, past elementwise work and matmuls, so that the work stands next to its producer's kernel;
//   up, past slices and transposes, so that these stand next to the matmul that can read through them.
//
// A pattern moves a reshape in one direction past one kind of op, so they end. Values stay the same bit for bit.
#ifndef STATOR_PASSES_SIMPLIFY_MOVERESHAPES_H
#define STATOR_PASSES_SIMPLIFY_MOVERESHAPES_H

#include "mlir/IR/PatternMatch.h"

namespace stator::simplify {

/// Whether every reader of `value` is a contraction, perhaps behind index operations that it can read through.
bool feedsContractionsOnly(mlir::Value value);

void populateMoveReshapePatterns(mlir::RewritePatternSet &patterns);
/// Besides, reshapes rise past slices, so that contractions read parts of a packed tensor by strides: right for targets
/// whose contractions do that as fast as they read dense tensors.
void populateReadPackedPatterns(mlir::RewritePatternSet &patterns);

} // namespace stator::simplify

#endif // STATOR_PASSES_SIMPLIFY_MOVERESHAPES_H
