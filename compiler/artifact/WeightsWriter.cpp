// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/WeightsWriter.h"

#include <cstdio>

namespace stator::artifact {
namespace {

const char *storedName(stator_dtype dtype) {
  switch (dtype) {
  case STATOR_DTYPE_BOOL: return "BOOL";
  case STATOR_DTYPE_U8: return "U8";
  case STATOR_DTYPE_U16: return "U16";
  case STATOR_DTYPE_U32: return "U32";
  case STATOR_DTYPE_U64: return "U64";
  case STATOR_DTYPE_I8: return "I8";
  case STATOR_DTYPE_I16: return "I16";
  case STATOR_DTYPE_I32: return "I32";
  case STATOR_DTYPE_I64: return "I64";
  case STATOR_DTYPE_F16: return "F16";
  case STATOR_DTYPE_BF16: return "BF16";
  case STATOR_DTYPE_F32: return "F32";
  case STATOR_DTYPE_F64: return "F64";
  case STATOR_DTYPE_F8E4M3FN: return "F8_E4M3";
  case STATOR_DTYPE_F8E5M2: return "F8_E5M2";
  case STATOR_DTYPE_INVALID: break;
  }
  return "";
}

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      result += '\\';
      result += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", c);
      result += escape;
    } else {
      result += c;
    }
  }
  return result + '"';
}

size_t roundUp(size_t value) { return (value + STATOR_ALIGNMENT - 1) / STATOR_ALIGNMENT * STATOR_ALIGNMENT; }

} // namespace

std::vector<std::string_view> WeightsWriter::pieces() {
  zeros.assign(STATOR_ALIGNMENT, '\0');
  header = "{";
  std::vector<std::string_view> result(1); // the header comes last
  size_t position = 0, pads = 0;
  auto describe = [&](const std::string &name, stator_dtype dtype, const std::vector<int64_t> &shape,
                      std::string_view data) {
    if (header.size() > 1) header += ',';
    header += quoted(name) + ":{\"dtype\":\"" + storedName(dtype) + "\",\"shape\":[";
    for (size_t i = 0; i < shape.size(); ++i) header += (i ? "," : "") + std::to_string(shape[i]);
    header += "],\"data_offsets\":[" + std::to_string(position) + "," + std::to_string(position + data.size()) + "]}";
    position += data.size();
    result.push_back(data);
  };
  for (const WeightTensor &tensor : tensors) {
    if (size_t gap = roundUp(position) - position; gap != 0)
      describe(".pad" + std::to_string(pads++), STATOR_DTYPE_U8, {int64_t(gap)},
               std::string_view(zeros).substr(0, gap));
    describe(tensor.name, tensor.dtype, tensor.shape, tensor.data);
  }
  header += '}';
  uint64_t size = roundUp(header.size() + 8) - 8;
  header.append(size - header.size(), ' ');
  std::string prefix;
  for (int i = 0; i < 8; ++i) prefix += char(size >> (8 * i) & 255);
  header.insert(0, prefix);
  result[0] = header;
  return result;
}

} // namespace stator::artifact
