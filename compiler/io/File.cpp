// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/io/File.h"
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace stator::io {

Buffer Buffer::allocate(size_t size) {
  Buffer buffer;
  buffer.count = size;
  if (size == 0 || size > SIZE_MAX - alignment) return buffer;
  size_t rounded = (size + alignment - 1) / alignment * alignment;
  buffer.bytes = std::shared_ptr<char>(static_cast<char *>(std::aligned_alloc(alignment, rounded)), std::free);
  return buffer;
}

Buffer Buffer::copyOf(std::string_view bytes) {
  Buffer buffer = allocate(bytes.size());
  if (buffer.ok() && !bytes.empty()) std::memcpy(buffer.mutableData(), bytes.data(), bytes.size());
  return buffer;
}

Buffer Buffer::borrow(std::string_view bytes) {
  Buffer buffer;
  buffer.bytes = std::shared_ptr<char>(const_cast<char *>(bytes.data()), [](char *) {});
  buffer.count = bytes.size();
  return buffer;
}

Buffer Buffer::slice(size_t offset, size_t length) const {
  Buffer part;
  part.bytes = std::shared_ptr<char>(bytes, bytes.get() + offset);
  part.count = length;
  return part;
}

namespace {

struct Descriptor {
  explicit Descriptor(int fd) : fd(fd) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (fd >= 0) ::close(fd);
  }
  int fd;
};

Error systemError(const std::string &what, const std::string &path) {
  return {"cannot " + what + " '" + path + "': " + std::strerror(errno)};
}

Result<Buffer> readDescriptor(int fd, const std::string &path, uint64_t maxBytes, bool oneLink) {
  struct stat info;
  if (::fstat(fd, &info) != 0) return systemError("inspect", path);
  if (!S_ISREG(info.st_mode)) return Error{"'" + path + "' is not a regular file"};
  if (oneLink && info.st_nlink != 1)
    return Error{"'" + path + "' has several hard links; copy it to a file of its own"};
  if (uint64_t(info.st_size) > maxBytes)
    return Error{"'" + path + "' has " + std::to_string(info.st_size) + " bytes; the limit is " +
                 std::to_string(maxBytes)};
  Buffer buffer = Buffer::allocate(size_t(info.st_size));
  if (!buffer.ok())
    return Error{"not enough memory for the " + std::to_string(info.st_size) + " bytes of '" + path + "'"};
  size_t done = 0;
  while (done < buffer.size()) {
    ssize_t n = ::read(fd, buffer.mutableData() + done, std::min<size_t>(buffer.size() - done, 1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return systemError("read", path);
    if (n == 0) return Error{"'" + path + "' became shorter while it was read"};
    done += size_t(n);
  }
  return buffer;
}

/// The components of a safe relative name; nothing where it is not one.
std::optional<std::vector<std::string>> safeComponents(const std::string &name) {
  if (name.empty() || name.size() > 4096 || name.front() == '/') return std::nullopt;
  if (name.size() > 1 && name[1] == ':') return std::nullopt;
  std::vector<std::string> parts(1);
  for (unsigned char c : name) {
    if (c < 0x20 || c == 0x7f || c == '\\') return std::nullopt;
    if (c == '/')
      parts.emplace_back();
    else
      parts.back() += char(c);
  }
  for (const std::string &part : parts)
    if (part.empty() || part == "." || part == "..") return std::nullopt;
  return parts;
}

bool writeAll(int fd, std::string_view piece) {
  while (!piece.empty()) {
    ssize_t n = ::write(fd, piece.data(), std::min<size_t>(piece.size(), 1u << 30));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return false;
    piece.remove_prefix(size_t(n));
  }
  return true;
}

} // namespace

Result<Buffer> readFile(const std::string &path, uint64_t maxBytes) {
  // Non-blocking, so that opening a FIFO fails the regular-file check instead of waiting for a writer.
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.fd < 0) return systemError("open", path);
  return readDescriptor(file.fd, path, maxBytes, false);
}

Result<Buffer> readFileBeneath(const std::string &folder, const std::string &name, uint64_t maxBytes) {
  auto parts = safeComponents(name);
  if (!parts) return Error{"the file name '" + name.substr(0, 80) + "' is not a plain relative path without '..'"};
  Descriptor at(::open(folder.empty() ? "." : folder.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  if (at.fd < 0) return systemError("open the folder", folder);
  for (size_t i = 0; i < parts->size(); ++i) {
    bool last = i + 1 == parts->size();
    int flags = last ? O_RDONLY | O_NONBLOCK : O_PATH | O_DIRECTORY;
    Descriptor next(::openat(at.fd, (*parts)[i].c_str(), flags | O_NOFOLLOW | O_CLOEXEC));
    if (next.fd < 0) return systemError("open (without following links)", folder + "/" + name);
    std::swap(at.fd, next.fd);
  }
  return readDescriptor(at.fd, folder + "/" + name, maxBytes, true);
}

Status writeFile(const std::string &path, const std::vector<std::string_view> &pieces) {
  std::string temporary;
  Descriptor file(-1);
  for (int attempt = 0; file.fd < 0 && attempt < 100; ++attempt) {
    temporary = path + "." + std::to_string(::getpid()) + "." + std::to_string(attempt) + ".part";
    file.fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file.fd < 0 && errno != EEXIST) break;
  }
  if (file.fd < 0) return systemError("create a file beside", path);
  bool good = true;
  for (std::string_view piece : pieces) good = good && writeAll(file.fd, piece);
  if (good && ::rename(temporary.c_str(), path.c_str()) == 0) return {};
  Error error = systemError("write", path);
  ::unlink(temporary.c_str());
  return error;
}

} // namespace stator::io
