// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bytes with an owner.
#ifndef STATOR_COMPILER_IO_BUFFER_H
#define STATOR_COMPILER_IO_BUFFER_H

#include <cstddef>
#include <memory>
#include <string_view>

namespace stator::io {

/// Bytes that stay alive as long as any copy of the handle does. The start is aligned to 64 bytes where allocate() made
/// it; a slice keeps the whole alive and is aligned as it happens to be.
class Buffer {
public:
  static constexpr size_t alignment = 64;

  Buffer() = default;
  /// Uninitialised memory; a null data() with a non-zero size() where there is none to be had.
  static Buffer allocate(size_t size);
  static Buffer copyOf(std::string_view bytes);
  /// Someone else's bytes, which must outlive every copy of the handle and are not written.
  static Buffer borrow(std::string_view bytes);

  const char *data() const { return bytes.get(); }
  char *mutableData() { return bytes.get(); }
  size_t size() const { return count; }
  bool ok() const { return count == 0 || bytes; }
  std::string_view view() const { return {bytes.get(), count}; }
  /// `offset + length` must lie within.
  Buffer slice(size_t offset, size_t length) const;

private:
  std::shared_ptr<char> bytes;
  size_t count = 0;
};

} // namespace stator::io

#endif // STATOR_COMPILER_IO_BUFFER_H
