// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/include/stator/compiler.hpp"
#include "compiler/Compile.h"
#include "compiler/Places.h"
#include "compiler/Program.h"
#include "compiler/Registration.h"
#include "compiler/frontend/json/GraphJson.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace stator::compiler {
namespace {

using Diagnostics = std::vector<Diagnostic>;

Diagnostic translate(mlir::Diagnostic &diagnostic) {
  Diagnostic result;
  switch (diagnostic.getSeverity()) {
  case DiagnosticSeverity::Error: result.severity = Diagnostic::Severity::Error; break;
  case DiagnosticSeverity::Warning: result.severity = Diagnostic::Severity::Warning; break;
  case DiagnosticSeverity::Remark: result.severity = Diagnostic::Severity::Remark; break;
  case DiagnosticSeverity::Note: result.severity = Diagnostic::Severity::Note; break;
  }
  result.text = diagnostic.str();
  result.places = placesOf(diagnostic.getLocation());
  return result;
}

/// A context of its own for every call, so that calls share nothing.
std::unique_ptr<MLIRContext> contextFor(Diagnostics &diagnostics) {
  DialectRegistry registry;
  registerDialects(registry);
  auto context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  context->getDiagEngine().registerHandler([&diagnostics](mlir::Diagnostic &diagnostic) {
    diagnostics.push_back(translate(diagnostic));
    for (mlir::Diagnostic &note : diagnostic.getNotes()) diagnostics.push_back(translate(note));
    return success();
  });
  return context;
}

} // namespace

Result compileFile(const std::string &path, const Options &options) {
  Result result;
  auto context = contextFor(result.diagnostics);
  OwningOpRef<ModuleOp> module = readProgram(*context, path, options.model);
  if (!module) return result;
  CompileOptions settings;
  settings.model = llvm::sys::path::stem(path).str();
  settings.target.host = options.host;
  settings.target.cpu = options.cpu;
  settings.target.cudaArchitectures = options.cudaArchitectures;
  settings.target.cubins = options.cubins;
  settings.target.fastMath = options.fastMath;
  if (!options.host && options.cudaArchitectures.empty()) {
    emitError(module->getLoc()) << "there is nothing to compile for: neither the host nor an architecture of GPUs";
    return result;
  }
  Compilation compilation;
  if (succeeded(compile(*module, settings, compilation))) result.artifact = std::move(compilation.artifact);
  // The attributes that the parts point into live as long as the context.
  compilation = {};
  return result;
}

Diagnostics importFile(const std::string &path, const std::string &jsonPath, const std::string &model) {
  Diagnostics diagnostics;
  auto context = contextFor(diagnostics);
  OwningOpRef<ModuleOp> module = readProgram(*context, path, model);
  if (!module) return diagnostics;
  if (io::Status status = graph_json::writeGraphJsonFile(*module, jsonPath); !status)
    diagnostics.push_back({Diagnostic::Severity::Error, status.error(), {}});
  return diagnostics;
}

const char *version() { return STATOR_VERSION; }

} // namespace stator::compiler
