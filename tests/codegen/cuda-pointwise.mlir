// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target cuda --arch sm_80 --no-cubins -q -o %t.stator
// RUN: print-ptx %t.stator sm_80 | FileCheck %s
// A chain of elementwise work over many elements moves 16 bytes at a time, and keeps nothing in local memory.

// CHECK-NOT: .local
// CHECK: .entry {{.*}}silu
// CHECK: ld.global{{(.nc)?}}.v4.b32
// CHECK: ld.global{{(.nc)?}}.v4.b32
// CHECK-NOT: ld.global
// CHECK: st.global.v4.b32
// CHECK-NOT: st.global
// CHECK-NOT: .entry
func.func @chain(%x: tensor<256x512xf32>, %y: tensor<256x512xf32>) -> tensor<256x512xf32> {
  %0 = graph.silu %x : tensor<256x512xf32>
  %1 = graph.add %0, %y : tensor<256x512xf32>
  %2 = graph.mul %1, %1 : tensor<256x512xf32>
  return %2 : tensor<256x512xf32>
}
