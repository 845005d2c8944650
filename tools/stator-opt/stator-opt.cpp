// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs passes on .mlir files: the tool of the regression tests.
#include "compiler/Registration.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  stator::registerDialects(registry);
  stator::registerPasses();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Stator's optimizer driver\n", registry));
}
