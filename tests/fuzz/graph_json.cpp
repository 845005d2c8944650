// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any text: the reader of graph JSON refuses it, or reads a program that verifies and can be written again.
#include "compiler/frontend/CheckProgram.h"
#include "compiler/frontend/json/GraphJson.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto module = stator::graph_json::readGraphJsonText(
      context, llvm::StringRef(reinterpret_cast<const char *>(data), size), "/nonexistent/fuzz.json");
  if (!module) return 0;
  if (failed(mlir::verify(*module))) std::abort();
  (void)stator::checkProgram(*module);
  if (!stator::graph_json::writeGraphJson(*module, "fuzz.weights.safetensors")) std::abort();
  return 0;
}
