// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Npy.h"
#include <gtest/gtest.h>

using namespace stator::io;

namespace {

std::string npy(const std::string &header, const std::string &data, char major = 1) {
  std::string bytes = std::string("\x93NUMPY") + major + '\0' + char(header.size() & 255) + char(header.size() >> 8);
  return bytes + header + data;
}
Result<Tensor> parse(const std::string &bytes) { return parseNpy(Buffer::copyOf(bytes), "t.npy"); }
void expectError(const std::string &bytes, const std::string &part) {
  auto result = parse(bytes);
  ASSERT_FALSE(result) << "accepted";
  EXPECT_NE(result.error().find(part), std::string::npos) << result.error();
}
std::string header(const std::string &descr, const std::string &shape, const std::string &fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

TEST(Npy, Reads) {
  auto result = parse(npy(header("<i2", "(2, 3)", "True"), std::string("\1\0\4\0\2\0\5\0\3\0\6\0", 12)));
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(result->shape, (std::vector<int64_t>{2, 3}));
  EXPECT_EQ(result->bytes.view(), std::string_view("\1\0\2\0\3\0\4\0\5\0\6\0", 12))
      << "columns first becomes rows first";
}

TEST(Npy, SaysWhy) {
  expectError("PK\3\4 and more", "'t.npy' is not a good .npy file: it does not begin with NumPy's mark");
  expectError(npy(header("<f4", "(2,)"), "", 9), "version 9");
  expectError(std::string("\x93NUMPY\2\0\1\1", 10), "the header is cut off");
  expectError(npy("", "").substr(0, 8) + "\xff\xff", "the header is longer than the file");
  expectError(npy("{'descr': open('x')}", ""), "its header cannot be understood");
  expectError(npy(header(">f4", "(1,)"), "1234"), "element type '>f4' is not supported");
  expectError(npy(header("|O", "(1,)"), "1234"), "is not supported");
  expectError(npy(header("<f4", "(4611686018427387904, 4)"), ""), "its size overflows: shape");
  expectError(npy(header("<f4", "(3,)"), "1234"), "needs 12 bytes, the file has 4");
}

} // namespace
