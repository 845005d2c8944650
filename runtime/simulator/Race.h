// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shadow memory for data races.
#pragma once

#include <cstdint>
#include <vector>

namespace stator::sim {

struct WarpOrder {};

class SharedRaces {};

} // namespace stator::sim
