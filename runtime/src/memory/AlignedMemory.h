// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Host memory aligned to STATOR_ALIGNMENT.
#ifndef STATOR_RUNTIME_MEMORY_ALIGNEDMEMORY_H
#define STATOR_RUNTIME_MEMORY_ALIGNEDMEMORY_H

#include "stator/abi.h"

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

namespace stator::runtime {

struct FreeMemory {
  void operator()(char *memory) const { std::free(memory); }
};
using AlignedMemory = std::unique_ptr<char, FreeMemory>;

/// `bytes` (0 gives a valid pointer too), uninitialised. Throws std::bad_alloc.
inline AlignedMemory allocateAligned(int64_t bytes) {
  if (bytes < 0 || bytes > INT64_MAX - STATOR_ALIGNMENT) throw std::bad_alloc();
  size_t rounded = (size_t(bytes) + STATOR_ALIGNMENT) / STATOR_ALIGNMENT * STATOR_ALIGNMENT;
  void *memory = std::aligned_alloc(STATOR_ALIGNMENT, rounded);
  if (!memory) throw std::bad_alloc();
  return AlignedMemory(static_cast<char *>(memory));
}

} // namespace stator::runtime
#endif
