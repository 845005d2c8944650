// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_EMIT_SIGNATURE_H
#define STATOR_CODEGEN_EMIT_SIGNATURE_H

#include "codegen/emit/BuildPlan.h"
#include "llvm/ADT/StringSet.h"

namespace stator::codegen {

/// A function's symbols, inputs, outputs and states as plan.program carries them.
struct Signature {
  llvm::SmallVector<mlir::Attribute> symbols, inputs, outputs, states;
  /// For each argument: its number among the inputs or among the states.
  llvm::SmallVector<int64_t> argumentIndex;
  /// Symbols that no input's size gives.
  llvm::StringSet<> dataSymbols;
};
Signature signatureOf(mlir::func::FuncOp function, WeightTable &weights);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_EMIT_SIGNATURE_H
