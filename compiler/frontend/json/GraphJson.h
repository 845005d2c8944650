// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Graph JSON: Stator's own text form of programs (docs/graph-json.md), for people and other tools to write.
#ifndef STATOR_COMPILER_FRONTEND_JSON_GRAPHJSON_H
#define STATOR_COMPILER_FRONTEND_JSON_GRAPHJSON_H

#include "compiler/io/Result.h"
#include "compiler/io/Safetensors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <string>

namespace stator::graph_json {

/// Reads a document, and the weights file that it refers to, as a verified module. A document may come from a stranger:
/// its size, nesting, counts and numbers are bounded before anything is made of them, and a weights file is taken from
/// the document's own folder only. Null, with the file, line and path of what is wrong in the context's diagnostics,
/// where it cannot be read.
mlir::OwningOpRef<mlir::ModuleOp> readGraphJson(mlir::MLIRContext &context, const std::string &path);
/// The same for text in memory; `path` is for messages, and its folder is where weights are looked for.
mlir::OwningOpRef<mlir::ModuleOp> readGraphJsonText(mlir::MLIRContext &context, llvm::StringRef text,
                                                    const std::string &path);

/// A module as a document.
struct Document {
  std::string text;
  /// The weights file's content, which points into the module's attributes; empty where no file is needed.
  io::TensorFile weights;
};
/// `weightsFile` is the name by which the document refers to its weights. The module holds functions of graph ops;
/// reading the document gives the same module. An error where it holds anything else, or text that is not UTF-8.
io::Result<Document> writeGraphJson(mlir::ModuleOp module, const std::string &weightsFile);

/// Writes `path` and, where weights are too large for it, `path` with `.weights.safetensors` for `.json`. Each appears
/// whole or not at all.
io::Status writeGraphJsonFile(mlir::ModuleOp module, const std::string &path);

} // namespace stator::graph_json

#endif // STATOR_COMPILER_FRONTEND_JSON_GRAPHJSON_H
