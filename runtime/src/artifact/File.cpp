// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/artifact/File.h"

#include "runtime/src/Failure.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

namespace stator::runtime {
namespace {

std::string errorText(int code) { return std::error_code(code, std::generic_category()).message(); }

} // namespace

File::~File() {
  if (!mapping.empty()) munmap(const_cast<char *>(mapping.data()), mapping.size());
}

File File::map(int descriptor, const std::string &path, bool singleLink) {
  struct Closer {
    int descriptor;
    ~Closer() { close(descriptor); }
  } closer{descriptor};
  struct stat status;
  if (fstat(descriptor, &status) != 0) fail(STATOR_IO, "'%s': %s", path.c_str(), errorText(errno).c_str());
  if (!S_ISREG(status.st_mode)) fail(STATOR_IO, "'%s' is not a regular file", path.c_str());
  if (singleLink && status.st_nlink != 1) fail(STATOR_IO, "'%s' has more than one hard link", path.c_str());
  File result;
  if (status.st_size == 0) return result;
  void *address = mmap(nullptr, status.st_size, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (address == MAP_FAILED) fail(STATOR_IO, "'%s': %s", path.c_str(), errorText(errno).c_str());
  result.mapping = std::string_view(static_cast<char *>(address), status.st_size);
  return result;
}

File File::open(const std::string &path) {
  // O_NONBLOCK: a FIFO must be refused, not waited for.
  int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) fail(STATOR_IO, "'%s': %s", path.c_str(), errorText(errno).c_str());
  return map(descriptor, path, false);
}

File File::openBeside(const std::string &directory, const std::string &name) {
  bool plain = !name.empty() && name.size() <= 255 && name != "." && name != ".." &&
               name.find_first_of(std::string_view("/\\:\0", 4)) == std::string::npos;
  if (!plain) fail(STATOR_BAD_ARTIFACT, "'%s' is not a plain file name", name.c_str());
  std::string folder = directory.empty() ? "." : directory, path = folder + "/" + name;
  int parent = ::open(folder.c_str(), O_RDONLY | O_CLOEXEC | O_DIRECTORY);
  if (parent < 0) fail(STATOR_IO, "'%s': %s", folder.c_str(), errorText(errno).c_str());
  int descriptor = openat(parent, name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  int code = errno;
  close(parent);
  if (descriptor < 0) fail(STATOR_IO, "'%s': %s", path.c_str(), errorText(code).c_str());
  return map(descriptor, path, true);
}

} // namespace stator::runtime
