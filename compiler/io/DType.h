// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element types as files name them.
#ifndef STATOR_COMPILER_IO_DTYPE_H
#define STATOR_COMPILER_IO_DTYPE_H

#include "stator/abi.h"
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace stator::io {

using DType = stator_dtype;

/// Bytes of one element; 0 for an invalid type.
unsigned dtypeBytes(DType type);
/// "f32", as abi.h names it.
std::string_view dtypeName(DType type);
/// STATOR_DTYPE_INVALID where there is no such type.
DType dtypeFromName(std::string_view name);
/// "F32", "BF16", "F8_E4M3", "BOOL": the names of the safetensors format.
std::string_view safetensorsName(DType type);
DType dtypeFromSafetensors(std::string_view name);

/// Bytes of a dense tensor; nothing where a size is negative or the product leaves int64.
std::optional<int64_t> tensorBytes(DType type, const std::vector<int64_t> &shape);
/// "[2, 3]".
std::string shapeText(const std::vector<int64_t> &shape);

} // namespace stator::io

#endif // STATOR_COMPILER_IO_DTYPE_H
