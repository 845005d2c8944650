// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Safetensors.h"
#include "compiler/io/File.h"
#include <cstring>
#include <gtest/gtest.h>
#include <unistd.h>

using namespace stator::io;

namespace {

std::string withLength(uint64_t length, const std::string &rest) {
  std::string bytes(8, '\0');
  for (int i = 0; i < 8; ++i) bytes[i] = char(length >> (8 * i));
  return bytes + rest;
}
std::string file(const std::string &header, size_t dataBytes) {
  return withLength(header.size(), header + std::string(dataBytes, 'x'));
}
Result<TensorFile> parse(const std::string &bytes) { return parseSafetensors(Buffer::copyOf(bytes), "t.safetensors"); }

void expectError(const std::string &bytes, const std::string &part) {
  auto result = parse(bytes);
  ASSERT_FALSE(result) << "accepted";
  EXPECT_NE(result.error().find(part), std::string::npos) << result.error();
}

TEST(Safetensors, ReadsWhatTheFormatSays) {
  auto result = parse(file(
      R"({"__metadata__":{"k":"v"},"b":{"dtype":"F32","shape":[2],"data_offsets":[1,9]},"a":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]}})",
      9));
  ASSERT_TRUE(result) << result.error();
  EXPECT_EQ(result->metadata.at("k"), "v");
  EXPECT_EQ(result->tensors.at("a").type, STATOR_DTYPE_BOOL);
  EXPECT_EQ(result->tensors.at("a").shape, std::vector<int64_t>());
  EXPECT_EQ(result->tensors.at("b").shape, std::vector<int64_t>({2}));
  EXPECT_EQ(result->tensors.at("b").bytes.size(), 8u);
}

TEST(Safetensors, HeaderSizes) {
  expectError("1234567", "shorter than 8");
  expectError(withLength(uint64_t(1) << 63, "{}"), "limit");
  expectError(withLength(100'000'001, "{}"), "limit");
  expectError(withLength(10, "{}"), "longer than the file");
  expectError(withLength(2, "[]"), "'{'");
  EXPECT_TRUE(parse(withLength(2, "{}")));
}

TEST(Safetensors, SizesThatOverflow) {
  expectError(file(R"({"a":{"dtype":"F32","shape":[4194305,4194305,211106198978564],"data_offsets":[0,16]}})", 16),
              "overflows");
  // 2^61 elements fit int64, their bytes do not.
  expectError(file(R"({"a":{"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,0]}})", 0), "overflows");
  expectError(file(R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,4]}})", 4), "not a size");
  expectError(file(R"({"a":{"dtype":"F32","shape":[1.0],"data_offsets":[0,4]}})", 4), "not a size");
  expectError(file(R"({"a":{"dtype":"F32","shape":[18446744073709551615],"data_offsets":[0,4]}})", 4), "not a size");
}

TEST(Safetensors, TensorsTileTheData) {
  auto two = [](int b0, int e0, int b1, int e1, size_t total) {
    auto entry = [](const char *n, int b, int e) {
      return std::string("\"") + n + R"(":{"dtype":"U8","shape":[)" + std::to_string(e - b) + R"(],"data_offsets":[)" +
             std::to_string(b) + "," + std::to_string(e) + "]}";
    };
    return file("{" + entry("a", b0, e0) + "," + entry("b", b1, e1) + "}", total);
  };
  EXPECT_TRUE(parse(two(0, 4, 4, 8, 8)));
  EXPECT_TRUE(parse(two(4, 8, 0, 4, 8))) << "unsorted entries are good";
  expectError(two(0, 4, 5, 8, 8), "hole");
  expectError(two(0, 4, 3, 8, 8), "overlaps");
  expectError(two(0, 4, 4, 7, 8), "end at byte");
  expectError(file(R"({"a":{"dtype":"U8","shape":[0],"data_offsets":[4,0]}})", 4), "offsets");
  EXPECT_TRUE(parse(two(0, 0, 0, 0, 0))) << "empty tensors may share an offset";
  EXPECT_TRUE(parse(two(0, 0, 0, 4, 4)));
}

TEST(Safetensors, ManyEntriesWhoseSumIsTooLarge) {
  std::string header = "{";
  for (int i = 0; i < 1000; ++i)
    header += (i ? "," : "") + std::string("\"t") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[4],"data_offsets":[0,4]})";
  expectError(file(header + "}", 4), "overlaps");
}

