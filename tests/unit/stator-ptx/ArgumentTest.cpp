// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Arguments as the command line spells them.
#include "tools/stator-ptx/Argument.h"

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>

namespace stator::ptxtool {
namespace {

using sim::Type;

template <class T> std::vector<T> elements(const Argument &a) {
  std::vector<T> values(a.count());
  EXPECT_EQ(a.data.size(), values.size() * sizeof(T));
  std::memcpy(values.data(), a.data.data(), a.data.size());
  return values;
}

std::string errorOf(const std::string &text) {
  try {
    parseArgument(text);
  } catch (const UsageError &e) {
    return e.what();
  }
  return "";
}

TEST(Argument, Numbers) {
  EXPECT_EQ(parseArgument("u32:4294967295").bits, 0xffffffffu);
  EXPECT_EQ(parseArgument("s8:-128").bits, 0x80u);
  EXPECT_EQ(parseArgument("f32:1.5").bits, 0x3fc00000u);
  EXPECT_EQ(parseArgument("f32:0x7fc00001").bits, 0x7fc00001u);
  EXPECT_EQ(parseArgument("f64:-inf").bits, 0xfff0000000000000u);
  // f16: 65520 is half way to the next number that does not exist; 2^-25 is half of the smallest one.
  EXPECT_EQ(parseArgument("f16:65519").bits, 0x7bffu);
  EXPECT_EQ(parseArgument("f16:65520").bits, 0x7c00u);
  EXPECT_EQ(parseArgument("f16:2.98023223876953125e-8").bits, 0u);
  EXPECT_EQ(parseArgument("f16:-6.103515625e-5").bits, 0x8400u);
  EXPECT_EQ(parseArgument("bf16:1.00390625").bits, 0x3f80u);
  EXPECT_EQ(parseArgument("bf16:1.01171875").bits, 0x3f82u);
  for (const char *bad :
       {"u32:4294967296", "s8:-129", "s8:128", "u8:-1", "f32:one", "u32:", "u32", "u32:1:2", "u32:1 "})
    EXPECT_NE(errorOf(bad), "") << bad;
}

TEST(Argument, Buffers) {
  EXPECT_EQ(elements<float>(parseArgument("zeros:3")), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(elements<uint16_t>(parseArgument("ones:f16:2")), (std::vector<uint16_t>{0x3c00, 0x3c00}));
  EXPECT_EQ(elements<int32_t>(parseArgument("iota:s32:2x3")), (std::vector<int32_t>{0, 1, 2, 3, 4, 5}));
  EXPECT_EQ(parseArgument("iota:s32:2x3").shape, (std::vector<size_t>{2, 3}));
  EXPECT_EQ(elements<int8_t>(parseArgument("fill:s8:2:-7")), (std::vector<int8_t>{-7, -7}));
  EXPECT_EQ(elements<double>(parseArgument("list:f64:1,-0.5")), (std::vector<double>{1, -0.5}));
  EXPECT_EQ(parseArgument("x=zeros:u8:1").name, "x");
  EXPECT_FALSE(parseArgument("undefined:4").defined);
  EXPECT_EQ(parseArgument("same:1:8").offset, 8u);
  EXPECT_EQ(parseArgument("bytes:0a0B").data, (std::vector<uint8_t>{0x0a, 0x0b}));
  for (const char *bad : {"zeros:0", "zeros:-1", "zeros", "zeros:f33:4", "zeros:99999999999999999999", "fill:f32:3",
                          "zeros:4294967296x4294967296", "list:u8:1,256", "bytes:0", "bytes:xx", "junk:1", "same:x"})
    EXPECT_NE(errorOf(bad), "") << bad;
}

TEST(Argument, RandomBuffers) {
  auto a = elements<float>(parseArgument("random:f32:1000:7"));
  EXPECT_EQ(a, elements<float>(parseArgument("random:1000:7")));
  EXPECT_NE(a, elements<float>(parseArgument("random:1000:8")));
  double sum = 0;
  for (float v : a) {
    EXPECT_GE(v, -1);
    EXPECT_LE(v, 1);
    sum += static_cast<double>(v);
  }
  EXPECT_LT(std::abs(sum), 100);
  bool seen[4] = {};
  for (int32_t v : elements<int32_t>(parseArgument("random:s32:200:1:-1:2"))) {
    ASSERT_GE(v, -1);
    ASSERT_LE(v, 2);
    seen[v + 1] = true;
  }
  EXPECT_TRUE(seen[0] && seen[1] && seen[2] && seen[3]);
  EXPECT_NE(errorOf("random:s32:4:1:2:1"), "");
  EXPECT_NE(errorOf("random:f32:4:1:1:1"), "");
}

TEST(Npy, RoundTripAndHostileFiles) {
  std::string path = testing::TempDir() + "stator_ptx.npy";
  Argument a = parseArgument("iota:s16:3x2");
  writeNpy(path, a.type, a.shape, a.data);
  Argument b = parseArgument("in=file:" + path);
  EXPECT_EQ(b.type, Type::s16);
  EXPECT_EQ(b.shape, a.shape);
  EXPECT_EQ(b.data, a.data);
  EXPECT_EQ(b.name, "in");
  // The header as NumPy documents it: magic, version, length so that the elements begin at a multiple of 64.
  std::ifstream file(path, std::ios::binary);
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_EQ((10 + static_cast<unsigned char>(bytes[8])) % 64, 0);
  EXPECT_NE(bytes.find("{'descr': '<i2', 'fortran_order': False, 'shape': (3,2,), }"), std::string::npos);
  // Every shorter file is an error, never a crash.
  for (size_t n = 0; n < bytes.size(); ++n) {
    std::ofstream(path, std::ios::binary) << bytes.substr(0, n);
    EXPECT_THROW(readNpy(path), UsageError) << n;
  }
  auto with = [&](const std::string &from, const std::string &to) {
    std::string changed = bytes;
    changed.replace(changed.find(from), from.size(), to);
    std::ofstream(path, std::ios::binary) << changed;
  };
  for (auto [from, to] : {std::pair{"(3,2,)", "(3,9,)"},
                          {"(3,2,)", "(-,2,)"},
                          {"<i2", ">i2"},
                          {"False", "True "},
                          {"(3,2,)", "(3,0,)"},
                          {"shape", "shapf"}}) {
    with(from, to);
    EXPECT_THROW(readNpy(path), UsageError) << to;
  }
}

} // namespace
} // namespace stator::ptxtool
