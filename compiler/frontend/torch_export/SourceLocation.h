// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where in the user's program an op comes from.
//
// Every imported op has one location,
//
//   fused<{module = "encoder.layers.0", source = "x = self.fc(x)"}>["linear_3"(callsite("model.py":18:0 at ...))]
//
// the node's name around the exporter's stack, innermost frame first, frames inside PyTorch left out. The first file
// and line in it is the user's own.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SOURCELOCATION_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SOURCELOCATION_H

#include "compiler/frontend/torch_export/Program.h"
#include "mlir/IR/Location.h"

namespace stator::torch_export {

struct SourceFrame {
  std::string file, function, text;
  unsigned line = 0;
};

/// The frames of a Python stack trace, outermost first, as written.
std::vector<SourceFrame> parseStackTrace(llvm::StringRef text);
/// Whether the frame lies inside PyTorch or in code that it generated.
bool isInternal(const SourceFrame &frame);
/// The dotted path of the innermost module of an `nn_module_stack`; empty for the root.
std::string modulePath(llvm::StringRef moduleStack);

mlir::Location locationOf(mlir::MLIRContext *context, const Node &node);

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SOURCELOCATION_H
