// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The phases of a compilation: one table, from which dumping, stopping, starting and listing all follow.
#ifndef STATOR_COMPILER_PHASES_H
#define STATOR_COMPILER_PHASES_H

#include "codegen/Codegen.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace mlir {
class OpPassManager;
}

namespace stator {

/// What passes must know of the targets that will follow.
struct PhaseOptions {
  /// Contractions read slices of a packed tensor as fast as dense ones: kernels on GPUs do, libraries on CPUs do not.
  bool readsPacked = true;
};

struct Phase {
  llvm::StringRef name;     // flag, dump file, test folder
  llvm::StringRef folder;
  llvm::StringRef sentence; // what it does
  llvm::StringRef after;    // what stands in the program after it
  /// Adds the phase's passes over a module; null for phases that are no passes.
  void (*addPasses)(mlir::OpPassManager &, const PhaseOptions &);
  /// A phase of code generation: reads the module of graph functions (lower, schedule) or `parts.plans` (memory, emit), which
  /// schedule makes. Null for import and for passes.
  mlir::LogicalResult (*generate)(mlir::ModuleOp module, const codegen::Options &options, codegen::ArtifactParts &parts);
  /// Whether the phase reads a module of plans and kernels instead of graph functions.
  bool readsPlans = false;
};

/// All phases in order.
llvm::ArrayRef<Phase> phases();

/// The phase of that name, or null.
const Phase *findPhase(llvm::StringRef name);

} // namespace stator

#endif // STATOR_COMPILER_PHASES_H
