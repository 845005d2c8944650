// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NumPy's .npy format, version 1 to 3: magic, version, length of a header that is a Python dictionary, elements.
#include "tools/stator-ptx/Argument.h"

#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>

namespace stator::ptxtool {

using sim::sizeOf;
using sim::Type;

namespace {

struct Named {
  const char *code;
  Type type;
};
const Named kCodes[] = {{"f2", Type::f16}, {"f4", Type::f32}, {"f8", Type::f64}, {"u1", Type::u8},
                        {"u2", Type::u16}, {"u4", Type::u32}, {"u8", Type::u64}, {"i1", Type::s8},
                        {"i2", Type::s16}, {"i4", Type::s32}, {"i8", Type::s64}, {"b1", Type::u8}};

/// The text behind `'key':` in the header.
std::string valueOf(const std::string &header, const std::string &key, const std::string &path) {
  size_t at = header.find("'" + key + "'");
  at = at == std::string::npos ? at : header.find(':', at);
  if (at == std::string::npos) throw UsageError(path + ": the header names no " + key);
  at = header.find_first_not_of(' ', at + 1);
  return at == std::string::npos ? "" : header.substr(at);
}

} // namespace

Argument readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw UsageError(path + ": cannot be opened");
  auto need = [&](void *to, size_t bytes) {
    file.read(static_cast<char *>(to), static_cast<std::streamsize>(bytes));
    if (static_cast<size_t>(file.gcount()) != bytes) throw UsageError(path + ": the file is cut short");
  };
  unsigned char head[8];
  need(head, sizeof head);
  if (std::memcmp(head, "\x93NUMPY", 6) || head[6] < 1 || head[6] > 3) throw UsageError(path + ": not a .npy file");
  unsigned char lengthBytes[4] = {};
  need(lengthBytes, head[6] == 1 ? 2 : 4);
  size_t length = lengthBytes[0] | lengthBytes[1] << 8 | lengthBytes[2] << 16 | size_t{lengthBytes[3]} << 24;
  if (length > 65536) throw UsageError(path + ": the header is too long");
  std::string header(length, ' ');
  need(header.data(), length);

  Argument argument;
  argument.kind = Argument::Kind::buffer;
  std::string code = valueOf(header, "descr", path);
  argument.type = Type::none;
  if (code.size() >= 4 && (code[1] == '<' || code[1] == '|'))
    for (const Named &n : kCodes)
      if (code.compare(2, 2, n.code) == 0) argument.type = n.type;
  if (argument.type == Type::none) throw UsageError(path + ": unknown element type " + code.substr(0, 8));
  if (valueOf(header, "fortran_order", path).rfind("False", 0) != 0)
    throw UsageError(path + ": the array is not in C order");
  std::string shape = valueOf(header, "shape", path);
  uint64_t total = sizeOf(argument.type);
  for (size_t at = 1; at < shape.size() && shape[0] == '(' && shape[at] != ')';) {
    char *end = nullptr;
    if (shape[at] < '0' || shape[at] > '9') throw UsageError(path + ": the shape is malformed");
    uint64_t extent = std::strtoull(shape.c_str() + at, &end, 10);
    if (extent > kMostBytes / total) throw UsageError(path + ": the array is too large");
    total *= std::max<uint64_t>(extent, 1);
    argument.shape.push_back(extent);
    at = static_cast<size_t>(end - shape.c_str());
    at = std::min(shape.find_first_not_of(", ", at), shape.size());
  }
  size_t bytes = argument.count() * sizeOf(argument.type);
  if (bytes == 0) throw UsageError(path + ": the array is empty");
  argument.data.resize(bytes);
  need(argument.data.data(), bytes);
  return argument;
}

void writeNpy(const std::string &path, Type type, const std::vector<size_t> &shape, const std::vector<uint8_t> &data) {
  const char *code = sizeOf(type) == 1 ? "u1" : sizeOf(type) == 2 ? "u2" : sizeOf(type) == 4 ? "u4" : "u8";
  for (const Named &n : kCodes)
    if (n.type == type) {
      code = n.code;
      break;
    }
  std::string header =
      std::string("{'descr': '") + (code[1] == '1' ? '|' : '<') + code + "', 'fortran_order': False, 'shape': (";
  for (size_t extent : shape) header += std::to_string(extent) + ",";
  header += "), }";
  header.resize((header.size() + 1 + 10 + 63) / 64 * 64 - 11, ' ');
  header += '\n';
  std::unique_ptr<std::FILE, int (*)(std::FILE *)> file(std::fopen(path.c_str(), "wb"), std::fclose);
  unsigned char head[10] = {0x93,
                            'N',
                            'U',
                            'M',
                            'P',
                            'Y',
                            1,
                            0,
                            static_cast<unsigned char>(header.size() & 255),
                            static_cast<unsigned char>(header.size() >> 8)};
  if (!file || std::fwrite(head, 1, sizeof head, file.get()) != sizeof head ||
      std::fwrite(header.data(), 1, header.size(), file.get()) != header.size() ||
      std::fwrite(data.data(), 1, data.size(), file.get()) != data.size())
    throw UsageError(path + ": cannot be written");
}

} // namespace stator::ptxtool
