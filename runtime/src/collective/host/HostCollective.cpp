// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/collective/Collective.h"

namespace stator::runtime {

std::unique_ptr<Collective> openHostCollective() { return nullptr; }

} // namespace stator::runtime
