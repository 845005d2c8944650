// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/FloatBuilder.h"
#include "codegen/schedule/MathExpansion.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace stator::codegen {

using V = Value;

/// f64 to f32, rounded to odd: rounding that to fewer bits is the same as rounding the f64 (Boldo and Melquiond, 2005).
static V toOddF32(FloatBuilder &f, V x) {
  V near = f.narrow(x), back = f.widen(near), bits = f.bits(near);
  V inexact = f.both(f.ne(back, x), f.eq(x, x));
  V outward = f.lt(f.abs(x), f.abs(back));
  V inward = f.select(outward, f.isub(bits, f.i32(1)), bits);
  return f.asF32(f.select(inexact, f.ior(inward, f.i32(1)), bits));
}

/// The 16 high bits, to nearest even.
static V toBF16Bits(FloatBuilder &f, V x) {
  V bits = f.bits(x);
  V odd = f.iand(f.shr(bits, f.i32(16)), f.i32(1));
  V rounded = f.shr(f.iadd(bits, f.iadd(odd, f.i32(0x7fff))), f.i32(16));
  V quiet = f.ior(f.shr(bits, f.i32(16)), f.i32(0x40));
  return f.resize(f.select(f.isNaN(x), quiet, rounded), 16);
}

namespace {
struct SmallFormat {
  unsigned mantissa;
  int bias;
  /// Codes above `largest` become `overflow`.
  int largest, overflow, nan;
};
} // namespace
static constexpr SmallFormat e4m3fn{3, 7, 0x7e, 0x7f, 0x7f}, e5m2{2, 15, 0x7b, 0x7c, 0x7f};

static V toByte(FloatBuilder &f, V x, const SmallFormat &format) {
  V bits = f.bits(x), size = f.iand(bits, f.i32(0x7fffffff)), sign = f.iand(f.shr(bits, f.i32(24)), f.i32(0x80));
  unsigned dropped = 23 - format.mantissa;
  // Normal numbers: round the bits to nearest even, then move the exponent's zero.
  V odd = f.iand(f.shr(size, f.i32(dropped)), f.i32(1));
  V rounded = f.shr(f.iadd(size, f.iadd(odd, f.i32((1 << (dropped - 1)) - 1))), f.i32(dropped));
  V normal = f.isub(rounded, f.i32((127 - format.bias) << format.mantissa));
  V tooLarge = arith::CmpIOp::create(f.b, arith::CmpIPredicate::sgt, normal, f.i32(format.largest));
  normal = f.select(tooLarge, f.i32(format.overflow), normal);
  // Below them: adding a number whose last place is the smallest subnormal rounds in hardware.
  double last = std::ldexp(1.0, 1 - format.bias - int(format.mantissa));
  V magic = f.f32(last * 0x1p23);
  V subnormal = f.isub(f.bits(f.add(f.asF32(size), magic)), f.bits(magic));
  V small = f.lt(f.asF32(size), f.f32(std::ldexp(1.0, 1 - format.bias)));
  V code = f.select(small, subnormal, normal);
  code = f.select(f.isNaN(x), f.i32(format.nan), code);
  return f.resize(f.ior(code, sign), 8);
}

static V fromByte(FloatBuilder &f, V byte, const SmallFormat &format) {
  V wide = f.resize(byte, 32), size = f.iand(wide, f.i32(0x7f)), sign = f.shl(f.iand(wide, f.i32(0x80)), f.i32(24));
  // As a float whose exponent is too small by a constant; subnormals come out right by themselves.
  V value = f.mul(f.asF32(f.shl(size, f.i32(23 - format.mantissa))), f.f32(std::ldexp(1.0, 127 - format.bias)));
  V bits = f.bits(value);
  V special = f.ult(f.i32(format.largest), size);
  V infinite = format.overflow == format.nan ? f.i32(0x7fc00000)
                                             : f.ior(f.i32(0x7f800000), f.shl(f.iand(size, f.i32((1 << format.mantissa) - 1)),
                                                                              f.i32(23 - format.mantissa)));
  return f.asF32(f.ior(f.select(special, infinite, bits), sign));
}

