// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The archive: written and read back, truncated, with every bit flipped, and forged by hand.
#include "runtime/src/artifact/Archive.h"

#include "runtime/src/Failure.h"
#include "runtime/src/artifact/Digest.h"
#include "tests/unit/runtime/TestArtifact.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sys/stat.h>

using namespace stator::test;
using stator::runtime::Archive;
using stator::runtime::Failure;

namespace {

/// A small artifact without machine code.
struct Small {
  std::string data = "twelve bytes", more = std::string(100, 'x');
  std::string bytes(const std::string &tail = "", bool weights = true) {
    stator::artifact::ArtifactWriter writer;
    stator::artifact::WeightsWriter tensors;
    tensors.add({"w", STATOR_DTYPE_F32, {3}, data});
    if (weights) writer.add("weights.safetensors", tensors.pieces());
    writer.add("notes/readme.txt", more);
    return writer.bytes(
        "{\"format\": 1, \"abi\": 1, \"entries\": " + writer.entriesJson() +
        (weights ? ", \"weights\": {\"entry\": \"weights.safetensors\"}" : "") +
        R"(, "modules": [], "functions": [{"name": "f", "inputs": [{"name": "x", "dtype": "f32", "shape": [3]}],
        "outputs": [{"name": "y", "dtype": "f32", "shape": [3]}],
        "plans": [{"device": "host", "buffers": [{"space": "input", "index": 0}, {"space": "output", "index": 0}],
                   "steps": [{"op": "copy", "from": 0, "to": 1}]}]}])" +
        tail + "}");
  }
};

stator_status openStatus(std::string_view bytes, stator_error *error = nullptr,
                         const stator_model_options *options = nullptr) {
  // Exactly sized heap memory, so that sanitizers see a read beyond it.
  std::vector<char> copy(bytes.begin(), bytes.end());
  stator_model *model = nullptr;
  stator_status status = stator_model_open_memory(copy.empty() ? "" : copy.data(), copy.size(), options, &model, error);
  EXPECT_EQ(status == STATOR_OK, model != nullptr);
  stator_model_close(model);
  return status;
}

TEST(Archive, RoundTrip) {
  Small small;
  std::string bytes = small.bytes();
  Archive archive(bytes);
  ASSERT_EQ(3u, archive.entries().size());
  EXPECT_EQ("manifest.json", archive.entries()[0].name);
  EXPECT_EQ(small.more, archive.find("notes/readme.txt")->data);
  for (const Archive::Entry &entry : archive.entries()) {
    EXPECT_EQ(0u, size_t(entry.data.data() - bytes.data()) % STATOR_ALIGNMENT) << entry.name;
    EXPECT_EQ(stator::runtime::crc32(entry.data), entry.crc);
  }
  EXPECT_EQ(bytes, Small().bytes()) << "the same content gives the same bytes";
  EXPECT_EQ(STATOR_OK, openStatus(bytes));
}

TEST(Archive, OrdinaryToolsReadIt) {
  Small small;
  std::string path = testing::TempDir() + "stator_archive_test.zip";
  std::ofstream(path, std::ios::binary) << small.bytes();
  std::string command = "python3 -c \"import zipfile,sys; z=zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; "
                        "assert z.read('notes/readme.txt') == b'x'*100\" " +
                        path;
  EXPECT_EQ(0, std::system(command.c_str()));
  std::filesystem::remove(path);
}

TEST(Archive, EveryPrefixIsRefused) {
  std::string bytes = Small().bytes();
  for (size_t size = 0; size < bytes.size(); ++size)
    ASSERT_EQ(STATOR_BAD_ARTIFACT, openStatus(std::string_view(bytes).substr(0, size))) << size;
  EXPECT_EQ(STATOR_BAD_ARTIFACT, openStatus(bytes + "x"));
  EXPECT_EQ(STATOR_BAD_ARTIFACT, openStatus("x" + bytes));
}

TEST(Archive, EveryFlippedBitIsFoundOrHarmless) {
  std::string bytes = Small().bytes();
  size_t harmless = 0;
  for (size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << bit % 8));
    harmless += openStatus(bytes) == STATOR_OK;
    bytes[bit / 8] = char(bytes[bit / 8] ^ (1 << bit % 8));
  }
  // What may change unseen: version numbers, attributes and padding of the zip headers.
  EXPECT_LT(harmless, 3u * 8 * (2 + 2 + 12 + 64 + 64));
}

