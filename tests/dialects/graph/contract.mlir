// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @matmul
func.func @matmul(%a: tensor<2x3xf32>, %b: tensor<3x4xf32>) -> tensor<2x4xf32> {
  // CHECK: graph.matmul %{{.*}}, %{{.*}} : tensor<2x3xf32>, tensor<3x4xf32>
  %r = graph.matmul %a, %b : tensor<2x3xf32>, tensor<3x4xf32>
  return %r : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @transposed
func.func @transposed(%a: tensor<5x3x2xf16>, %b: tensor<5x4x3xf16>) -> tensor<5x2x4xf16> {
  // CHECK: graph.matmul %{{.*}}, %{{.*}} transpose_lhs transpose_rhs : tensor<5x3x2xf16>, tensor<5x4x3xf16>
  %r = graph.matmul %a, %b transpose_lhs transpose_rhs : tensor<5x3x2xf16>, tensor<5x4x3xf16>
  return %r : tensor<5x2x4xf16>
}

// CHECK-LABEL: func.func @symbolic
func.func @symbolic(%a: tensor<?x?xf32, #graph.shape<s0, s1>>, %b: tensor<?x4xf32, #graph.shape<s1, 4>>)
    -> tensor<?x4xf32, #graph.shape<s0, 4>> {
  // CHECK: graph.matmul {{.*}} : tensor<?x?xf32, #graph.shape<s0, s1>>, tensor<?x4xf32, #graph.shape<s1, 4>>
  %r = graph.matmul %a, %b : tensor<?x?xf32, #graph.shape<s0, s1>>, tensor<?x4xf32, #graph.shape<s1, 4>>
  return %r : tensor<?x4xf32, #graph.shape<s0, 4>>
}
