// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/Compile.h"
#include "compiler/Phases.h"
#include "compiler/artifact/ArtifactWriter.h"
#include "compiler/artifact/WeightsWriter.h"
#include "compiler/io/DType.h"
#include "compiler/io/File.h"
#include "mlir/IR/AsmState.h"
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
  size_t number = 0;
  for (const Phase &phase : phases()) {
    ++number;
    if (phase.name == options.startAt) started = true;
    if (started && phase.name == "lower") {
      // From here on one library does it all; its phases show in its reports.
      if (options.onPhase) options.onPhase("generate");
      if (failed(codegen::generate(module, options.target, result.parts))) return failure();
      return writeArtifact(module, options, result);
    }
    if (started && phase.addPasses) {
      if (options.onPhase) options.onPhase(phase.name);
      PassManager pm(module.getContext());
      phase.addPasses(pm);
      if (failed(pm.run(module))) return failure();
    }
    if (started && failed(dump(module, options, number, phase.name))) return failure();
    if (phase.name == options.stopAfter) return success();
  }
  return success();
}

} // namespace stator
