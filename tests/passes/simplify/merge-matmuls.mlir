// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-merge-matmuls --canonicalize | FileCheck %s
// Query and key are one product; their parts are slices that the next matmul reads by strides.

// CHECK-LABEL: func.func @query_key
// CHECK-DAG: %[[W:.*]] = graph.constant dense<{{\[\[}}1.0{{.*}}], {{\[}}2.0{{.*}}], {{\[}}3.0{{.*}}], {{\[}}4.0{{.*}}]]> : tensor<4x3xf32>
// CHECK-DAG: %[[B:.*]] = graph.constant dense<[5.0{{.*}}, 6.0{{.*}}, 7.0{{.*}}, 8.0{{.*}}]> : tensor<4xf32>
// CHECK: %[[M:.*]] = graph.matmul %arg0, %[[W]] transpose_rhs : tensor<2x5x3xf32>, tensor<4x3xf32>
// CHECK: %[[S:.*]] = graph.add %[[M]]
// CHECK-DAG: graph.slice %[[S]] starts <0, 0, 0>
// CHECK-DAG: graph.slice %[[S]] starts <0, 0, 2>
// CHECK: graph.matmul
// CHECK-NOT: graph.matmul
func.func @query_key(%x: tensor<2x5x3xf32>) -> tensor<2x5x5xf32> {
  %wq = graph.constant dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %wk = graph.constant dense<[[3.0, 3.0, 3.0], [4.0, 4.0, 4.0]]> : tensor<2x3xf32>
  %bq = graph.constant dense<[5.0, 6.0]> : tensor<2xf32>
  %bk = graph.constant dense<[7.0, 8.0]> : tensor<2xf32>
  %q = graph.matmul %x, %wq transpose_rhs : tensor<2x5x3xf32>, tensor<2x3xf32>
  %bqb = graph.broadcast %bq : tensor<2xf32> to tensor<2x5x2xf32>
  %qb = graph.add %q, %bqb : tensor<2x5x2xf32>
  %k = graph.matmul %x, %wk transpose_rhs : tensor<2x5x3xf32>, tensor<2x3xf32>
  %bkb = graph.broadcast %bk : tensor<2xf32> to tensor<2x5x2xf32>
  %kb = graph.add %k, %bkb : tensor<2x5x2xf32>
  %s = graph.matmul %qb, %kb transpose_rhs : tensor<2x5x2xf32>, tensor<2x5x2xf32>
  return %s : tensor<2x5x5xf32>
}

// Where elementwise work reads one of them, each keeps its own epilogue.
// CHECK-LABEL: func.func @gate
// CHECK-COUNT-2: graph.matmul
func.func @gate(%x: tensor<5x3xf32>) -> tensor<5x2xf32> {
  %wg = graph.constant dense<[[1.0, 1.0, 1.0], [2.0, 2.0, 2.0]]> : tensor<2x3xf32>
  %wu = graph.constant dense<[[3.0, 3.0, 3.0], [4.0, 4.0, 4.0]]> : tensor<2x3xf32>
  %g = graph.matmul %x, %wg transpose_rhs : tensor<5x3xf32>, tensor<2x3xf32>
  %u = graph.matmul %x, %wu transpose_rhs : tensor<5x3xf32>, tensor<2x3xf32>
  %s = graph.silu %g : tensor<5x2xf32>
  %y = graph.mul %s, %u : tensor<5x2xf32>
  return %y : tensor<5x2xf32>
}

// Packed projections: heads are split before the parts are taken, so that matmuls read slices of one tensor.
// CHECK-LABEL: func.func @packed
// CHECK: %[[H:.*]] = graph.reshape %arg0 : tensor<2x5x96xf32> to tensor<2x5x6x16xf32>
// CHECK: graph.slice %[[H]] starts <0, 0, 0, 0> steps [1, 1, 1, 1] : tensor<2x5x6x16xf32> to tensor<2x5x2x16xf32>
// CHECK: %[[K:.*]] = graph.reshape %arg0 : tensor<2x5x96xf32> to tensor<2x5x6x16xf32>
// CHECK: graph.slice %[[K]] starts <0, 0, 4, 0> steps [1, 1, 1, 1] : tensor<2x5x6x16xf32> to tensor<2x5x2x16xf32>
// CHECK-NOT: graph.reshape
// CHECK: return
func.func @packed(%x: tensor<2x5x96xf32>) -> tensor<2x2x5x5xf32> {
  %0 = graph.slice %x starts <0, 0, 0> steps [1, 1, 1] : tensor<2x5x96xf32> to tensor<2x5x32xf32>
  %1 = graph.reshape %0 : tensor<2x5x32xf32> to tensor<2x5x2x16xf32>
  %2 = graph.transpose %1 [0, 2, 1, 3] : tensor<2x5x2x16xf32>
  %3 = graph.slice %x starts <0, 0, 64> steps [1, 1, 1] : tensor<2x5x96xf32> to tensor<2x5x32xf32>
  %4 = graph.reshape %3 : tensor<2x5x32xf32> to tensor<2x5x2x16xf32>
  %5 = graph.transpose %4 [0, 2, 1, 3] : tensor<2x5x2x16xf32>
  %6 = graph.matmul %2, %5 transpose_rhs : tensor<2x2x5x16xf32>, tensor<2x2x5x16xf32>
  return %6 : tensor<2x2x5x5xf32>
}

// A slice that ends inside a head stays below the reshape.
// CHECK-LABEL: func.func @uneven
// CHECK: graph.slice
// CHECK: graph.reshape {{.*}} to tensor<5x2x8xf32>
func.func @uneven(%x: tensor<5x40xf32>, %w: tensor<5x8x3xf32>) -> tensor<5x2x3xf32> {
  %0 = graph.slice %x starts <0, 4> steps [1, 1] : tensor<5x40xf32> to tensor<5x16xf32>
  %1 = graph.reshape %0 : tensor<5x16xf32> to tensor<5x2x8xf32>
  %2 = graph.matmul %1, %w : tensor<5x2x8xf32>, tensor<5x8x3xf32>
  return %2 : tensor<5x2x3xf32>
}
