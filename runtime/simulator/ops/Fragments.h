// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operand fragments of the matrix instructions, as Mma.cpp's head describes them.
#pragma once

#include "runtime/simulator/Warp.h"

namespace stator::sim {

/// Bits of an element of a matrix operand.
inline unsigned bitsOf(Type type) {
  switch (type) {
  case Type::s4:
  case Type::u4: return 4;
  case Type::s8:
  case Type::u8:
  case Type::e4m3:
  case Type::e5m2: return 8;
  case Type::f16:
  case Type::bf16: return 16;
  default: return 32;
  }
}

/// Calls f(row or column, k, bits) for every element of an A or B fragment.
template <class F>
void elements(Warp &w, const Slot *slots, unsigned count, unsigned bits, bool isA, bool narrow, F f) {
  unsigned e = 32 / bits;
  uint32_t ones = bits == 32 ? 0xffffffffu : (1u << bits) - 1;
  for (unsigned r = 0; r < count; ++r) {
    const auto *lanes = w.lanes<uint32_t>(slots[r]);
    unsigned block = isA && !narrow ? r >> 1 : r;
    for (unsigned l = 0; l < kLanes; ++l) {
      unsigned g = l >> 2, q = l & 3, outer = isA && !narrow ? g + 8 * (r & 1) : g;
      for (unsigned x = 0; x < e; ++x) f(outer, e * q + x + 4 * e * block, lanes[l] >> (bits * x) & ones);
    }
  }
}

} // namespace stator::sim
