// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-functionalize-writes | FileCheck %s
// A write through a slice changes the tensor it is a slice of, and another view of that tensor made before the write.

// CHECK-LABEL: func.func @through_a_view
// CHECK: %[[NEW:.*]] = graph.update_slice %{{.*}}, %{{.*}} starts <1, 0> steps [1, 2]
// CHECK: %[[VIEW:.*]] = graph.reshape %[[NEW]]
// CHECK: return %[[NEW]], %[[VIEW]]
func.func @through_a_view(%x: tensor<4x6xf32> {graph.name = "x"}) -> (tensor<4x6xf32>, tensor<24xf32>) {
  %y = graph.copy %x : tensor<4x6xf32>
  %v = graph.reshape %y : tensor<4x6xf32> to tensor<24xf32>
  %s = graph.slice %y starts <1, 0> steps [1, 2] : tensor<4x6xf32> to tensor<2x3xf32>
  %c = graph.constant dense<1.0> : tensor<2x3xf32>
  %n = graph.add %s, %c : tensor<2x3xf32>
  graph.write %s, %n : tensor<2x3xf32>
  return %y, %v : tensor<4x6xf32>, tensor<24xf32>
}

// A written state becomes a result that says so.
// CHECK-LABEL: func.func @state
// CHECK-SAME: -> (tensor<2xf32>, tensor<2xf32> {graph.updates = "count"})
// CHECK: return %{{.*}}, %[[SUM:.*]] : tensor<2xf32>, tensor<2xf32>
func.func @state(%x: tensor<2xf32>, %count: tensor<2xf32> {graph.state = "count"}) -> tensor<2xf32> {
  %sum = graph.add %count, %x : tensor<2xf32>
  graph.write %count, %sum : tensor<2xf32>
  return %x : tensor<2xf32>
}
