// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-fold-scales | FileCheck %s
// A scale per channel behind a convolution goes into its constant weight; the shift stays.

// CHECK-LABEL: func.func @scaled
// CHECK: %[[W:.*]] = graph.mul %{{.*}}, %{{.*}} : tensor<2x1x1x1xf32>
// CHECK: %[[C:.*]] = graph.convolution %arg0, %[[W]]
// CHECK-NOT: graph.mul
// CHECK: graph.add %[[C]]
func.func @scaled(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = graph.constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %k = graph.constant dense<[[[0.5]], [[4.0]]]> : tensor<2x1x1xf32>
  %c = graph.convolution %x, %w strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 1 output_padding = [0, 0]
    : tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>
  %b = graph.broadcast %k : tensor<2x1x1xf32> to tensor<1x2x4x4xf32>
  %m = graph.mul %c, %b : tensor<1x2x4x4xf32>
  %r = graph.add %m, %b : tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// A scale along a spatial dimension is none per channel; and a convolution that others read keeps its values.
// CHECK-LABEL: func.func @others
// CHECK: %[[C:.*]] = graph.convolution
// CHECK: graph.mul %[[C]]
// CHECK: %[[D:.*]] = graph.convolution
// CHECK: graph.mul %[[D]]
func.func @others(%x: tensor<1x1x4x2xf32>) -> (tensor<1x2x4x2xf32>, tensor<1x2x4x2xf32>, tensor<1x2x4x2xf32>) {
  %w = graph.constant dense<[[[[2.0]]], [[[3.0]]]]> : tensor<2x1x1x1xf32>
  %k = graph.constant dense<[0.5, 4.0]> : tensor<2xf32>
  %kc = graph.constant dense<[[[0.5]], [[4.0]]]> : tensor<2x1x1xf32>
  %c = graph.convolution %x, %w strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 1 output_padding = [0, 0]
    : tensor<1x1x4x2xf32>, tensor<2x1x1x1xf32>
  %b = graph.broadcast %k : tensor<2xf32> to tensor<1x2x4x2xf32>
  %m = graph.mul %c, %b : tensor<1x2x4x2xf32>
  %d = graph.convolution %x, %w strides = [1, 1] low = [0, 0] high = [0, 0] dilations = [1, 1] groups = 1 output_padding = [0, 0]
    : tensor<1x1x4x2xf32>, tensor<2x1x1x1xf32>
  %bc = graph.broadcast %kc : tensor<2x1x1xf32> to tensor<1x2x4x2xf32>
  %n = graph.mul %d, %bc : tensor<1x2x4x2xf32>
  return %m, %d, %n : tensor<1x2x4x2xf32>, tensor<1x2x4x2xf32>, tensor<1x2x4x2xf32>
}
