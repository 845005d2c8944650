// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/DeviceMath.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace stator::codegen {

/// libdevice's name without prefix and type; empty where LLVM has an instruction for the op.
static StringRef deviceName(Operation *op) {
  return llvm::StringSwitch<StringRef>(op->getName().getStringRef())
      .Case("arith.remf", "fmod")
      .Cases({"math.acos",  "math.acosh", "math.asin",  "math.asinh", "math.atan",  "math.atan2",
              "math.atanh", "math.cbrt",  "math.cos",   "math.cosh",  "math.erf",   "math.erfc",
              "math.exp",   "math.exp2",  "math.expm1", "math.log",   "math.log10", "math.log1p",
              "math.log2",  "math.sin",   "math.sinh",  "math.tan",   "math.tanh"},
             op->getName().stripDialect())
      .Case("math.powf", "pow")
      .Default("");
}

void callDeviceMath(ModuleOp module) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (!deviceName(op).empty()) ops.push_back(op);
  });
  for (Operation *op : ops) {
    Type type = op->getResult(0).getType();
    std::string name = ("__nv_" + deviceName(op) + (type.isF32() ? "f" : "")).str();
    OpBuilder b(op);
    if (!module.lookupSymbol(name)) {
      OpBuilder top(module.getBody(), module.getBody()->begin());
      auto declaration =
          func::FuncOp::create(top, op->getLoc(), name, top.getFunctionType(op->getOperandTypes(), type));
      declaration.setPrivate();
    }
    auto call = func::CallOp::create(b, op->getLoc(), name, type, op->getOperands());
    op->getResult(0).replaceAllUsesWith(call.getResult(0));
    op->erase();
  }
}

} // namespace stator::codegen
