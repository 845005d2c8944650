// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Copies that run beside their thread: cp.async groups.
#pragma once

#include <cstdint>

namespace stator::sim {

struct WarpAsync {};

} // namespace stator::sim
