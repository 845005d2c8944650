// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/interfaces/Scalar.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;

namespace stator {

Type computeType(Type type) {
  if (isa<FloatType>(type) && type.getIntOrFloatBitWidth() < 32) return Float32Type::get(type.getContext());
  return type;
}
Type storageType(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type)) return IntegerType::get(type.getContext(), integer.getWidth());
  return type;
}

Scalar ScalarBuilder::constant(Type type, double value) {
  if (!isa<FloatType>(type)) return integer(type, int64_t(value));
  APFloat rounded(value);
  bool lost;
  rounded.convert(llvm::cast<FloatType>(type).getFloatSemantics(), APFloat::rmNearestTiesToEven, &lost);
  return {arith::ConstantOp::create(b, loc, FloatAttr::get(type, rounded)), type};
}
Scalar ScalarBuilder::integer(Type type, int64_t value) {
  if (isa<FloatType>(type)) return constant(type, double(value));
  Type storage = storageType(type);
  APInt bits = APInt(64, uint64_t(value)).trunc(storage.getIntOrFloatBitWidth());
  return {arith::ConstantOp::create(b, loc, IntegerAttr::get(storage, bits)), type};
}
Scalar ScalarBuilder::lowest(Type type) {
  if (isa<FloatType>(type)) return constant(type, -INFINITY);
  unsigned width = type.getIntOrFloatBitWidth();
  return integer(type, type.isUnsignedInteger() || width == 1 ? 0 : APInt::getSignedMinValue(width).getSExtValue());
}
Scalar ScalarBuilder::highest(Type type) {
  if (isa<FloatType>(type)) return constant(type, INFINITY);
  unsigned width = type.getIntOrFloatBitWidth();
  return integer(type, type.isUnsignedInteger() || width == 1 ? -1 : APInt::getSignedMaxValue(width).getSExtValue());
}
Scalar ScalarBuilder::boolean(Value i1) { return {i1, b.getI1Type()}; }
Scalar ScalarBuilder::index(Value index) { return {arith::IndexCastOp::create(b, loc, b.getI64Type(), index), b.getI64Type()}; }
Value ScalarBuilder::toIndex(Scalar x) {
  if (x.isUnsigned()) return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), x.value);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), x.value);
}

Scalar ScalarBuilder::add(Scalar a, Scalar c) {
  if (a.isFloat()) return {arith::AddFOp::create(b, loc, a.value, c.value), a.type};
  return {arith::AddIOp::create(b, loc, a.value, c.value), a.type};
}
Scalar ScalarBuilder::sub(Scalar a, Scalar c) {
  if (a.isFloat()) return {arith::SubFOp::create(b, loc, a.value, c.value), a.type};
  return {arith::SubIOp::create(b, loc, a.value, c.value), a.type};
}
Scalar ScalarBuilder::mul(Scalar a, Scalar c) {
  if (a.isFloat()) return {arith::MulFOp::create(b, loc, a.value, c.value), a.type};
  return {arith::MulIOp::create(b, loc, a.value, c.value), a.type};
}

/// Integer division that is defined everywhere: the divisor is replaced by 1 where the machine would trap, and the answer
/// by what we promise there.
template <typename Signed, typename Unsigned>
static Scalar divideOrRemainder(ScalarBuilder &s, Scalar a, Scalar c, bool remainder) {
  Scalar zero = s.integer(a.type, 0), one = s.integer(a.type, 1);
  Scalar byZero = s.eq(c, zero);
  Scalar unsafe = byZero, overflow;
  if (!a.isUnsigned()) {
    overflow = s.eq(c, s.integer(a.type, -1)); // x / -1 is -x, and x % -1 is 0: no need to divide
    unsafe = s.bitOr(byZero, overflow);
  }
  Scalar safe = s.select(unsafe, one, c);
  Scalar value = a.isUnsigned() ? Scalar{Unsigned::create(s.b, s.loc, a.value, safe.value), a.type}
                                : Scalar{Signed::create(s.b, s.loc, a.value, safe.value), a.type};
  if (!a.isUnsigned()) value = s.select(overflow, remainder ? zero : s.neg(a), value);
  return s.select(byZero, zero, value);
}

