// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target cuda --arch sm_80 --no-cubins -q -o %t.stator
// RUN: print-ptx %t.stator sm_80 | FileCheck %s
// One long row: blocks reduce chunks, a second launch combines them. Warps exchange by shuffles and meet in shared memory once.

// CHECK-NOT: .local
// CHECK: .entry [[NAME:.*]]_partial0
// CHECK: ld.global.nc.v4.b32
// CHECK-COUNT-5: shfl.sync.bfly.b32
// CHECK: st.shared.b32
// CHECK: bar.sync
// CHECK-COUNT-3: shfl.sync.bfly.b32
// CHECK: .entry [[NAME]]_combine0
// CHECK-NOT: .entry
func.func @total(%x: tensor<1048576xf32>) -> tensor<f32> {
  %s = graph.sum %x dims = [0] : tensor<1048576xf32>
  return %s : tensor<f32>
}
