// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/src/library/cublaslt/CublasLt.h"

namespace stator::runtime {

std::unique_ptr<Library> openCublasLt() { return nullptr; }

} // namespace stator::runtime
