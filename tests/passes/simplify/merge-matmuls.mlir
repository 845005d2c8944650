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
