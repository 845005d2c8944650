// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/MathExpansion.h"
#include "codegen/schedule/FloatBuilder.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringSwitch.h"
#include <cmath>

using namespace mlir;

namespace stator::codegen {

using V = Value;
// ln 2 in two pieces: the first has so few bits that its products with exponents are exact.
static constexpr double ln2High = 0.693359375, ln2Low = -0.000212194440054690;

// A float below 2^22 in size, added to this, is rounded to an integer that stands in the sum's low bits.
static constexpr double roundingMagic = 0x1.8p23;

/// value * 2^k, rounded once, for value in [1/2, 2) and the k in [-250, 250] that `shifted` = k + roundingMagic holds.
static V scaleByPowerOfTwo(FloatBuilder &f, V value, V shifted) {
  V sum = f.bits(shifted);
  if (f.hasScale) return LLVM::LoadExpOp::create(f.b, value.getType(), value, f.isub(sum, f.bits(f.f32(roundingMagic))));
  // In two steps, so that what is subnormal is rounded once. Both shifts drop the magic's bits.
  V half = f.sar(sum, f.i32(1)), rest = f.isub(sum, half);
  auto power = [&](V k) { return f.asF32(f.iadd(f.shl(k, f.i32(23)), f.bits(f.f32(1)))); };
  return f.mul(f.mul(value, power(half)), power(rest));
}

/// x rounded to an integer, as a float and as an i32; |x| < 2^22. NaN gives some integer.
static std::pair<V, V> roundToInteger(FloatBuilder &f, V x) {
  V magic = f.f32(roundingMagic), shifted = f.add(x, magic);
  return {f.sub(shifted, magic), f.isub(f.bits(shifted), f.bits(magic))};
}

static V expandExp(FloatBuilder &f, V x) {
  x = f.clamp(x, -110, 90);
  V shifted = f.fma(x, f.f32(M_LOG2E), f.f32(roundingMagic)), n = f.sub(shifted, f.f32(roundingMagic));
  V r = f.fma(n, f.f32(-ln2Low), f.fma(n, f.f32(-ln2High), x));
  V p = f.polynomial(r, {1, 1, 0.49999994, 0.166665092, 0.0416685268, 0.00837013498, 0.00138116605});
  return scaleByPowerOfTwo(f, p, shifted);
}

static V expandExp2(FloatBuilder &f, V x) {
  x = f.clamp(x, -160, 130);
  V shifted = f.add(x, f.f32(roundingMagic)), n = f.sub(shifted, f.f32(roundingMagic));
  V p = f.polynomial(f.sub(x, n), {1, 0.693147182, 0.240226462, 0.0555032194, 0.00961851887, 0.0013402598, 0.000153434798});
  return scaleByPowerOfTwo(f, p, shifted);
}

static V expandExpm1(FloatBuilder &f, V x) {
  V bounded = f.clamp(x, -30, 89); // 2^128 at most
  auto [n, k] = roundToInteger(f, f.mul(bounded, f.f32(M_LOG2E)));
  V r = f.fma(n, f.f32(-ln2Low), f.fma(n, f.f32(-ln2High), bounded));
  V q = f.polynomial(r, {0.5, 0.166666657, 0.0416663364, 0.0083333943, 0.00139426987, 0.000198460388});
  V p = f.fma(f.mul(r, r), q, r);
  // 2^n p + (2^n - 1), with half of 2^n because 2^128 is no float.
  V half = f.asF32(f.shl(f.iadd(k, f.i32(126)), f.i32(23)));
  V value = f.mul(f.fma(half, p, f.sub(half, f.f32(0.5))), f.f32(2));
  // -0 and subnormals are their own answers.
  return f.select(f.lt(f.abs(x), f.f32(0x1p-30)), x, value);
}

namespace {
/// x = 2^exponent * (1 + fraction), fraction in [-1/3, 1/3]; log(1 + fraction) = fraction + tail.
struct LogParts {
  V exponent, fraction, tail;
};
} // namespace

static LogParts splitLog(FloatBuilder &f, V x) {
  V subnormal = f.lt(x, f.f32(0x1p-126));
  V scaled = f.select(subnormal, f.mul(x, f.f32(0x1p23)), x);
  V bits = f.bits(scaled);
  V k = f.sar(f.isub(bits, f.i32(0x3f2aaaab)), f.i32(23));
  V mantissa = f.asF32(f.isub(bits, f.shl(k, f.i32(23))));
  LogParts parts;
  parts.exponent = f.sub(f.toFloat(k, x.getType()), f.select(subnormal, f.f32(23), f.f32(0)));
  parts.fraction = f.sub(mantissa, f.f32(1));
  V p = f.polynomial(parts.fraction, {0.333333343, -0.249998197, 0.19999598, -0.16679579, 0.143044546, -0.121957742,
                                      0.107542604, -0.128450766, 0.120070525});
  V square = f.mul(parts.fraction, parts.fraction);
  parts.tail = f.fma(f.mul(square, parts.fraction), p, f.mul(square, f.f32(-0.5)));
  return parts;
}

/// Logarithms outside of the positive finite numbers.
static V logEdges(FloatBuilder &f, V x, V value) {
  value = f.select(f.eq(x, f.f32(INFINITY)), x, value);
  value = f.select(f.eq(x, f.f32(0)), f.f32(-INFINITY), value);
  // Negative numbers and NaN: x - x over 0 is NaN whatever x is.
  return f.select(f.ge(x, f.f32(0)), value, f.f32(NAN));
}

static V expandLog(FloatBuilder &f, V x) {
  LogParts p = splitLog(f, x);
  V low = f.fma(p.exponent, f.f32(ln2Low), p.tail);
  return logEdges(f, x, f.fma(p.exponent, f.f32(ln2High), f.add(p.fraction, low)));
}
static V expandLog2(FloatBuilder &f, V x) {
  LogParts p = splitLog(f, x);
  // log2(e) = 1 + 0.4427: the 1 is added exactly.
  V rest = f.f32(M_LOG2E - 1);
  V low = f.fma(p.fraction, rest, f.fma(p.tail, rest, p.tail));
  return logEdges(f, x, f.add(p.exponent, f.add(p.fraction, low)));
}
static V expandLog10(FloatBuilder &f, V x) {
  LogParts p = splitLog(f, x);
  // In pieces whose products with the exponent (12 bits) and with nothing else need to be exact.
  constexpr double log10Of2High = 0.30078125, eHigh = 0.43359375;
  V low = f.fma(p.exponent, f.f32(0.30102999566398119521 - log10Of2High),
                f.fma(p.fraction, f.f32(M_LOG10E - eHigh), f.mul(p.tail, f.f32(M_LOG10E))));
  return logEdges(f, x, f.fma(p.exponent, f.f32(log10Of2High), f.fma(p.fraction, f.f32(eHigh), low)));
}
static V expandLog1p(FloatBuilder &f, V x) {
  // log(u) x / (u - 1) with u = 1 + x as rounded: the rounding error of u cancels (Kahan).
  V u = f.add(f.f32(1), x), difference = f.sub(u, f.f32(1));
  V value = f.mul(expandLog(f, u), f.div(x, difference));
  V unchanged = f.either(f.eq(difference, f.f32(0)), f.eq(x, f.f32(INFINITY)));
  return f.select(unchanged, x, value);
}

static V expandTanh(FloatBuilder &f, V x) {
  V t = expandExpm1(f, f.clamp(f.mul(f.abs(x), f.f32(2)), 0, 20));
  return f.copysign(f.div(t, f.add(t, f.f32(2))), x);
}

static V expandErf(FloatBuilder &f, V x) {
  V t = f.abs(x), square = f.mul(x, x);
  V small = f.fma(x, f.polynomial(square, {0.128379151, -0.376125515, 0.112824552, -0.0267914478, 0.00503215473,
                                           -0.00062030955}), x);
  // 1 - 2^(-t h(t)); beyond 4 the answer is 1. The power is at least 2^-24: adding to its exponent is enough.
  V bounded = f.select(f.lt(f.f32(4), t), f.f32(4), t);
  V h = f.polynomial(bounded, {-1.62811375, -0.917108595, -0.151911482, 0.0330553353, -0.00464808149, 0.000309899275});
  V y = f.mul(bounded, h), shifted = f.add(y, f.f32(roundingMagic)), n = f.sub(shifted, f.f32(roundingMagic));
  V p = f.polynomial(f.sub(y, n), {1, 0.693147182, 0.240226462, 0.0555032864, 0.00961848907, 0.00133999507, 0.000153458547});
  V power = f.asF32(f.iadd(f.bits(p), f.shl(f.bits(shifted), f.i32(23))));
  V large = f.copysign(f.sub(f.f32(1), power), x);
  // NaN is not at least 0.875, and stays NaN on the other side.
  return f.select(f.ge(t, f.f32(0.875)), large, small);
}

/// |x|^y by f64: 2^(y log2 |x|), then the special cases of C's pow.
static V expandPow(FloatBuilder &f, V x, V y) {
  V size = f.abs(x), wide = f.widen(size), wideY = f.widen(y);
  V bits = f.bits(wide), high = f.resize(f.shr(bits, f.i64(32)), 32);
  V k = f.sar(f.isub(high, f.i32(0x3fe55555)), f.i32(20));
  V mantissa = f.asF64(f.isub(bits, f.shl(f.resize(k, 64), f.i64(52))));
  V s = f.div(f.sub(mantissa, f.f64(1)), f.add(mantissa, f.f64(1)));
  V q = f.polynomial(f.mul(s, s), {2.8853900817779321, 0.96179669391381428, 0.57707802110490414, 0.41219788853471279,
                                   0.32064714864317367, 0.26059629749911511, 0.25168529817184598});
  V log2 = f.fma(s, q, f.toFloat(k, f.b.getF64Type()));
  V t = f.clamp(f.mul(wideY, log2), -200, 200);
  V n = f.roundEven(t), r = f.sub(t, n);
  V p = f.polynomial(r, {0.99999999999971045, 0.6931471805442343, 0.24022650699388795, 0.055504109484573412, 0.009618128471753664,
                         0.0013333443372661735, 0.00015403878204722855, 1.5312029935330153e-05, 1.3174256925714119e-06});
  // 2^n by adding n to a number whose last place is 1, and moving those bits to the exponent.
  V shifted = f.add(n, f.f64(0x1.8p52 + 1023));
  V value = f.narrow(f.mul(p, f.asF64(f.shl(f.bits(shifted), f.i64(52)))));

  V zero = f.f32(0), one = f.f32(1), infinity = f.f32(INFINITY), falls = f.lt(y, zero);
  value = f.select(f.eq(size, zero), f.select(falls, infinity, zero), value);
  value = f.select(f.eq(size, infinity), f.select(falls, zero, infinity), value);
  V half = f.mul(y, f.f32(0.5));
  V whole = f.eq(f.floor(y), y), odd = f.both(whole, f.ne(f.floor(half), half));
  V negative = f.lt(f.copysign(one, x), zero);
  value = f.select(f.both(negative, odd), f.neg(value), value);
  V finiteNegative = f.both(f.lt(x, zero), f.lt(size, infinity));
  value = f.select(f.both(finiteNegative, f.ne(f.floor(y), y)), f.f32(NAN), value);
  value = f.select(f.both(f.eq(size, one), f.eq(f.abs(y), infinity)), one, value);
  value = f.select(f.either(f.isNaN(x), f.isNaN(y)), f.f32(NAN), value);
  return f.select(f.either(f.eq(y, zero), f.eq(x, one)), one, value);
}

//===----------------------------------------------------------------------------------------------------------------===//
// Sine and cosine
//===----------------------------------------------------------------------------------------------------------------===//

// x times 2/pi modulo 4, for every x. A float is a 24-bit integer times 2^s (after Payne and Hanek, 1983): from the bits of
// 2/pi, those above what 2^s makes multiples of 4 do not matter, and 106 bits below are enough. They stand in three
// doubles of 26, 27 and 53 bits for each s, so that the first product is exact.
static constexpr unsigned turnScales = 105; // exponents up to 2^127
static constexpr StringLiteral turnTable = "stator_quarter_turns";

static SmallVector<double> quarterTurns() {
  // 2/pi = 0.A2F9836E...
  static constexpr uint32_t words[] = {0xA2F9836E, 0x4E441529, 0xFC2757D1, 0xF534DDC0, 0xDB629599,
                                       0x3C439041, 0xFE5163AB, 0xDEBBC561, 0xB7246E3A};
  auto bit = [&](int position) -> int { // position 1 is worth 1/2
    return position < 1 ? 0 : words[(position - 1) / 32] >> (31 - (position - 1) % 32) & 1;
  };
  SmallVector<double> table;
  for (int s = 0; s < int(turnScales); ++s) {
    // The bits that 2^s moves to 2, 1, 1/2, ...
    int position = s - 1;
    double weight = 2;
    for (int length : {26, 27, 53}) {
      double part = 0;
      for (int i = 0; i < length; ++i, ++position, weight /= 2) part += bit(position) * weight;
      table.push_back(part);
    }
  }
  return table;
}

namespace {
struct Turn {
  V sine, cosine; // of the angle within a quarter turn, f64
  V quarter;      // i32; the low two bits count
};
} // namespace

static Turn reduceAngle(FloatBuilder &f, V x) {
  ImplicitLocOpBuilder &b = f.b;
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  V bits = f.bits(x), exponent = f.iand(f.shr(bits, f.i32(23)), f.i32(255));
  // From 2^24 on, x = scaled * 2^s with scaled below 2^25.
  V excess = f.isub(exponent, f.i32(127 + 24));
  V s = arith::MinSIOp::create(b, arith::MaxSIOp::create(b, excess, f.i32(0)), f.i32(turnScales - 1));
  V bounded = arith::MinSIOp::create(b, exponent, f.i32(127 + 24));
  V scaled = f.widen(f.asF32(f.ior(f.iand(bits, f.i32(int32_t(0x807fffff))), f.shl(bounded, f.i32(23)))));
  V base = LLVM::AddressOfOp::create(b, pointer, turnTable);
  V row = arith::MulIOp::create(b, f.resize(s, 64), f.i64(3));
  auto part = [&](int64_t i) -> V {
    V place = f.iadd(row, f.i64(i));
    V address = LLVM::GEPOp::create(b, pointer, b.getF64Type(), base, ArrayRef<LLVM::GEPArg>{place});
    return LLVM::LoadOp::create(b, b.getF64Type(), address, 8, false, false, /*isInvariant=*/true);
  };
  V first = f.mul(scaled, part(0));
  // The second product may hold whole quarters too; sums are exact until the third.
  V second = f.mul(scaled, part(1)), whole = f.roundEven(first), left = f.sub(first, whole);
  V more = f.roundEven(f.add(left, second)), k = f.add(whole, more);
  V rest = f.add(f.add(f.sub(left, more), second), f.mul(scaled, part(2)));
  V angle = f.mul(rest, f.f64(M_PI_2)), square = f.mul(angle, angle);
  Turn turn;
  turn.sine = f.mul(angle, f.polynomial(square, {0.99999999999497025, -0.16666666627427051, 0.0083333284034102107,
                                                 -0.00019839093293489446, 2.7163784202914666e-06}));
  turn.cosine = f.polynomial(square, {0.99999999999992584, -0.4999999999919309, 0.041666666522443947, -0.0013888879373926536,
                                      2.4798731321056859e-05, -2.716007801910163e-07});
  turn.quarter = arith::FPToSIOp::create(b, b.getI32Type(), k);
  return turn;
}

static V pickQuarter(FloatBuilder &f, const Turn &turn, int64_t shift) {
  V quarter = f.iadd(turn.quarter, f.i32(shift));
  V odd = arith::TruncIOp::create(f.b, f.b.getI1Type(), quarter);
  V value = f.select(odd, turn.cosine, turn.sine);
  V half = arith::TruncIOp::create(f.b, f.b.getI1Type(), f.shr(quarter, f.i32(1)));
  return f.select(half, f.neg(value), value);
}
/// NaN for infinities and NaN.
static V ofFinite(FloatBuilder &f, V x, V value) { return f.add(value, f.mul(f.sub(x, x), f.f32(0))); }

static V expandSin(FloatBuilder &f, V x) {
  V value = f.narrow(pickQuarter(f, reduceAngle(f, x), 0));
  return f.select(f.eq(x, f.f32(0)), x, ofFinite(f, x, value));
}
static V expandCos(FloatBuilder &f, V x) { return ofFinite(f, x, f.narrow(pickQuarter(f, reduceAngle(f, x), 1))); }
static V expandTan(FloatBuilder &f, V x) {
  Turn turn = reduceAngle(f, x);
  V value = f.narrow(f.div(pickQuarter(f, turn, 0), pickQuarter(f, turn, 1)));
  return f.select(f.eq(x, f.f32(0)), x, ofFinite(f, x, value));
}

static void declareTurns(ModuleOp module) {
  if (module.lookupSymbol(turnTable)) return;
  OpBuilder b(module.getBody(), module.getBody()->begin());
  SmallVector<double> table = quarterTurns();
  auto type = LLVM::LLVMArrayType::get(b.getF64Type(), table.size());
  auto values = DenseElementsAttr::get(RankedTensorType::get({int64_t(table.size())}, b.getF64Type()), ArrayRef(table));
  LLVM::GlobalOp::create(b, module.getLoc(), type, /*isConstant=*/true, LLVM::Linkage::Private, turnTable, values, 64);
}

void expandMath(ModuleOp module, bool hasScale) {
  SmallVector<Operation *> ops;
  module.walk([&](Operation *op) {
    if (isa<math::MathDialect>(op->getDialect()) && op->getNumResults() == 1 && op->getResult(0).getType().isF32()) ops.push_back(op);
  });
  for (Operation *op : ops) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    FloatBuilder f(b);
    f.hasScale = hasScale;
    auto unary = [&](V (*expand)(FloatBuilder &, V)) { return expand(f, op->getOperand(0)); };
    if (isa<math::SinOp, math::CosOp, math::TanOp>(op)) declareTurns(module);
    V value = llvm::TypeSwitch<Operation *, V>(op)
                  .Case<math::ExpOp>([&](auto) { return unary(expandExp); })
                  .Case<math::Exp2Op>([&](auto) { return unary(expandExp2); })
                  .Case<math::ExpM1Op>([&](auto) { return unary(expandExpm1); })
                  .Case<math::LogOp>([&](auto) { return unary(expandLog); })
                  .Case<math::Log2Op>([&](auto) { return unary(expandLog2); })
                  .Case<math::Log10Op>([&](auto) { return unary(expandLog10); })
                  .Case<math::Log1pOp>([&](auto) { return unary(expandLog1p); })
                  .Case<math::TanhOp>([&](auto) { return unary(expandTanh); })
                  .Case<math::ErfOp>([&](auto) { return unary(expandErf); })
                  .Case<math::SinOp>([&](auto) { return unary(expandSin); })
                  .Case<math::CosOp>([&](auto) { return unary(expandCos); })
                  .Case<math::TanOp>([&](auto) { return unary(expandTan); })
                  .Case<math::PowFOp>([&](auto) { return expandPow(f, op->getOperand(0), op->getOperand(1)); })
                  .Default([](Operation *) { return V(); });
    if (!value) continue;
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

} // namespace stator::codegen
