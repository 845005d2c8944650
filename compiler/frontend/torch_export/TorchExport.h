// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Importing what torch.export.save wrote.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_TORCHEXPORT_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_TORCHEXPORT_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace stator::torch_export {

struct ImportOptions {
  /// Which of an archive's models; empty where it has one only (or one called "model").
  std::string model;
};

/// Reads a PT2 archive (the current layout, that of torch 2.8, or the flat zip of torch 2.2 to 2.7) and returns a
/// module with one function, `main`:
///   - arguments are the user's tensor inputs in call order (`graph.name`), then the mutable states (`graph.state`,
///     `graph.initial`): the buffers and constants that the program overwrites;
///   - results are the user's outputs in order (None left out; numbers as 0-d tensors), then the new values of states
///     (`graph.updates`) and inputs (`graph.updates_input`) that the program lists as mutations; what it overwrites in
///     place stands as `graph.write` and gets its result from normalize;
///   - weights are `graph.constant` ops over the archive's bytes;
///   - symbols with their bounds stand in `graph.symbols`.
/// Composite operators are decomposed. The module is verified.
/// Null, with every reason reported through the context's diagnostics, where the program cannot be imported.
mlir::OwningOpRef<mlir::ModuleOp> importTorchExport(mlir::MLIRContext &context, const std::string &path,
                                                    const ImportOptions &options = {});

/// Every target that can be imported, sorted: for `stator ops` and coverage pages. The context needs the graph dialect.
std::vector<std::string> importableTargets(mlir::MLIRContext &context);

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_TORCHEXPORT_H
