// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator compile %s -o %t.stator -q && stator inspect %t.stator | FileCheck %s
// RUN: FileCheck %s --check-prefix=BUFFERS --input-file=%t.stator
// Three values of 4096 bytes between four steps, of which two live together: the third takes the place of the first. Equal
// bodies are one kernel.

// CHECK: arena{{.*}} 8192 bytes
// CHECK: launch cumsum_0 {{.*}}memory.mlir:17
// CHECK: launch cumsum_1 {{.*}}memory.mlir:18
// CHECK: launch cumsum_0 {{.*}}memory.mlir:19
// CHECK: launch cumsum_1 {{.*}}memory.mlir:20

// BUFFERS: "arenas":[{"memory":"device","bytes":8192,"live_load":8192}]
// BUFFERS: {"space":"arena","offset":0,"bytes":4096},{"space":"arena","offset":4096,"bytes":4096},{"space":"arena","offset":0,"bytes":4096}

func.func @forward(%x: tensor<32x32xf32>) -> tensor<32x32xf32> {
  %a = graph.cumsum %x dim = 1 : tensor<32x32xf32>
  %b = graph.cumsum %a dim = 0 : tensor<32x32xf32>
  %c = graph.cumsum %b dim = 1 : tensor<32x32xf32>
  %d = graph.cumsum %c dim = 0 : tensor<32x32xf32>
  return %d : tensor<32x32xf32>
}
