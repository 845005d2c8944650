// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/Archive.h"

#include "runtime/src/Failure.h"

#include <algorithm>
#include <cstring>

namespace stator::runtime {
namespace {

constexpr uint32_t localSignature = 0x04034b50, centralSignature = 0x02014b50, endSignature = 0x06054b50,
                   end64Signature = 0x06064b50, locator64Signature = 0x07064b50;
constexpr size_t localSize = 30, centralSize = 46, endSize = 22, end64Size = 56, locator64Size = 20;
constexpr uint16_t utf8Flag = 1 << 11, zip64Extra = 1;
constexpr size_t maxEntries = 1 << 16, maxName = 255;

[[noreturn]] void bad(const char *problem) { fail(STATOR_BAD_ARTIFACT, "artifact: %s", problem); }

/// Little-endian reads; the position and size of every read are checked.
class Cursor {
public:
  Cursor(std::string_view bytes, uint64_t position) : bytes(bytes), position(position) {
    if (position > bytes.size()) bad("an offset beyond the end of the file");
  }

  template <typename T> T read() {
    T value;
    std::memcpy(&value, take(sizeof value).data(), sizeof value);
    return value;
  }

  std::string_view take(uint64_t count) {
    if (count > bytes.size() - position) bad("truncated");
    std::string_view result = bytes.substr(position, count);
    position += count;
    return result;
  }

