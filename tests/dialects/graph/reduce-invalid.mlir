// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

// expected-note@+1 {{the operand is defined here, of type 'tensor<2x3xf32>'}}
func.func @range(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.sum' op reduces dimension 2 of a tensor of rank 2}}
  %r = graph.sum %x dims = [2] : tensor<2x3xf32>
  return
}

// -----

// expected-note@+1 {{the operand is defined here}}
func.func @negative(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.argmax' op reduces dimension -1 of a tensor of rank 2}}
  %r = graph.argmax %x dims = [-1] : tensor<2x3xf32>
  return
}

// -----

func.func @twice(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.sum' op needs ascending dimensions: 1 stands after 1}}
  %r = graph.sum %x dims = [1, 1] : tensor<2x3xf32>
  return
}

// -----

// expected-note@+1 {{the operand is defined here}}
func.func @bools(%x: tensor<2x3xi1>) {
  // expected-error@+1 {{'graph.sum' op has no meaning for bool: cast first}}
  %r = graph.sum %x dims = [1] : tensor<2x3xi1>
  return
}

// -----

// expected-note@+1 {{the operand is defined here}}
func.func @numbers(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{'graph.all' op needs bool elements}}
  %r = graph.all %x dims = [1] : tensor<2x3xf32>
  return
}
