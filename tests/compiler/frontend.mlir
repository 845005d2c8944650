// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --stop-after import | FileCheck %s
// RUN: stator compile %S/../models/mlp.pt2 --stop-after import | FileCheck %s --check-prefix=ARCHIVE
// What is read is written as it is: writes and copies stand until normalize; weights have their names in the program.

// CHECK: graph.copy
// CHECK: graph.write
func.func @forward(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %r = graph.copy %x : tensor<2xf32>
  graph.write %r, %y : tensor<2xf32>
  return %r : tensor<2xf32>
}

// ARCHIVE: func.func @main(%arg0: tensor<32x64xf32> {graph.name = "x"}) -> tensor<32x10xf32>
// ARCHIVE: graph.constant dense_resource<up_weight> : tensor<256x64xf32> {name = "up.weight"}
