// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Read-only files as memory.
#ifndef STATOR_RUNTIME_ARTIFACT_FILE_H
#define STATOR_RUNTIME_ARTIFACT_FILE_H

#include <string>
#include <string_view>

namespace stator::runtime {

/// A regular file, mapped for as long as the object lives. Move-only.
class File {
public:
  File() = default;
  File(File &&other) noexcept : mapping(other.mapping) { other.mapping = {}; }
  File &operator=(File &&other) noexcept {
    std::swap(mapping, other.mapping);
    return *this;
  }
  ~File();

  /// Opens any path the user names. Fails (STATOR_IO) on what is not a regular file.
  static File open(const std::string &path);

  /// Opens the file `name` that an artifact refers to inside `directory`: a plain file name (no separators, not "." or
  /// ".."), not a symbolic link, with a single hard link.
  static File openBeside(const std::string &directory, const std::string &name);

  std::string_view data() const { return mapping; }

private:
  static File map(int descriptor, const std::string &path, bool singleLink);
  std::string_view mapping;
};

} // namespace stator::runtime
#endif
