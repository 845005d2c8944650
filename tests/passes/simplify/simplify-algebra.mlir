// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-simplify-algebra | FileCheck %s
// Identities that hold for every value go; those that fail for a signed zero or a rounding stay.

// CHECK-LABEL: func.func @neutral
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg1
func.func @neutral(%x: tensor<4xf32>, %i: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>) {
  %minus_zero = graph.constant dense<-0.0> : tensor<4xf32>
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %one = graph.constant dense<1.0> : tensor<f32>
  %ones = graph.broadcast %one : tensor<f32> to tensor<4xf32>
  %none = graph.constant dense<0> : tensor<4xi32>
  %a = graph.add %minus_zero, %x : tensor<4xf32>
  %b = graph.sub %x, %zero : tensor<4xf32>
  %c = graph.mul %x, %ones : tensor<4xf32>
  %d = graph.add %i, %none : tensor<4xi32>
  return %a, %b, %c, %d : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi32>
}

// -0 + 0 is 0, and 0 - (-0) too; NaN * 0 is not 0.
// CHECK-LABEL: func.func @not_neutral
// CHECK: graph.add
// CHECK: graph.sub
// CHECK: graph.mul
func.func @not_neutral(%x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
  %zero = graph.constant dense<0.0> : tensor<4xf32>
  %minus_zero = graph.constant dense<-0.0> : tensor<4xf32>
  %a = graph.add %x, %zero : tensor<4xf32>
  %b = graph.sub %x, %minus_zero : tensor<4xf32>
  %c = graph.mul %x, %zero : tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @twice
// CHECK-NEXT: return %arg0, %arg1
func.func @twice(%x: tensor<4xf32>, %b: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xi1>) {
  %0 = graph.neg %x : tensor<4xf32>
  %1 = graph.neg %0 : tensor<4xf32>
  %2 = graph.bitwise_not %b : tensor<4xi1>
  %3 = graph.bitwise_not %2 : tensor<4xi1>
  return %1, %3 : tensor<4xf32>, tensor<4xi1>
}

// CHECK-LABEL: func.func @casts
// CHECK-NEXT: %[[A:.*]] = graph.cast %arg0 : tensor<4xf16> to tensor<4xf64>
// CHECK-NEXT: %[[B:.*]] = graph.cast %arg1 : tensor<4xf32> to tensor<4xi32>
// CHECK-NEXT: %[[C:.*]] = graph.cast %[[B]] : tensor<4xi32> to tensor<4xi1>
// CHECK-NEXT: return %arg0, %[[A]], %[[C]]
func.func @casts(%h: tensor<4xf16>, %x: tensor<4xf32>) -> (tensor<4xf16>, tensor<4xf64>, tensor<4xi1>) {
  %0 = graph.cast %h : tensor<4xf16> to tensor<4xf32>
  %1 = graph.cast %0 : tensor<4xf32> to tensor<4xf16>
  %2 = graph.cast %0 : tensor<4xf32> to tensor<4xf64>
  // 0.3 is true, but the integer between is 0.
  %3 = graph.cast %x : tensor<4xf32> to tensor<4xi32>
  %4 = graph.cast %3 : tensor<4xi32> to tensor<4xi1>
  return %1, %2, %4 : tensor<4xf16>, tensor<4xf64>, tensor<4xi1>
}

// CHECK-LABEL: func.func @transposed
// CHECK-NEXT: graph.matmul %arg0, %arg1 transpose_rhs
func.func @transposed(%x: tensor<2x3xf32>, %w: tensor<5x3xf32>) -> tensor<2x5xf32> {
  %t = graph.transpose %w [1, 0] : tensor<5x3xf32>
  %r = graph.matmul %x, %t : tensor<2x3xf32>, tensor<3x5xf32>
  return %r : tensor<2x5xf32>
}

// Elementwise work moves before a reshape that moves elements between dimensions, next to what it reads.
// CHECK-LABEL: func.func @sink
// CHECK-NEXT: %[[E:.*]] = graph.exp %arg0 : tensor<4x6xf32>
// CHECK-NEXT: graph.reshape %[[E]] : tensor<4x6xf32> to tensor<24xf32>
func.func @sink(%x: tensor<4x6xf32>) -> tensor<24xf32> {
  %v = graph.reshape %x : tensor<4x6xf32> to tensor<24xf32>
  %r = graph.exp %v : tensor<24xf32>
  return %r : tensor<24xf32>
}
