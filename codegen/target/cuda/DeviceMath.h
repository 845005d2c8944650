// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_TARGET_CUDA_DEVICEMATH_H
#define STATOR_CODEGEN_TARGET_CUDA_DEVICEMATH_H

#include "mlir/IR/BuiltinOps.h"

namespace stator::codegen {

/// Makes calls of NVIDIA's libdevice of the functions that have neither an instruction nor an expansion of our own: all
/// transcendental functions of f64, rare ones of f32, and fmod. Run after expandMath, which gives the common functions
/// of f32 the same bits on every target.
void callDeviceMath(mlir::ModuleOp module);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_DEVICEMATH_H
