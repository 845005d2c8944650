// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @convolution
func.func @convolution(%x: tensor<1x4x8x8xf32>, %w: tensor<6x2x3x3xf32>) -> tensor<1x6x4x8xf32> {
  // CHECK: graph.convolution %{{.*}}, %{{.*}} strides = [2, 1] low = [1, 1] high = [1, 1] dilations = [1, 1] groups = 2 output_padding = [0, 0] : tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>
  %r = graph.convolution %x, %w strides = [2, 1] low = [1, 1] high = [1, 1] dilations = [1, 1] groups = 2 output_padding = [0, 0]
    : tensor<1x4x8x8xf32>, tensor<6x2x3x3xf32>
  return %r : tensor<1x6x4x8xf32>
}

// CHECK-LABEL: func.func @transposed
func.func @transposed(%x: tensor<1x4x?xf32, #graph.shape<1, 4, s0>>, %w: tensor<4x3x2xf32>)
    -> tensor<1x3x?xf32, #graph.shape<1, 3, 2 * s0 + 1>> {
  // CHECK: groups = 1 transposed output_padding = [1]
  %r = graph.convolution %x, %w strides = [2] low = [0] high = [0] dilations = [1] groups = 1 transposed output_padding = [1]
    : tensor<1x4x?xf32, #graph.shape<1, 4, s0>>, tensor<4x3x2xf32>
  return %r : tensor<1x3x?xf32, #graph.shape<1, 3, 2 * s0 + 1>>
}

// CHECK-LABEL: func.func @pools
func.func @pools(%x: tensor<1x2x6x6xf32>)
    -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xi64>, tensor<1x2x3x3xf32>, tensor<1x2x3x2xf32>) {
  // CHECK: graph.max_pool %{{.*}} kernel = [3, 3] strides = [2, 2] padding = [1, 1] dilations = [1, 1] ceil_mode : tensor<1x2x6x6xf32>
  %v, %i = graph.max_pool %x kernel = [3, 3] strides = [2, 2] padding = [1, 1] dilations = [1, 1] ceil_mode : tensor<1x2x6x6xf32>
  // CHECK: graph.avg_pool %{{.*}} kernel = [2, 2] strides = [2, 2] padding = [0, 0] exclude_padding divisor = 3 : tensor<1x2x6x6xf32>
  %a = graph.avg_pool %x kernel = [2, 2] strides = [2, 2] padding = [0, 0] exclude_padding divisor = 3 : tensor<1x2x6x6xf32>
  // CHECK: graph.adaptive_avg_pool %{{.*}} : tensor<1x2x6x6xf32> to tensor<1x2x3x2xf32>
  %d = graph.adaptive_avg_pool %x : tensor<1x2x6x6xf32> to tensor<1x2x3x2xf32>
  return %v, %i, %a, %d : tensor<1x2x4x4xf32>, tensor<1x2x4x4xi64>, tensor<1x2x3x3xf32>, tensor<1x2x3x2xf32>
}

// CHECK-LABEL: func.func @resize
func.func @resize(%x: tensor<1x2x6x6xf32>) -> tensor<1x2x9x3xf32> {
  // CHECK: graph.resize %{{.*}} cubic {align_corners, scales = array<f64: 0.000000e+00, 2.000000e+00>} : tensor<1x2x6x6xf32> to tensor<1x2x9x3xf32>
  %r = graph.resize %x cubic {align_corners, scales = array<f64: 0.0, 2.0>} : tensor<1x2x6x6xf32> to tensor<1x2x9x3xf32>
  return %r : tensor<1x2x9x3xf32>
}
