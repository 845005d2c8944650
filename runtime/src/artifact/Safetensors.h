// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the header of a safetensors file and checks all its promises.
#ifndef STATOR_RUNTIME_ARTIFACT_SAFETENSORS_H
#define STATOR_RUNTIME_ARTIFACT_SAFETENSORS_H

#include "stator/abi.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace stator::runtime {

/// A tensor inside a safetensors file: dense, row-major, little-endian.
struct StoredTensor {
  stator_dtype dtype;
  std::vector<int64_t> shape;
  std::string_view data;
};

/// All tensors of a file by name; they point into `bytes`. Throws a Failure (STATOR_BAD_ARTIFACT) unless the header is
/// JSON of at most 100,000,000 bytes, names are unique, sizes equal shape times element size (checked multiplication),
/// and the tensors tile the data without gap or overlap. Order in the header is free.
std::unordered_map<std::string, StoredTensor> readSafetensors(std::string_view bytes);

} // namespace stator::runtime
#endif
