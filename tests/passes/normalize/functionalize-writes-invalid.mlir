// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-functionalize-writes -split-input-file -verify-diagnostics

func.func @branch(%c: tensor<i1>, %x: tensor<2xf32>, %y: tensor<2xf32>) -> tensor<2xf32> {
  %k = graph.copy %x : tensor<2xf32>
  graph.if %c : tensor<i1> {
    // expected-error@+1 {{'graph.write' op inside a branch or loop is not supported: the region should yield the new value instead}}
    graph.write %k, %y : tensor<2xf32>
    graph.yield
  } else {
    graph.yield
  }
  return %k : tensor<2xf32>
}
