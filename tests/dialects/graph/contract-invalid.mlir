// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

// expected-note@+2 {{lhs is defined here, of type 'tensor<2x3xf32>'}}
// expected-note@+1 {{rhs is defined here, of type 'tensor<4x2xf32>'}}
func.func @inner(%a: tensor<2x3xf32>, %b: tensor<4x2xf32>) {
  // expected-error@+1 {{'graph.matmul' op multiplies 3 columns of lhs with 4 rows of rhs}}
  %r = graph.matmul %a, %b : tensor<2x3xf32>, tensor<4x2xf32>
  return
}

// -----

// expected-note@+2 {{lhs is defined here}}
// expected-note@+1 {{rhs is defined here}}
func.func @batch(%a: tensor<5x2x3xf32>, %b: tensor<?x3x2xf32, #graph.shape<s0, 3, 2>>) {
  // expected-error@+1 {{'graph.matmul' op batch dimension 0 is 5 in lhs but s0 in rhs}}
  %r = graph.matmul %a, %b : tensor<5x2x3xf32>, tensor<?x3x2xf32, #graph.shape<s0, 3, 2>>
  return
}

// -----

func.func @result(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+2 {{failed to infer returned types}}
  // expected-error@+1 {{op inferred type(s) 'tensor<2x2xf32>' are incompatible with return type(s) of operation 'tensor<2x3xf32>'}}
  %r = "graph.matmul"(%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x3xf32>
  return
}

// -----

func.func @bool(%a: tensor<2x3xi1>, %b: tensor<3x2xi1>) {
  // expected-error@+1 {{'graph.matmul' op has no meaning for bool: cast first}}
  %r = graph.matmul %a, %b : tensor<2x3xi1>, tensor<3x2xi1>
  return
}

// -----

// expected-note@+2 {{lhs is defined here}}
// expected-note@+1 {{rhs is defined here}}
func.func @ranks(%a: tensor<3xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+1 {{'graph.matmul' op needs operands of one rank of at least 2, or an rhs of rank 2: lhs has rank 1, rhs 2}}
  %r = graph.matmul %a, %b : tensor<3xf32>, tensor<3x2xf32>
  return
}

// -----

// expected-note@+2 {{lhs is defined here}}
// expected-note@+1 {{rhs is defined here}}
func.func @types(%a: tensor<2x3xf32>, %b: tensor<3x2xf16>) {
  // expected-error@+1 {{'graph.matmul' op needs one element type: lhs has 'f32', rhs 'f16'}}
  %r = graph.matmul %a, %b : tensor<2x3xf32>, tensor<3x2xf16>
  return
}

// -----

// expected-note@+2 {{lhs is defined here}}
// expected-note@+1 {{rhs is defined here}}
func.func @shared(%a: tensor<5x3x2xf32>, %b: tensor<3x2xf32>) {
  // expected-error@+1 {{'graph.matmul' op cannot transpose lhs where all its batches share one rhs of rank 2}}
  %r = graph.matmul %a, %b transpose_lhs : tensor<5x3x2xf32>, tensor<3x2xf32>
  return
}
