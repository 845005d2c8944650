// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @reads
func.func @reads(%x: tensor<?x4x5xf32, #graph.shape<s0, 4, 5>>, %i: tensor<2x3xi64>, %g: tensor<1x4x2xi32>) {
  // CHECK: graph.take %{{.*}}, %{{.*}} dim = 0
  %0 = graph.take %x, %i dim = 0 : tensor<?x4x5xf32, #graph.shape<s0, 4, 5>>, tensor<2x3xi64>
  // The type that is inferred: the indexed dimension is replaced.
  // CHECK: graph.transpose %{{.*}} [0, 1, 2, 3] : tensor<2x3x4x5xf32>
  %1 = graph.transpose %0 [0, 1, 2, 3] : tensor<2x3x4x5xf32>
  // CHECK: graph.gather %{{.*}}, %{{.*}} dim = 2
  %2 = graph.gather %x, %g dim = 2 : tensor<?x4x5xf32, #graph.shape<s0, 4, 5>>, tensor<1x4x2xi32>
  // CHECK: graph.index %{{.*}}[%{{.*}}, %{{.*}}] dims = [1, 2]
  %3 = graph.index %x [%i, %i] dims = [1, 2] : tensor<?x4x5xf32, #graph.shape<s0, 4, 5>> [tensor<2x3xi64>, tensor<2x3xi64>]
  // CHECK: graph.transpose %{{.*}} [0, 1, 2] : tensor<?x2x3xf32, #graph.shape<s0, 2, 3>>
  %4 = graph.transpose %3 [0, 1, 2] : tensor<?x2x3xf32, #graph.shape<s0, 2, 3>>
  return
}

// CHECK-LABEL: func.func @writes
func.func @writes(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<2xf32>) {
  // CHECK: graph.scatter %{{.*}}, %{{.*}}, %{{.*}} add dim = 0
  %0 = graph.scatter %x, %i, %u add dim = 0 : tensor<4xf32>, tensor<2xi64>, tensor<2xf32>
  // CHECK: graph.index_put %{{.*}}[%{{.*}}], %{{.*}} set dims = [0]
  %1 = graph.index_put %x [%i], %u set dims = [0] : tensor<4xf32> [tensor<2xi64>], tensor<2xf32>
  return
}
