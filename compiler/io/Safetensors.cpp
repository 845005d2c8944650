// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Safetensors.h"
#include "compiler/io/File.h"
#include "compiler/io/Json.h"
#include <algorithm>
#include <cstring>

namespace stator::io {
namespace {

constexpr uint64_t maxHeader = 100'000'000;
constexpr size_t maxRank = 16;
constexpr size_t maxName = 4096;

/// A JSON number that is a non-negative int64.
std::optional<int64_t> natural(const Json &value) {
  if (!value.is_number_integer()) return std::nullopt;
  if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)) return std::nullopt;
  int64_t number = value.get<int64_t>();
  return number < 0 ? std::nullopt : std::optional<int64_t>(number);
}

struct Entry {
  std::string name;
  DType type;
  std::vector<int64_t> shape;
  int64_t begin, end;
};

Result<Entry> readEntry(const std::string &name, const Json &value, int64_t dataBytes) {
  auto bad = [&](const std::string &why) { return Error{"tensor '" + name.substr(0, 80) + "': " + why}; };
  if (name.size() > maxName) return bad("its name is longer than 4096 bytes");
  if (!value.is_object()) return bad("its entry is not an object");
  for (const auto &item : value.items())
    if (item.key() != "dtype" && item.key() != "shape" && item.key() != "data_offsets")
      return bad("unknown key '" + item.key().substr(0, 80) + "'");
  auto type = value.find("dtype"), shape = value.find("shape"), offsets = value.find("data_offsets");
  if (type == value.end() || shape == value.end() || offsets == value.end())
    return bad("dtype, shape or data_offsets is missing");
  Entry entry{name, STATOR_DTYPE_INVALID, {}, 0, 0};
  if (type->is_string()) entry.type = dtypeFromSafetensors(type->get_ref<const std::string &>());
  if (entry.type == STATOR_DTYPE_INVALID) return bad("unknown dtype " + type->dump(-1, ' ', true).substr(0, 40));
  if (!shape->is_array() || shape->size() > maxRank) return bad("its shape is not a list of at most 16 sizes");
  for (const Json &size : *shape) {
    auto number = natural(size);
    if (!number) return bad("its shape holds something that is not a size");
    entry.shape.push_back(*number);
  }
  if (!offsets->is_array() || offsets->size() != 2) return bad("data_offsets is not a pair");
  auto begin = natural((*offsets)[0]), end = natural((*offsets)[1]);
  if (!begin || !end || *begin > *end || *end > dataBytes) return bad("data_offsets do not lie within the file");
  entry.begin = *begin;
  entry.end = *end;
  auto bytes = tensorBytes(entry.type, entry.shape);
  if (!bytes) return bad("its size overflows: shape " + shapeText(entry.shape));
  if (*bytes != *end - *begin)
    return bad("shape " + shapeText(entry.shape) + " needs " + std::to_string(*bytes) + " bytes, data_offsets give " +
               std::to_string(*end - *begin));
  return entry;
}

} // namespace

Result<TensorFile> parseSafetensors(const Buffer &bytes, const std::string &name) {
  auto bad = [&](const std::string &why) { return Error{"'" + name + "' is not a good safetensors file: " + why}; };
  if (bytes.size() < 8) return bad("shorter than 8 bytes");
  uint64_t headerSize = 0;
  for (int i = 7; i >= 0; --i) headerSize = headerSize << 8 | uint8_t(bytes.data()[i]);
  if (headerSize > maxHeader)
    return bad("a header of " + std::to_string(headerSize) + " bytes; the limit is 100000000");
  if (headerSize > bytes.size() - 8) return bad("the header is longer than the file");
  std::string_view header = bytes.view().substr(8, headerSize);
  if (header.empty() || header.front() != '{') return bad("the header does not begin with '{'");
  Result<Json> json = parseJson(header, "its header", {8, 1u << 24});
  if (!json) return bad(json.error());
  int64_t dataBytes = int64_t(bytes.size() - 8 - headerSize);

  TensorFile file;
  std::vector<Entry> entries;
  for (const auto &item : json->items()) {
    if (item.key() == "__metadata__") {
      if (!item.value().is_object()) return bad("__metadata__ is not an object");
      for (const auto &pair : item.value().items()) {
        if (!pair.value().is_string()) return bad("__metadata__ holds something that is not a string");
        file.metadata[pair.key()] = pair.value().get<std::string>();
      }
      continue;
    }
    Result<Entry> entry = readEntry(item.key(), item.value(), dataBytes);
    if (!entry) return bad(entry.error());
    entries.push_back(std::move(*entry));
  }
  // The tensors tile the data: sorted, each begins where the one before it ends.
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return std::tie(a.begin, a.end, a.name) < std::tie(b.begin, b.end, b.name);
  });
  int64_t at = 0;
  for (const Entry &entry : entries) {
    if (entry.begin != at)
      return bad("tensor '" + entry.name + (entry.begin > at ? "' leaves a hole before it" : "' overlaps another"));
    at = entry.end;
  }
  if (at != dataBytes) return bad("the tensors end at byte " + std::to_string(at) + " of " + std::to_string(dataBytes));
  for (Entry &entry : entries)
    file.tensors[entry.name] = {entry.type, std::move(entry.shape),
                                bytes.slice(8 + headerSize + size_t(entry.begin), size_t(entry.end - entry.begin))};
  return file;
}

Result<TensorFile> readSafetensors(const std::string &path) {
  Result<Buffer> bytes = readFile(path);
  if (!bytes) return bytes.takeError();
  return parseSafetensors(*bytes, path);
}

std::string safetensorsHeader(const TensorFile &file, std::vector<const Tensor *> &order) {
  // Larger element types first keeps every tensor aligned to its element size, for readers that map the file.
  std::vector<std::pair<const std::string *, const Tensor *>> sorted;
  for (const auto &[name, tensor] : file.tensors) sorted.push_back({&name, &tensor});
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return dtypeBytes(a.second->type) > dtypeBytes(b.second->type);
  });
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  if (!file.metadata.empty()) header["__metadata__"] = file.metadata;
  size_t at = 0;
  order.clear();
  for (auto [name, tensor] : sorted) {
    nlohmann::ordered_json entry;
    entry["dtype"] = safetensorsName(tensor->type);
    entry["shape"] = tensor->shape;
    entry["data_offsets"] = {at, at + tensor->bytes.size()};
    header[*name] = std::move(entry);
    at += tensor->bytes.size();
    order.push_back(tensor);
  }
  std::string text = header.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  while (text.size() % 8 != 0) text += ' ';
  std::string prefix(8, '\0');
  for (size_t i = 0, n = text.size(); i < 8; ++i, n >>= 8) prefix[i] = char(n & 0xff);
  return prefix + text;
}

Status writeSafetensors(const std::string &path, const TensorFile &file) {
  for (const auto &[name, tensor] : file.tensors) {
    auto bytes = tensorBytes(tensor.type, tensor.shape);
    if (safetensorsName(tensor.type).empty() || !bytes || size_t(*bytes) != tensor.bytes.size())
      return Error{"tensor '" + name + "' has " + std::to_string(tensor.bytes.size()) +
                   " bytes, which is not what its shape " + shapeText(tensor.shape) + " and type need"};
    if (name == "__metadata__") return Error{"a tensor cannot be called __metadata__"};
  }
  std::vector<const Tensor *> order;
  std::string header = safetensorsHeader(file, order);
  std::vector<std::string_view> pieces{header};
  for (const Tensor *tensor : order) pieces.push_back(tensor->bytes.view());
  return writeFile(path, pieces);
}

} // namespace stator::io
