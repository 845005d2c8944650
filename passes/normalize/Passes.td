// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_PASSES_NORMALIZE_PASSES
#define STATOR_PASSES_NORMALIZE_PASSES

include "mlir/Pass/PassBase.td"

def FunctionalizeWrites : Pass<"stator-functionalize-writes", "::mlir::func::FuncOp"> {
  let summary = "Turns writes through views into new values";
  let description = [{
    Precondition: `graph` as imported: `graph.write` overwrites a tensor and whatever that tensor is a view of.
    Effect: each write becomes the new value of its base (ViewOpInterface::scatterBack along the chain of views); later
    uses of the base and of all its views read the new value. A written state argument becomes a result with
    `graph.updates`, a written input one with `graph.updates_input`.
    Postcondition: no `graph.write` and no `graph.copy`; every value is immutable.
  }];
  let statistics = [Statistic<"numWrites", "writes", "Writes functionalised">];
}

def DecomposeOps : Pass<"stator-decompose", "::mlir::func::FuncOp"> {
  let summary = "Replaces composite operations by simpler ones, and reductions of scattered dimensions by contiguous ones";
  let description = [{
    Effect: operations with DecomposableOpInterface are replaced by what they name; a reduction whose dimensions are not
    one contiguous group reads a transposed operand instead (index arithmetic once fused).
    Postcondition: every reduction's dimensions are contiguous and ascending.
  }];
  let statistics = [Statistic<"numDecomposed", "decomposed", "Operations replaced">];
}

#endif