  uint64_t left() const { return bytes.size() - position; }
  uint64_t offset() const { return position; }

private:
  std::string_view bytes;
  uint64_t position;
};

/// What local header and central directory both say.
struct Header {
  uint16_t flags, method, time, date;
  uint32_t crc;
  uint64_t compressed, size;
  bool operator==(const Header &o) const {
    return flags == o.flags && method == o.method && time == o.time && date == o.date && crc == o.crc &&
           compressed == o.compressed && size == o.size;
  }
};

Header readHeader(Cursor &at) {
  Header header;
  header.flags = at.read<uint16_t>();
  header.method = at.read<uint16_t>();
  header.time = at.read<uint16_t>();
  header.date = at.read<uint16_t>();
  header.crc = at.read<uint32_t>();
  header.compressed = at.read<uint32_t>();
  header.size = at.read<uint32_t>();
  return header;
}

/// Takes 64-bit values from the zip64 extra field for those of `fields` that are saturated, in the standard's order.
void readZip64(std::string_view extra, std::initializer_list<uint64_t *> fields) {
  Cursor at(extra, 0);
  bool wanted = std::any_of(fields.begin(), fields.end(), [](uint64_t *f) { return *f == 0xFFFFFFFF; });
  while (at.left() != 0) {
    uint16_t id = at.read<uint16_t>(), size = at.read<uint16_t>();
    Cursor body(at.take(size), 0);
    if (id != zip64Extra || !wanted) continue;
    for (uint64_t *field : fields)
      if (*field == 0xFFFFFFFF) *field = body.read<uint64_t>();
    wanted = false;
  }
  if (wanted) bad("a 64-bit size is missing");
}

void checkName(std::string_view name) {
  if (name.empty() || name.size() > maxName || name.front() == '/') bad("a bad entry name");
  for (unsigned char c : name)
    if (c < 0x20 || c == 0x7F || c == '\\' || c == ':') bad("a bad entry name");
  for (size_t start = 0; start <= name.size();) {
    size_t end = std::min(name.find('/', start), name.size());
    std::string_view part = name.substr(start, end - start);
    if (part.empty() || part == "." || part == "..") bad("a bad entry name");
    start = end + 1;
  }
}

struct Directory {
  uint64_t entries, bytes, offset, end;
};

Directory findDirectory(std::string_view bytes) {
  if (bytes.size() < endSize) bad("too short to be an artifact");
  uint64_t endOffset = bytes.size() - endSize;
  Cursor at(bytes, endOffset);
  if (at.read<uint32_t>() != endSignature) bad("not an artifact (no zip end record at its end)");
  uint16_t disk = at.read<uint16_t>(), startDisk = at.read<uint16_t>(), here = at.read<uint16_t>();
  Directory result;
  result.entries = at.read<uint16_t>();
  result.bytes = at.read<uint32_t>();
  result.offset = at.read<uint32_t>();
  result.end = endOffset;
  if (disk != 0 || startDisk != 0 || here != result.entries || at.read<uint16_t>() != 0)
    bad("several disks or a comment in the end record");
  if (result.entries != 0xFFFF && result.bytes != 0xFFFFFFFF && result.offset != 0xFFFFFFFF) return result;

  if (endOffset < locator64Size + end64Size) bad("no zip64 end record");
  Cursor locator(bytes, endOffset - locator64Size);
  if (locator.read<uint32_t>() != locator64Signature || locator.read<uint32_t>() != 0) bad("no zip64 end record");
  uint64_t end64 = locator.read<uint64_t>();
  if (end64 != endOffset - locator64Size - end64Size || locator.read<uint32_t>() != 1) bad("a bad zip64 locator");
  Cursor record(bytes, end64);
  if (record.read<uint32_t>() != end64Signature || record.read<uint64_t>() != end64Size - 12) bad("a bad zip64 record");
  record.take(4); // versions
  if (record.read<uint32_t>() != 0 || record.read<uint32_t>() != 0) bad("several disks");
  uint64_t entriesHere = record.read<uint64_t>();
  result.entries = record.read<uint64_t>();
  result.bytes = record.read<uint64_t>();
  result.offset = record.read<uint64_t>();
  result.end = end64;
  if (entriesHere != result.entries) bad("several disks");
  return result;
}

} // namespace

Archive::Archive(std::string_view bytes) {
  Directory directory = findDirectory(bytes);
  if (directory.offset > directory.end || directory.bytes != directory.end - directory.offset)
    bad("the central directory does not end at the end record");
  if (directory.entries > maxEntries || directory.entries > directory.bytes / centralSize)
    bad("more entries than the central directory has room for");

  struct Range {
    uint64_t begin, end;
  };
  std::vector<std::pair<Range, Entry>> found;
  found.reserve(directory.entries);
  Cursor at(bytes.substr(0, directory.end), directory.offset);
  for (uint64_t i = 0; i < directory.entries; ++i) {
    if (at.read<uint32_t>() != centralSignature) bad("a bad central directory");
    at.take(4); // versions
    Header header = readHeader(at);
    uint16_t nameSize = at.read<uint16_t>(), extraSize = at.read<uint16_t>(), commentSize = at.read<uint16_t>();
    uint64_t disk = at.read<uint16_t>();
    at.take(6); // attributes
    uint64_t offset = at.read<uint32_t>();
    std::string_view name = at.take(nameSize), extra = at.take(extraSize);
    if (disk != 0 || commentSize != 0) bad("several disks or a comment");
    readZip64(extra, {&header.size, &header.compressed, &offset});
    checkName(name);
    if (header.method != 0 || header.compressed != header.size || (header.flags & ~utf8Flag) != 0)
      bad("an entry is compressed, encrypted or has a data descriptor");

    Cursor local(bytes.substr(0, directory.offset), offset);
    if (local.read<uint32_t>() != localSignature) bad("a bad local header");
    local.take(2); // version
    Header localHeader = readHeader(local);
    nameSize = local.read<uint16_t>(), extraSize = local.read<uint16_t>();
    std::string_view localName = local.take(nameSize), localExtra = local.take(extraSize);
    readZip64(localExtra, {&localHeader.size, &localHeader.compressed});
    if (!(localHeader == header) || localName != name) bad("a local header disagrees with the central directory");
    std::string_view data = local.take(header.size);
    found.push_back({{offset, local.offset()}, {name, data, header.crc}});
  }
  if (at.left() != 0) bad("unexpected bytes in the central directory");

  std::sort(found.begin(), found.end(), [](auto &a, auto &b) { return a.first.begin < b.first.begin; });
  uint64_t expected = 0;
  for (auto &[range, entry] : found) {
    if (range.begin != expected) bad("entries overlap or leave a gap");
    expected = range.end;
    all.push_back(entry);
  }
  if (expected != directory.offset) bad("entries overlap or leave a gap");

  std::vector<std::string_view> names;
  for (const Entry &entry : all) names.push_back(entry.name);
  std::sort(names.begin(), names.end());
  if (std::adjacent_find(names.begin(), names.end()) != names.end()) bad("two entries of one name");
}

const Archive::Entry *Archive::find(std::string_view name) const {
  for (const Entry &entry : all)
    if (entry.name == name) return &entry;
  return nullptr;
}

} // namespace stator::runtime
