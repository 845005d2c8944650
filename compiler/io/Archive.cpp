// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/Archive.h"
#include "compiler/io/CheckedI64.h"
#include <sys/stat.h>
#include <zip.h>

namespace stator::io {
namespace {

constexpr uint64_t maxMembers = 1u << 18;
constexpr uint64_t maxRatio = 100;

bool isSafeName(const std::string &name) {
  if (name.empty() || name.size() > 4096 || name.front() == '/') return false;
  size_t start = 0;
  for (size_t i = 0; i <= name.size(); ++i) {
    unsigned char c = i < name.size() ? name[i] : '/';
    if (c < 0x20 || c == 0x7f || c == '\\') return false;
    if (c != '/') continue;
    std::string part = name.substr(start, i - start);
    if (part == "." || part == ".." || (part.empty() && i < name.size())) return false;
    start = i + 1;
  }
  return true;
}

std::string zipErrorText(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

void discard(zip *handle) {
  if (handle) zip_discard(handle);
}

bool isSymbolicLink(zip *handle, uint64_t index) {
  zip_uint8_t system = 0;
  zip_uint32_t attributes = 0;
  if (zip_file_get_external_attributes(handle, index, 0, &system, &attributes) != 0) return false;
  return system == ZIP_OPSYS_UNIX && S_ISLNK(attributes >> 16);
}

} // namespace

Result<Archive> Archive::open(const std::string &path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0) return Error{"cannot open '" + path + "': no such file"};
  if (!S_ISREG(info.st_mode)) return Error{"'" + path + "' is not a regular file"};
  if (info.st_size == 0) return Error{"'" + path + "' is empty"}; // The library would take it for an empty archive.
  int code = 0;
  std::shared_ptr<zip> handle(zip_open(path.c_str(), ZIP_RDONLY | ZIP_CHECKCONS, &code), discard);
  if (!handle) return Error{"'" + path + "' is not a readable zip archive: " + zipErrorText(code)};
  return check(std::move(handle), {}, path, uint64_t(info.st_size));
}

Result<Archive> Archive::openBuffer(Buffer bytes, const std::string &name) {
  if (bytes.size() == 0) return Error{"'" + name + "' is empty"}; // The library would take it for an empty archive.
  zip_error_t error;
  zip_error_init(&error);
  zip_source_t *source = zip_source_buffer_create(bytes.data(), bytes.size(), 0, &error);
  if (!source) return Error{"cannot read '" + name + "'"};
  std::shared_ptr<zip> handle(zip_open_from_source(source, ZIP_RDONLY | ZIP_CHECKCONS, &error), discard);
  if (!handle) {
    zip_source_free(source);
    std::string text = zip_error_strerror(&error);
    zip_error_fini(&error);
    return Error{"'" + name + "' is not a readable zip archive: " + text};
  }
  uint64_t size = bytes.size();
  return check(std::move(handle), std::move(bytes), name, size);
}

Result<Archive> Archive::check(std::shared_ptr<zip> handle, Buffer bytes, const std::string &name, uint64_t fileSize) {
  Archive archive;
  archive.file = name;
  archive.memory = std::move(bytes);
  archive.handle = std::move(handle);
  zip_int64_t count = zip_get_num_entries(archive.handle.get(), 0);
  if (count < 0 || uint64_t(count) > maxMembers)
    return Error{"'" + name + "' has " + std::to_string(count) + " members; the limit is " +
                 std::to_string(maxMembers)};
  CheckedI64 stored;
  for (zip_int64_t i = 0; i < count; ++i) {
    zip_stat_t info;
    zip_stat_init(&info);
    constexpr zip_uint64_t needed =
        ZIP_STAT_NAME | ZIP_STAT_SIZE | ZIP_STAT_COMP_SIZE | ZIP_STAT_COMP_METHOD | ZIP_STAT_ENCRYPTION_METHOD;
    if (zip_stat_index(archive.handle.get(), zip_uint64_t(i), ZIP_FL_ENC_RAW, &info) != 0 ||
        (info.valid & needed) != needed)
      return Error{"'" + name + "': the header of member " + std::to_string(i) + " cannot be read"};
    std::string member = info.name;
    auto bad = [&](const std::string &why) {
      return Error{"'" + name + "': member '" + member.substr(0, 80) + "' " + why};
    };
    if (!isSafeName(member)) return bad("has an unsafe name");
    if (info.encryption_method != ZIP_EM_NONE) return bad("is encrypted");
    if (info.comp_method != ZIP_CM_STORE && info.comp_method != ZIP_CM_DEFLATE)
      return bad("uses an unknown compression");
    if (isSymbolicLink(archive.handle.get(), zip_uint64_t(i))) return bad("is a symbolic link");
    stored += CheckedI64(int64_t(std::min<uint64_t>(info.comp_size, INT64_MAX)));
    if (!stored.value() || uint64_t(*stored.value()) > fileSize) return bad("claims more bytes than the file has");
    bool isStored = info.comp_method == ZIP_CM_STORE;
    if (isStored ? info.size != info.comp_size : info.size / maxRatio > info.comp_size)
      return bad("claims " + std::to_string(info.size) + " bytes in " + std::to_string(info.comp_size));
    bool fresh = archive.members.try_emplace(member, Member{uint64_t(i), info.size}).second;
    if (!fresh) return bad("stands twice in the archive");
    if (member.back() != '/') archive.order.push_back(member);
  }
  return archive;
}

uint64_t Archive::size(const std::string &name) const {
  auto found = members.find(name);
  return found == members.end() ? 0 : found->second.size;
}

Result<Buffer> Archive::read(const std::string &name) const {
  auto found = members.find(name);
  if (found == members.end()) return Error{"'" + file + "' has no member '" + name + "'"};
  auto bad = [&](const std::string &why) { return Error{"'" + file + "': member '" + name + "' " + why}; };
  Buffer buffer = Buffer::allocate(found->second.size);
  if (!buffer.ok()) return bad("does not fit memory");
  std::unique_ptr<zip_file_t, int (*)(zip_file_t *)> stream(zip_fopen_index(handle.get(), found->second.index, 0),
                                                            zip_fclose);
  if (!stream) return bad("cannot be opened");
  size_t done = 0;
  // One read past the end, so that the library sees the end and compares the checksum.
  for (char extra = 0;;) {
    bool full = done == buffer.size();
    zip_int64_t n =
        zip_fread(stream.get(), full ? &extra : buffer.mutableData() + done, full ? 1 : buffer.size() - done);
    if (n < 0) return bad(std::string("is damaged: ") + zip_error_strerror(zip_file_get_error(stream.get())));
    if (n == 0 && full) return buffer;
    if (n == 0 || full) return bad("has another length than its header says");
    done += size_t(n);
  }
}

} // namespace stator::io
