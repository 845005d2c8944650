// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Graph.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerReduceOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Reduce.cpp.inc"
      >();
}

} // namespace stator::graph

#define GET_OP_CLASSES
#include "dialects/graph/Reduce.cpp.inc"
