// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensor maps: the 128 opaque bytes by which tensor copies know a tensor in global memory and the box they move.
#pragma once

#include "runtime/simulator/Types.h"

#include <cstddef>
#include <string>

namespace stator::sim {

struct TensorMap {
  static constexpr size_t kBytes = 128;
  static constexpr unsigned kMostRank = 5;
  /// Numbers as cuTensorMapEncode* takes them.
  enum Swizzle : uint8_t { none, bytes32, bytes64, bytes128, atom32, atom32Flip8, atom64 };

  uint8_t type = 0, rank = 0, interleave = 0, swizzle = 0;
  bool fillNan = false, im2col = false;
  uint64_t address = 0;
  uint64_t dims[kMostRank] = {};        ///< elements; the innermost first
  uint64_t strides[kMostRank - 1] = {}; ///< bytes, of dimensions 1 and up
  uint32_t box[kMostRank] = {};         ///< elements traversed a dimension
  uint32_t steps[kMostRank] = {};       ///< traversal strides
  int32_t lower[3] = {}, upper[3] = {}; ///< im2col: corners of the pixels' box, the innermost dimension first
  uint32_t channels = 0, pixels = 0;    ///< im2col: elements a pixel, pixels a column

  /// Bytes of an element; 0 for packed types of 4 and 6 bits.
  unsigned elementBytes() const;
  Type elementType() const;
  /// Bytes of a row of the box in shared memory, and of what swizzling spreads it over.
  unsigned swizzleBytes() const;
  /// Where the byte at `offset` of shared memory goes.
  uint64_t swizzled(uint64_t offset) const;

  void write(uint8_t *bytes) const;
  /// False where `bytes` hold no map that write() has made.
  bool read(const uint8_t *bytes);
  /// What the driver requires; the first violation in words, or "".
  std::string complaint() const;
};

} // namespace stator::sim
