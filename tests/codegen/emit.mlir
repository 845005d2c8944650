// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target host,cuda --arch sm_80,sm_90 -o %t.stator -q
// RUN: stator inspect %t.stator | FileCheck %s
// RUN: stator compile %s --target host,cuda --arch sm_80,sm_90 -o %t.again.stator -q && cmp %t.stator %t.again.stator
// One artifact holds code for every device and architecture; two compilations give the same bytes.

// CHECK: host/main.so: {{[0-9]+}} bytes
// CHECK: kernels/main.sm_80.ptx: {{[0-9]+}} bytes
// CHECK: kernels/main.sm_90.ptx: {{[0-9]+}} bytes
// CHECK: weights.safetensors
// CHECK: forward
// CHECK: f32 [3, 4]
// CHECK: f32 [3, 4]
// CHECK: other
// CHECK: i32 [5]
// CHECK: i32 [5]

func.func @forward(%x: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %w = graph.constant dense<[[1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0], [9.0, 10.0, 11.0, 12.0]]> : tensor<3x4xf32>
  %r = graph.mul %x, %w : tensor<3x4xf32>
  return %r : tensor<3x4xf32>
}
func.func @other(%x: tensor<5xi32>) -> tensor<5xi32> {
  %r = graph.mul %x, %x : tensor<5xi32>
  return %r : tensor<5xi32>
}
