// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @branch
func.func @branch(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: graph.if %{{.*}} : tensor<i1> -> (tensor<2xf32>) {
  // CHECK:   graph.yield %{{.*}} : tensor<2xf32>
  // CHECK: } else {
  %r = graph.if %c : tensor<i1> -> (tensor<2xf32>) {
    %y = graph.add %x, %x : tensor<2xf32>
    graph.yield %y : tensor<2xf32>
  } else {
    graph.yield %x : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @effects
func.func @effects(%c: tensor<i1>) {
  // CHECK: graph.if %{{.*}} : tensor<i1> {
  graph.if %c : tensor<i1> {
    graph.assert %c, "why" : tensor<i1>
    graph.yield
  } else {
    graph.yield
  }
  return
}

// CHECK-LABEL: func.func @loop
func.func @loop(%n: tensor<i64>) -> tensor<i64> {
  // CHECK: graph.while %{{.*}} : tensor<i64> -> (tensor<i64>) {
  // CHECK: } do {
  %r = graph.while %n : tensor<i64> -> (tensor<i64>) {
  ^bb0(%i: tensor<i64>):
    %go = graph.gt %i, %n : tensor<i64>
    graph.yield %go : tensor<i1>
  } do {
  ^bb0(%i: tensor<i64>):
    graph.yield %i : tensor<i64>
  }
  return %r : tensor<i64>
}

// CHECK-LABEL: func.func @fused
func.func @fused(%x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: graph.fusion "k0" "loop"(%{{.*}}) : (tensor<2xf32>) -> tensor<2xf32> {
  %r = graph.fusion "k0" "loop"(%x) : (tensor<2xf32>) -> tensor<2xf32> {
  ^bb0(%a: tensor<2xf32>):
    %y = graph.neg %a : tensor<2xf32>
    graph.yield %y : tensor<2xf32>
  }
  // CHECK: graph.fusion "k1" "loop"() : () -> (tensor<2xf32>, tensor<2xf32>) {
  %s:2 = graph.fusion "k1" "loop"() : () -> (tensor<2xf32>, tensor<2xf32>) {
    %y = graph.constant dense<1.0> : tensor<2xf32>
    graph.yield %y, %y : tensor<2xf32>, tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// CHECK-LABEL: func.func @symbols
func.func @symbols(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<?xf32, #graph.shape<s0>>)
    -> tensor<?xf32, #graph.shape<u0>> attributes {graph.symbols = [#graph.symbol<"s0", 1, 8>, #graph.symbol<"u0", 0, 8>]} {
  // CHECK: graph.bind_symbol "u0", %{{.*}} : tensor<i64>
  graph.bind_symbol "u0", %n : tensor<i64>
  // CHECK: graph.assert %{{.*}}, "why" : tensor<i1>
  graph.assert %c, "why" : tensor<i1>
  // CHECK: graph.copy %{{.*}} : tensor<?xf32, #graph.shape<s0>>
  %y = graph.copy %x : tensor<?xf32, #graph.shape<s0>>
  // CHECK: graph.write %{{.*}}, %{{.*}} : tensor<?xf32, #graph.shape<s0>>
  graph.write %y, %x : tensor<?xf32, #graph.shape<s0>>
  // CHECK: graph.assert_shape %{{.*}} : tensor<?xf32, #graph.shape<s0>> to tensor<?xf32, #graph.shape<u0>>
  %r = graph.assert_shape %y : tensor<?xf32, #graph.shape<s0>> to tensor<?xf32, #graph.shape<u0>>
  return %r : tensor<?xf32, #graph.shape<u0>>
}
