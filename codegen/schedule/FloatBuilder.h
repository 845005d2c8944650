// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic on SSA values that reads like arithmetic, for expansions of functions into polynomials.
#ifndef STATOR_CODEGEN_SCHEDULE_FLOATBUILDER_H
#define STATOR_CODEGEN_SCHEDULE_FLOATBUILDER_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace stator::codegen {

class FloatBuilder {
public:
  explicit FloatBuilder(mlir::ImplicitLocOpBuilder &b) : b(b) {}
  using V = mlir::Value;

  V f32(double value) { return mlir::arith::ConstantOp::create(b, b.getF32FloatAttr(float(value))); }
  V f64(double value) { return mlir::arith::ConstantOp::create(b, b.getF64FloatAttr(value)); }
  V i32(int64_t value) { return mlir::arith::ConstantIntOp::create(b, int32_t(value), 32); }
  V i64(int64_t value) { return mlir::arith::ConstantIntOp::create(b, value, 64); }
  V like(V x, double value) { return x.getType().isF64() ? f64(value) : f32(value); }

  V add(V x, V y) { return mlir::arith::AddFOp::create(b, x, y); }
  V sub(V x, V y) { return mlir::arith::SubFOp::create(b, x, y); }
  V mul(V x, V y) { return mlir::arith::MulFOp::create(b, x, y); }
  V div(V x, V y) { return mlir::arith::DivFOp::create(b, x, y); }
  V neg(V x) { return mlir::arith::NegFOp::create(b, x); }
  V abs(V x) { return mlir::math::AbsFOp::create(b, x); }
  V fma(V x, V y, V z) { return mlir::math::FmaOp::create(b, x, y, z); }
  V roundEven(V x) { return mlir::math::RoundEvenOp::create(b, x); }
  V floor(V x) { return mlir::math::FloorOp::create(b, x); }
  V copysign(V x, V sign) { return mlir::math::CopySignOp::create(b, x, sign); }
  V widen(V x) { return mlir::arith::ExtFOp::create(b, b.getF64Type(), x); }
  V narrow(V x) { return mlir::arith::TruncFOp::create(b, b.getF32Type(), x); }

  /// Comparisons are ordered, but `isNaN`.
  V lt(V x, V y) { return mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::OLT, x, y); }
  V ge(V x, V y) { return mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::OGE, x, y); }
  V eq(V x, V y) { return mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::OEQ, x, y); }
  V ne(V x, V y) { return mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::UNE, x, y); }
  V isNaN(V x) { return mlir::arith::CmpFOp::create(b, mlir::arith::CmpFPredicate::UNO, x, x); }
  V select(V condition, V x, V y) { return mlir::arith::SelectOp::create(b, condition, x, y); }
  /// The bounds where x is outside of them; NaN stays.
  V clamp(V x, double low, double high) {
    x = select(lt(x, like(x, low)), like(x, low), x);
    return select(lt(like(x, high), x), like(x, high), x);
  }
  V both(V x, V y) { return mlir::arith::AndIOp::create(b, x, y); }
  V either(V x, V y) { return mlir::arith::OrIOp::create(b, x, y); }

  V bits(V x) { return mlir::arith::BitcastOp::create(b, b.getIntegerType(x.getType().getIntOrFloatBitWidth()), x); }
  V asF32(V x) { return mlir::arith::BitcastOp::create(b, b.getF32Type(), x); }
  V asF64(V x) { return mlir::arith::BitcastOp::create(b, b.getF64Type(), x); }
  V iadd(V x, V y) { return mlir::arith::AddIOp::create(b, x, y); }
  V isub(V x, V y) { return mlir::arith::SubIOp::create(b, x, y); }
  V iand(V x, V y) { return mlir::arith::AndIOp::create(b, x, y); }
  V ior(V x, V y) { return mlir::arith::OrIOp::create(b, x, y); }
  V shl(V x, V y) { return mlir::arith::ShLIOp::create(b, x, y); }
  V shr(V x, V y) { return mlir::arith::ShRUIOp::create(b, x, y); }
  V sar(V x, V y) { return mlir::arith::ShRSIOp::create(b, x, y); }
  V ult(V x, V y) { return mlir::arith::CmpIOp::create(b, mlir::arith::CmpIPredicate::ult, x, y); }
  V toFloat(V x, mlir::Type type) { return mlir::arith::SIToFPOp::create(b, type, x); }
  V resize(V x, unsigned width) {
    unsigned have = x.getType().getIntOrFloatBitWidth();
    if (have == width) return x;
    if (have > width) return mlir::arith::TruncIOp::create(b, b.getIntegerType(width), x);
    return mlir::arith::ExtUIOp::create(b, b.getIntegerType(width), x);
  }

  /// c0 + c1 x + c2 x^2 + ...
  V polynomial(V x, llvm::ArrayRef<double> c) {
    V sum = like(x, c.back());
    for (double coefficient : llvm::reverse(c.drop_back())) sum = fma(sum, x, like(x, coefficient));
    return sum;
  }

  mlir::ImplicitLocOpBuilder &b;
  /// The target multiplies vectors by powers of two in one instruction (AVX-512).
  bool hasScale = false;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_FLOATBUILDER_H
