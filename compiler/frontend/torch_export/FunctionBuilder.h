// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function around an imported graph: its signature, weights, states and symbols.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_FUNCTIONBUILDER_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_FUNCTIONBUILDER_H

#include "compiler/frontend/torch_export/Importer.h"
#include "mlir/IR/OwningOpRef.h"

namespace stator::torch_export {

/// A module with the function `main` of the program; null where something was reported.
mlir::OwningOpRef<mlir::ModuleOp> buildModule(mlir::MLIRContext &context, mlir::Location loc, const std::string &model,
                                              const Program &program, Weights &weights);

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_FUNCTIONBUILDER_H
