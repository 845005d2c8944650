// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Program.h"
#include "compiler/frontend/CheckProgram.h"
#include "compiler/frontend/json/GraphJson.h"
#include "compiler/frontend/torch_export/TorchExport.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace stator {

ProgramForm formOf(llvm::StringRef path) {
  return llvm::StringSwitch<ProgramForm>(llvm::sys::path::extension(path))
      .Cases({".pt2", ".ep", ".pt"}, ProgramForm::TorchExport)
      .Case(".json", ProgramForm::GraphJson)
      .Case(".mlir", ProgramForm::Mlir)
      .Case(".stator", ProgramForm::Artifact)
      .Default(ProgramForm::Unknown);
}

static OwningOpRef<ModuleOp> read(MLIRContext &context, const std::string &path, const std::string &model) {
  Location file = FileLineColLoc::get(&context, path, 0, 0);
  switch (formOf(path)) {
  case ProgramForm::TorchExport: return torch_export::importTorchExport(context, path, {model});
  case ProgramForm::Mlir: return parseSourceFile<ModuleOp>(path, &context);
  case ProgramForm::GraphJson: return graph_json::readGraphJson(context, path);
  case ProgramForm::Artifact: emitError(file) << "is compiled already: `stator run` and `stator inspect` take it"; return {};
  case ProgramForm::Unknown: break;
  }
  emitError(file) << "unknown kind of program: expected a name ending in .pt2, .json or .mlir";
  return {};
}

OwningOpRef<ModuleOp> readProgram(MLIRContext &context, const std::string &path, const std::string &model, bool plans) {
  OwningOpRef<ModuleOp> module = read(context, path, model);
  if (module && !plans && failed(checkProgram(*module))) return {};
  return module;
}

} // namespace stator
