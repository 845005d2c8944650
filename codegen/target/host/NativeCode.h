// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_CODEGEN_TARGET_HOST_NATIVECODE_H
#define STATOR_CODEGEN_TARGET_HOST_NATIVECODE_H

#include "mlir/IR/BuiltinOps.h"
#include <string>

namespace stator::codegen {

struct NativeOptions {
  /// A level (codegen/target/host/CpuLevel.h).
  std::string cpu = "x86-64-v3";
  bool fastMath = false;
};

/// The machine code of a module of kernels (func, scf, arith, math, llvm) as the bytes of an ELF shared object that exports
/// every public function. The module is consumed. Failure has been reported at the module. `assembly`, where given, gets
/// the assembly text too.
mlir::FailureOr<std::string> compileToSharedObject(mlir::ModuleOp module, const NativeOptions &options,
                                                   std::string *assembly = nullptr);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_NATIVECODE_H
