// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Elementwise.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerBinaryOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Binary.cpp.inc"
      >();
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Binary.cpp.inc"
