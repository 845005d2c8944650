// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// JSON, checksums and safetensors: what is read, and what is refused.
#include "compiler/artifact/Checksum.h"
#include "compiler/artifact/WeightsWriter.h"
#include "runtime/src/Failure.h"
#include "runtime/src/artifact/Digest.h"
#include "runtime/src/artifact/Json.h"
#include "runtime/src/artifact/Safetensors.h"

#include <gtest/gtest.h>

using namespace stator::runtime;

namespace {

TEST(Json, Values) {
  Json json = Json::parse(R"( {"a": [1, -2, {"b": true}], "text": "x\n\u00e9\ud83d\ude00\"", "none": null} )", "test");
  EXPECT_EQ(-2, json.at("a").array("a")[1].integer("a"));
  EXPECT_TRUE(json.at("a").array("a")[2].at("b").boolean("b"));
  EXPECT_EQ("x\n\xc3\xa9\xf0\x9f\x98\x80\"", json.at("text").string("text"));
  EXPECT_TRUE(json.at("none").isNull());
  EXPECT_EQ(INT64_MIN, Json::parse("-9223372036854775808", "test").integer("n"));
  EXPECT_EQ(9007199254740993, Json::parse("9007199254740993", "test").integer("n")) << "2^53 + 1, no double in between";
  EXPECT_THROW(json.at("missing"), Failure);
  EXPECT_THROW(json.at("a").integer("a"), Failure);
}

TEST(Json, Refused) {
  for (const char *text : {"",
                           "{",
                           "[1,]",
                           "{\"a\":1,}",
                           "{\"a\" 1}",
                           "1 2",
                           "1.0",
                           "1e3",
                           "1e400",
                           "NaN",
                           "01",
                           "-",
                           "--1",
                           "+1",
                           "9223372036854775808",
                           "18446744073709551616",
                           "\"\\ud800\"",
                           "\"\\udc00x\"",
                           "\"\\x\"",
                           "\"a",
                           "\"\n\"",
                           "tru",
                           "{\"a\":1,\"b\":2,\"a\":3}",
                           "[{\"q\":{\"a\":1,\"a\":1}}]",
                           "{1:2}",
                           "'a'",
                           "/**/1"})
    EXPECT_THROW(Json::parse(text, "test"), Failure) << text;
  for (const char *open : {"[", "{\"a\":"}) {
    std::string deep;
    for (int i = 0; i < 1000000; ++i) deep += open;
    EXPECT_THROW(Json::parse(deep, "test"), Failure);
  }
  EXPECT_NO_THROW(Json::parse(std::string(100, '[') + std::string(100, ']'), "test"));
}

TEST(Checksum, KnownAnswers) {
  // CRC-32's check value, and XXH64 of texts as the reference implementation gives them.
  EXPECT_EQ(0xCBF43926u, crc32("123456789"));
  EXPECT_EQ(0u, crc32(""));
  EXPECT_EQ(0xEF46DB3751D8E999u, xxh64(""));
  EXPECT_EQ(0x44BC2CF5AD770999u, xxh64("abc"));
  EXPECT_EQ(0xD24EC4F1A98C6E5Bu, xxh64("a"));
  EXPECT_EQ(0xFBCEA83C8A378BF1u, xxh64("Nobody inspects the spammish repetition"));
}

TEST(Checksum, WriterAndReaderAgreeOnEverySplit) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += char(i * 37);
  for (size_t size = 0; size <= text.size(); ++size) {
    std::string_view all = std::string_view(text).substr(0, size);
    for (size_t cut : {size_t(0), size / 3, size / 2, size}) {
      stator::artifact::Crc32 crc;
      stator::artifact::Xxh64 digest;
      for (std::string_view part : {all.substr(0, cut), all.substr(cut)}) crc.update(part), digest.update(part);
      ASSERT_EQ(crc32(all), crc.finish()) << size << " " << cut;
      ASSERT_EQ(xxh64(all), digest.finish()) << size << " " << cut;
      ASSERT_EQ(digestText(all), digest.text());
    }
  }
}

std::string file(const std::string &header, const std::string &data, uint64_t size) {
  std::string bytes;
  for (int i = 0; i < 8; ++i) bytes += char(size >> (8 * i) & 255);
  return bytes + header + data;
}
std::string file(const std::string &header, const std::string &data) { return file(header, data, header.size()); }

