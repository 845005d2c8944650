// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler as a library: a module of `graph` in, an artifact out.
#ifndef STATOR_COMPILER_COMPILE_H
#define STATOR_COMPILER_COMPILE_H

#include "codegen/Codegen.h"
#include "mlir/IR/BuiltinOps.h"
#include <functional>
#include <string>

namespace stator {

struct CompileOptions {
  codegen::Options target;
  /// Name for messages and the manifest, e.g. the file's stem.
  std::string model;
  /// Phase names (compiler/Phases.h); empty: from the first, to the last.
  std::string startAt, stopAfter;
  /// Where to write NN-PHASE.mlir after each phase; empty: nowhere.
  std::string dumpDirectory;
  /// The file to write the artifact to, from the weights where they lie; empty: to `Compilation::artifact`.
  std::string output;
  /// Told the name of each phase as it begins.
  std::function<void(llvm::StringRef)> onPhase;
};

struct Compilation {
  codegen::ArtifactParts parts;
  /// The program as the last phase left it: `compile`'s module, or the module of plans and kernels that `parts` owns.
  mlir::ModuleOp program;
  /// The phase after which the program was invalid: a bug of ours. Empty where all is well, or the error is the user's.
  std::string brokenBy;
  /// The bytes of model.stator, where no file was asked for, and how many there are.
  std::string artifact;
  uint64_t artifactBytes = 0;
};

/// Runs the phases on `module`, which is changed. Where `stopAfter` names a phase before `emit` the outcome is
/// `result.program` and there is no artifact. Errors are diagnostics at the user's operations.
mlir::LogicalResult compile(mlir::ModuleOp module, const CompileOptions &options, Compilation &result);

/// Version text, as the command line and manifests print it.
llvm::StringRef versionText();

} // namespace stator

#endif // STATOR_COMPILER_COMPILE_H
