// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Zip archives from strangers, read member by member.
#ifndef STATOR_COMPILER_IO_ARCHIVE_H
#define STATOR_COMPILER_IO_ARCHIVE_H

#include "compiler/io/Buffer.h"
#include "compiler/io/Result.h"
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

struct zip;

namespace stator::io {

/// An open archive. Opening refuses unsafe member names (absolute, with `..`, backslash, NUL or control characters),
/// two members of one name, symbolic links, encryption, methods other than stored and deflate, more than 2^18 members,
/// deflate ratios above 100, and sizes that the file cannot hold. Nothing is ever written to disk.
class Archive {
public:
  static Result<Archive> open(const std::string &path);
  /// The same over bytes in memory (an archive inside an archive).
  static Result<Archive> openBuffer(Buffer bytes, const std::string &name);

  /// In the order of the central directory; directories are left out.
  const std::vector<std::string> &names() const { return order; }
  bool has(const std::string &name) const { return members.count(name) != 0; }
  /// Bytes of the member; 0 where there is none.
  uint64_t size(const std::string &name) const;
  /// The member's content, once; its CRC is checked. Where the archive is open as a file nothing else is held.
  Result<Buffer> read(const std::string &name) const;
  const std::string &path() const { return file; }

private:
  struct Member {
    uint64_t index, size;
  };
  static Result<Archive> check(std::shared_ptr<zip> handle, Buffer bytes, const std::string &name, uint64_t fileSize);

  std::string file;
  Buffer memory;
  std::shared_ptr<zip> handle;
  std::vector<std::string> order;
  std::map<std::string, Member> members;
};

} // namespace stator::io

#endif // STATOR_COMPILER_IO_ARCHIVE_H
