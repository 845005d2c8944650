// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

func.func @encodingRank() {
  // expected-error@+1 {{#graph.shape has 2 expressions for a tensor of rank 1}}
  %0 = graph.iota dim = 0 start = 0.0 step = 1.0 : tensor<?xf32, #graph.shape<s0, s1>>
  return
}

// -----

func.func @encodingSize() {
  // expected-error@+1 {{dimension 1 is 5 in #graph.shape and 4 in the tensor type}}
  %0 = graph.iota dim = 0 start = 0.0 step = 1.0 : tensor<?x4xf32, #graph.shape<s0, 5>>
  return
}

// -----

func.func @noEncoding() {
  // expected-error@+1 {{must be ranked tensor, with a #graph.shape encoding where its sizes are not all static}}
  %0 = graph.iota dim = 0 start = 0.0 step = 1.0 : tensor<?xf32>
  return
}

// -----

func.func @iotaDim() {
  // expected-error@+1 {{dim is 1, outside [0, 1), the dimensions of the operand}}
  %0 = graph.iota dim = 1 start = 0.0 step = 1.0 : tensor<4xf32>
  return
}

// -----

func.func @iotaNan() {
  // expected-error@+1 {{has a step that is not finite}}
  %0 = graph.iota dim = 0 start = 0.0 step = 0x7FF8000000000000 : tensor<4xf32>
  return
}

// -----

func.func @iotaFraction() {
  // expected-error@+1 {{counts in integers, but its start is not an integer of at most 53 bits}}
  %0 = graph.iota dim = 0 start = 0.5 step = 1.0 : tensor<4xi32>
  return
}

// -----

func.func @iotaBool() {
  // expected-error@+1 {{counts in numbers, not in bool}}
  %0 = graph.iota dim = 0 start = 0.0 step = 1.0 : tensor<4xi1>
  return
}

// -----

func.func @sizeOfTwo() {
  // expected-error@+1 {{holds one expression, not 2}}
  %0 = graph.size <s0, s1> : tensor<i64>
  return
}

// -----

func.func @sizeType() {
  // expected-error@+1 {{gives tensor<i64>, not 'tensor<1xi64>'}}
  %0 = graph.size <s0> : tensor<1xi64>
  return
}

// -----

// expected-note@+1 {{is defined here, of type 'tensor<?xf32, #graph.shape<s0>>'}}
func.func @reshapeCount(%x: tensor<?xf32, #graph.shape<s0>>) {
  // expected-error@+1 {{operand [s0] has s0 elements and result [s0, 2] has 2 * s0; where they are equal for another reason, state it with graph.assert_shape}}
  %0 = graph.reshape %x : tensor<?xf32, #graph.shape<s0>> to tensor<?x2xf32, #graph.shape<s0, 2>>
  return
}

// -----

func.func @reshapeOverflow(%x: tensor<4xf32>) {
  // expected-error@+1 {{has more elements than 64 bits count}}
  %0 = graph.reshape %x : tensor<4xf32> to tensor<4611686018427387904x4xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @reshapeType(%x: tensor<4xf32>) {
  // expected-error@+1 {{elements are f64 in the result and f32 in the operand}}
  %0 = graph.reshape %x : tensor<4xf32> to tensor<4xf64>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @broadcastSize(%x: tensor<?xf32, #graph.shape<s0>>) {
  // expected-error@+1 {{dimension 1 of the result is 4 and dimension 0 of the operand is s0}}
  %0 = graph.broadcast %x : tensor<?xf32, #graph.shape<s0>> to tensor<2x4xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @broadcastRank(%x: tensor<1x1xf32>) {
  // expected-error@+1 {{operand has rank 2, above the result's 1}}
  %0 = graph.broadcast %x : tensor<1x1xf32> to tensor<1xf32>
  return
}

// -----

func.func @permutationShort(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{has 1 permutation entries for 2 dimensions}}
  %0 = graph.transpose %x [0] : tensor<2x3xf32>
  return
}

// -----

func.func @permutationTwice(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{names dimension 0 twice in permutation}}
  %0 = graph.transpose %x [0, 0] : tensor<2x3xf32>
  return
}

// -----

func.func @permutationNegative(%x: tensor<2x3xf32>) {
  // expected-error@+1 {{permutation[1] is -1, outside [0, 2)}}
  %0 = graph.transpose %x [0, -1] : tensor<2x3xf32>
  return
}

// -----

func.func @sliceStep(%x: tensor<8xf32>) {
  // expected-error@+1 {{steps[0] is 0, not positive}}
  %0 = graph.slice %x starts <0> steps [0] : tensor<8xf32> to tensor<2xf32>
  return
}

// -----

