// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole files, read and written safely.
#ifndef STATOR_COMPILER_IO_FILE_H
#define STATOR_COMPILER_IO_FILE_H

#include "compiler/io/Buffer.h"
#include "compiler/io/Result.h"
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace stator::io {

/// A regular file's content. Refuses what is not a regular file, what is longer than `maxBytes`, and a file that
/// shrinks while it is read.
Result<Buffer> readFile(const std::string &path, uint64_t maxBytes = uint64_t(1) << 40);

/// Reads the file `name` that a document in `folder` refers to. The name must be relative, without `..`, backslash, NUL
/// or control characters, at most 4096 bytes; no component may be a symbolic link; the file must be regular with one
/// link. So what a document from a stranger refers to stays within the document's own folder.
Result<Buffer> readFileBeneath(const std::string &folder, const std::string &name,
                               uint64_t maxBytes = uint64_t(1) << 40);

/// Writes the pieces one after the other to a temporary file beside `path` and renames it there: readers see the old
/// file or the new one, never a part.
Status writeFile(const std::string &path, const std::vector<std::string_view> &pieces);

} // namespace stator::io

#endif // STATOR_COMPILER_IO_FILE_H
