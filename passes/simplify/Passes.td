// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_PASSES_SIMPLIFY_PASSES
#define STATOR_PASSES_SIMPLIFY_PASSES

include "mlir/Pass/PassBase.td"

def SimplifyAlgebra : Pass<"stator-simplify-algebra", "::mlir::func::FuncOp"> {
  let summary = "Identities that hold for every value, NaN, infinities, signed zeros and wrapping integers included";
  let description = [{
    Runs the folders of the ops and the patterns of passes/simplify: neutral elements, double negation, casts that change
    nothing, transposes into matmuls, views moved past elementwise ops where that lets kernels join. Floats: x + (-0), x - 0,
    x * 1, x / 1 only; nothing that reassociates.
  }];
}

def FoldConstants : Pass<"stator-fold-constants", "::mlir::func::FuncOp"> {
  let summary = "Evaluates operations whose operands are constants";
  let description = [{
    The evaluator computes the value once, at compile time. Results above `max-bytes` stay as operations unless they are no larger than their
    operands; index operations on constants (a broadcast weight) stay too, since they cost nothing in a kernel.
  }];
  let options = [Option<"maxBytes", "max-bytes", "int64_t", "1 << 24", "Largest result, in bytes">];
  let statistics = [Statistic<"numFolded", "folded", "Operations evaluated">];
}

def FoldScales : Pass<"stator-fold-scales", "::mlir::func::FuncOp"> {
  let summary = "Moves a per-channel scale after a convolution into its constant weight";
  let description = [{
    Batch normalisation in inference is a scale and a shift per channel. Where the weight is a constant and nothing else reads
    the convolution, the scale is multiplied into the weight; the shift stays as an epilogue. Rounding changes as it does in
    every inference compiler: the product of weight and scale is rounded once instead of every output element.
  }];
  let statistics = [Statistic<"numFolded", "folded", "Scales folded">];
}

def MergeMatmuls : Pass<"stator-merge-matmuls", "::mlir::func::FuncOp"> {
  let summary = "Linear layers of one input, whose results only contractions read, become one with a weight for all";
  let description = [{
    Query, key and value of an attention are one product of the input with their weights one below the other; each is a slice
    of the result, which the matmuls that follow read by strides. The weights must be constants that nothing else reads.
  }];
  let statistics = [Statistic<"numMerged", "merged", "Matmuls that became part of another">];
}

#endif
