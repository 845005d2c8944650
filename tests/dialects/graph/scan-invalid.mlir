// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

func.func @cumsumDim(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim is 1, outside [0, 1)}}
  %0 = graph.cumsum %x dim = 1 : tensor<4xf32>
  return
}

// -----

func.func @cumsumScalar(%x: tensor<f32>) {
  // expected-error@+1 {{dim is 0, outside [0, 0)}}
  %0 = graph.cumsum %x dim = 0 : tensor<f32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @cumprodBool(%x: tensor<4xi1>) {
  // expected-error@+1 {{accumulates numbers: cast the bools first}}
  %0 = graph.cumprod %x dim = 0 : tensor<4xi1>
  return
}

// -----

func.func @sortDim(%x: tensor<4xf32>) {
  // expected-error@+1 {{dim is -9223372036854775808, outside [0, 1)}}
  %0, %1 = graph.sort %x dim = -9223372036854775808 : tensor<4xf32>
  return
}

// -----

func.func @topkNegative(%x: tensor<4xf32>) {
  // expected-error@+1 {{k is -1, which is negative}}
  %0, %1 = graph.topk %x k = -1 dim = 0 : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @topkAbove(%x: tensor<4xf32>) {
  // expected-error@+1 {{k is 5, above the size of dimension 0, 4}}
  %0, %1 = graph.topk %x k = 5 dim = 0 : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @topkAboveRange(%x: tensor<?xf32, #graph.shape<s0>>) attributes {graph.symbols = [#graph.symbol<"s0", 1, 8>]} {
  // expected-error@+1 {{k is 9, above every size that dimension 0 may have, s0}}
  %0, %1 = graph.topk %x k = 9 dim = 0 : tensor<?xf32, #graph.shape<s0>>
  return
}

// -----

func.func @nonzeroType(%x: tensor<4xf32>) {
  // expected-error@+1 {{gives rows of positions: a result of rank 2 in i64}}
  %0 = graph.nonzero %x fill = 0 : tensor<4xf32> to tensor<4x1xi32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @nonzeroColumns(%x: tensor<4x5xf32>) {
  // expected-error@+1 {{dimension 1 of the result is 3, and positions in the operand have 2 numbers}}
  %0 = graph.nonzero %x fill = 0 : tensor<4x5xf32> to tensor<4x3xi64>
  return
}
