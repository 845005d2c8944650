// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target host,cuda --arch sm_80 -o %t.stator --explain | FileCheck %s
// Each kernel says which template took it, on each device, and which lines of the program went in.

// CHECK: host exp_reduce_max_0: reduce, rows
// CHECK-NEXT: ops: exp reduce_max
// CHECK: lower.mlir:20
// CHECK: lower.mlir:21
// CHECK: host matmul_1: matmul, contraction (onednn matmul where present)
// CHECK-NEXT: ops: matmul reshape broadcast add
// CHECK: cuda exp_reduce_max_0: reduce, rows by warp
// CHECK: cuda matmul_1: matmul, tiles
// CHECK: 4 kernels

// The rule of the templates: a kernel that no line of the program asks for does not exist.
// CHECK-NOT: _2:

func.func @forward(%x: tensor<?x64xf32, #graph.shape<s0, 64>>, %w: tensor<64x32xf32>) -> tensor<?x32xf32, #graph.shape<s0, 32>>
    attributes {graph.symbols = [#graph.symbol<"s0", 0, 1000>]} {
  %e = graph.exp %x : tensor<?x64xf32, #graph.shape<s0, 64>>
  %m = graph.reduce_max %e dims = [1] : tensor<?x64xf32, #graph.shape<s0, 64>>
  %p = graph.matmul %e, %w : tensor<?x64xf32, #graph.shape<s0, 64>>, tensor<64x32xf32>
  %m1 = graph.reshape %m : tensor<?xf32, #graph.shape<s0>> to tensor<?x1xf32, #graph.shape<s0, 1>>
  %mb = graph.broadcast %m1 : tensor<?x1xf32, #graph.shape<s0, 1>> to tensor<?x32xf32, #graph.shape<s0, 32>>
  %r = graph.add %p, %mb : tensor<?x32xf32, #graph.shape<s0, 32>>
  return %r : tensor<?x32xf32, #graph.shape<s0, 32>>
}
