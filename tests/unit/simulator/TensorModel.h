// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A slow, literal restatement of tests/simulator/tensor-core/model.py, one dot product at a time, on wide integers:
// what the simulator's fast tensor cores are compared with. Its numbers for the chips are its own.
#pragma once

#include "runtime/simulator/Types.h"

#include <cstdint>
#include <string>
#include <vector>

namespace stator::sim::test {

/// How a chip adds, for one operand type.
struct ModelRules {
  unsigned step;   ///< products added at once
  int guard;       ///< bits kept below f32's fraction when terms are aligned; negative: fewer bits than f32 has
  int floor;       ///< smallest exponent to align to
  int significant; ///< bits that the sum keeps; 0: as many as f32 has
  bool exact;      ///< added exactly, rounded once
};

/// The rules of `chip` for operands of `type`; `half`: the result is f16. False where the chip has no such operation.
bool modelRules(const std::string &chip, Type type, bool half, ModelRules &rules);

/// c + sum a[i] b[i]. Operands are bits of `type`; c and the result are f32 bits, or f16 bits where `half`. Everything
/// is finite; a sum that overflows on the way gives infinity, and what hardware does then is not modelled.
uint32_t modelDot(const ModelRules &rules, Type type, const std::vector<uint32_t> &a, const std::vector<uint32_t> &b,
                  uint32_t c, bool half);

/// The format of a floating operand: fraction bits, exponent of the smallest normal number, width.
struct Format {
  int fraction, least, width;
};
Format formatOf(Type type);

} // namespace stator::sim::test
