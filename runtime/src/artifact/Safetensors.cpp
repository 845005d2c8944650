// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Safetensors.h"

#include "runtime/src/Failure.h"
#include "runtime/src/artifact/Json.h"

#include <algorithm>
#include <cstring>

namespace stator::runtime {
namespace {

[[noreturn]] void bad(const char *problem, const std::string &name) {
  fail(STATOR_BAD_ARTIFACT, "weights: tensor '%.200s': %s", name.c_str(), problem);
}

stator_dtype storedDtype(const std::string &text) {
  static constexpr std::pair<std::string_view, stator_dtype> names[] = {
      {"BOOL", STATOR_DTYPE_BOOL},     {"U8", STATOR_DTYPE_U8},
      {"U16", STATOR_DTYPE_U16},       {"U32", STATOR_DTYPE_U32},
      {"U64", STATOR_DTYPE_U64},       {"I8", STATOR_DTYPE_I8},
      {"I16", STATOR_DTYPE_I16},       {"I32", STATOR_DTYPE_I32},
      {"I64", STATOR_DTYPE_I64},       {"F16", STATOR_DTYPE_F16},
      {"BF16", STATOR_DTYPE_BF16},     {"F32", STATOR_DTYPE_F32},
      {"F64", STATOR_DTYPE_F64},       {"F8_E4M3", STATOR_DTYPE_F8E4M3FN},
      {"F8_E5M2", STATOR_DTYPE_F8E5M2}};
  for (auto &[name, dtype] : names)
    if (name == text) return dtype;
  return STATOR_DTYPE_INVALID;
}

} // namespace

std::unordered_map<std::string, StoredTensor> readSafetensors(std::string_view bytes) {
  uint64_t headerSize;
  if (bytes.size() < sizeof headerSize) fail(STATOR_BAD_ARTIFACT, "weights: too short to be a safetensors file");
  std::memcpy(&headerSize, bytes.data(), sizeof headerSize);
  if (headerSize > 100000000 || headerSize > bytes.size() - sizeof headerSize)
    fail(STATOR_BAD_ARTIFACT, "weights: header of %llu bytes in a file of %zu", (unsigned long long)headerSize,
         bytes.size());
  Json header = Json::parse(bytes.substr(sizeof headerSize, headerSize), "weights header");
  std::string_view body = bytes.substr(sizeof headerSize + headerSize);

  struct Range {
    int64_t begin, end;
  };
  std::vector<Range> ranges;
  std::unordered_map<std::string, StoredTensor> result;
  for (const auto &[name, description] : header.object("weights header")) {
    if (name == "__metadata__") continue;
    for (const auto &[key, value] : description.object("tensor"))
      if (key != "dtype" && key != "shape" && key != "data_offsets") bad("unknown key in its description", name);
    StoredTensor tensor;
    tensor.dtype = storedDtype(description.at("dtype").string("dtype"));
    if (tensor.dtype == STATOR_DTYPE_INVALID) bad("unknown dtype", name);
    int64_t size = stator_dtype_bytes(tensor.dtype);
    const Json::Array &shape = description.at("shape").array("shape");
    if (shape.size() > STATOR_MAX_RANK) bad("rank is too high", name);
    for (const Json &dim : shape) {
      tensor.shape.push_back(dim.integer("shape", 0, INT64_MAX));
      // A zero makes the whole product zero, but sizes beside it may not overflow either.
      if (!multiplyInto(size, tensor.shape.back())) bad("size overflow", name);
    }
    const Json::Array &offsets = description.at("data_offsets").array("data_offsets");
    if (offsets.size() != 2) bad("data_offsets must be two numbers", name);
    Range range = {offsets[0].integer("data_offsets"), offsets[1].integer("data_offsets")};
    if (range.begin < 0 || range.end < range.begin || range.end > int64_t(body.size())) bad("outside the file", name);
    if (range.end - range.begin != size) bad("its bytes do not fit its shape", name);
    tensor.data = body.substr(range.begin, size);
    ranges.push_back(range);
    result.emplace(name, std::move(tensor));
  }
  std::sort(ranges.begin(), ranges.end(),
            [](Range a, Range b) { return a.begin != b.begin ? a.begin < b.begin : a.end < b.end; });
  int64_t expected = 0;
  for (Range range : ranges) {
    if (range.begin != expected)
      fail(STATOR_BAD_ARTIFACT, "weights: tensors overlap or leave a gap at byte %lld", (long long)expected);
    expected = range.end;
  }
  if (expected != int64_t(body.size())) fail(STATOR_BAD_ARTIFACT, "weights: bytes that belong to no tensor at the end");
  return result;
}

} // namespace stator::runtime
