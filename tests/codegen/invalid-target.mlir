// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: not stator compile %s -o %t.stator --cpu z80 2>&1 | FileCheck %s --check-prefix=CPU
// RUN: not stator compile %s -o %t.stator --target cuda --arch sm_33 2>&1 | FileCheck %s --check-prefix=ARCH

// CPU: unknown CPU{{.*}}'z80': expected x86-64-v2, x86-64-v3, x86-64-v4 or native
// CPU-NOT: llvm.func
// ARCH: unknown GPU architecture 'sm_33'
// ARCH-NOT: llvm.func
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.neg %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
