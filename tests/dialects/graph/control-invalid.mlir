// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s -split-input-file -verify-diagnostics

// expected-note@+1 {{condition is defined here, of type 'tensor<2xi1>'}}
func.func @condition(%c: tensor<2xi1>) {
  // expected-error@+1 {{'graph.if' op needs a 0-d condition}}
  graph.if %c : tensor<2xi1> { graph.yield } else { graph.yield }
  return
}

// -----

func.func @branches(%c: tensor<i1>, %x: tensor<2xf32>) {
  // expected-error@+1 {{'graph.if' op needs values of its else region of the types of its results: number 0 is 'tensor<i1>' for 'tensor<2xf32>'}}
  %r = graph.if %c : tensor<i1> -> (tensor<2xf32>) {
    graph.yield %x : tensor<2xf32>
  } else {
    // expected-note@+1 {{values of its else region is here}}
    graph.yield %c : tensor<i1>
  }
  return
}

// -----

func.func @carried(%x: tensor<2xf32>, %c: tensor<i1>) {
  // expected-error@+1 {{'graph.while' op has 0 values of its body for 1 initial values}}
  %r = graph.while %x : tensor<2xf32> -> (tensor<2xf32>) {
  ^bb0(%a: tensor<2xf32>):
    graph.yield %c : tensor<i1>
  } do {
  ^bb0(%a: tensor<2xf32>):
    // expected-note@+1 {{values of its body is here}}
    graph.yield
  }
  return
}

// -----

func.func @symbol(%n: tensor<i64>) {
  // expected-error@+1 {{'graph.bind_symbol' op has '2 * s0' where a symbol's name is needed}}
  graph.bind_symbol "2 * s0", %n : tensor<i64>
  return
}

// -----

// expected-note@+1 {{the operand is defined here}}
func.func @shape(%x: tensor<?xf32, #graph.shape<s0>>) {
  // expected-error@+1 {{'graph.assert_shape' op can never hold: dimension 0 is s0, not s0 + 1}}
  %r = graph.assert_shape %x : tensor<?xf32, #graph.shape<s0>> to tensor<?xf32, #graph.shape<s0 + 1>>
  return
}

// -----

func.func @carriesNothing(%c: tensor<i1>) {
  // expected-error@+1 {{'graph.while' op carries no values, so it would never run or never end}}
  "graph.while"() ({
    graph.yield %c : tensor<i1>
  }, {
    graph.yield
  }) : () -> ()
  return
}
