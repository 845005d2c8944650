// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s --target cuda --arch sm_80 --no-cubins -q -o %t.stator
// RUN: print-ptx %t.stator sm_80 | FileCheck %s
// A transpose that elementwise work reads goes through a tile of shared memory with rows of 33 elements.

// CHECK-NOT: .local
// CHECK: .entry {{.*}}
// CHECK: .shared {{.*}}[4224]
// CHECK: ld.global
// CHECK: st.shared.b32
// CHECK: bar.sync
// CHECK: ld.shared.b32
// CHECK: st.global
func.func @turned(%x: tensor<512x384xf32>, %y: tensor<384x512xf32>) -> tensor<384x512xf32> {
  %t = graph.transpose %x [1, 0] : tensor<512x384xf32>
  %z = graph.add %t, %y : tensor<384x512xf32>
  return %z : tensor<384x512xf32>
}
