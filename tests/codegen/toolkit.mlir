// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A CUDA toolkit that is no good: its ptxas refuses everything, its libdevice is no bitcode, or flushes subnormals. Kernels that need neither get their
// PTX all the same.
// RUN: rm -rf %t && mkdir -p %t/bin %t/nvvm/libdevice
// RUN: ln -s /bin/false %t/bin/ptxas
// RUN: echo "no bitcode" > %t/nvvm/libdevice/libdevice.10.bc
// RUN: env CUDA_HOME=%t not stator compile %s -o %t/a.stator --target cuda --arch sm_80 2>&1 | FileCheck %s --check-prefix=LIBDEVICE
// RUN: echo '!llvm.module.flags = !{!0} !0 = !{i32 4, !"nvvm-reflect-ftz", i32 1}' > %t/libdevice.ll
// RUN: echo 'define float @__nv_atanf(float %%x) { ret float %%x }' >> %t/libdevice.ll
// RUN: llvm-as %t/libdevice.ll -o %t/nvvm/libdevice/libdevice.10.bc
// RUN: env CUDA_HOME=%t not stator compile %s -o %t/a.stator --target cuda --arch sm_80 2>&1 | FileCheck %s --check-prefix=LINK
// RUN: sed s/graph.atan/graph.neg/ %s > %t/neg.mlir
// RUN: env CUDA_HOME=%t stator compile %t/neg.mlir -o %t/neg.stator --target cuda --arch sm_80 2>&1 | FileCheck %s --check-prefix=PTXAS

// LIBDEVICE: cannot read {{.*}}nvvm/libdevice/libdevice.10.bc: {{.*}}
// LINK: error: cannot link {{.*}}nvvm/libdevice/libdevice.10.bc: {{.*}}conflicting override values
// PTXAS: {{.*}}bin/ptxas gave no cubin for sm_80
// PTXAS: neg.stator: {{[0-9]+}} bytes, 1 kernels
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.atan %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
