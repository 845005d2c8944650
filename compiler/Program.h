// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading a program in any of the forms Stator takes.
#ifndef STATOR_COMPILER_PROGRAM_H
#define STATOR_COMPILER_PROGRAM_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace stator {

enum class ProgramForm { TorchExport, GraphJson, Mlir, Artifact, Unknown };

/// By the file's extension: .pt2 (and .ep), .json, .mlir, .stator.
ProgramForm formOf(llvm::StringRef path);

/// Reads a .pt2, .json or .mlir file as a verified module. `model` picks one of an archive's models; empty: the only one.
/// Null, with the reasons in the context's diagnostics, where it cannot be read.
/// `plans`: the file holds what a later phase left (compiler/Phases.h), and is not checked as a program.
mlir::OwningOpRef<mlir::ModuleOp> readProgram(mlir::MLIRContext &context, const std::string &path, const std::string &model,
                                              bool plans = false);

} // namespace stator

#endif // STATOR_COMPILER_PROGRAM_H
