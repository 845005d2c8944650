// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not stator compile %s -o %t.stator 2>&1 | FileCheck %s --check-prefix=COMPILE
// RUN: not stator run %s --target eval --random=1 2>&1 | FileCheck %s --check-prefix=EVAL
// A resource that the program names and does not give.

// COMPILE: error: weight "constant0" has no bytes
// EVAL: graph.constant: resource 'w' has no bytes
func.func @forward(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = graph.constant dense_resource<w> : tensor<2xf32>
  %r = graph.add %x, %c : tensor<2xf32>
  return %r : tensor<2xf32>
}
