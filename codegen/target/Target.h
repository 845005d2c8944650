// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is asked of a target: machine code for fusions, and how to launch it.
//
// codegen/Codegen.cpp walks the program, asks the target to lower each fusion (equal bodies are asked once), lets the
// memory phase place buffers, and builds the plan from the launches. A target never sees buffers' addresses or the plan.
#ifndef STATOR_CODEGEN_TARGET_TARGET_H
#define STATOR_CODEGEN_TARGET_TARGET_H

#include "dialects/graph/Graph.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>
#include <vector>

namespace stator::codegen {

/// A file of the artifact.
struct Blob {
  std::string name; // "host/main.so"
  std::string bytes;
};

/// One entry of the manifest's "modules".
struct ModuleImage {
  std::string name, kind, entry; // kind: host | ptx | cubin
  std::string cpu, arch;         // one of them
};

/// What a launch is given: a fusion's input or result, or a scratch buffer of the fusion.
struct KernelBuffer {
  enum Kind { Input, Result, Scratch } kind;
  unsigned index;
};

/// One launch of generated code; expressions are over the symbols of the function around the fusion.
struct KernelLaunch {
  std::string kernel;
  llvm::SmallVector<KernelBuffer> buffers;
  llvm::SmallVector<graph::DimExpr> sizes; // host: `sizes`; CUDA: i64 scalars unless listed in `narrow`
  llvm::SmallVector<bool> narrow;          // CUDA: pass scalar i as i32
  // Host.
  graph::DimExpr count;
  int64_t grain = 1;
  // CUDA.
  std::array<graph::DimExpr, 3> grid;
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t sharedBytes = 0;
};

/// An operand of a library call: part of an input or result, seen through strides (in elements).
struct LibraryOperand {
  KernelBuffer buffer;
  mlir::Type element;
  llvm::SmallVector<graph::DimExpr> dims, strides;
  graph::DimExpr offset; // null: 0
};
/// A library's operation, in the manifest's terms (docs/artifact-format.md, "Library steps").
struct LibraryCall {
  std::string library, operation;
  llvm::SmallVector<std::pair<std::string, LibraryOperand>> operands; // "a", "b", "out", ...
  llvm::SmallVector<std::pair<std::string, llvm::SmallVector<int64_t>>> lists;
  llvm::SmallVector<std::pair<std::string, int64_t>> integers;
  struct Post {
    std::string op;
    std::optional<LibraryOperand> operand;
    std::optional<double> alpha, beta;
  };
  llvm::SmallVector<Post> post;
};

/// How a fusion runs.
struct LoweredFusion {
  std::string templateName; // for --explain
  /// Set: the library call, with `launches` as its fallback.
  std::optional<LibraryCall> library;
  std::vector<KernelLaunch> launches;
  /// Bytes of scratch buffers that live for this fusion only.
  llvm::SmallVector<graph::DimExpr> scratchBytes;
  /// (result, input): the kernel stays right where both are one buffer.
  llvm::SmallVector<std::pair<unsigned, unsigned>> mayShare;
};

class Target {
public:
  virtual ~Target() = default;
  /// The manifest's device: host | cuda.
  virtual llvm::StringRef device() const = 0;
  /// Emits the kernels of `fusion`, named `name` (or beginning with it). Failure has been reported at an op.
  virtual mlir::FailureOr<LoweredFusion> lower(graph::FusionOp fusion, llvm::StringRef name) = 0;
  /// The modules that lower() emits into and finish() reads, by name. The schedule phase takes them out, so that they stand in
  /// the program beside the plans; emit puts them back.
  virtual llvm::SmallVector<std::pair<llvm::StringRef, mlir::OwningOpRef<mlir::ModuleOp> *>> kernelModules() = 0;
  /// Machine code of everything lowered so far.
  virtual mlir::LogicalResult finish(std::vector<ModuleImage> &modules, std::vector<Blob> &blobs) = 0;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_TARGET_H
