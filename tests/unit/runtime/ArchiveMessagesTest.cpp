// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is said of archives that were forged by hand, one field at a time, and of manifests at the wrong place.
#include "runtime/src/Failure.h"
#include "runtime/src/artifact/Archive.h"
#include "tests/unit/runtime/TestArtifact.h"

#include <cstring>

using stator::runtime::Archive;

namespace {

/// "manifest.json", "a" with "data" and "b" with "more", and where the fields to forge lie.
struct Forgery {
  std::string bytes;
  size_t end, directory, second, secondLocal;

  Forgery() {
    stator::artifact::ArtifactWriter writer;
    writer.add("a", "data");
    writer.add("b", "more");
    bytes = writer.bytes("{\"format\": 1, \"abi\": 1, \"entries\": " + writer.entriesJson() + "}");
    end = bytes.size() - 22;
    directory = get(end + 16);
    second = directory + 46 + get(directory + 28) % 65536 + get(directory + 30) % 65536;
    secondLocal = get(second + 42);
  }

  size_t get(size_t at) const {
    uint32_t value;
    std::memcpy(&value, &bytes[at], 4);
    return value;
  }
  Forgery &put(size_t at, uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes[at + size_t(i)] = char(value >> (8 * i) & 255);
    return *this;
  }
  /// Renames both places at which the name stands in headers.
  Forgery &rename(const std::string &from, const std::string &to) {
    for (size_t at = bytes.find(from); at != bytes.npos; at = bytes.find(from, at + 1))
      bytes.replace(at, from.size(), to);
    return *this;
  }
  /// The same archive with a zip64 end record and its locator, in which these fields are forged.
  Forgery &zip64(std::initializer_list<std::pair<size_t, uint64_t>> changes = {}) {
    Forgery tail;
    tail.bytes.assign(56 + 20, '\0');
    size_t entries = get(end + 8) % 65536;
    tail.put(0, 0x06064b50, 4).put(4, 44, 8).put(24, entries, 8).put(32, entries, 8);
    tail.put(40, get(end + 12), 8).put(48, get(end + 16), 8);
    tail.put(56, 0x07064b50, 4).put(64, end, 8).put(72, 1, 4);
    for (auto [at, value] : changes) tail.put(at, value, 4);
    put(end + 16, 0xFFFFFFFF, 4);
    bytes.insert(end, tail.bytes);
    return *this;
  }
};

std::string archiveError(const std::string &bytes) {
  try {
    Archive archive{std::string_view(bytes)};
  } catch (const stator::runtime::Failure &failure) {
    EXPECT_EQ(STATOR_BAD_ARTIFACT, failure.status);
    return failure.message;
  }
  return "";
}

std::string openError(const std::string &bytes) {
  stator_model *model = nullptr;
  stator_error error;
  EXPECT_EQ(STATOR_BAD_ARTIFACT, stator_model_open_memory(bytes.data(), bytes.size(), nullptr, &model, &error));
  EXPECT_EQ(nullptr, model);
  return error.message;
}

TEST(ArchiveMessages, EndRecord) {
  Forgery good;
  EXPECT_EQ("", archiveError(good.bytes));
  EXPECT_EQ("artifact: too short to be an artifact", archiveError(good.bytes.substr(0, 21)));
  EXPECT_EQ("artifact: not an artifact (no zip end record at its end)", archiveError(good.bytes + "x"));
  for (size_t field : {4, 6, 8, 20})
    EXPECT_EQ("artifact: several disks or a comment in the end record",
              archiveError(Forgery().put(good.end + field, 1, 2).bytes));
}

TEST(ArchiveMessages, Zip64Records) {
  EXPECT_EQ("", archiveError(Forgery().zip64().bytes)) << "the untouched one is taken";
  Forgery good;
  EXPECT_EQ("artifact: no zip64 end record", archiveError(Forgery().put(good.end + 16, 0xFFFFFFFF, 4).bytes));
  EXPECT_EQ("artifact: no zip64 end record",
            archiveError(Forgery().put(good.end + 16, 0xFFFFFFFF, 4).bytes.substr(good.end)));
  EXPECT_EQ("artifact: no zip64 end record", archiveError(Forgery().zip64({{56, 0x08064b50}}).bytes));
  EXPECT_EQ("artifact: a bad zip64 locator", archiveError(Forgery().zip64({{64, 0}}).bytes));
  EXPECT_EQ("artifact: a bad zip64 locator", archiveError(Forgery().zip64({{68, 1}}).bytes)) << "beyond 4 GiB";
  EXPECT_EQ("artifact: a bad zip64 locator", archiveError(Forgery().zip64({{72, 2}}).bytes));
  EXPECT_EQ("artifact: a bad zip64 record", archiveError(Forgery().zip64({{0, 0x06064b51}}).bytes));
  EXPECT_EQ("artifact: a bad zip64 record", archiveError(Forgery().zip64({{4, 45}}).bytes));
  for (size_t field : {16, 20, 24})
    EXPECT_EQ("artifact: several disks", archiveError(Forgery().zip64({{field, 1}}).bytes));
}

TEST(ArchiveMessages, CentralDirectory) {
  Forgery good;
  auto say = [&](size_t at, uint64_t value, int size) { return archiveError(Forgery().put(at, value, size).bytes); };
  EXPECT_EQ("artifact: a bad central directory", say(good.directory, 0x02014b51, 4));
  EXPECT_EQ("artifact: unexpected bytes in the central directory", say(good.end + 8, 0x00020002, 4));
  EXPECT_EQ("artifact: several disks or a comment", say(good.directory + 34, 1, 2));
  for (size_t field : {20, 24, 42}) // both sizes and the place
    EXPECT_EQ("artifact: a 64-bit size is missing", say(good.second + field, 0xFFFFFFFF, 4));
  const char *stored = "artifact: an entry is compressed, encrypted or has a data descriptor";
  EXPECT_EQ(stored, say(good.second + 10, 8, 2));
  EXPECT_EQ(stored, say(good.second + 8, 1, 2));
  EXPECT_EQ(stored, say(good.second + 8, 8, 2));
  EXPECT_EQ(stored, say(good.second + 20, 3, 4));
}

TEST(ArchiveMessages, LocalHeaders) {
  Forgery good;
  auto say = [&](size_t at, uint64_t value, int size) { return archiveError(Forgery().put(at, value, size).bytes); };
  EXPECT_EQ("artifact: a bad local header", say(good.secondLocal, 0x04034b51, 4));
  const char *disagrees = "artifact: a local header disagrees with the central directory";
  for (size_t field : {6, 8, 10, 12, 14, 18, 22}) EXPECT_EQ(disagrees, say(good.secondLocal + field, 77, 2)) << field;
  EXPECT_EQ(disagrees, say(good.secondLocal + 30, 'x', 1)) << "another name";
}

TEST(ArchiveMessages, Names) {
  for (const std::string &name :
       {std::string("/x"), std::string(256, 'n'), std::string("a\\x"), std::string("a/../x")}) {
    stator::artifact::ArtifactWriter writer;
    writer.add(name, "data");
    EXPECT_EQ("artifact: a bad entry name", archiveError(writer.bytes("{}"))) << name;
  }
  stator::artifact::ArtifactWriter twice;
  twice.add("a", "1");
  twice.add("a", "2");
  EXPECT_EQ("artifact: two entries of one name", archiveError(twice.bytes("{}")));
}

TEST(ArchiveMessages, Manifest) {
  EXPECT_EQ("artifact: manifest.json is not its first entry",
            openError(Forgery().rename("manifest.json", "manifest.jsox").bytes));
  stator::artifact::ArtifactWriter later;
  later.add("later-on.json", "{}");
  Forgery second;
  second.bytes = later.bytes("{}");
  second.rename("manifest.json", "something.txt").rename("later-on.json", "manifest.json");
  EXPECT_EQ("artifact: manifest.json is not its first entry", openError(second.bytes));
  std::string empty = std::string("PK\5\6", 4) + std::string(18, '\0');
  EXPECT_EQ("artifact: manifest.json is not its first entry", openError(empty)) << "no entry at all";

  Forgery damaged;
  damaged.bytes[damaged.bytes.find("\"format\"") + 1] = 'g';
  EXPECT_EQ("artifact: manifest.json is damaged: its CRC differs", openError(damaged.bytes));
  Forgery data;
  data.bytes[data.bytes.find("data") + 3] = 'e';
  EXPECT_EQ("'a' is damaged: its digest differs", openError(data.bytes));
}

} // namespace
