// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/LowerToLLVM.h"
#include "mlir/Conversion/ArithToLLVM/ArithToLLVM.h"
#include "mlir/Conversion/ControlFlowToLLVM/ControlFlowToLLVM.h"
#include "mlir/Conversion/FuncToLLVM/ConvertFuncToLLVM.h"
#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Conversion/MathToLLVM/MathToLLVM.h"
#include "mlir/Conversion/MathToLibm/MathToLibm.h"
#include "mlir/Conversion/SCFToControlFlow/SCFToControlFlow.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Transforms/DialectConversion.h"

using namespace mlir;

namespace stator::codegen {

LogicalResult lowerToLLVMDialect(ModuleOp module, unsigned indexBits) {
  MLIRContext *context = module.getContext();
  context->loadDialect<cf::ControlFlowDialect, LLVM::LLVMDialect>();
  {
    RewritePatternSet patterns(context);
    populateSCFToControlFlowConversionPatterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalDialect<scf::SCFDialect>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns)))) return failure();
  }
  {
    // What has no instruction and no intrinsic is a call of the C library.
    RewritePatternSet patterns(context);
    populateMathToLibmConversionPatterns(patterns);
    ConversionTarget target(*context);
    target.addIllegalOp<math::AcosOp, math::AcoshOp, math::AsinOp, math::AsinhOp, math::AtanOp, math::AtanhOp, math::Atan2Op,
                        math::CoshOp, math::SinhOp, math::TanOp, math::TanhOp, math::ErfOp, math::ErfcOp, math::CbrtOp,
                        math::ExpM1Op, math::Log1pOp>();
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns)))) return failure();
  }
  LLVMConversionTarget target(*context);
  target.addLegalOp<ModuleOp>();
  target.addLegalDialect<NVVM::NVVMDialect>();
  LowerToLLVMOptions options(context);
  options.overrideIndexBitwidth(indexBits);
  LLVMTypeConverter types(context, options);
  RewritePatternSet patterns(context);
  arith::populateArithToLLVMConversionPatterns(types, patterns);
  populateMathToLLVMConversionPatterns(types, patterns, /*approximateLog1p=*/false);
  cf::populateControlFlowToLLVMConversionPatterns(types, patterns);
  populateFuncToLLVMConversionPatterns(types, patterns);
  return applyFullConversion(module, target, std::move(patterns));
}

} // namespace stator::codegen