/// With the manifest's CRC made right again, the flip reaches the parser and the plan reader.
TEST(Archive, FlippedManifestsNeverCrash) {
  std::string bytes = Small().bytes();
  Archive archive(bytes);
  std::string_view manifest = archive.entries()[0].data;
  size_t begin = size_t(manifest.data() - bytes.data()), size = manifest.size();
  uint32_t crc = archive.entries()[0].crc;
  std::string crcBytes(reinterpret_cast<char *>(&crc), 4);
  size_t local = bytes.find(crcBytes), central = bytes.find(crcBytes, begin + size);
  ASSERT_NE(bytes.npos, central);
  size_t opened = 0;
  for (size_t bit = 0; bit < size * 8; ++bit) {
    std::string damaged = bytes;
    damaged[begin + bit / 8] = char(damaged[begin + bit / 8] ^ (1 << bit % 8));
    uint32_t newCrc = stator::runtime::crc32(std::string_view(damaged).substr(begin, size));
    std::memcpy(&damaged[local], &newCrc, 4);
    std::memcpy(&damaged[central], &newCrc, 4);
    stator_model *model = nullptr;
    if (stator_model_open_memory(damaged.data(), damaged.size(), nullptr, &model, nullptr) != STATOR_OK) continue;
    ++opened;
    // No machine code in it, so it can even be run.
    stator_session *session = nullptr;
    if (stator_session_create(model, nullptr, &session, nullptr) == STATOR_OK) {
      std::vector<float> x = {1, 2, 3};
      stator_tensor input = tensor(x, {3}), output = {};
      stator_session_run(session, &input, 1, &output, 1, nullptr);
    }
    stator_session_destroy(session);
    stator_model_close(model);
  }
  EXPECT_GT(opened, 0u);
}

void put(std::string &bytes, size_t offset, uint32_t value, int size) {
  for (int i = 0; i < size; ++i) bytes[offset + size_t(i)] = char(value >> (8 * i) & 255);
}

TEST(Archive, ForgedHeaders) {
  const std::string good = Small().bytes();
  size_t end = good.size() - 22;
  auto word = [&](size_t offset) {
    uint32_t value;
    std::memcpy(&value, good.data() + offset, 4);
    return size_t(value);
  };
  size_t directory = word(end + 16),
         second = directory + 46 + word(directory + 28) % 65536 + word(directory + 30) % 65536;
  size_t secondLocal = word(second + 42);
  auto forged = [&](size_t offset, uint32_t value, int size) {
    std::string bytes = good;
    put(bytes, offset, value, size);
    return bytes;
  };
  struct {
    const char *what;
    std::string bytes;
  } cases[] = {{"compressed", forged(directory + 10, 8, 2)},
               {"encrypted", forged(directory + 8, 1, 2)},
               {"data descriptor", forged(directory + 8, 8, 2)},
               {"central size larger", forged(directory + 24, 0x7FFFFFFF, 4)},
               {"central and compressed size differ", forged(directory + 20, 1, 4)},
               {"local size differs", forged(22, 5, 4)},
               {"local method differs", forged(8, 8, 2)},
               {"entry at the place of another", forged(second + 42, 0, 4)},
               {"entry beyond the file", forged(second + 42, 0x7FFFFFFF, 4)},
               {"zip64 size missing", forged(directory + 24, 0xFFFFFFFF, 4)},
               {"comment in the end record", forged(end + 20, 1, 2)},
               {"more entries than there are", forged(end + 8, 0x40004, 4)},
               {"directory too far", forged(end + 16, 0x7FFFFFFF, 4)},
               {"another disk", forged(end + 4, 1, 2)},
               {"name with ..",
                [&] {
                  std::string bytes = good;
                  size_t name = bytes.find("notes/readme.txt");
                  for (; name != bytes.npos; name = bytes.find("notes/readme.txt")) bytes.replace(name, 5, "..//.");
                  return bytes;
                }()},
               {"local extra field that is cut", forged(secondLocal + 28, 3, 2)}};
  for (auto &entry : cases) EXPECT_THROW(Archive{entry.bytes}, Failure) << entry.what;
}

TEST(Archive, BadNamesAndDuplicates) {
  for (const char *name : {"../x", "a/../x", "/x", "a\\x", "C:x", "", ".", "a//b", "a/", "a\nb"}) {
    stator::artifact::ArtifactWriter writer;
    writer.add(name, "data");
    EXPECT_THROW(Archive{writer.bytes("{}")}, Failure) << name;
  }
  stator::artifact::ArtifactWriter twice;
  twice.add("a", "1");
  twice.add("a", "2");
  EXPECT_THROW(Archive{twice.bytes("{}")}, Failure);
}

TEST(Archive, ManyEntriesUseZip64) {
  stator::artifact::ArtifactWriter writer;
  for (int i = 0; i < 65535; ++i) writer.add("e" + std::to_string(i), "");
  std::string bytes = writer.bytes("{}");
  Archive archive(bytes);
  EXPECT_EQ(65536u, archive.entries().size());
  EXPECT_EQ("e65534", archive.entries().back().name);
  writer.add("one too many", "");
  EXPECT_THROW(Archive{writer.bytes("{}")}, Failure);
}

