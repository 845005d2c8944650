// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @reductions
func.func @reductions(%x: tensor<2x3x4xf32>, %b: tensor<4xi1>)
    -> (tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>, tensor<3xi64>, tensor<2x4xi64>, tensor<i1>, tensor<i1>) {
  // CHECK: graph.sum %{{.*}} dims = [1] : tensor<2x3x4xf32>
  %0 = graph.sum %x dims = [1] : tensor<2x3x4xf32>
  // CHECK: graph.prod %{{.*}} dims = [0, 2] : tensor<2x3x4xf32>
  %1 = graph.prod %x dims = [0, 2] : tensor<2x3x4xf32>
  // CHECK: graph.reduce_max %{{.*}} dims = [0, 1, 2] : tensor<2x3x4xf32>
  %2 = graph.reduce_max %x dims = [0, 1, 2] : tensor<2x3x4xf32>
  // CHECK: graph.reduce_min %{{.*}} dims = [] : tensor<2x3x4xf32>
  %3 = graph.reduce_min %x dims = [] : tensor<2x3x4xf32>
  // CHECK: graph.argmax %{{.*}} dims = [0, 2] : tensor<2x3x4xf32>
  %4 = graph.argmax %x dims = [0, 2] : tensor<2x3x4xf32>
  // CHECK: graph.argmin %{{.*}} dims = [1] : tensor<2x3x4xf32>
  %5 = graph.argmin %x dims = [1] : tensor<2x3x4xf32>
  // CHECK: graph.any %{{.*}} dims = [0] : tensor<4xi1>
  %6 = graph.any %b dims = [0] : tensor<4xi1>
  // CHECK: graph.all %{{.*}} dims = [0] : tensor<4xi1>
  %7 = graph.all %b dims = [0] : tensor<4xi1>
  return %0, %1, %2, %3, %4, %5, %6, %7
      : tensor<2x4xf32>, tensor<3xf32>, tensor<f32>, tensor<2x3x4xf32>, tensor<3xi64>, tensor<2x4xi64>, tensor<i1>, tensor<i1>
}
