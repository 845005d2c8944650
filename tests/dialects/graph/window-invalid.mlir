// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

func.func @stride(%x: tensor<1x4x5xf32>, %w: tensor<4x4x3xf32>) {
  // expected-error@+1 {{'graph.convolution' op needs numbers from 1 to 2147483647 in 'strides', not 0}}
  %r = graph.convolution %x, %w strides = [0] low = [0] high = [0] dilations = [1] groups = 1 output_padding = [0] : tensor<1x4x5xf32>, tensor<4x4x3xf32>
  return
}

// -----

// expected-note@+1 {{the operand is defined here}}
func.func @length(%x: tensor<1x4x5xf32>, %w: tensor<4x4x3xf32>) {
  // expected-error@+1 {{'graph.convolution' op needs one number per spatial dimension in 'dilations': it has 2 for 1}}
  %r = graph.convolution %x, %w strides = [1] low = [0] high = [0] dilations = [1, 1] groups = 1 output_padding = [0] : tensor<1x4x5xf32>, tensor<4x4x3xf32>
  return
}

// -----

func.func @groups(%x: tensor<1x4x5xf32>, %w: tensor<4x4x3xf32>) {
  // expected-error@+1 {{'graph.convolution' op needs a number of groups from 1 to 2147483647, not 0}}
  %r = graph.convolution %x, %w strides = [1] low = [0] high = [0] dilations = [1] groups = 0 output_padding = [0] : tensor<1x4x5xf32>, tensor<4x4x3xf32>
  return
}

// -----

// expected-note@+2 {{x is defined here, of type 'tensor<1x4x5xf32>'}}
// expected-note@+1 {{weight is defined here, of type 'tensor<4x3x3xf32>'}}
func.func @channels(%x: tensor<1x4x5xf32>, %w: tensor<4x3x3xf32>) {
  // expected-error@+1 {{'graph.convolution' op has 4 channels in x, but weight with 1 groups takes 3}}
  %r = graph.convolution %x, %w strides = [1] low = [0] high = [0] dilations = [1] groups = 1 output_padding = [0] : tensor<1x4x5xf32>, tensor<4x3x3xf32>
  return
}

// -----

// expected-note@+1 {{the input is defined here}}
func.func @window(%x: tensor<1x4x5xf32>) {
  // expected-error@+1 {{'graph.max_pool' op has a window of 7 elements in spatial dimension 0, larger than the padded input of 5}}
  %v, %i = graph.max_pool %x kernel = [4] strides = [1] padding = [0] dilations = [2] : tensor<1x4x5xf32>
  return
}

// -----

func.func @padding(%x: tensor<1x4x5xf32>) {
  // expected-error@+1 {{'graph.avg_pool' op has padding 2 in spatial dimension 0, more than half of its window of 3}}
  %r = graph.avg_pool %x kernel = [3] strides = [1] padding = [2] : tensor<1x4x5xf32>
  return
}

// -----

func.func @divisor(%x: tensor<1x4x5xf32>) {
  // expected-error@+1 {{'graph.avg_pool' op has divisor 0}}
  %r = graph.avg_pool %x kernel = [3] strides = [1] padding = [0] divisor = 0 : tensor<1x4x5xf32>
  return
}

// -----

// Attributes that a generic form leaves out are diagnosed before anything reads them.
func.func @missing(%x: tensor<1x4x5xf32>) {
  // expected-error@+1 {{requires attribute}}
  %r = "graph.avg_pool"(%x) : (tensor<1x4x5xf32>) -> tensor<1x4x5xf32>
  return
}

// -----

func.func @cubic(%x: tensor<1x1x2x2x2xf32>) {
  // expected-error@+1 {{'graph.resize' op has cubic mode for one or two spatial dimensions, not 3}}
  %r = graph.resize %x cubic {scales = array<f64>} : tensor<1x1x2x2x2xf32> to tensor<1x1x3x3x3xf32>
  return
}

// -----

// expected-note@+2 {{x is defined here}}
// expected-note@+1 {{weight is defined here}}
func.func @convolutionRanks(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3x3xf32>) {
  // expected-error@+1 {{needs x and weight of one rank: x has 3, weight 4}}
  %r = graph.convolution %x, %w strides = [1] low = [0] high = [0] dilations = [1] groups = 1 output_padding = [0]
    : tensor<1x2x8xf32>, tensor<3x2x3x3xf32>
  return
}

// -----

// expected-note@+2 {{x is defined here}}
// expected-note@+1 {{weight is defined here}}
func.func @convolutionTypes(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3xf64>) {
  // expected-error@+1 {{needs one element type: x has 'f32', weight 'f64'}}
  %r = graph.convolution %x, %w strides = [1] low = [0] high = [0] dilations = [1] groups = 1 output_padding = [0]
    : tensor<1x2x8xf32>, tensor<3x2x3xf64>
  return
}

// -----

func.func @convolutionPadding(%x: tensor<1x2x8xf32>, %w: tensor<3x2x3xf32>) {
  // expected-error@+1 {{has output padding, which only a transposed convolution takes}}
  %r = graph.convolution %x, %w strides = [1] low = [0] high = [0] dilations = [1] groups = 1 output_padding = [1]
    : tensor<1x2x8xf32>, tensor<3x2x3xf32>
  return
}

// -----

// expected-note@+1 {{the operand is defined here, of type 'tensor<1x2x8xi32>'}}
func.func @poolIntegers(%x: tensor<1x2x8xi32>) {
  // expected-error@+1 {{'graph.avg_pool' op needs floating-point elements}}
  %r = graph.avg_pool %x kernel = [2] strides = [2] padding = [0] : tensor<1x2x8xi32>
  return
}

// -----

// expected-note@+1 {{the operand is defined here}}
func.func @resizeChannels(%x: tensor<1x2x8xf32>) {
  // expected-error@+1 {{changes dimension 1 from 2 to 3, which is not spatial}}
  %r = graph.resize %x nearest {scales = array<f64>} : tensor<1x2x8xf32> to tensor<1x3x8xf32>
  return
}
