// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The two checksums of an artifact, over data that comes in pieces.
#ifndef STATOR_COMPILER_ARTIFACT_CHECKSUM_H
#define STATOR_COMPILER_ARTIFACT_CHECKSUM_H

#include <cstdint>
#include <string>
#include <string_view>

namespace stator::artifact {

/// CRC-32 as zip uses it.
class Crc32 {
public:
  void update(std::string_view data);
  uint32_t finish() const { return ~value; }

private:
  uint32_t value = ~0u;
};

/// XXH64 with seed 0 (specified in the xxHash project's doc/xxhash_spec.md).
class Xxh64 {
public:
  void update(std::string_view data);
  uint64_t finish() const;
  /// "xxh64:" and 16 hexadecimal digits.
  std::string text() const;

private:
  void stripe(const char *data);

  static constexpr uint64_t prime1 = 0x9E3779B185EBCA87, prime2 = 0xC2B2AE3D27D4EB4F, prime3 = 0x165667B19E3779F9,
                            prime4 = 0x85EBCA77C2B2AE63, prime5 = 0x27D4EB2F165667C5;
  uint64_t lanes[4] = {prime1 + prime2, prime2, 0, 0 - prime1};
  uint64_t total = 0;
  char rest[32];
  size_t restSize = 0;
};

} // namespace stator::artifact
#endif
