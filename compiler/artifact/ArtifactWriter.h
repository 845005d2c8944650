// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes model.stator as docs/artifact-format.md describes it. Needs no MLIR.
#ifndef STATOR_COMPILER_ARTIFACT_ARTIFACTWRITER_H
#define STATOR_COMPILER_ARTIFACT_ARTIFACTWRITER_H

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stator::artifact {

/// Collects entries and writes them with a manifest. The same entries in the same order give the same bytes.
///
///   ArtifactWriter writer;
///   writer.add("host/main.so", object);
///   std::string manifest = "{\"format\": 1, \"entries\": " + writer.entriesJson() + ", ...}";
///   std::string error = writer.writeFile("model.stator", manifest);
class ArtifactWriter {
public:
  /// Adds an entry that consists of these pieces one after the other. They are not copied: the memory behind them must
  /// live until the archive is written. Names are unique and use [A-Za-z0-9._/-].
  void add(std::string name, std::vector<std::string_view> pieces);
  void add(std::string name, std::string_view data) { add(std::move(name), std::vector<std::string_view>{data}); }

  /// The manifest's `entries`: an object with bytes and digest of each entry.
  std::string entriesJson() const;

  /// Writes to a temporary file beside `path` and renames it. Returns the error, "" on success.
  std::string writeFile(const std::string &path, std::string_view manifest) const;
  /// The same into memory.
  std::string bytes(std::string_view manifest) const;

private:
  struct Entry {
    std::string name;
    std::vector<std::string_view> pieces;
    uint64_t size;
    uint32_t crc;
    std::string digest;
  };
  static Entry makeEntry(std::string name, std::vector<std::string_view> pieces);
  template <typename Sink> bool write(Sink &sink, std::string_view manifest) const;

  std::vector<Entry> entries;
};

} // namespace stator::artifact
#endif
