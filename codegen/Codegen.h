// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a module of fused graph functions to the parts of an artifact.
#ifndef STATOR_CODEGEN_CODEGEN_H
#define STATOR_CODEGEN_CODEGEN_H

#include "codegen/emit/Artifact.h"
#include "mlir/IR/BuiltinOps.h"

namespace stator::codegen {

struct Options {
  bool host = true;
  /// The CPU level that host kernels may use (codegen/target/host/CpuLevel.h).
  std::string cpu = "x86-64-v3";
  /// sm_80, sm_90, ...; none: no code for CUDA.
  std::vector<std::string> cudaArchitectures;
  /// Cubins beside the PTX where ptxas is found.
  bool cubins = true;
  /// The CUDA toolkit's folder; empty: looked for (codegen/target/cuda/Toolkit.h).
  std::string cudaToolkit;
  bool fastMath = false;
};

/// Generates code and plans for every public function of `module`, whose bodies hold graph.fusion ops, constants, control
/// flow, symbol bindings and assertions; an op that stands bare becomes a kernel of its own. The module is changed. Errors
/// are reported at the user's op. Weights in `parts` point into the module's attributes: keep its context alive.
mlir::LogicalResult generate(mlir::ModuleOp module, const Options &options, ArtifactParts &parts);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CODEGEN_H
