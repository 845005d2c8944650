// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --pass-pipeline='builtin.module(func.func(stator-fold-constants{max-bytes=64}))' | FileCheck %s
// RUN: stator-opt %s --stator-fold-constants | FileCheck %s --check-prefix=DEFAULT

// What is computed from constants is computed once, through views of them too; chains in one walk.
// CHECK-LABEL: func.func @chain
// CHECK-NEXT: %[[C:.*]] = graph.constant dense<[-8, -5, -6, -7]> : tensor<4xi32>
// CHECK-NEXT: return %[[C]]
func.func @chain() -> tensor<4xi32> {
  %a = graph.constant dense<[[1, 2], [3, 4]]> : tensor<2x2xi32>
  %v = graph.reshape %a : tensor<2x2xi32> to tensor<4xi32>
  %b = graph.constant dense<[7, 3, 3, 3]> : tensor<4xi32>
  %s = graph.add %v, %b : tensor<4xi32>
  %r = graph.neg %s : tensor<4xi32>
  return %r : tensor<4xi32>
}

// A view costs nothing where it is read; evaluated it would be bytes of its own.
// CHECK-LABEL: func.func @views
// CHECK: graph.broadcast
// CHECK: graph.add %arg0
func.func @views(%x: tensor<64x64xf32>) -> tensor<64x64xf32> {
  %c = graph.constant dense<[0.5]> : tensor<1xf32>
  %b = graph.broadcast %c : tensor<1xf32> to tensor<64x64xf32>
  %r = graph.add %x, %b : tensor<64x64xf32>
  return %r : tensor<64x64xf32>
}

// Above the limit, and more than what it is made from: stays.
// CHECK-LABEL: func.func @large
// CHECK: graph.pad
// DEFAULT-LABEL: func.func @large
// DEFAULT-NOT: graph.pad
// DEFAULT: return
func.func @large() -> tensor<32xf32> {
  %t = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %z = graph.constant dense<0.0> : tensor<f32>
  %r = graph.pad %t, %z low <0> high <30> : tensor<2xf32>, tensor<f32>
  return %r : tensor<32xf32>
}

// An index out of range has no value: the program says so when it runs.
// CHECK-LABEL: func.func @no_value
// CHECK: graph.take
func.func @no_value() -> tensor<1xf32> {
  %t = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %i = graph.constant dense<5> : tensor<1xi64>
  %r = graph.take %t, %i dim = 0 : tensor<2xf32>, tensor<1xi64>
  return %r : tensor<1xf32>
}
