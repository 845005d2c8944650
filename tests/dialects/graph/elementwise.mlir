// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// RUN: stator-opt %s | stator-opt | FileCheck %s

// CHECK-LABEL: func.func @unary
func.func @unary(%x: tensor<?x4xf32, #graph.shape<s0, 4>>) {
  // CHECK: graph.neg %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %0 = graph.neg %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.abs %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %1 = graph.abs %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.sign %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %2 = graph.sign %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.floor %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %3 = graph.floor %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.ceil %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %4 = graph.ceil %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.round %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %5 = graph.round %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.trunc %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %6 = graph.trunc %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.frac %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %7 = graph.frac %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.exp %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %8 = graph.exp %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.exp2 %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %9 = graph.exp2 %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.expm1 %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %10 = graph.expm1 %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.log %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %11 = graph.log %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.log2 %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %12 = graph.log2 %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.log10 %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %13 = graph.log10 %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.log1p %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %14 = graph.log1p %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.sqrt %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %15 = graph.sqrt %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.rsqrt %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %16 = graph.rsqrt %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.reciprocal %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %17 = graph.reciprocal %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.sin %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %18 = graph.sin %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.cos %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %19 = graph.cos %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.tan %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %20 = graph.tan %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.asin %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %21 = graph.asin %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.acos %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %22 = graph.acos %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.atan %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %23 = graph.atan %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.sinh %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %24 = graph.sinh %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.cosh %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %25 = graph.cosh %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.tanh %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %26 = graph.tanh %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.asinh %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %27 = graph.asinh %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.acosh %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %28 = graph.acosh %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.atanh %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %29 = graph.atanh %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.erf %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %30 = graph.erf %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.erfc %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %31 = graph.erfc %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.relu %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %32 = graph.relu %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.sigmoid %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %33 = graph.sigmoid %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.silu %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %34 = graph.silu %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.gelu %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %35 = graph.gelu %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.gelu_tanh %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %36 = graph.gelu_tanh %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.hard_sigmoid %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %37 = graph.hard_sigmoid %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.hard_swish %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %38 = graph.hard_swish %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.mish %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %39 = graph.mish %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.log_sigmoid %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %40 = graph.log_sigmoid %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.leaky_relu %{{.*}} {slope = 1.000000e-01 : f64} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %41 = graph.leaky_relu %x {slope = 0.1 : f64} : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.elu %{{.*}} {alpha = 1.000000e+00 : f64, input_scale = 1.000000e+00 : f64, scale = 2.000000e+00 : f64} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %42 = graph.elu %x {alpha = 1.0 : f64, input_scale = 1.0 : f64, scale = 2.0 : f64} : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.softplus %{{.*}} {beta = 1.000000e+00 : f64, threshold = 2.000000e+01 : f64} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %43 = graph.softplus %x {beta = 1.0 : f64, threshold = 20.0 : f64} : tensor<?x4xf32, #graph.shape<s0, 4>>
  return
}

// CHECK-LABEL: func.func @binary
func.func @binary(%x: tensor<?x4xf32, #graph.shape<s0, 4>>, %y: tensor<?x4xf32, #graph.shape<s0, 4>>) {
  // CHECK: graph.add %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %0 = graph.add %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.sub %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %1 = graph.sub %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.mul %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %2 = graph.mul %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.div %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %3 = graph.div %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.floor_divide %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %4 = graph.floor_divide %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.trunc_divide %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %5 = graph.trunc_divide %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.remainder %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %6 = graph.remainder %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.fmod %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %7 = graph.fmod %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.pow %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %8 = graph.pow %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.atan2 %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %9 = graph.atan2 %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.copysign %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %10 = graph.copysign %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.maximum %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %11 = graph.maximum %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.minimum %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %12 = graph.minimum %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.fmax %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %13 = graph.fmax %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.fmin %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %14 = graph.fmin %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  return
}

// Their results are bool, as the type that is inferred says.
// CHECK-LABEL: func.func @tests
func.func @tests(%x: tensor<?x4xf32, #graph.shape<s0, 4>>, %y: tensor<?x4xf32, #graph.shape<s0, 4>>) {
  // CHECK: graph.logical_not %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %0 = graph.logical_not %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.bitwise_not %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>
  %1 = graph.bitwise_not %0 : tensor<?x4xi1, #graph.shape<s0, 4>>
  // CHECK: graph.is_nan %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %2 = graph.is_nan %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.bitwise_not %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>
  %3 = graph.bitwise_not %2 : tensor<?x4xi1, #graph.shape<s0, 4>>
  // CHECK: graph.is_inf %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %4 = graph.is_inf %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.bitwise_not %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>
  %5 = graph.bitwise_not %4 : tensor<?x4xi1, #graph.shape<s0, 4>>
  // CHECK: graph.is_finite %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %6 = graph.is_finite %x : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.bitwise_not %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>
  %7 = graph.bitwise_not %6 : tensor<?x4xi1, #graph.shape<s0, 4>>
  // CHECK: graph.eq %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %8 = graph.eq %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.ne %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %9 = graph.ne %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.lt %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %10 = graph.lt %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.le %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %11 = graph.le %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.gt %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %12 = graph.gt %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.ge %{{.*}}, %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>>
  %13 = graph.ge %x, %y : tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.logical_and %{{.*}}, %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>
  %14 = graph.logical_and %13, %13 : tensor<?x4xi1, #graph.shape<s0, 4>>
  // CHECK: graph.logical_or %{{.*}}, %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>
  %15 = graph.logical_or %13, %13 : tensor<?x4xi1, #graph.shape<s0, 4>>
  // CHECK: graph.logical_xor %{{.*}}, %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>
  %16 = graph.logical_xor %13, %13 : tensor<?x4xi1, #graph.shape<s0, 4>>
  // CHECK: graph.where %{{.*}}, %{{.*}}, %{{.*}} : tensor<?x4xi1, #graph.shape<s0, 4>>, tensor<?x4xf32, #graph.shape<s0, 4>>
  %17 = graph.where %13, %x, %y : tensor<?x4xi1, #graph.shape<s0, 4>>, tensor<?x4xf32, #graph.shape<s0, 4>>
  // CHECK: graph.cast %{{.*}} : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x4xf8E5M2, #graph.shape<s0, 4>>
  %18 = graph.cast %x : tensor<?x4xf32, #graph.shape<s0, 4>> to tensor<?x4xf8E5M2, #graph.shape<s0, 4>>
  return
}

// CHECK-LABEL: func.func @bits
func.func @bits(%x: tensor<2xi64>, %y: tensor<2xi64>) {
  // CHECK: graph.bitwise_and %{{.*}}, %{{.*}} : tensor<2xi64>
  %0 = graph.bitwise_and %x, %y : tensor<2xi64>
  // CHECK: graph.bitwise_or %{{.*}}, %{{.*}} : tensor<2xi64>
  %1 = graph.bitwise_or %x, %y : tensor<2xi64>
  // CHECK: graph.bitwise_xor %{{.*}}, %{{.*}} : tensor<2xi64>
  %2 = graph.bitwise_xor %x, %y : tensor<2xi64>
  // CHECK: graph.shift_left %{{.*}}, %{{.*}} : tensor<2xi64>
  %3 = graph.shift_left %x, %y : tensor<2xi64>
  // CHECK: graph.shift_right %{{.*}}, %{{.*}} : tensor<2xi64>
  %4 = graph.shift_right %x, %y : tensor<2xi64>
  return
}
