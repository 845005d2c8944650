// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/DType.h"
#include "compiler/io/CheckedI64.h"

namespace stator::io {
namespace {

struct Row {
  DType type;
  std::string_view name;
  unsigned bits;
};
constexpr Row rows[] = {
#define STATOR_ROW(NAME, NUMBER, TEXT, BITS) {STATOR_DTYPE_##NAME, TEXT, BITS},
    STATOR_DTYPES(STATOR_ROW)
#undef STATOR_ROW
};

struct Safetensors {
  DType type;
  std::string_view name;
};
constexpr Safetensors safetensorsRows[] = {
    {STATOR_DTYPE_BOOL, "BOOL"},      {STATOR_DTYPE_U8, "U8"},
    {STATOR_DTYPE_U16, "U16"},        {STATOR_DTYPE_U32, "U32"},
    {STATOR_DTYPE_U64, "U64"},        {STATOR_DTYPE_I8, "I8"},
    {STATOR_DTYPE_I16, "I16"},        {STATOR_DTYPE_I32, "I32"},
    {STATOR_DTYPE_I64, "I64"},        {STATOR_DTYPE_F16, "F16"},
    {STATOR_DTYPE_BF16, "BF16"},      {STATOR_DTYPE_F32, "F32"},
    {STATOR_DTYPE_F64, "F64"},        {STATOR_DTYPE_F8E4M3FN, "F8_E4M3"},
    {STATOR_DTYPE_F8E5M2, "F8_E5M2"},
};

} // namespace

unsigned dtypeBytes(DType type) {
  for (const Row &row : rows)
    if (row.type == type) return row.bits / 8;
  return 0;
}

std::string_view dtypeName(DType type) {
  for (const Row &row : rows)
    if (row.type == type) return row.name;
  return "invalid";
}

DType dtypeFromName(std::string_view name) {
  for (const Row &row : rows)
    if (row.name == name) return row.type;
  return STATOR_DTYPE_INVALID;
}

std::string_view safetensorsName(DType type) {
  for (const Safetensors &row : safetensorsRows)
    if (row.type == type) return row.name;
  return "";
}

DType dtypeFromSafetensors(std::string_view name) {
  for (const Safetensors &row : safetensorsRows)
    if (row.name == name) return row.type;
  return STATOR_DTYPE_INVALID;
}

std::optional<int64_t> tensorBytes(DType type, const std::vector<int64_t> &shape) {
  CheckedI64 bytes = int64_t(dtypeBytes(type));
  for (int64_t size : shape) {
    if (size < 0) return std::nullopt;
    bytes *= size;
  }
  // A zero further right must not hide an overflow to its left: the product is asked once, after all factors.
  return bytes.value();
}

std::string shapeText(const std::vector<int64_t> &shape) {
  std::string text = "[";
  for (size_t i = 0; i < shape.size(); ++i) text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + "]";
}

} // namespace stator::io
