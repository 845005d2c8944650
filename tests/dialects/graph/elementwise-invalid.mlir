// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

func.func @integers(%x: tensor<2xi32>) {
  // expected-error@+1 {{'graph.exp' op has no meaning for 'i32': cast to a float type first}}
  %r = graph.exp %x : tensor<2xi32>
  return
}

// -----

func.func @floats(%x: tensor<2xf32>) {
  // expected-error@+1 {{'graph.bitwise_not' op has no meaning for 'f32': it works on bits}}
  %r = graph.bitwise_not %x : tensor<2xf32>
  return
}

// -----

func.func @sizes(%x: tensor<2x3xf32>, %c: tensor<2x4xi1>) {
  // expected-error@+1 {{'graph.where' op needs one shape: dimension 1 of operand #1 is 3, of operand #0 4}}
  %r = graph.where %c, %x, %x : tensor<2x4xi1>, tensor<2x3xf32>
  return
}

// -----

func.func @ranks(%x: tensor<3xf32>, %y: tensor<3xf32>) {
  // expected-note@+1 {{operand #0 comes from here}}
  %c = graph.constant dense<true> : tensor<i1>
  // expected-error@+1 {{'graph.where' op needs one shape: operand #1 has shape [3] where operand #0 has []}}
  %r = graph.where %c, %x, %y : tensor<i1>, tensor<3xf32>
  return
}
