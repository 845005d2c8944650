// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads the uncompressed zip of an artifact. Every number is checked against the bytes there are before it is used.
#ifndef STATOR_RUNTIME_ARTIFACT_ARCHIVE_H
#define STATOR_RUNTIME_ARTIFACT_ARCHIVE_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stator::runtime {

/// The entries of an archive in memory; they point into it.
class Archive {
public:
  struct Entry {
    std::string_view name, data;
    uint32_t crc;
  };

  /// Parses the central directory and every local header. Throws a Failure (STATOR_BAD_ARTIFACT) on anything that
  /// docs/artifact-format.md forbids: among others compression, duplicates, gaps, overlaps and headers that disagree.
  explicit Archive(std::string_view bytes);

  const std::vector<Entry> &entries() const { return all; }
  /// nullptr if there is none of that name.
  const Entry *find(std::string_view name) const;

private:
  std::vector<Entry> all; // in the order of the file
};

} // namespace stator::runtime
#endif
