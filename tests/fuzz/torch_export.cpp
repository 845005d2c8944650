// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any JSON in the place of an archive's model: the importer refuses it, or imports a program that verifies. The archive
// around it, and its weights, are those of tests/models/mlp.pt2; what reads archives is tested apart.
#include "compiler/frontend/torch_export/FunctionBuilder.h"
#include "compiler/frontend/torch_export/Program.h"
#include "compiler/io/Archive.h"
#include "compiler/io/Json.h"
#include "dialects/graph/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include <cstdlib>

using namespace stator;

static torch_export::Weights &weights() {
  static torch_export::Weights *all = [] {
    auto opened = io::Archive::open("tests/models/mlp.pt2");
    if (!opened) std::abort();
    auto archive = std::make_shared<io::Archive>(std::move(*opened));
    auto *result = new torch_export::Weights;
    for (const std::string &name : archive->names())
      if (name.size() > 26 && name.compare(name.size() - 26, 26, "model_weights_config.json") == 0)
        if (!result->addConfig(archive, name, name.substr(0, name.rfind('/') + 1))) std::abort();
    return result;
  }();
  return *all;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.loadDialect<graph::GraphDialect, mlir::func::FuncDialect>();
  mlir::ScopedDiagnosticHandler quiet(&context, [](mlir::Diagnostic &) { return mlir::success(); });
  auto json = io::parseJson(std::string_view(reinterpret_cast<const char *>(data), size), "fuzz");
  if (!json) return 0;
  torch_export::Program program;
  try {
    program = torch_export::readProgram(*json);
  } catch (const torch_export::FormatError &) {
    return 0;
  }
  torch_export::Weights copy = weights();
  auto module = torch_export::buildModule(context, mlir::UnknownLoc::get(&context), "fuzz", program, copy);
  if (module && failed(mlir::verify(*module))) std::abort();
  return 0;
}
