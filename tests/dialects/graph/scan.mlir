// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @scans
func.func @scans(%x: tensor<?x4xf32, #graph.shape<s0, 4>>) {
  // CHECK: graph.cumsum %{{.*}} dim = 0
  %0 = graph.cumsum %x dim = 0 : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.cumprod %{{.*}} dim = 1
  %1 = graph.cumprod %x dim = 1 : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.cummax %{{.*}} dim = 1
  %2, %3 = graph.cummax %x dim = 1 : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.cummin %{{.*}} dim = 1
  %4, %5 = graph.cummin %x dim = 1 : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.sort %{{.*}} dim = 1 {descending}
  %6, %7 = graph.sort %x dim = 1 {descending} : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.topk %{{.*}} k = 2 dim = 0 {smallest}
  %8, %9 = graph.topk %x k = 2 dim = 0 {smallest} : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.transpose %{{.*}} [0, 1] : tensor<2x4xi64>
  %10 = graph.transpose %9 [0, 1] : tensor<2x4xi64>
  // CHECK: graph.nonzero %{{.*}} fill = -1 : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x2xi64, #graph.shape<u0, 2>>
  %11 = graph.nonzero %x fill = -1 : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x2xi64, #graph.shape<u0, 2>>
  return
}
