// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/library/onednn/OneDnn.h"

namespace stator::runtime {

std::unique_ptr<Library> openOneDnn(Model &, int) { return nullptr; }

} // namespace stator::runtime
