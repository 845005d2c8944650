// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-fuse | FileCheck %s
// Reductions over a few elements join like others do, a mean whose division keeps the reduced dimensions is one kernel, and
// ops that run alone read through index operations.

// CHECK-LABEL: func.func @softmax_of_four
// CHECK: graph.fusion "reduce_max_exp_sum_{{[0-9]+}}" "reduce"
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @softmax_of_four(%x: tensor<32x4xf32>) -> tensor<32x4xf32> {
  %m = graph.reduce_max %x dims = [1] : tensor<32x4xf32>
  %m1 = graph.reshape %m : tensor<32xf32> to tensor<32x1xf32>
  %mb = graph.broadcast %m1 : tensor<32x1xf32> to tensor<32x4xf32>
  %d = graph.sub %x, %mb : tensor<32x4xf32>
  %e = graph.exp %d : tensor<32x4xf32>
  %s = graph.sum %e dims = [1] : tensor<32x4xf32>
  %s1 = graph.reshape %s : tensor<32xf32> to tensor<32x1xf32>
  %sb = graph.broadcast %s1 : tensor<32x1xf32> to tensor<32x4xf32>
  %y = graph.div %e, %sb : tensor<32x4xf32>
  return %y : tensor<32x4xf32>
}

// CHECK-LABEL: func.func @mean_kept
// CHECK: graph.fusion "{{.*}}" "reduce"
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @mean_kept(%x: tensor<8x16x7x7xf32>) -> tensor<8x16x1x1xf32> {
  %n = graph.constant dense<49.0> : tensor<8x16x1x1xf32>
  %s = graph.sum %x dims = [2, 3] : tensor<8x16x7x7xf32>
  %k = graph.reshape %s : tensor<8x16xf32> to tensor<8x16x1x1xf32>
  %y = graph.div %k, %n : tensor<8x16x1x1xf32>
  return %y : tensor<8x16x1x1xf32>
}

// CHECK-LABEL: func.func @put_transposed
// CHECK: graph.fusion "{{.*}}" "index_put"
// CHECK: graph.transpose
// CHECK: graph.index_put
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @put_transposed(%cache: tensor<1x2x32x16xf32>, %at: tensor<9xi64>, %k: tensor<1x9x2x16xf32>) -> tensor<1x2x32x16xf32> {
  %t = graph.transpose %k [0, 2, 1, 3] : tensor<1x9x2x16xf32>
  %y = graph.index_put %cache[%at], %t set dims = [2] : tensor<1x2x32x16xf32>[tensor<9xi64>], tensor<1x2x9x16xf32>
  return %y : tensor<1x2x32x16xf32>
}