static V narrowTo(FloatBuilder &f, V x, Type type) {
  if (type.isF16()) return arith::TruncFOp::create(f.b, type, x);
  V bits = type.isBF16() ? toBF16Bits(f, x) : toByte(f, x, isa<Float8E4M3FNType>(type) ? e4m3fn : e5m2);
  return arith::BitcastOp::create(f.b, type, bits);
}

void expandNarrowFloats(ModuleOp module) {
  SmallVector<Operation *> ops;
  auto isSmall = [](Type type) { return isa<FloatType>(type) && (type.isBF16() || type.getIntOrFloatBitWidth() == 8); };
  module.walk([&](Operation *op) {
    if (auto narrow = dyn_cast<arith::TruncFOp>(op)) {
      Type to = narrow.getType(), from = narrow.getIn().getType();
      if (isSmall(to) || (to.isF16() && from.isF64())) ops.push_back(op);
    } else if (auto widen = dyn_cast<arith::ExtFOp>(op)) {
      if (isSmall(widen.getIn().getType())) ops.push_back(op);
    }
  });
  for (Operation *op : ops) {
    ImplicitLocOpBuilder b(op->getLoc(), op);
    FloatBuilder f(b);
    V x = op->getOperand(0), value;
    Type to = op->getResult(0).getType();
    if (isa<arith::TruncFOp>(op)) {
      if (x.getType().isF64()) x = toOddF32(f, x);
      else if (!x.getType().isF32()) x = arith::ExtFOp::create(b, b.getF32Type(), x);
      value = narrowTo(f, x, to);
    } else {
      Type from = x.getType();
      V bits = f.bits(x);
      if (from.isBF16()) value = f.asF32(f.shl(f.resize(bits, 32), f.i32(16)));
      else value = fromByte(f, bits, isa<Float8E4M3FNType>(from) ? e4m3fn : e5m2);
      if (to.isF64()) value = f.widen(value);
      else if (!to.isF32()) value = narrowTo(f, value, to);
    }
    op->getResult(0).replaceAllUsesWith(value);
    op->erase();
  }
}

/// bf16 as the bits it is made of, in vectors as in scalars; null for other types.
static Type bitsOfBF16(Type type) {
  Type bits = IntegerType::get(type.getContext(), 16);
  if (type.isBF16()) return bits;
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getElementType().isBF16() ? vector.clone(bits) : Type();
}

void carryBF16AsBits(ModuleOp module) {
  auto retype = [](Value value) {
    if (Type bits = bitsOfBF16(value.getType())) value.setType(bits);
  };
  module.walk([&](Operation *op) {
    if (auto constant = dyn_cast<arith::ConstantOp>(op); constant && bitsOfBF16(constant.getType())) {
      auto bitsOf = [](const APFloat &value) { return value.bitcastToAPInt(); };
      Type word = IntegerType::get(op->getContext(), 16);
      if (auto scalar = dyn_cast<FloatAttr>(constant.getValue()))
        constant.setValueAttr(IntegerAttr::get(word, bitsOf(scalar.getValue())));
      else constant.setValueAttr(cast<DenseFPElementsAttr>(constant.getValue()).mapValues(word, bitsOf));
    }
    for (Value result : op->getResults()) retype(result);
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments()) retype(argument);
    if (auto function = dyn_cast<func::FuncOp>(op)) {
      auto retyped = [](ArrayRef<Type> types) {
        return llvm::map_to_vector(types, [](Type type) { return bitsOfBF16(type) ? bitsOfBF16(type) : type; });
      };
      FunctionType type = function.getFunctionType();
      function.setType(FunctionType::get(op->getContext(), retyped(type.getInputs()), retyped(type.getResults())));
    }
  });
  module.walk([](arith::BitcastOp cast) {
    if (cast.getIn().getType() != cast.getType()) return;
    cast.replaceAllUsesWith(cast.getIn());
    cast.erase();
  });
}

} // namespace stator::codegen
