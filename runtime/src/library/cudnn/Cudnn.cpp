// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/library/cudnn/Cudnn.h"

namespace stator::runtime {

std::unique_ptr<Library> openCudnn() { return nullptr; }

} // namespace stator::runtime