Scalar ScalarBuilder::div(Scalar a, Scalar c) {
  if (a.isFloat()) return {arith::DivFOp::create(b, loc, a.value, c.value), a.type};
  return divideOrRemainder<arith::DivSIOp, arith::DivUIOp>(*this, a, c, false);
}
Scalar ScalarBuilder::rem(Scalar a, Scalar c) {
  if (a.isFloat()) return {arith::RemFOp::create(b, loc, a.value, c.value), a.type};
  return divideOrRemainder<arith::RemSIOp, arith::RemUIOp>(*this, a, c, true);
}
Scalar ScalarBuilder::neg(Scalar x) {
  if (x.isFloat()) return {arith::NegFOp::create(b, loc, x.value), x.type};
  return sub(integer(x.type, 0), x);
}
Scalar ScalarBuilder::minimum(Scalar a, Scalar c) {
  if (a.isFloat()) return {arith::MinimumFOp::create(b, loc, a.value, c.value), a.type};
  if (a.isUnsigned()) return {arith::MinUIOp::create(b, loc, a.value, c.value), a.type};
  return {arith::MinSIOp::create(b, loc, a.value, c.value), a.type};
}
Scalar ScalarBuilder::maximum(Scalar a, Scalar c) {
  if (a.isFloat()) return {arith::MaximumFOp::create(b, loc, a.value, c.value), a.type};
  if (a.isUnsigned()) return {arith::MaxUIOp::create(b, loc, a.value, c.value), a.type};
  return {arith::MaxSIOp::create(b, loc, a.value, c.value), a.type};
}
Scalar ScalarBuilder::bitAnd(Scalar a, Scalar c) { return {arith::AndIOp::create(b, loc, a.value, c.value), a.type}; }
Scalar ScalarBuilder::bitOr(Scalar a, Scalar c) { return {arith::OrIOp::create(b, loc, a.value, c.value), a.type}; }
Scalar ScalarBuilder::bitXor(Scalar a, Scalar c) { return {arith::XOrIOp::create(b, loc, a.value, c.value), a.type}; }

Scalar ScalarBuilder::shiftLeft(Scalar a, Scalar c) {
  Scalar zero = integer(a.type, 0), width = integer(a.type, a.width());
  Scalar inside = {arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, c.value, width.value), b.getI1Type()};
  Scalar amount = select(inside, c, zero);
  return select(inside, {arith::ShLIOp::create(b, loc, a.value, amount.value), a.type}, zero);
}
Scalar ScalarBuilder::shiftRight(Scalar a, Scalar c) {
  Scalar zero = integer(a.type, 0), width = integer(a.type, a.width()), most = integer(a.type, a.width() - 1);
  Scalar inside = {arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, c.value, width.value), b.getI1Type()};
  Scalar amount = select(inside, c, most);
  if (!a.isUnsigned()) return {arith::ShRSIOp::create(b, loc, a.value, amount.value), a.type};
  return select(inside, {arith::ShRUIOp::create(b, loc, a.value, amount.value), a.type}, zero);
}

static Scalar compare(ScalarBuilder &s, Scalar a, Scalar c, arith::CmpFPredicate onFloat, arith::CmpIPredicate onSigned,
                      arith::CmpIPredicate onUnsigned) {
  if (a.isFloat()) return s.boolean(arith::CmpFOp::create(s.b, s.loc, onFloat, a.value, c.value));
  return s.boolean(arith::CmpIOp::create(s.b, s.loc, a.isUnsigned() ? onUnsigned : onSigned, a.value, c.value));
}
#define STATOR_COMPARE(name, onFloat, onSigned, onUnsigned)                                                            \
  Scalar ScalarBuilder::name(Scalar a, Scalar c) {                                                                     \
    return compare(*this, a, c, arith::CmpFPredicate::onFloat, arith::CmpIPredicate::onSigned,                         \
                   arith::CmpIPredicate::onUnsigned);                                                                  \
  }
STATOR_COMPARE(eq, OEQ, eq, eq)
STATOR_COMPARE(ne, UNE, ne, ne)
STATOR_COMPARE(lt, OLT, slt, ult)
STATOR_COMPARE(le, OLE, sle, ule)
STATOR_COMPARE(gt, OGT, sgt, ugt)
STATOR_COMPARE(ge, OGE, sge, uge)
#undef STATOR_COMPARE

Scalar ScalarBuilder::isNan(Scalar x) {
  return boolean(arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x.value, x.value));
}
Scalar ScalarBuilder::select(Scalar condition, Scalar a, Scalar c) {
  return {arith::SelectOp::create(b, loc, condition.value, a.value, c.value), a.type};
}
Scalar ScalarBuilder::logicalNot(Scalar x) { return bitXor(x, integer(x.type, 1)); }

Scalar ScalarBuilder::abs(Scalar x) {
  if (x.isFloat()) return {math::AbsFOp::create(b, loc, x.value), x.type};
  return x.isUnsigned() ? x : select(lt(x, integer(x.type, 0)), neg(x), x);
}
#define STATOR_MATH(name, Op)                                                                                          \
  Scalar ScalarBuilder::name(Scalar x) { return {math::Op::create(b, loc, x.value), x.type}; }
