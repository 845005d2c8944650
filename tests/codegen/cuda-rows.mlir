// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target cuda --arch sm_80 --no-cubins -q -o %t.stator
// RUN: print-ptx %t.stator sm_80 | FileCheck %s
// Softmax of short rows: a warp for each row reads it once, 16 bytes at a time, and reduces by exchange between lanes; no
// barrier, no shared memory, no local memory.

// CHECK-NOT: .local
// CHECK-NOT: .shared
// CHECK: .entry {{.*}}reduce_max_exp_sum
// CHECK-COUNT-4: ld.global.nc.v4.b32
// CHECK-NOT: ld.global
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: fma.rn.f32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK-NOT: bar.sync
// CHECK-COUNT-4: st.global.v4.b32
// CHECK-NOT: st.global
func.func @softmax(%x: tensor<64x512xf32>) -> tensor<64x512xf32> {
  %m = graph.reduce_max %x dims = [1] : tensor<64x512xf32>
  %m1 = graph.reshape %m : tensor<64xf32> to tensor<64x1xf32>
  %mb = graph.broadcast %m1 : tensor<64x1xf32> to tensor<64x512xf32>
  %d = graph.sub %x, %mb : tensor<64x512xf32>
  %e = graph.exp %d : tensor<64x512xf32>
  %s = graph.sum %e dims = [1] : tensor<64x512xf32>
  %s1 = graph.reshape %s : tensor<64xf32> to tensor<64x1xf32>
  %sb = graph.broadcast %s1 : tensor<64x1xf32> to tensor<64x512xf32>
  %y = graph.div %e, %sb : tensor<64x512xf32>
  return %y : tensor<64x512xf32>
}
