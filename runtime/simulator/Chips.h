// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What differs between GPUs, as data: one row a chip. Sources: CUDA programming guide (compute capabilities), the
// vendors' product pages, and the tensor-core studies that TensorCore.h cites.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace stator::sim {

/// How a chip's tensor cores add: products per step, guard bits, and the smallest exponent that terms are aligned to.
/// `exactFp8`: 8-bit products are summed exactly and rounded once. `kept8` / `result8`: fraction bits that survive the
/// alignment and that the result keeps where they are not.
struct TensorCore {
  int products16, productsTf32, products8;
  int guardBits;
  int alignFloor, alignFloorHalf;
  int kept8, result8;
  bool exactFp8;
};

struct Chip {
  const char *name;    ///< how settings name it, e.g. "h100"
  const char *product; ///< what cuDeviceGetName answers
  int major, minor;    ///< compute capability
  int sms, threadsPerSm, blocksPerSm, registersPerSm;
  int sharedPerSm, sharedPerBlockOptin; ///< bytes
  int64_t globalBytes, l2Bytes;
  int clockKHz, memoryClockKHz, busBits;
  TensorCore tensor;

  int capability() const { return major * 10 + minor; }
};

/// All chips; the first is the default.
const std::vector<Chip> &allChips();
/// The chip named `name`, or null.
const Chip *findChip(std::string_view name);

} // namespace stator::sim
