// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @data
func.func @data() {
  // CHECK: graph.constant dense<[1, 2]> : tensor<2xi32>
  %0 = graph.constant dense<[1, 2]> : tensor<2xi32>
  // CHECK: graph.iota dim = 1 start = 0.000000e+00 step = 2.000000e+00 : tensor<2x?xf32, #graph.shape<2, s0>>
  %1 = graph.iota dim = 1 start = 0.0 step = 2.0 : tensor<2x?xf32, #graph.shape<2, s0>>
  // CHECK: graph.size <floordiv(s0, 2)> : tensor<i64>
  %2 = graph.size <floordiv(s0, 2)> : tensor<i64>
  return
}

// CHECK-LABEL: func.func @moves
func.func @moves(%x: tensor<?x4xf32, #graph.shape<s0, 4>>, %v: tensor<f32>, %flat: tensor<?xf32, #graph.shape<s0 * s0>>) {
  // CHECK: graph.reshape %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x2xf32, #graph.shape<2 * s0, 2>>
  %0 = graph.reshape %x : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x2xf32, #graph.shape<s0 * 2, 2>>
  // CHECK: graph.broadcast %{{.*}} : tensor<f32> to tensor<3xf32>
  %1 = graph.broadcast %v : tensor<f32> to tensor<3xf32>
  // CHECK: graph.transpose %{{.*}} [1, 0] : tensor<?x4xf32, #graph.shape<s0, 4>>
  %2 = graph.transpose %x [1, 0] : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.slice %{{.*}} starts <1, 0> steps [1, 2]
  // CHECK-SAME: to tensor<?x2xf32, #graph.shape<s0 + -1, 2>>
  %3 = graph.slice %x starts <1, 0> steps [1, 2] : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x2xf32, #graph.shape<s0 + -1, 2>>
  // CHECK: graph.update_slice %{{.*}}, %{{.*}} starts <1, 0> steps [1, 2]
  %4 = graph.update_slice %x, %3 starts <1, 0> steps [1, 2] : tensor<?x4xf32, #graph.shape<s0, 4>>, tensor<?x2xf32, #graph.shape<s0 + -1, 2>>
  // CHECK: graph.reverse %{{.*}} dims = [0, 1]
  %5 = graph.reverse %x dims = [0, 1] : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.pad %{{.*}}, %{{.*}} low <0, -1> high <mod(-1 * s0, 8), 0>
  %6 = graph.pad %x, %v low <0, -1> high <mod(-1 * s0, 8), 0> : tensor<?x4xf32, #graph.shape<s0, 4>>, tensor<f32>
  // CHECK: graph.concat %{{.*}}, %{{.*}} dim = 0
  %7 = graph.concat %x, %x dim = 0 : tensor<?x4xf32, #graph.shape<s0, 4>>, tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.transpose %{{.*}} [0, 1] : tensor<?x4xf32, #graph.shape<2 * s0, 4>>
  %8 = graph.transpose %7 [0, 1] : tensor<?x4xf32, #graph.shape<2 * s0, 4>>
  // CHECK: graph.strided %{{.*}} strides <s0 + 1> offset <0>
  %9 = graph.strided %flat strides <s0 + 1> offset <0> : tensor<?xf32, #graph.shape<s0 * s0>> to tensor<?xf32, #graph.shape<s0>>
  return
}
