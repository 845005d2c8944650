// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whole host tensors as plain arrays, so that the evaluator's inner loops run without a type switch per element.
#ifndef STATOR_DIALECTS_GRAPH_HOSTSPANS_H
#define STATOR_DIALECTS_GRAPH_HOSTSPANS_H

#include "dialects/interfaces/HostTensor.h"
#include <vector>

namespace stator {

/// The elements as T: double for floats (exact), uint64_t for integers (sign- or zero-extended, so that sums and
/// products wrap to any narrower width by truncation).
template <typename T> std::vector<T> widen(const HostTensor &tensor) {
  std::vector<T> values(tensor.size());
  if constexpr (std::is_same_v<T, double>) {
    if (tensor.elementType.isF32()) {
      auto *data = reinterpret_cast<const float *>(tensor.data());
      for (size_t i = 0; i < values.size(); ++i) values[i] = data[i];
      return values;
    }
    for (size_t i = 0; i < values.size(); ++i) values[i] = tensor.getDouble(i);
  } else {
    for (size_t i = 0; i < values.size(); ++i) values[i] = T(tensor.getInt(i));
  }
  return values;
}

/// Rounds (floats) or wraps (integers) every element into `tensor`.
template <typename T> void narrow(const std::vector<T> &values, HostTensor &tensor) {
  for (size_t i = 0; i < values.size(); ++i) {
    if constexpr (std::is_same_v<T, double>)
      tensor.setDouble(i, values[i]);
    else
      tensor.setInt(i, int64_t(values[i]));
  }
}

inline bool isUnsignedElement(mlir::Type type) { return type.isUnsignedInteger() || type.isInteger(1); }
/// Smallest and largest value of an integer element type, as 64 bits.
inline int64_t lowestInteger(mlir::Type type) {
  return isUnsignedElement(type) ? 0 : int64_t(~uint64_t(0) << (type.getIntOrFloatBitWidth() - 1));
}
inline int64_t highestInteger(mlir::Type type) {
  unsigned width = type.getIntOrFloatBitWidth();
  uint64_t all = width == 64 ? ~uint64_t(0) : (uint64_t(1) << width) - 1;
  return int64_t(isUnsignedElement(type) ? all : all >> 1);
}

} // namespace stator

#endif // STATOR_DIALECTS_GRAPH_HOSTSPANS_H
