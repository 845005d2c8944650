// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A language server for .mlir files of the graph and plan dialects: errors as one types, types on hover, go to
// definition.
#include "compiler/Registration.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  stator::registerDialects(registry);
  return succeeded(mlir::MlirLspServerMain(argc, argv, registry)) ? EXIT_SUCCESS : EXIT_FAILURE;
}
