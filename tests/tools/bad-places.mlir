// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Places at which nothing can be written.
// RUN: rm -rf %t && mkdir %t && echo "" > %t/file
// RUN: not stator compile %s -o %t/a.stator --dump-phases %t/file/phases 2>&1 | FileCheck %s --check-prefix=FOLDER
// RUN: not stator compile %s -o %t/no/folder/a.stator 2>&1 | FileCheck %s --check-prefix=ARTIFACT
// RUN: not stator compile %s -o %t/file/a.stator 2>&1 | FileCheck %s --check-prefix=FILE

// FOLDER: error: cannot make the folder {{.*}}file/phases: Not a directory
// ARTIFACT: error: cannot write '{{.*}}no/folder/a.stator': No such file or directory
// FILE: error: cannot write '{{.*}}file/a.stator': Not a directory
func.func @forward(%x: tensor<4xf32>) -> tensor<4xf32> {
  %r = graph.neg %x : tensor<4xf32>
  return %r : tensor<4xf32>
}
