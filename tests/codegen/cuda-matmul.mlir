// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target cuda --arch sm_80 --no-cubins -q -o %t.stator
// RUN: print-ptx %t.stator sm_80 | FileCheck %s
// A linear layer with its bias and activation is one kernel: tiles in shared memory, read 16 bytes at a time, products
// accumulated in registers, whole pieces of a row stored at once.

// CHECK-NOT: .local
// CHECK: .entry {{.*}}matmul
// CHECK: ld.global.nc.v4.b32
// CHECK: st.shared.b32
// CHECK: bar.sync
// CHECK-DAG: ld.shared.v4.b32
// CHECK-DAG: fma.rn.f32
// CHECK: bar.sync
// CHECK: selp.f32
// CHECK: st.global.v4.b32
// CHECK-NOT: .entry
func.func @linear(%x: tensor<512x256xf32>, %w: tensor<256x256xf32>, %b: tensor<256xf32>) -> tensor<512x256xf32> {
  %m = graph.matmul %x, %w transpose_rhs : tensor<512x256xf32>, tensor<256x256xf32>
  %c = graph.broadcast %b : tensor<256xf32> to tensor<512x256xf32>
  %s = graph.add %m, %c : tensor<512x256xf32>
  %r = graph.relu %s : tensor<512x256xf32>
  return %r : tensor<512x256xf32>
}
