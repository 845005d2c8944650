// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_PASSES_FUSE_PASSES
#define STATOR_PASSES_FUSE_PASSES

include "mlir/Pass/PassBase.td"

def FuseKernels : Pass<"stator-fuse-kernels", "::mlir::func::FuncOp"> {
  let summary = "Groups operations into kernels";
  let description = [{
    Precondition: pure `graph`, reductions over contiguous dimensions (normalize sees to that).
    Effect: every tensor operation moves into a `graph.fusion`, planned as FusionPlan.h explains.
    Postcondition: a block holds fusions, constants, reshapes (which only rename bytes), control flow, asserts and symbol
    bindings. A fusion's attribute `graph.not_fused` lists what could have joined it and why it did not.
  }];
  let statistics = [Statistic<"numKernels", "kernels", "Kernels made">];
}

#endif
