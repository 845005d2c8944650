// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target cuda --arch sm_80 -o %t.stator -q
// RUN: FileCheck %s --input-file=%t.stator
// The device code as it stands in the artifact: a kernel entry for each fusion, 16-byte accesses, aligned pointers.

// CHECK: .target sm_80
// CHECK: .visible .entry exp_reduce_max_0(
// CHECK-DAG: .param .u64 .ptr .global .align 16 exp_reduce_max_0_param_0
// CHECK-DAG: ld.global{{.*}}.v4.b32
// CHECK-DAG: st.global.v4.b32
// CHECK: .visible .entry matmul_1(
// CHECK: st.shared
// CHECK: bar.sync

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
