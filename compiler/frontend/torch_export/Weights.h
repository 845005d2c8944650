// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tensors that an archive stores, as attributes over the archive's bytes.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_WEIGHTS_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_WEIGHTS_H

#include "compiler/frontend/torch_export/Program.h"
#include "compiler/io/Archive.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace stator::torch_export {

/// The element type of the graph dialect; null for complex and unknown types.
mlir::Type elementType(mlir::MLIRContext *context, ScalarType type);
/// The element type, or a FormatError that names the scalar type.
mlir::Type requireElementType(mlir::MLIRContext *context, ScalarType type);

class Weights {
public:
  /// Adds the tensors of a PT2 payload configuration; `folder` holds the records.
  io::Status addConfig(std::shared_ptr<io::Archive> archive, const std::string &config, const std::string &folder);
  /// Adds the tensors of a torch.save record (itself a zip) of the archive.
  io::Status addPickled(const io::Archive &archive, const std::string &record);

  /// Null where there is no tensor of that name.
  const Payload *find(const std::string &name) const;
  /// Two names of one key are one memory: the same record.
  std::string recordOf(const std::string &name) const;

  /// The tensor as an attribute. Tensors of one view of one record share a resource; the record is read once and
  /// nothing is copied where the view is dense. Throws FormatError where the view leaves the record.
  mlir::ElementsAttr attribute(mlir::MLIRContext *context, const std::string &name);

private:
  struct Source {
    std::shared_ptr<io::Archive> archive;
    std::string member;
  };
  const io::Buffer &load(const std::string &record);
  io::Buffer gather(const io::Buffer &bytes, const Payload &payload, int64_t count, size_t width);

  std::map<std::string, Payload> payloads;
  std::map<std::string, Source> sources;
  std::map<std::string, io::Buffer> buffers;
  std::map<std::string, mlir::DenseResourceElementsHandle> handles;
  uint64_t copied = 0, archiveBytes = 0;
};

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_WEIGHTS_H
