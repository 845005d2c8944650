// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of tensor cores, bit by bit.
//
// A step adds n products and the accumulator: products are exact, with the exponent ea + eb (not normalised); all terms
// are shifted to the largest exponent, with G guard bits, and cut there; the integer sum is cut to f32 (rounded to
// nearest even for f16 results). A longer k is a chain of steps. n, G and the smallest exponent that terms are aligned
// to differ between chips (Chips.h). Sources: Fasi, Higham, Mikaitis, Pranesh, "Numerical behavior of NVIDIA tensor
// cores", PeerJ CS 7:e330 (2021), and Khattak, Mikaitis (2025) on newer units.
#pragma once

#include "runtime/simulator/Chips.h"
#include "runtime/simulator/Types.h"

namespace stator::sim {

inline constexpr unsigned kTileK = 64, kTileColumns = 8;

/// Operands taken apart: (-1)^s * magnitude * 2^(exponent - 11), |magnitude| < 2^12. Zeros have exponent kZeroExponent.
/// `special`: some element is Inf or NaN, and `aValue`, `bValue` hold all elements' values.
struct TensorTile {
  static constexpr int32_t kZeroExponent = -50000;
  unsigned rows = 16, k = 0;
  Type aType = Type::none, bType = Type::none;
  int32_t aMagnitude[16][kTileK], aExponent[16][kTileK], bMagnitude[kTileK][kTileColumns],
      bExponent[kTileK][kTileColumns];
  float aValue[16][kTileK], bValue[kTileK][kTileColumns];
  bool special = false;

  void setA(unsigned row, unsigned k, uint32_t bits);
  void setB(unsigned k, unsigned column, uint32_t bits);
};

/// d = A B + c, row by row (c[row * 8 + column]) with the chip's rounding. `half`: c and d are f16 bit patterns.
using TensorMultiply = void (*)(const TensorCore &core, const TensorTile &tile, const uint32_t *c, uint32_t *d,
                                bool half);

/// The implementation for this machine.
TensorMultiply tensorMultiply();

namespace baseline {
void multiplyTile(const TensorCore &core, const TensorTile &tile, const uint32_t *c, uint32_t *d, bool half);
}
namespace v3 {
void multiplyTile(const TensorCore &core, const TensorTile &tile, const uint32_t *c, uint32_t *d, bool half);
}

} // namespace stator::sim
