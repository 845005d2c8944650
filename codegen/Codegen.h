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

/// Phase lower: every op that computes and stands bare becomes a kernel of its own, so that functions hold fusions, constants,
/// reshapes, control flow, symbol bindings and assertions only.
void lower(mlir::ModuleOp module);
/// Phase schedule: chooses the template of each fusion of every public function and emits its kernels. `parts.plans` becomes
/// a program of its own, which can be written as text and read back: plan.program ops without offsets, one module of kernels
/// for each kind of code, and the weights as `plan.weights`. Errors are reported at the user's op.
mlir::LogicalResult schedule(mlir::ModuleOp module, const Options &options, ArtifactParts &parts);
/// Phase memory: gives the arena buffers of `parts.plans` their offsets.
mlir::LogicalResult planMemory(ArtifactParts &parts);
/// Phase emit: machine code of the kernels in `parts.plans`, which it consumes, and the weights. Weights point into the
/// module's attributes: keep its context alive.
mlir::LogicalResult emit(const Options &options, ArtifactParts &parts);

/// All four, for a module of fused graph functions, which is changed.
mlir::LogicalResult generate(mlir::ModuleOp module, const Options &options, ArtifactParts &parts);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_CODEGEN_H
