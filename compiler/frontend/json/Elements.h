// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants: inline where they are few, else tensors of the weights.
#ifndef STATOR_COMPILER_FRONTEND_JSON_ELEMENTS_H
#define STATOR_COMPILER_FRONTEND_JSON_ELEMENTS_H

#include "compiler/frontend/json/Types.h"
#include "compiler/io/Safetensors.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include <set>

namespace stator::graph_json {

/// The document's weights: a table of its own and a file beside it.
class Weights {
public:
  /// Reads the member `weights` of a document in `folder`.
  void read(mlir::MLIRContext *context, const Node &weights, const std::string &folder);

  struct Entry {
    io::Tensor tensor;
    std::optional<mlir::DenseResourceElementsHandle> handle;
  };
  /// Refuses, at `node`, a name that neither has.
  Entry &find(const Node &node, llvm::StringRef name);

private:
  std::map<std::string, Entry> entries;
};

/// A value of elements: {"data": ...}, {"splat": ...} or {"weight": ...}, with dtype and shape of its own or `type`.
mlir::ElementsAttr readElements(mlir::MLIRContext *context, const Node &node, mlir::RankedTensorType type,
                                Weights &weights);

/// What is written beside the document.
class WeightsWriter {
public:
  /// Literals will not take this name, which a resource has.
  void reserve(llvm::StringRef name) { taken.insert(name.str()); }
  /// The attribute as a value of elements; null where it cannot be written. `type`: what a reader assumes without one.
  Written write(mlir::ElementsAttr value, mlir::RankedTensorType type);
  /// The document's member `weights`, with `file` where the file is needed; null where there are none.
  Written table(const std::string &file) const;
  bool needsFile() const { return !file.tensors.empty(); }
  /// The tensors point into the attributes.
  const io::TensorFile &tensors() const { return file; }

private:
  io::TensorFile file;
  std::map<std::string, Written> small;
  /// The type under which a resource was written first.
  std::map<std::string, mlir::RankedTensorType> types;
  std::set<std::string> taken;
};

} // namespace stator::graph_json

#endif // STATOR_COMPILER_FRONTEND_JSON_ELEMENTS_H
