// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

func.func @takeDim(%x: tensor<4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{dim is -1, outside [0, 1)}}
  %0 = graph.take %x, %i dim = -1 : tensor<4xf32>, tensor<2xi64>
  return
}

// -----

func.func @takeFloatIndices(%x: tensor<4xf32>, %i: tensor<2xf32>) {
  // expected-error@+1 {{operand #1 must be}}
  %0 = graph.take %x, %i dim = 0 : tensor<4xf32>, tensor<2xf32>
  return
}

// -----

// expected-note@+1 {{is defined here, of type 'tensor<3x1xi64>'}}
func.func @gatherAbove(%x: tensor<2x4xf32>, %i: tensor<3x1xi64>) {
  // expected-error@+1 {{dimension 0 of the indices is 3, above the 2 of operand #0}}
  %0 = graph.gather %x, %i dim = 1 : tensor<2x4xf32>, tensor<3x1xi64>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @gatherRank(%x: tensor<2x4xf32>, %i: tensor<3xi64>) {
  // expected-error@+1 {{operand #0 has rank 2 and the indices have rank 1}}
  %0 = graph.gather %x, %i dim = 1 : tensor<2x4xf32>, tensor<3xi64>
  return
}

// -----

func.func @indexNone(%x: tensor<2x4xf32>) {
  // expected-error@+1 {{needs an index tensor}}
  %0 = "graph.index"(%x) <{dims = array<i64>}> : (tensor<2x4xf32>) -> tensor<2x4xf32>
  return
}

// -----

func.func @indexCount(%x: tensor<2x4xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{has 1 index tensors for 2 dims}}
  %0 = graph.index %x [%i] dims = [0, 1] : tensor<2x4xf32> [tensor<2xi64>]
  return
}

// -----

func.func @indexApart(%x: tensor<2x4x5xf32>, %i: tensor<2xi64>) {
  // expected-error@+1 {{dims are adjacent and ascending, but 2 follows 0}}
  %0 = graph.index %x [%i, %i] dims = [0, 2] : tensor<2x4x5xf32> [tensor<2xi64>, tensor<2xi64>]
  return
}

// -----

// expected-note@+1 {{is defined here, of type 'tensor<3xi64>'}}
func.func @indexShapes(%x: tensor<2x4xf32>, %i: tensor<2xi64>, %j: tensor<3xi64>) {
  // expected-error@+1 {{dimension 0 is 2 in index tensor #0 and 3 in index tensor #1}}
  %0 = graph.index %x [%i, %j] dims = [0, 1] : tensor<2x4xf32> [tensor<2xi64>, tensor<3xi64>]
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @scatterUpdates(%x: tensor<4xf32>, %i: tensor<2xi64>, %u: tensor<3xf32>) {
  // expected-error@+1 {{dimension 0 is 2 in the indices and 3 in the updates}}
  %0 = graph.scatter %x, %i, %u set dim = 0 : tensor<4xf32>, tensor<2xi64>, tensor<3xf32>
  return
}

// -----

func.func @scatterBool(%x: tensor<4xi1>, %i: tensor<2xi64>, %u: tensor<2xi1>) {
  // expected-error@+1 {{combines numbers; 'add' has no meaning for bool}}
  %0 = graph.scatter %x, %i, %u add dim = 0 : tensor<4xi1>, tensor<2xi64>, tensor<2xi1>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @putShape(%x: tensor<4x5xf32>, %i: tensor<2xi64>, %u: tensor<2x4xf32>) {
  // expected-error@+1 {{updates have shape [2, 4], and what is indexed has [2, 5]}}
  %0 = graph.index_put %x [%i], %u set dims = [0] : tensor<4x5xf32> [tensor<2xi64>], tensor<2x4xf32>
  return
}
