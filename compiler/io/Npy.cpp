// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Npy.h"
#include "compiler/io/File.h"
#include <cstring>

namespace stator::io {
namespace {

struct Descr {
  DType type;
  std::string_view text;
};
constexpr Descr descrs[] = {
    {STATOR_DTYPE_BOOL, "|b1"}, {STATOR_DTYPE_U8, "|u1"},  {STATOR_DTYPE_I8, "|i1"},  {STATOR_DTYPE_U16, "<u2"},
    {STATOR_DTYPE_U32, "<u4"},  {STATOR_DTYPE_U64, "<u8"}, {STATOR_DTYPE_I16, "<i2"}, {STATOR_DTYPE_I32, "<i4"},
    {STATOR_DTYPE_I64, "<i8"},  {STATOR_DTYPE_F16, "<f2"}, {STATOR_DTYPE_F32, "<f4"}, {STATOR_DTYPE_F64, "<f8"},
};
constexpr size_t maxRank = 16;

/// The header is a Python literal: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }.
class Header {
public:
  explicit Header(std::string_view text) : text(text) {}
  std::string descr;
  std::optional<bool> fortran;
  std::optional<std::vector<int64_t>> shape;

  bool parse() {
    if (!take('{')) return false;
    while (!take('}')) {
      auto key = quoted();
      if (!key || !take(':') || !value(*key)) return false;
      if (!take(',') && peek() != '}') return false;
    }
    return peek() == 0 && !descr.empty() && fortran && shape;
  }

private:
  char peek() {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
    return text.empty() ? 0 : text.front();
  }
  bool take(char c) {
    if (peek() != c) return false;
    text.remove_prefix(1);
    return true;
  }
  bool word(std::string_view expected) {
    peek();
    if (text.substr(0, expected.size()) != expected) return false;
    text.remove_prefix(expected.size());
    return true;
  }
  std::optional<std::string> quoted() {
    char quote = peek();
    if (quote != '\'' && quote != '"') return std::nullopt;
    size_t end = text.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    std::string result(text.substr(1, end - 1));
    text.remove_prefix(end + 1);
    return result;
  }
  bool value(const std::string &key) {
    if (key == "descr" && descr.empty()) {
      auto name = quoted();
      if (!name) return false;
      descr = *name;
      return true;
    }
    if (key == "fortran_order" && !fortran) {
      if (word("True"))
        fortran = true;
      else if (word("False"))
        fortran = false;
      return fortran.has_value();
    }
    if (key != "shape" || shape || !take('(')) return false;
    shape.emplace();
    while (!take(')')) {
      int64_t size = 0;
      if (peek() < '0' || peek() > '9') return false;
      for (; !text.empty() && text.front() >= '0' && text.front() <= '9'; text.remove_prefix(1))
        if (__builtin_mul_overflow(size, 10, &size) || __builtin_add_overflow(size, text.front() - '0', &size))
          return false;
      shape->push_back(size);
      if (shape->size() > maxRank || (!take(',') && peek() != ')')) return false;
    }
    return true;
  }

  std::string_view text;
};

Buffer rowMajor(const Buffer &columns, const std::vector<int64_t> &shape, size_t width) {
  Buffer rows = Buffer::allocate(columns.size());
  if (!rows.ok()) return rows;
  std::vector<int64_t> index(shape.size(), 0);
  for (size_t out = 0; out < columns.size(); out += width) {
    int64_t in = 0;
    for (size_t d = shape.size(); d-- > 0;) in = in * shape[d] + index[d];
    std::memcpy(rows.mutableData() + out, columns.data() + size_t(in) * width, width);
    for (size_t d = shape.size(); d-- > 0;) {
      if (++index[d] < shape[d]) break;
      index[d] = 0;
    }
  }
  return rows;
}

} // namespace

Result<Tensor> parseNpy(const Buffer &bytes, const std::string &name) {
  auto bad = [&](const std::string &why) { return Error{"'" + name + "' is not a good .npy file: " + why}; };
  std::string_view text = bytes.view();
  if (text.size() < 10 || text.substr(0, 6) != "\x93NUMPY") return bad("it does not begin with NumPy's mark");
  unsigned major = uint8_t(text[6]);
  if (major < 1 || major > 3) return bad("version " + std::to_string(major));
  size_t lengthBytes = major == 1 ? 2 : 4, length = 0;
  if (text.size() < 8 + lengthBytes) return bad("the header is cut off");
  for (size_t i = lengthBytes; i-- > 0;) length = length << 8 | uint8_t(text[8 + i]);
  if (length > text.size() - 8 - lengthBytes) return bad("the header is longer than the file");
  Header header(text.substr(8 + lengthBytes, length));
  if (!header.parse()) return bad("its header cannot be understood");
  Tensor tensor;
  for (const Descr &row : descrs)
    if (row.text == header.descr ||
        (row.text[0] == '|' && header.descr.size() == 3 && row.text.substr(1) == header.descr.substr(1)))
      tensor.type = row.type;
  if (tensor.type == STATOR_DTYPE_INVALID)
    return bad("element type '" + header.descr.substr(0, 40) + "' is not supported");
  tensor.shape = *header.shape;
  auto needed = tensorBytes(tensor.type, tensor.shape);
  size_t start = 8 + lengthBytes + length;
  if (!needed) return bad("its size overflows: shape " + shapeText(tensor.shape));
  if (size_t(*needed) != text.size() - start)
    return bad("shape " + shapeText(tensor.shape) + " needs " + std::to_string(*needed) + " bytes, the file has " +
               std::to_string(text.size() - start));
  tensor.bytes = bytes.slice(start, size_t(*needed));
  if (*header.fortran && tensor.shape.size() > 1) {
    tensor.bytes = rowMajor(tensor.bytes, tensor.shape, dtypeBytes(tensor.type));
    if (!tensor.bytes.ok()) return bad("it does not fit memory");
  }
  return tensor;
}

Result<Tensor> readNpy(const std::string &path) {
  Result<Buffer> bytes = readFile(path);
  if (!bytes) return bytes.takeError();
  return parseNpy(*bytes, path);
}

Status writeNpy(const std::string &path, const Tensor &tensor) {
  std::string_view descr;
  for (const Descr &row : descrs)
    if (row.type == tensor.type) descr = row.text;
  if (descr.empty())
    return Error{"NumPy has no element type " + std::string(dtypeName(tensor.type)) + "; write a .safetensors file"};
  auto bytes = tensorBytes(tensor.type, tensor.shape);
  if (!bytes || size_t(*bytes) != tensor.bytes.size()) return Error{"the tensor's bytes do not fit its shape"};
  std::string shape = "(";
  for (int64_t size : tensor.shape) shape += std::to_string(size) + (tensor.shape.size() == 1 ? "," : ", ");
  if (tensor.shape.size() > 1) shape.erase(shape.size() - 2);
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': " + shape + "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string prefix = std::string("\x93NUMPY\x01\x00", 8) + char(header.size() & 0xff) + char(header.size() >> 8);
  return writeFile(path, {prefix, header, tensor.bytes.view()});
}

} // namespace stator::io
