// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-decompose | FileCheck %s
// Scattered reduced dimensions are gathered at the end, contiguous ones stay; composite operations are replaced.

// CHECK-LABEL: func.func @scattered
// CHECK: %[[T:.*]] = graph.transpose %{{.*}} [1, 0, 2] : tensor<2x3x4xf32>
// CHECK: graph.sum %[[T]] dims = [1, 2] : tensor<3x2x4xf32>
func.func @scattered(%x: tensor<2x3x4xf32>) -> tensor<3xf32> {
  %r = graph.sum %x dims = [0, 2] : tensor<2x3x4xf32>
  return %r : tensor<3xf32>
}

// Positions count in row-major order of the reduced dimensions, which their order keeps.
// CHECK-LABEL: func.func @positions
// CHECK: graph.transpose %{{.*}} [1, 3, 0, 2] : tensor<2x3x4x5xf32>
// CHECK: graph.argmax %{{.*}} dims = [2, 3] : tensor<3x5x2x4xf32>
func.func @positions(%x: tensor<2x3x4x5xf32>) -> tensor<3x5xi64> {
  %r = graph.argmax %x dims = [0, 2] : tensor<2x3x4x5xf32>
  return %r : tensor<3x5xi64>
}

// CHECK-LABEL: func.func @contiguous
// CHECK-NOT: graph.transpose
// CHECK: graph.sum %{{.*}} dims = [1, 2]
func.func @contiguous(%x: tensor<2x3x4xf32>) -> tensor<2xf32> {
  %r = graph.sum %x dims = [1, 2] : tensor<2x3x4xf32>
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @composite
// CHECK-NOT: graph.nonzero
// CHECK: graph.cumsum
// CHECK: return
func.func @composite(%x: tensor<3x4xi1>) -> tensor<5x2xi64> {
  %r = graph.nonzero %x fill = -1 : tensor<3x4xi1> to tensor<5x2xi64>
  return %r : tensor<5x2xi64>
}
