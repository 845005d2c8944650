// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s --stator-fuse | FileCheck %s
// RUN: stator-opt %s --stator-fuse-kernels | FileCheck %s
// Softmax with a symbolic number of rows is one kernel; so is layer norm, whose row statistics are computed once for each row.

// CHECK-LABEL: func.func @softmax
// CHECK: graph.fusion "reduce_max_exp_sum_{{[0-9]+}}" "reduce"
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @softmax(%x: tensor<?x64xf32, #graph.shape<s0, 64>>) -> tensor<?x64xf32, #graph.shape<s0, 64>> attributes {graph.symbols = [#graph.symbol<"s0", 0, 1024>]} {
  %m = graph.reduce_max %x dims = [1] : tensor<?x64xf32, #graph.shape<s0, 64>>
  %m1 = graph.reshape %m : tensor<?xf32, #graph.shape<s0>> to tensor<?x1xf32, #graph.shape<s0, 1>>
  %mb = graph.broadcast %m1 : tensor<?x1xf32, #graph.shape<s0, 1>> to tensor<?x64xf32, #graph.shape<s0, 64>>
  %d = graph.sub %x, %mb : tensor<?x64xf32, #graph.shape<s0, 64>>
  %e = graph.exp %d : tensor<?x64xf32, #graph.shape<s0, 64>>
  %s = graph.sum %e dims = [1] : tensor<?x64xf32, #graph.shape<s0, 64>>
  %s1 = graph.reshape %s : tensor<?xf32, #graph.shape<s0>> to tensor<?x1xf32, #graph.shape<s0, 1>>
  %sb = graph.broadcast %s1 : tensor<?x1xf32, #graph.shape<s0, 1>> to tensor<?x64xf32, #graph.shape<s0, 64>>
  %y = graph.div %e, %sb : tensor<?x64xf32, #graph.shape<s0, 64>>
  return %y : tensor<?x64xf32, #graph.shape<s0, 64>>
}

// CHECK-LABEL: func.func @layer_norm
// CHECK: graph.fusion "{{.*}}" "reduce"
// CHECK-NOT: graph.fusion
// CHECK: return
func.func @layer_norm(%x: tensor<32x64xf32>) -> tensor<32x64xf32> {
  %n = graph.constant dense<64.0> : tensor<32x1xf32>
  %eps = graph.constant dense<1.0e-5> : tensor<32x1xf32>
  %s = graph.sum %x dims = [1] : tensor<32x64xf32>
  %s1 = graph.reshape %s : tensor<32xf32> to tensor<32x1xf32>
  %mean = graph.div %s1, %n : tensor<32x1xf32>
  %mb = graph.broadcast %mean : tensor<32x1xf32> to tensor<32x64xf32>
  %c = graph.sub %x, %mb : tensor<32x64xf32>
  %sq = graph.mul %c, %c : tensor<32x64xf32>
  %v = graph.sum %sq dims = [1] : tensor<32x64xf32>
  %v1 = graph.reshape %v : tensor<32xf32> to tensor<32x1xf32>
  %var = graph.div %v1, %n : tensor<32x1xf32>
  %ve = graph.add %var, %eps : tensor<32x1xf32>
  %r = graph.rsqrt %ve : tensor<32x1xf32>
  %rb = graph.broadcast %r : tensor<32x1xf32> to tensor<32x64xf32>
  %y = graph.mul %c, %rb : tensor<32x64xf32>
  return %y : tensor<32x64xf32>
}

// A broadcast is copied into every kernel that reads it, and each of those reads its source. The source may not be an output of
// the last of them, for which another waits.
// CHECK-LABEL: func.func @shared_broadcast
// CHECK: %[[M:[0-9]+]] = graph.fusion "exp_{{[0-9]+}}" "loop"
// CHECK: %[[A:[0-9]+]] = graph.fusion "{{.*}}" "loop"({{.*}}%[[M]]
// CHECK: %[[B:[0-9]+]] = graph.fusion "{{.*}}" "matmul"({{.*}}%[[A]]
// CHECK: graph.fusion "sum_{{[0-9]+}}" "reduce"({{.*}}%[[M]]
func.func @shared_broadcast(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>, %mask: tensor<4x1xf32>) -> tensor<4xf32> {
  %m = graph.exp %mask : tensor<4x1xf32>
  %mb = graph.broadcast %m : tensor<4x1xf32> to tensor<4x64xf32>
  %y = graph.mul %x, %mb : tensor<4x64xf32>
  %z = graph.matmul %y, %w : tensor<4x64xf32>, tensor<64x64xf32>
  %v = graph.mul %z, %mb : tensor<4x64xf32>
  %s = graph.sum %v dims = [1] : tensor<4x64xf32>
  return %s : tensor<4xf32>
}

// What a kernel reads may be its output for others only where no other way leads from it back into the kernel: here the sum's
// operand goes through a product first.
// CHECK-LABEL: func.func @residual
// CHECK: %[[H:[0-9]+]] = graph.fusion "exp_{{[0-9]+}}" "loop"
// CHECK: %[[P:[0-9]+]] = graph.fusion "{{.*}}" "matmul"(%[[H]]
// CHECK: graph.fusion "sum_{{[0-9]+}}" "reduce"(%[[P]], %[[H]])
func.func @residual(%x: tensor<4x64xf32>, %w: tensor<64x64xf32>) -> tensor<4xf32> {
  %h = graph.exp %x : tensor<4x64xf32>
  %p = graph.matmul %h, %w : tensor<4x64xf32>, tensor<64x64xf32>
  %v = graph.add %p, %h : tensor<4x64xf32>
  %s = graph.sum %v dims = [1] : tensor<4x64xf32>
  return %s : tensor<4xf32>
}