TEST(Safetensors, DuplicateAndUnknownKeys) {
  expectError(
      file(
          R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"I8","shape":[1],"data_offsets":[0,1]}})",
          1),
      "twice");
  expectError(file(R"({"a":{"dtype":"U8","dtype":"I8","shape":[1],"data_offsets":[0,1]}})", 1), "twice");
  expectError(file(R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1],"__class__":1}})", 1), "unknown key");
  expectError(file(R"({"a":{"dtype":"Q4","shape":[1],"data_offsets":[0,1]}})", 1), "unknown dtype");
  expectError(file(R"({"__metadata__":{"a":1}})", 0), "not a string");
}

TEST(Safetensors, WritesWhatItReads) {
  TensorFile out;
  out.metadata["order"] = "[\"x\"]";
  out.tensors["flag"] = {STATOR_DTYPE_BOOL, {3}, Buffer::copyOf(std::string("\1\0\1", 3))};
  double numbers[2] = {1.5, -2.5};
  out.tensors["x"] = {STATOR_DTYPE_F64, {2, 1}, Buffer::copyOf({reinterpret_cast<char *>(numbers), 16})};
  std::string path = testing::TempDir() + "stator_io_write.safetensors";
  ASSERT_TRUE(writeSafetensors(path, out));
  auto bytes = readFile(path);
  ASSERT_TRUE(bytes);
  auto in = parseSafetensors(*bytes, path);
  ASSERT_TRUE(in) << in.error();
  EXPECT_EQ(in->metadata, out.metadata);
  EXPECT_EQ(in->tensors.at("x").bytes.view(), out.tensors["x"].bytes.view());
  EXPECT_EQ(in->tensors.at("flag").bytes.view(), out.tensors["flag"].bytes.view());
  // Wide types come first, so they are aligned in the file.
  EXPECT_EQ((in->tensors.at("x").bytes.data() - bytes->data()) % 8, 0);
  std::string first(bytes->view());
  ASSERT_TRUE(writeSafetensors(path, out));
  EXPECT_EQ(std::string(readFile(path)->view()), first);
  out.tensors["x"].shape = {3};
  EXPECT_FALSE(writeSafetensors(path, out));
  out.tensors["x"].shape = {2};
  out.tensors["__metadata__"] = out.tensors["x"];
  EXPECT_EQ(writeSafetensors(path, out).error(), "a tensor cannot be called __metadata__");
  EXPECT_EQ(std::string(readFile(path)->view()), first) << "what was there before stays";
  unlink(path.c_str());
}

TEST(Safetensors, SaysWhy) {
  auto one = [](const std::string &entry, size_t dataBytes = 16) { return file("{\"a\":" + entry + "}", dataBytes); };
  expectError(one(R"({"dtype":"F32"})"), "tensor 'a': dtype, shape or data_offsets is missing");
  expectError(one(R"({"dtype":"F32","shape":[4],"data_offsets":[1,17]})"), "data_offsets do not lie within the file");
  expectError(one(R"({"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]})"),
              "its size overflows: shape");
  expectError(one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,16]})"), "needs 12 bytes, data_offsets give 16");
  expectError(one(R"({"dtype":"F32","shape":[3],"data_offsets":[4,16]})"), "leaves a hole before it");
  expectError(withLength(100000001, "{}"), "a header of 100000001 bytes; the limit is 100000000");
  expectError(file("[]", 0), "the header does not begin with '{'");
}

} // namespace