STATOR_MATH(exp, ExpOp)
STATOR_MATH(exp2, Exp2Op)
STATOR_MATH(expm1, ExpM1Op)
STATOR_MATH(log, LogOp)
STATOR_MATH(log2, Log2Op)
STATOR_MATH(log10, Log10Op)
STATOR_MATH(log1p, Log1pOp)
STATOR_MATH(sqrt, SqrtOp)
STATOR_MATH(sin, SinOp)
STATOR_MATH(cos, CosOp)
STATOR_MATH(tan, TanOp)
STATOR_MATH(asin, AsinOp)
STATOR_MATH(acos, AcosOp)
STATOR_MATH(atan, AtanOp)
STATOR_MATH(sinh, SinhOp)
STATOR_MATH(cosh, CoshOp)
STATOR_MATH(tanh, TanhOp)
STATOR_MATH(asinh, AsinhOp)
STATOR_MATH(acosh, AcoshOp)
STATOR_MATH(atanh, AtanhOp)
STATOR_MATH(erf, ErfOp)
STATOR_MATH(erfc, ErfcOp)
STATOR_MATH(floor, FloorOp)
STATOR_MATH(ceil, CeilOp)
STATOR_MATH(round, RoundEvenOp)
STATOR_MATH(trunc, TruncOp)
#undef STATOR_MATH
// Two correctly rounded operations: within 1.5 ulp on every target, where an approximate rsqrt is not.
Scalar ScalarBuilder::rsqrt(Scalar x) { return div(like(x, 1), sqrt(x)); }
Scalar ScalarBuilder::atan2(Scalar y, Scalar x) { return {math::Atan2Op::create(b, loc, y.value, x.value), y.type}; }
Scalar ScalarBuilder::pow(Scalar x, Scalar y) { return {math::PowFOp::create(b, loc, x.value, y.value), x.type}; }
Scalar ScalarBuilder::copysign(Scalar m, Scalar sign) { return {math::CopySignOp::create(b, loc, m.value, sign.value), m.type}; }

Scalar ScalarBuilder::cast(Scalar x, Type type) {
  if (x.type == type) return x;
  Type to = storageType(type);
  if (type.isInteger(1)) return x.isFloat() ? ne(x, like(x, 0)) : ne(x, integer(x.type, 0));
  bool toUnsigned = type.isUnsignedInteger();
  if (x.isFloat() && isa<FloatType>(type)) {
    if (type.getIntOrFloatBitWidth() > x.width()) return {arith::ExtFOp::create(b, loc, to, x.value), type};
    if (type.getIntOrFloatBitWidth() == x.width()) {
      // f16 to bf16: through f32, which holds both.
      Scalar wide = cast(x, b.getF32Type());
      return {arith::TruncFOp::create(b, loc, to, wide.value), type};
    }
    return {arith::TruncFOp::create(b, loc, to, x.value), type};
  }
  if (x.isFloat()) {
    // Saturate at 32 or 64 bits, then wrap: defined for every input, and the same on every target.
    bool wideResult = type.getIntOrFloatBitWidth() == 64;
    Type middle = b.getIntegerType(wideResult ? 64 : 32);
    bool unsignedMiddle = toUnsigned && type.getIntOrFloatBitWidth() >= 32;
    Value source = x.width() < 32 ? cast(x, b.getF32Type()).value : x.value;
    std::string intrinsic = std::string("llvm.fpto") + (unsignedMiddle ? "u" : "s") + "i.sat.i" +
                            (wideResult ? "64" : "32") + (source.getType().isF64() ? ".f64" : ".f32");
    Value saturated = LLVM::CallIntrinsicOp::create(b, loc, middle, b.getStringAttr(intrinsic), source).getResult(0);
    if (to != middle) saturated = arith::TruncIOp::create(b, loc, to, saturated);
    return {saturated, type};
  }
  if (isa<FloatType>(type)) {
    Type target = computeType(type);
    Value value = x.isUnsigned() ? Value(arith::UIToFPOp::create(b, loc, target, x.value))
                                 : Value(arith::SIToFPOp::create(b, loc, target, x.value));
    return cast({value, target}, type);
  }
  if (to.getIntOrFloatBitWidth() == x.width()) return {x.value, type};
  if (to.getIntOrFloatBitWidth() < x.width()) return {arith::TruncIOp::create(b, loc, to, x.value), type};
  if (x.isUnsigned()) return {arith::ExtUIOp::create(b, loc, to, x.value), type};
  return {arith::ExtSIOp::create(b, loc, to, x.value), type};
}

} // namespace stator
