// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Archive.h"
#include <gtest/gtest.h>
#include <zlib.h>

using namespace stator::io;

namespace {

void put(std::string &out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += char(value >> (8 * i));
}

struct Member {
  std::string name, data;
  uint32_t mode = 0100644;
  std::string localName = {};
  std::optional<uint32_t> crc = {};
  std::optional<uint32_t> size = {};
  uint16_t flags = 0, method = 0;
};

/// A stored zip, as wrong as the members ask for.
std::string makeZip(const std::vector<Member> &members) {
  std::string out, directory;
  for (const Member &m : members) {
    uint32_t crc =
        m.crc.value_or(uint32_t(crc32(0, reinterpret_cast<const Bytef *>(m.data.data()), uInt(m.data.size()))));
    uint32_t size = m.size.value_or(uint32_t(m.data.size()));
    uint32_t offset = uint32_t(out.size());
    std::string fields;
    put(fields, 20, 2), put(fields, m.flags, 2), put(fields, m.method, 2), put(fields, 0, 4), put(fields, crc, 4),
        put(fields, uint32_t(m.data.size()), 4), put(fields, size, 4);
    std::string local = m.localName.empty() ? m.name : m.localName;
    put(out, 0x04034b50, 4);
    out += fields;
    put(out, local.size(), 2), put(out, 0, 2);
    out += local + m.data;
    put(directory, 0x02014b50, 4), put(directory, 3 << 8 | 20, 2);
    directory += fields;
    put(directory, m.name.size(), 2), put(directory, 0, 2), put(directory, 0, 2), put(directory, 0, 2),
        put(directory, 0, 2);
    put(directory, uint64_t(m.mode) << 16, 4), put(directory, offset, 4);
    directory += m.name;
  }
  uint32_t start = uint32_t(out.size());
  out += directory;
  put(out, 0x06054b50, 4), put(out, 0, 4), put(out, members.size(), 2), put(out, members.size(), 2);
  put(out, directory.size(), 4), put(out, start, 4), put(out, 0, 2);
  return out;
}

Result<Archive> open(const std::string &bytes) { return Archive::openBuffer(Buffer::copyOf(bytes), "t.zip"); }

void expectError(const std::vector<Member> &members, const std::string &part) {
  auto result = open(makeZip(members));
  ASSERT_FALSE(result) << "accepted";
  EXPECT_NE(result.error().find(part), std::string::npos) << result.error();
}

TEST(Archive, ReadsMembers) {
  auto archive = open(makeZip({{"r/a", "hello"}, {"r/empty", ""}}));
  ASSERT_TRUE(archive) << archive.error();
  EXPECT_EQ(archive->names(), (std::vector<std::string>{"r/a", "r/empty"}));
  EXPECT_EQ(archive->read("r/a")->view(), "hello");
  EXPECT_EQ(archive->read("r/empty")->view(), "");
  EXPECT_FALSE(archive->read("r/b"));
  EXPECT_EQ(archive->size("r/a"), 5u);
}

TEST(Archive, UnsafeNames) {
  for (const char *name : {"../x", "a/../../x", "/abs", "a\\..\\x", "a/./b", "a//b", "a\nb"})
    expectError({{name, "d"}}, "has an unsafe name");
}

TEST(Archive, DuplicatesAndLinks) {
  EXPECT_FALSE(open(makeZip({{"a", "1"}, {"a", "2"}})));
  expectError({{"link", "target", 0120777}}, "'t.zip': member 'link' is a symbolic link");
}

TEST(Archive, EncryptedAndOddlyCompressed) {
  Member secret{"a", "0123456789abcdef"};
  secret.flags = 1;
  expectError({secret}, "'t.zip': member 'a' is encrypted");
  Member lzma{"a", "0123456789abcdef"};
  lzma.method = 14;
  expectError({lzma}, "'t.zip': member 'a' uses an unknown compression");
}

TEST(Archive, SaysWhyThereIsNone) {
  auto missing = Archive::open("/nonexistent/model.pt2");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error(), "cannot open '/nonexistent/model.pt2': no such file");
  auto archive = open(makeZip({{"r/a", "hello"}}));
  ASSERT_TRUE(archive) << archive.error();
  EXPECT_EQ(archive->read("r/b").error(), "'t.zip' has no member 'r/b'");
}

TEST(Archive, SizesThatTheFileCannotHold) {
  Member liar{"a", "1"};
  liar.size = 0x7fffffff;
  EXPECT_FALSE(open(makeZip({liar})));
  // What the header says of a compressed member is only known to be wrong when it is read: 100 bytes are there.
  std::string plain(100, 'x'), packed(200, '\0');
  z_stream stream = {};
  ASSERT_EQ(deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY), Z_OK);
  stream.next_in = reinterpret_cast<Bytef *>(plain.data()), stream.avail_in = uInt(plain.size());
  stream.next_out = reinterpret_cast<Bytef *>(packed.data()), stream.avail_out = uInt(packed.size());
  ASSERT_EQ(deflate(&stream, Z_FINISH), Z_STREAM_END);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  for (uint32_t size : {100u, 99u, 101u}) {
    Member member{"a", packed};
    member.method = 8, member.size = size;
    member.crc = uint32_t(crc32(0, reinterpret_cast<Bytef *>(plain.data()), uInt(plain.size())));
    auto archive = open(makeZip({member}));
    ASSERT_TRUE(archive) << archive.error();
    auto content = archive->read("a");
    ASSERT_EQ(bool(content), size == 100u);
    if (!content) {
      EXPECT_EQ(content.error(), "'t.zip': member 'a' has another length than its header says");
    }
  }
}

TEST(Archive, DamagedContent) {
  Member damaged{"a", "hello"};
  damaged.crc = 1234;
  auto archive = open(makeZip({damaged}));
  ASSERT_TRUE(archive) << archive.error();
  auto content = archive->read("a");
  ASSERT_FALSE(content);
  EXPECT_NE(content.error().find("'t.zip': member 'a' is damaged: CRC error"), std::string::npos) << content.error();
}

TEST(Archive, LocalHeaderDisagrees) {
  Member odd{"aaa", "hello"};
  odd.localName = "bbb";
  EXPECT_FALSE(open(makeZip({odd})));
}

TEST(Archive, EveryPrefixIsAnError) {
  std::string whole = makeZip({{"r/a", "hello"}, {"r/b", "world"}});
  ASSERT_TRUE(open(whole));
  for (size_t n = 0; n < whole.size(); ++n) EXPECT_FALSE(open(whole.substr(0, n))) << n;
}

} // namespace
