// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-simplify-algebra | FileCheck %s
// Reshapes that move elements between dimensions go where no kernel has to reach through them.

// A linear layer over merged rows, with its bias: both run over the rows as they were.
// CHECK-LABEL: func.func @linear
// CHECK: %[[M:.*]] = graph.matmul %arg0, %arg1 : tensor<?x16x64xf32, #graph.shape<s0, 16, 64>>, tensor<64x32xf32>
// CHECK: %[[B:.*]] = graph.broadcast {{.*}} to tensor<?x16x32xf32, #graph.shape<s0, 16, 32>>
// CHECK: %[[S:.*]] = graph.add %[[M]], %[[B]]
// CHECK-NOT: graph.reshape %[[S]]
// CHECK: return %[[S]]
func.func @linear(%x: tensor<?x16x64xf32, #graph.shape<s0, 16, 64>>, %w: tensor<64x32xf32>, %b: tensor<32xf32>) -> tensor<?x16x32xf32, #graph.shape<s0, 16, 32>> attributes {graph.symbols = [#graph.symbol<"s0", 0, 100>]} {
  %0 = graph.reshape %x : tensor<?x16x64xf32, #graph.shape<s0, 16, 64>> to tensor<?x64xf32, #graph.shape<16 * s0, 64>>
  %1 = graph.matmul %0, %w : tensor<?x64xf32, #graph.shape<16 * s0, 64>>, tensor<64x32xf32>
  %2 = graph.broadcast %b : tensor<32xf32> to tensor<?x32xf32, #graph.shape<16 * s0, 32>>
  %3 = graph.add %1, %2 : tensor<?x32xf32, #graph.shape<16 * s0, 32>>
  %4 = graph.reshape %3 : tensor<?x32xf32, #graph.shape<16 * s0, 32>> to tensor<?x16x32xf32, #graph.shape<s0, 16, 32>>
  return %4 : tensor<?x16x32xf32, #graph.shape<s0, 16, 32>>
}

// Repeated heads are read in place.
// CHECK-LABEL: func.func @repeated_heads
// CHECK: %[[Q:.*]] = graph.reshape %arg0 : tensor<1x4x9x16xf32> to tensor<1x2x2x9x16xf32>
// CHECK: %[[M:.*]] = graph.matmul %[[Q]], {{.*}} transpose_rhs : tensor<1x2x2x9x16xf32>, tensor<1x2x2x32x16xf32>
// CHECK: graph.reshape %[[M]] : tensor<1x2x2x9x32xf32> to tensor<1x4x9x32xf32>
func.func @repeated_heads(%q: tensor<1x4x9x16xf32>, %k: tensor<1x2x32x16xf32>) -> tensor<1x4x9x32xf32> {
  %0 = graph.reshape %k : tensor<1x2x32x16xf32> to tensor<1x2x1x32x16xf32>
  %1 = graph.broadcast %0 : tensor<1x2x1x32x16xf32> to tensor<1x2x2x32x16xf32>
  %2 = graph.reshape %1 : tensor<1x2x2x32x16xf32> to tensor<1x4x32x16xf32>
  %3 = graph.matmul %q, %2 transpose_rhs : tensor<1x4x9x16xf32>, tensor<1x4x32x16xf32>
  return %3 : tensor<1x4x9x32xf32>
}

// A scale for each channel after a group normalisation: it is split as the channels are.
// CHECK-LABEL: func.func @per_channel
// CHECK: graph.reshape %arg1 : tensor<8xf32> to tensor<1x2x4x1xf32>
// CHECK: %[[Y:.*]] = graph.mul %arg0, {{.*}} : tensor<3x2x4x5xf32>
// CHECK: graph.reshape %[[Y]] : tensor<3x2x4x5xf32> to tensor<3x8x5xf32>
func.func @per_channel(%x: tensor<3x2x4x5xf32>, %w: tensor<8xf32>) -> tensor<3x8x5xf32> {
  %0 = graph.reshape %x : tensor<3x2x4x5xf32> to tensor<3x8x5xf32>
  %1 = graph.reshape %w : tensor<8xf32> to tensor<1x8x1xf32>
  %2 = graph.broadcast %1 : tensor<1x8x1xf32> to tensor<3x8x5xf32>
  %3 = graph.mul %0, %2 : tensor<3x8x5xf32>
  return %3 : tensor<3x8x5xf32>
}

// The result of such a product is transposed before its heads are merged.
// CHECK-LABEL: func.func @transposed_result
// CHECK: %[[M:.*]] = graph.matmul {{.*}} : tensor<1x2x2x9x32xf32>, tensor<1x2x2x32x16xf32>
// CHECK: %[[T:.*]] = graph.transpose %[[M]] [0, 3, 1, 2, 4]
// CHECK: graph.reshape %[[T]] : tensor<1x9x2x2x16xf32> to tensor<1x9x64xf32>
func.func @transposed_result(%p: tensor<1x4x9x32xf32>, %v: tensor<1x2x1x32x16xf32>) -> tensor<1x9x64xf32> {
  %1 = graph.broadcast %v : tensor<1x2x1x32x16xf32> to tensor<1x2x2x32x16xf32>
  %2 = graph.reshape %1 : tensor<1x2x2x32x16xf32> to tensor<1x4x32x16xf32>
  %3 = graph.matmul %p, %2 : tensor<1x4x9x32xf32>, tensor<1x4x32x16xf32>
  %4 = graph.transpose %3 [0, 2, 1, 3] : tensor<1x4x9x16xf32>
  %5 = graph.reshape %4 : tensor<1x9x4x16xf32> to tensor<1x9x64xf32>
  return %5 : tensor<1x9x64xf32>
}

// Units in other places than the reshape's keep it where it is.
// CHECK-LABEL: func.func @units
// CHECK: graph.reshape %arg0 : tensor<2x3x4x1xf32> to tensor<1x2x12xf32>
// CHECK: graph.mul
func.func @units(%x: tensor<2x3x4x1xf32>, %w: tensor<2x12xf32>) -> tensor<1x2x12xf32> {
  %0 = graph.reshape %x : tensor<2x3x4x1xf32> to tensor<1x2x12xf32>
  %2 = graph.broadcast %w : tensor<2x12xf32> to tensor<1x2x12xf32>
  %3 = graph.mul %0, %2 : tensor<1x2x12xf32>
  return %3 : tensor<1x2x12xf32>
}
