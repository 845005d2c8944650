// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The arithmetic of asynchronous reductions.
#pragma once

#include "runtime/simulator/AsyncEngine.h"

#include <string>

namespace stator::sim {

/// The reduction `name` ("add", "min", "max", "inc", "dec", "and", "or", "xor") of elements of `type`; null where there
/// is none.
Reduce reductionOf(const std::string &name, Type type);

} // namespace stator::sim
