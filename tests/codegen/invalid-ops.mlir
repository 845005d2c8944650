// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not stator compile %s -o %t.stator --start-at lower 2>&1 | FileCheck %s
// What normalize and fuse should have taken away stands here still.

// CHECK: 'graph.write' op cannot be compiled: no kernel template takes it
func.func @forward(%x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  graph.write %x, %y : tensor<2xf32>
  return %x : tensor<2xf32>
}
