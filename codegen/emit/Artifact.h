// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_EMIT_ARTIFACT_H
#define STATOR_CODEGEN_EMIT_ARTIFACT_H

#include "codegen/target/Target.h"
#include "mlir/IR/BuiltinOps.h"
#include <memory>

namespace stator::codegen {

/// A tensor of the weights file. `data` points into the program's attributes, or into `owned`.
struct Weight {
  std::string name;
  mlir::Type element;
  llvm::SmallVector<int64_t> shape;
  llvm::StringRef data;
  std::shared_ptr<std::string> owned;
};

/// One kernel, for people.
struct KernelReport {
  std::string function, device, name, kind, templateName, library;
  /// The user's lines that went in, in program order, without repeats.
  std::vector<std::string> sources;
  /// Ops of the body, in program order.
  std::vector<std::string> ops;
  int64_t launches = 0;
  /// Set where the fusion runs an earlier kernel with the same body.
  std::string sameAs;
};
struct MemoryReport {
  std::string function, device;
  graph::DimExpr arenaBytes, liveLoad;
};

/// Everything of an artifact but the zip around it.
struct ArtifactParts {
  std::vector<Blob> blobs;
  std::vector<ModuleImage> modules;
  std::vector<Weight> weights;
  /// plan.program for each function and device.
  mlir::OwningOpRef<mlir::ModuleOp> plans;
  std::vector<KernelReport> kernels;
  std::vector<MemoryReport> memory;
};

/// The manifest.json of docs/artifact-format.md. `entries` is the JSON object that the archive's writer gives; `weights` the
/// entry that holds the weights ("" without any).
std::string manifestJson(const ArtifactParts &parts, llvm::StringRef producer, llvm::StringRef model, llvm::StringRef entries,
                         llvm::StringRef weights);

/// The runtime's name of an element type ("f32", "bool", ...).
std::string dtypeName(mlir::Type element);
/// Adds the user's lines (`file:line`) that the location names, without repeats.
void collectSources(mlir::Location loc, std::vector<std::string> &sources);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_EMIT_ARTIFACT_H