func.func @sliceStart(%x: tensor<8xf32>) {
  // expected-error@+1 {{starts[0] is -1, which is negative}}
  %0 = graph.slice %x starts <-1> steps [1] : tensor<8xf32> to tensor<2xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @sliceEnd(%x: tensor<?xf32, #graph.shape<s0>>) {
  // expected-error@+1 {{reaches element s0 of dimension 0, whose size is s0}}
  %0 = graph.slice %x starts <1> steps [1] : tensor<?xf32, #graph.shape<s0>> to tensor<?xf32, #graph.shape<s0>>
  return
}

// -----

func.func @sliceOverflow(%x: tensor<8xf32>) {
  // expected-error@+1 {{overflows 64 bits in dimension 0}}
  %0 = graph.slice %x starts <0> steps [9223372036854775807] : tensor<8xf32> to tensor<4xf32>
  return
}

// -----

func.func @sliceLists(%x: tensor<8xf32>) {
  // expected-error@+1 {{has 2 starts for 1 dimensions}}
  %0 = graph.slice %x starts <0, 0> steps [1] : tensor<8xf32> to tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @updateEnd(%x: tensor<4xf32>, %u: tensor<3xf32>) {
  // expected-error@+1 {{reaches element 4 of dimension 0, whose size is 4}}
  %0 = graph.update_slice %x, %u starts <2> steps [1] : tensor<4xf32>, tensor<3xf32>
  return
}

// -----

func.func @reverseTwice(%x: tensor<4xf32>) {
  // expected-error@+1 {{has 2 dims for 1 dimensions}}
  %0 = graph.reverse %x dims = [0, 0] : tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @padCutsTooMuch(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{cuts more off dimension 0 than it has: its size would be -1}}
  %0 = graph.pad %x, %v low <-3> high <-2> : tensor<4xf32>, tensor<f32>
  return
}

// -----

// expected-note@+1 {{is defined here, of type 'tensor<1xf32>'}}
func.func @padValue(%x: tensor<4xf32>, %v: tensor<1xf32>) {
  // expected-error@+1 {{pads with one value, of rank 0; operand #1 has rank 1}}
  %0 = graph.pad %x, %v low <0> high <0> : tensor<4xf32>, tensor<1xf32>
  return
}

// -----

func.func @padOverflow(%x: tensor<4xf32>, %v: tensor<f32>) {
  // expected-error@+1 {{overflows 64 bits in dimension 0}}
  %0 = graph.pad %x, %v low <9223372036854775807> high <9223372036854775807> : tensor<4xf32>, tensor<f32>
  return
}

// -----

// expected-note@+1 {{is defined here, of type 'tensor<?x4xf32, #graph.shape<s1, 4>>'}}
func.func @concatParties(%x: tensor<?x2xf32, #graph.shape<s0, 2>>, %y: tensor<?x4xf32, #graph.shape<s1, 4>>) {
  // expected-error@+1 {{dimension 0 is s0 in operand #0 and s1 in operand #1}}
  %0 = graph.concat %x, %y dim = 1 : tensor<?x2xf32, #graph.shape<s0, 2>>, tensor<?x4xf32, #graph.shape<s1, 4>>
  return
}

// -----

func.func @concatScalars(%x: tensor<f32>) {
  // expected-error@+1 {{dim is 0, outside [0, 0)}}
  %0 = graph.concat %x dim = 0 : tensor<f32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @stridedEnd(%x: tensor<9xf32>) {
  // expected-error@+1 {{reaches element 12 of an operand with 9}}
  %0 = graph.strided %x strides <4> offset <0> : tensor<9xf32> to tensor<4xf32>
  return
}

// -----

func.func @stridedNegative(%x: tensor<9xf32>) {
  // expected-error@+1 {{strides[0] is -1, which is negative}}
  %0 = graph.strided %x strides <-1> offset <8> : tensor<9xf32> to tensor<4xf32>
  return
}

// -----

// expected-note@+1 {{is defined here}}
func.func @stridedRank(%x: tensor<3x3xf32>) {
  // expected-error@+1 {{takes a flat operand, of rank 1, not 2}}
  %0 = graph.strided %x strides <4> offset <0> : tensor<3x3xf32> to tensor<3xf32>
  return
}

// -----

func.func @constantForm() {
  // expected-error@+1 {{holds a dense literal or a dense resource, not}}
  %0 = "graph.constant"() <{value = sparse<[[0]], [1.0]> : tensor<2xf32>}> : () -> tensor<2xf32>
  return
}

// -----

func.func @constantBytes() {
  // expected-error@+1 {{needs 12 bytes, and resource 'w' has 8}}
  %0 = graph.constant dense_resource<w> : tensor<3xf32>
  return
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F00000040" } } #-}

// -----

func.func @concatNothing() {
  // expected-error@+1 {{needs an operand}}
  %0 = "graph.concat"() <{dim = 0 : i64}> : () -> tensor<2xf32>
  return
}

// -----

func.func @stridedOffsets(%x: tensor<6xf32>) {
  // expected-error@+1 {{holds one offset, not 2}}
  %0 = graph.strided %x strides <1> offset <0, 1> : tensor<6xf32> to tensor<3xf32>
  return
}

// -----

// expected-note@+1 {{is defined here, of type 'tensor<6xf32>'}}
func.func @elementTypes(%x: tensor<6xf32>) {
  // expected-error@+1 {{elements are f16 in the result and f32 in the operand}}
  %0 = graph.reshape %x : tensor<6xf32> to tensor<2x3xf16>
  return
}
