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
  /// The bytes of model.stator, where no file was asked for, and how many there are.
  std::string artifact;
  uint64_t artifactBytes = 0;
};

/// Runs the phases on `module`, which is changed. Where `stopAfter` names a phase before `emit` the module is the outcome and
/// `result` stays empty. Errors are diagnostics at the user's operations.
mlir::LogicalResult compile(mlir::ModuleOp module, const CompileOptions &options, Compilation &result);

/// Version text, as the command line and manifests print it.
llvm::StringRef versionText();

} // namespace stator

#endif // STATOR_COMPILER_COMPILE_H
