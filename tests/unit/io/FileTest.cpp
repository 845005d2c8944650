// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/File.h"
#include "compiler/io/CheckedI64.h"
#include "compiler/io/Npy.h"
#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace stator::io;

namespace {

TEST(CheckedI64, Remembers) {
  EXPECT_EQ((CheckedI64(6) * 7).value(), 42);
  EXPECT_EQ((CheckedI64(INT64_MAX) + 1).value(), std::nullopt);
  EXPECT_EQ(((CheckedI64(INT64_MAX) + 1) * 0).value(), std::nullopt);
  EXPECT_EQ((CheckedI64(INT64_MIN) - 1).value(), std::nullopt);
}

struct Folder {
  Folder() {
    char name[] = "/tmp/stator_io_XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { (void)!std::system(("rm -r " + path).c_str()); }
  std::string path;
};

TEST(File, BeneathTheFolder) {
  Folder base;
  ASSERT_TRUE(writeFile(base.path + "/a", {"one", "two"}));
  mkdir((base.path + "/sub").c_str(), 0755);
  ASSERT_TRUE(writeFile(base.path + "/sub/b", {"x"}));
  EXPECT_EQ(readFileBeneath(base.path, "a")->view(), "onetwo");
  EXPECT_EQ(readFileBeneath(base.path, "sub/b")->view(), "x");
  for (const std::string &name :
       {std::string("../a"), std::string("sub/../../a"), std::string("/etc/passwd"), std::string("C:\\x"),
        std::string("sub\\b"), std::string(""), std::string("."), std::string("a\0b", 3), std::string(5000, 'a'),
        std::string("sub"), std::string("sub//b"), std::string("none")})
    EXPECT_FALSE(readFileBeneath(base.path, name)) << name.substr(0, 20);
}

TEST(File, LinksAndSpecialFiles) {
  Folder base;
  ASSERT_TRUE(writeFile(base.path + "/a", {"secret"}));
  ASSERT_EQ(symlink("a", (base.path + "/soft").c_str()), 0);
  ASSERT_EQ(symlink(".", (base.path + "/softdir").c_str()), 0);
  EXPECT_TRUE(readFileBeneath(base.path, "a"));
  ASSERT_EQ(link((base.path + "/a").c_str(), (base.path + "/hard").c_str()), 0);
  ASSERT_EQ(mkfifo((base.path + "/fifo").c_str(), 0644), 0);
  for (const char *name : {"soft", "softdir/a", "hard", "fifo"}) EXPECT_FALSE(readFileBeneath(base.path, name)) << name;
  EXPECT_FALSE(readFile(base.path));
  EXPECT_FALSE(readFile(base.path + "/fifo"));
  EXPECT_FALSE(readFile(base.path + "/a", 3));
}

std::string npy(const std::string &header, const std::string &data) {
  std::string text = header + "\n";
  return std::string("\x93NUMPY\x01\x00", 8) + char(text.size()) + char(text.size() >> 8) + text + data;
}
Result<Tensor> parse(const std::string &bytes) { return parseNpy(Buffer::copyOf(bytes), "t.npy"); }

TEST(Npy, Reads) {
  auto t = parse(
      npy("{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }", std::string("\1\0\2\0\3\0\4\0\5\0\6\0", 12)));
  ASSERT_TRUE(t) << t.error();
  EXPECT_EQ(t->type, STATOR_DTYPE_I16);
  EXPECT_EQ(t->shape, (std::vector<int64_t>{2, 3}));
  auto f = parse(npy("{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "adbecf"));
  ASSERT_TRUE(f) << f.error();
  EXPECT_EQ(f->bytes.view(), "abcdef");
  EXPECT_TRUE(parse(npy("{'shape': (), 'fortran_order': False, 'descr': '<f8'}", "12345678")));
  EXPECT_TRUE(parse(npy("{'shape': (4,), 'fortran_order': False, 'descr': '|b1'}", "1234")));
}

TEST(Npy, Refuses) {
  EXPECT_FALSE(parse(""));
  EXPECT_FALSE(parse(npy("{'descr': '|O', 'fortran_order': False, 'shape': (1,)}", "x")));
  EXPECT_FALSE(parse(npy("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", "abcd")));
  EXPECT_FALSE(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", "abcd")));
  EXPECT_FALSE(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}", "abcd")));
  EXPECT_FALSE(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}", "abcd")));
  EXPECT_FALSE(parse(npy("{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693952,)}", "")));
  EXPECT_FALSE(parse(npy("{'descr': '<f4', 'fortran_order': False}", "abcd")));
  EXPECT_FALSE(parse(npy("{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'x': 1}", "abcd")));
}

TEST(Npy, WritesWhatItReads) {
  Folder base;
  Tensor t{STATOR_DTYPE_I32, {1, 2}, Buffer::copyOf("abcdefgh")};
  ASSERT_TRUE(writeNpy(base.path + "/x.npy", t));
  auto in = readNpy(base.path + "/x.npy");
  ASSERT_TRUE(in) << in.error();
  EXPECT_EQ(in->shape, t.shape);
  EXPECT_EQ(in->bytes.view(), "abcdefgh");
  t.type = STATOR_DTYPE_BF16;
  t.shape = {4};
  EXPECT_EQ(writeNpy(base.path + "/y.npy", t).error(), "NumPy has no element type bf16; write a .safetensors file");
}

} // namespace