TEST(Artifact, WrongVersionsAndKeys) {
  Small small;
  std::string good = small.bytes();
  auto replaced = [&](const std::string &from, const std::string &to) {
    // Through the writer, so that all checksums are right.
    Archive archive(good);
    std::string manifest(archive.entries()[0].data);
    manifest.replace(manifest.find(from), from.size(), to);
    stator::artifact::ArtifactWriter writer;
    for (size_t i = 1; i < archive.entries().size(); ++i)
      writer.add(std::string(archive.entries()[i].name), archive.entries()[i].data);
    stator_error error;
    EXPECT_EQ(STATOR_BAD_ARTIFACT, openStatus(writer.bytes(manifest), &error)) << to;
    return std::string(error.message);
  };
  EXPECT_EQ("artifact of format 2 with ABI 1; this runtime reads format 1 with ABI 1",
            replaced("\"format\": 1", "\"format\": 2"));
  EXPECT_EQ("artifact of format 1 with ABI 9; this runtime reads format 1 with ABI 1",
            replaced("\"abi\": 1", "\"abi\": 9"));
  EXPECT_EQ("artifact needs 'teleport', which this runtime lacks",
            replaced("\"abi\": 1", "\"abi\": 1, \"requires\": [\"teleport\"]"));
  EXPECT_EQ("'notes/readme.txt' has 100 bytes, the manifest says 101", replaced("\"bytes\": 100", "\"bytes\": 101"));
  EXPECT_EQ("artifact: entry 'notes/readme.txx' is missing", replaced("readme.txt", "readme.txx"));
  EXPECT_EQ("manifest: unknown dtype 'f33'", replaced("f32", "f33"));
  EXPECT_EQ("manifest: 'buffer' must be an integer", replaced("\"index\": 0", "\"index\": \"0\""));
  EXPECT_EQ("manifest: 'to' is 2, not within 0..1", replaced("\"to\": 1", "\"to\": 2"));
  EXPECT_EQ("manifest: this runtime has no step 'cope'", replaced("\"op\": \"copy\"", "\"op\": \"cope\""));
  EXPECT_EQ("manifest: unknown device 'hots'", replaced("\"device\": \"host\"", "\"device\": \"hots\""));
}

TEST(Artifact, ExternalWeights) {
  std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "stator_external_weights";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "sub");
  stator::artifact::WeightsWriter tensors;
  tensors.add({"w", STATOR_DTYPE_F32, {3}, "twelve bytes"});
  std::string weights;
  for (std::string_view piece : tensors.pieces()) weights += piece;
  std::ofstream(folder / "w.safetensors", std::ios::binary) << weights;
  std::filesystem::create_symlink("w.safetensors", folder / "link");
  std::filesystem::create_hard_link(folder / "w.safetensors", folder / "sub" / "twin");
  mkfifo((folder / "fifo").c_str(), 0600);
  auto status = [&](const std::string &name, std::string digest = "") {
    if (digest.empty()) digest = stator::runtime::digestText(weights);
    std::string bytes =
        Small().bytes(", \"weights\": {\"file\": \"" + name + "\", \"bytes\": " + std::to_string(weights.size()) +
                          ", \"digest\": \"" + digest + "\"}",
                      false);
    std::string path = folder / "model.stator";
    std::ofstream(path, std::ios::binary) << bytes;
    stator_model *model = nullptr;
    stator_status result = stator_model_open_file(path.c_str(), nullptr, &model, nullptr);
    stator_model_close(model);
    return result;
  };
  EXPECT_EQ(STATOR_IO, status("w.safetensors")) << "it has a second hard link";
  std::filesystem::remove(folder / "sub" / "twin");
  EXPECT_EQ(STATOR_OK, status("w.safetensors"));
  EXPECT_EQ(STATOR_BAD_ARTIFACT, status("w.safetensors", "xxh64:0000000000000000"));
  EXPECT_EQ(STATOR_BAD_ARTIFACT, status("w.safetensors", "md5:00"));
  EXPECT_EQ(STATOR_IO, status("link"));
  EXPECT_EQ(STATOR_IO, status("fifo"));
  EXPECT_EQ(STATOR_IO, status("sub"));
  EXPECT_EQ(STATOR_IO, status("missing"));
  for (const char *name : {"../stator_external_weights/w.safetensors", "sub/../w.safetensors", "/etc/passwd", "C:\\\\x",
                           "a\\\\..\\\\x", "", ".", "..", "w\\u0000.safetensors"})
    EXPECT_EQ(STATOR_BAD_ARTIFACT, status(name)) << name;
  EXPECT_EQ(STATOR_BAD_ARTIFACT, status(std::string(5000, 'w')));
  std::filesystem::remove_all(folder);
}

TEST(Artifact, FilesThatAreNone) {
  stator_model *model = nullptr;
  stator_error error;
  EXPECT_EQ(STATOR_IO, stator_model_open_file("/nonexistent/model.stator", nullptr, &model, &error));
  EXPECT_NE(nullptr, std::strstr(error.message, "/nonexistent/model.stator")) << error.message;
  EXPECT_EQ(STATOR_IO, stator_model_open_file("/", nullptr, &model, nullptr));
  EXPECT_EQ(STATOR_IO, stator_model_open_file("/dev/null", nullptr, &model, nullptr));
  EXPECT_EQ(STATOR_INVALID_ARGUMENT, stator_model_open_file(nullptr, nullptr, &model, nullptr));
}

} // namespace
