// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The safetensors format: an 8-byte little-endian header length, a JSON header, and the tensors' bytes, which tile the
// rest of the file without hole or overlap.
#ifndef STATOR_COMPILER_IO_SAFETENSORS_H
#define STATOR_COMPILER_IO_SAFETENSORS_H

#include "compiler/io/Buffer.h"
#include "compiler/io/DType.h"
#include "compiler/io/Result.h"
#include <map>
#include <string>
#include <vector>

namespace stator::io {

/// One dense row-major tensor; a bool takes one byte.
struct Tensor {
  DType type = STATOR_DTYPE_INVALID;
  std::vector<int64_t> shape;
  Buffer bytes;
};

struct TensorFile {
  /// By name, sorted.
  std::map<std::string, Tensor> tensors;
  /// The header's `__metadata__`: strings to strings.
  std::map<std::string, std::string> metadata;
};

/// Parses a whole file's bytes; the tensors share them. Refuses headers above 100,000,000 bytes, duplicate keys,
/// unknown element types and keys, sizes that overflow, holes, overlaps, and files longer or shorter than the header
/// says.
Result<TensorFile> parseSafetensors(const Buffer &bytes, const std::string &name);
Result<TensorFile> readSafetensors(const std::string &path);

/// Writes deterministically (larger element types first, then by name, no padding inside) through a temporary file.
Status writeSafetensors(const std::string &path, const TensorFile &file);
/// The header with its length prefix, and the order in which the tensors' bytes must follow it.
std::string safetensorsHeader(const TensorFile &file, std::vector<const Tensor *> &order);

} // namespace stator::io

#endif // STATOR_COMPILER_IO_SAFETENSORS_H
