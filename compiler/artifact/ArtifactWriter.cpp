// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/artifact/ArtifactWriter.h"

#include "compiler/artifact/Checksum.h"
#include "stator/abi.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <system_error>
#include <unistd.h>

namespace stator::artifact {
namespace {

constexpr uint32_t saturated = 0xFFFFFFFF;
constexpr uint16_t dosDate = 1 << 5 | 1; // 1980-01-01
constexpr uint16_t paddingId = 0x5453;

/// Little-endian record.
class Record {
public:
  Record &u16(uint64_t value) { return number(value, 2); }
  Record &u32(uint64_t value) { return number(value, 4); }
  Record &u64(uint64_t value) { return number(value, 8); }
  Record &text(std::string_view value) {
    bytes += value;
    return *this;
  }
  std::string bytes;

private:
  Record &number(uint64_t value, int size) {
    for (int i = 0; i < size; ++i) bytes += char(value >> (8 * i) & 255);
    return *this;
  }
};

/// What local header and central directory have in common.
void describe(Record &record, uint64_t size, uint32_t crc) {
  uint64_t narrow = size >= saturated ? saturated : size;
  record.u16(0).u16(0).u16(0).u16(dosDate).u32(crc).u32(narrow).u32(narrow);
}

class FileSink {
public:
  explicit FileSink(int descriptor) : descriptor(descriptor) {}
  bool write(std::string_view data) {
    while (!data.empty()) {
      ssize_t written = ::write(descriptor, data.data(), std::min<size_t>(data.size(), 1 << 30));
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return false;
      data.remove_prefix(size_t(written));
    }
    return true;
  }

private:
  int descriptor;
};

struct StringSink {
  std::string bytes;
  bool write(std::string_view data) {
    bytes += data;
    return true;
  }
};

std::string errorText(const std::string &path, int code) {
  return "'" + path + "': " + std::error_code(code, std::generic_category()).message();
}

} // namespace

ArtifactWriter::Entry ArtifactWriter::makeEntry(std::string name, std::vector<std::string_view> pieces) {
  Entry entry{std::move(name), std::move(pieces), 0, 0, ""};
  Crc32 crc;
  Xxh64 digest;
  for (std::string_view piece : entry.pieces) {
    entry.size += piece.size();
    crc.update(piece);
    digest.update(piece);
  }
  entry.crc = crc.finish();
  entry.digest = digest.text();
  return entry;
}

void ArtifactWriter::add(std::string name, std::vector<std::string_view> pieces) {
  entries.push_back(makeEntry(std::move(name), std::move(pieces)));
}

std::string ArtifactWriter::entriesJson() const {
  std::string json = "{";
  for (const Entry &entry : entries) {
    if (json.size() > 1) json += ", ";
    json +=
        '"' + entry.name + "\": {\"bytes\": " + std::to_string(entry.size) + ", \"digest\": \"" + entry.digest + "\"}";
  }
  return json + "}";
}

template <typename Sink> bool ArtifactWriter::write(Sink &sink, std::string_view manifest) const {
  Entry manifestEntry = makeEntry("manifest.json", {manifest});
  uint64_t position = 0;
  Record central;
  auto writeEntry = [&](const Entry &entry) {
    Record extra;
    bool wide = entry.size >= saturated;
    if (wide) extra.u16(1).u16(16).u64(entry.size).u64(entry.size);
    Record local;
    local.u32(0x04034b50).u16(wide ? 45 : 20);
    describe(local, entry.size, entry.crc);
    // The padding field takes the data to its alignment.
    uint64_t before = position + 30 + entry.name.size() + extra.bytes.size() + 4;
    uint64_t padding = (STATOR_ALIGNMENT - before % STATOR_ALIGNMENT) % STATOR_ALIGNMENT;
    extra.u16(paddingId).u16(padding).text(std::string(padding, '\0'));
    local.u16(entry.name.size()).u16(extra.bytes.size()).text(entry.name).text(extra.bytes);

    bool far = position >= saturated;
    Record centralExtra;
    if (wide || far) centralExtra.u16(1).u16((wide ? 16 : 0) + (far ? 8 : 0));
    if (wide) centralExtra.u64(entry.size).u64(entry.size);
    if (far) centralExtra.u64(position);
    central.u32(0x02014b50).u16(3 << 8 | 45).u16(wide || far ? 45 : 20);
    describe(central, entry.size, entry.crc);
    central.u16(entry.name.size()).u16(centralExtra.bytes.size()).u16(0).u16(0).u16(0).u32(uint32_t(0100644) << 16);
    central.u32(far ? saturated : position).text(entry.name).text(centralExtra.bytes);

    if (!sink.write(local.bytes)) return false;
    position += local.bytes.size() + entry.size;
    for (std::string_view piece : entry.pieces)
      if (!sink.write(piece)) return false;
    return true;
  };
  if (!writeEntry(manifestEntry)) return false;
  for (const Entry &entry : entries)
    if (!writeEntry(entry)) return false;

  uint64_t count = entries.size() + 1, size = central.bytes.size();
  Record end;
  bool wide = position >= saturated || size >= saturated || count >= 0xFFFF;
  if (wide) {
    end.u32(0x06064b50).u64(44).u16(45).u16(45).u32(0).u32(0).u64(count).u64(count).u64(size).u64(position);
    end.u32(0x07064b50).u32(0).u64(position + size).u32(1);
  }
  uint64_t shortCount = wide ? 0xFFFF : count;
  end.u32(0x06054b50).u16(0).u16(0).u16(shortCount).u16(shortCount);
  end.u32(wide ? saturated : size).u32(wide ? saturated : position).u16(0);
  return sink.write(central.bytes) && sink.write(end.bytes);
}

std::string ArtifactWriter::bytes(std::string_view manifest) const {
  StringSink sink;
  uint64_t size = manifest.size() + 1024;
  for (const Entry &entry : entries) size += entry.size + 2 * entry.name.size() + 512;
  sink.bytes.reserve(size);
  write(sink, manifest);
  return std::move(sink.bytes);
}

std::string ArtifactWriter::writeFile(const std::string &path, std::string_view manifest) const {
  std::string temporary = path + ".tmp" + std::to_string(getpid());
  int descriptor = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (descriptor < 0) return errorText(path, errno);
  FileSink sink(descriptor);
  int code = 0;
  if (!write(sink, manifest)) code = errno;
  if (close(descriptor) != 0 && code == 0) code = errno;
  if (code == 0 && rename(temporary.c_str(), path.c_str()) != 0) code = errno;
  if (code == 0) return "";
  unlink(temporary.c_str());
  return errorText(path, code);
}

} // namespace stator::artifact
