// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/// \file Elements of buffers: their types by name, and numbers to bits and back.
#pragma once

#include "runtime/simulator/Types.h"

#include <string>

namespace stator::ptxtool {

/// The element type called `name` ("f32", "u8", ...), or sim::Type::none where buffers cannot hold it.
sim::Type elementNamed(const std::string &name);
/// The PTX name of an element type.
std::string nameOf(sim::Type type);

/// The bits of the number that `text` spells in `type`: decimal, 0x.., or a decimal fraction, `inf` and `nan` for
/// floating types. False where it is none or does not fit.
bool parseElement(sim::Type type, const std::string &text, uint64_t &bits);
/// The bits of `value` in `type`: rounded to nearest for floating types, truncated and wrapped for integers.
uint64_t encodeElement(sim::Type type, double value);
/// The value of a floating element.
double decodeFloat(sim::Type type, uint64_t bits);
/// As people write it: floating types so that the bits can be read back, `b` types in hexadecimal.
std::string printElement(sim::Type type, uint64_t bits);

} // namespace stator::ptxtool