TEST(Safetensors, Read) {
  // Unsorted entries, a zero-size tensor at the place of another, metadata.
  std::string bytes = file(
      R"({"__metadata__":{"format":"pt"},"b":{"dtype":"I16","shape":[2],"data_offsets":[4,8]},)"
      R"("a":{"dtype":"F32","shape":[],"data_offsets":[0,4]},"e":{"dtype":"F64","shape":[3,0],"data_offsets":[4,4]}} )",
      "abcdefgh");
  auto tensors = readSafetensors(bytes);
  ASSERT_EQ(3u, tensors.size());
  EXPECT_EQ("abcd", tensors.at("a").data);
  EXPECT_EQ(STATOR_DTYPE_F32, tensors.at("a").dtype);
  EXPECT_EQ("efgh", tensors.at("b").data);
  EXPECT_EQ((std::vector<int64_t>{3, 0}), tensors.at("e").shape);
  EXPECT_TRUE(readSafetensors(file("{}", "")).empty());
}

TEST(Safetensors, Refused) {
  auto one = [](const std::string &description, const std::string &data) {
    return file("{\"a\":" + description + "}", data);
  };
  const std::string data = "0123456789abcdef";
  std::string cases[] = {
      "",
      "1234567",
      file("{}", "", uint64_t(1) << 63),
      file("{}", "", 100000001),
      file("{}", "", 3),
      file("[]", ""),
      file("{}", "x"),
      one(R"({"dtype":"F32","shape":[4194305,4194305,211106198978564],"data_offsets":[0,16]})", data),
      one(R"({"dtype":"F64","shape":[2305843009213693952],"data_offsets":[0,16]})", data),
      one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,16]})", data),
      one(R"({"dtype":"F32","shape":[-4],"data_offsets":[0,16]})", data),
      one(R"({"dtype":"F32","shape":[4],"data_offsets":[1,17]})", data),
      one(R"({"dtype":"F32","shape":[4],"data_offsets":[16,0]})", data),
      one(R"({"dtype":"F32","shape":[4],"data_offsets":[-16,0]})", data),
      one(R"({"dtype":"F32","shape":[4],"data_offsets":[0]})", data),
      one(R"({"dtype":"F31","shape":[4],"data_offsets":[0,16]})", data),
      one(R"({"dtype":"F32","shape":[3],"data_offsets":[0,12]})", data),
      one(R"({"dtype":"F32","shape":[3],"data_offsets":[4,16]})", data),
      one(R"({"dtype":"F32","shape":[4],"data_offsets":[0,16],"__class__":"x"})", data),
      one(R"({"dtype":"F32","shape":[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,4],"data_offsets":[0,16]})", data),
      file(
          R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,9]},"b":{"dtype":"U8","shape":[8],"data_offsets":[8,16]}})",
          data),
      file(
          R"({"a":{"dtype":"U8","shape":[8],"data_offsets":[0,8]},"a":{"dtype":"I8","shape":[8],"data_offsets":[8,16]}})",
          data)};
  for (const std::string &bytes : cases) EXPECT_THROW(readSafetensors(bytes), Failure) << bytes;
  std::string many = "{", sizes;
  for (int i = 0; i < 65536; ++i)
    many += (i ? "," : "") + std::string("\"t") + std::to_string(i) +
            R"(":{"dtype":"U8","shape":[1000000000000000],"data_offsets":[0,1000000000000000]})";
  EXPECT_THROW(readSafetensors(file(many + "}", "x")), Failure) << "each legal alone, their sum wraps";
}

TEST(Safetensors, WriterAlignsEveryTensor) {
  stator::artifact::WeightsWriter writer;
  writer.add({"a \"quoted\"\n", STATOR_DTYPE_U8, {3}, "xyz"});
  writer.add({"b", STATOR_DTYPE_F32, {1, 2}, "12345678"});
  writer.add({"empty", STATOR_DTYPE_BF16, {0}, ""});
  writer.add({"c", STATOR_DTYPE_F8E5M2, {1}, "z"});
  std::string bytes;
  for (std::string_view piece : writer.pieces()) bytes += piece;
  auto tensors = readSafetensors(bytes);
  for (auto &[name, tensor] : tensors) {
    if (name[0] == '.') continue;
    EXPECT_EQ(0u, size_t(tensor.data.data() - bytes.data()) % STATOR_ALIGNMENT) << name;
  }
  EXPECT_EQ("xyz", tensors.at("a \"quoted\"\n").data);
  EXPECT_EQ("12345678", tensors.at("b").data);
  EXPECT_EQ(STATOR_DTYPE_F8E5M2, tensors.at("c").dtype);
  EXPECT_EQ("", tensors.at("empty").data);
}

} // namespace
