// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Compile.h"
#include "compiler/Phases.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/WeightsWriter.h"
#include "compiler/io/DType.h"
#include "compiler/io/File.h"
#include "dialects/plan/Plan.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FileSystem.h"

using namespace mlir;

namespace stator {

llvm::StringRef versionText() { return "stator " STATOR_VERSION; }

/// Writes the module where --dump-phases asked for it; weights are elided, or dumps of a big model would be gigabytes.
static LogicalResult dump(ModuleOp module, const CompileOptions &options, size_t number, StringRef phase) {
  if (options.dumpDirectory.empty()) return success();
  if (std::error_code error = llvm::sys::fs::create_directories(options.dumpDirectory))
    return emitError(module.getLoc()) << "cannot make the folder " << options.dumpDirectory << ": " << error.message();
  std::string text;
  llvm::raw_string_ostream os(text);
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(64).elideLargeResourceString(64).enableDebugInfo(true, true);
  module.print(os, flags);
  std::string path = options.dumpDirectory + "/" + (number < 10 ? "0" : "") + std::to_string(number) + "-" + phase.str() + ".mlir";
  io::Status status = io::writeFile(path, {text});
  if (status) return success();
  return emitError(module.getLoc()) << status.error();
}

static LogicalResult writeArtifact(ModuleOp module, const CompileOptions &options, Compilation &result) {
  artifact::ArtifactWriter writer;
  for (const codegen::Blob &blob : result.parts.blobs) writer.add(blob.name, std::string_view(blob.bytes));
  artifact::WeightsWriter weights;
  for (const codegen::Weight &weight : result.parts.weights)
    weights.add({weight.name, io::dtypeFromName(codegen::dtypeName(weight.element)),
                 std::vector<int64_t>(weight.shape.begin(), weight.shape.end()),
                 std::string_view(weight.data.data(), weight.data.size())});
  std::string entry;
  if (!weights.empty()) writer.add(entry = "weights.safetensors", weights.pieces());
  std::string manifest =
      codegen::manifestJson(result.parts, versionText(), options.model, writer.entriesJson(), entry);
  if (options.output.empty()) {
    result.artifact = writer.bytes(manifest);
    result.artifactBytes = result.artifact.size();
    return success();
  }
  if (std::string error = writer.writeFile(options.output, manifest); !error.empty())
    return emitError(module.getLoc()) << "cannot write " << error;
  if (std::error_code error = llvm::sys::fs::file_size(options.output, result.artifactBytes))
    return emitError(module.getLoc()) << "cannot read back '" << options.output << "': " << error.message();
  return success();
}

LogicalResult compile(ModuleOp module, const CompileOptions &options, Compilation &result) {
  bool started = options.startAt.empty();
  PhaseOptions phaseOptions;
  phaseOptions.readsPacked = !options.target.cudaArchitectures.empty();
  size_t number = 0;
  result.program = module;
  for (const Phase &phase : phases()) {
    ++number;
    if (phase.name == options.startAt) {
      started = true;
      if (phase.readsPlans) {
        if (module.getOps<plan::ProgramOp>().empty())
          return module.emitError("holds no plan: phase '") << phase.name << "' starts from what phase 'schedule' leaves";
        result.parts.plans = module.clone();
      }
    }
    if (!started) continue;
    if (options.onPhase) options.onPhase(phase.name);
    if (phase.addPasses) {
      PassManager pm(module.getContext());
      phase.addPasses(pm, phaseOptions);
      if (failed(pm.run(module))) {
        // Passes verify what they leave; an error of the user's leaves the program as it was.
        ScopedDiagnosticHandler quiet(module.getContext(), [](Diagnostic &) { return success(); });
        if (failed(verify(module))) result.brokenBy = phase.name.str();
        return failure();
      }
    }
    if (phase.generate && failed(phase.generate(module, options.target, result.parts))) return failure();
    if (result.parts.plans) result.program = *result.parts.plans;
    if (phase.name == "emit") {
      return writeArtifact(module, options, result);
    }
    if (failed(dump(result.program, options, number, phase.name))) return failure();
    if (phase.name == options.stopAfter) return success();
  }
  return success();
}

} // namespace stator
