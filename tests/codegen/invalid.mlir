// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not stator compile %s -o %t.stator 2>&1 | FileCheck %s

// CHECK: 'n' {{has no value: no dimension of an input gives it, and no graph.bind_symbol|can be read from no input}}
func.func @forward(%x: tensor<f32>) -> tensor<?xf32, #graph.shape<n>> attributes {graph.symbols = [#graph.symbol<"n", 0, 9>]} {
  %r = graph.broadcast %x : tensor<f32> to tensor<?xf32, #graph.shape<n>>
  return %r : tensor<?xf32, #graph.shape<n>>
}
