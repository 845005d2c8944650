// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of one graph while it is imported: names are local to a graph.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SCOPE_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SCOPE_H

#include "compiler/frontend/torch_export/Program.h"
#include "dialects/graph/Builder.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace stator::torch_export {

/// A symbolic Python number: an expression over sizes, a 0-d tensor computed by the program, or both.
struct SymbolicValue {
  graph::DimExpr expr;
  mlir::Value tensor;
};

/// The casts that an autocast region asks for.
struct Autocast {
  mlir::Type type;
  std::string device;
};

struct Scope {
  explicit Scope(const Graph &graph) : graph(&graph) {}
  const Graph *graph;
  llvm::StringMap<mlir::Value> tensors;
  llvm::StringMap<SymbolicValue> scalars;
  /// Results of nodes that could not be imported; what uses them is not reported again.
  llvm::StringSet<> lost;
  std::optional<Autocast> autocast;
};

/// A node uses a value that an earlier, already reported node should have made.
class LostInput : public std::exception {};

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_SCOPE_H
