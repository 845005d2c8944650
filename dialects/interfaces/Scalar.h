// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One element of a tensor during emission, and the builder that computes with such elements.
//
// Meaning that MLIR's signless integers lose (is this i8 a u8?) stays with the element as its tensor's element type.
// All emission of scalar arithmetic goes through ScalarBuilder, so numerical policy stands in one place: IEEE operations
// without contraction, NaN-propagating minimum and maximum, wrapping integers, conversions that are defined for every
// input (see cast()).
#ifndef STATOR_DIALECTS_INTERFACES_SCALAR_H
#define STATOR_DIALECTS_INTERFACES_SCALAR_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

namespace stator {

/// An SSA value and the tensor element type it stands for (which may be unsigned; `value` is always signless).
struct Scalar {
  mlir::Value value;
  mlir::Type type;

  bool isFloat() const { return llvm::isa<mlir::FloatType>(type); }
  bool isBool() const { return type.isInteger(1); }
  bool isUnsigned() const { return type.isUnsignedInteger() || isBool(); }
  unsigned width() const { return type.getIntOrFloatBitWidth(); }
};

/// The type in which elements of `type` are computed: f32 for f16, bf16 and f8; `type` itself otherwise.
mlir::Type computeType(mlir::Type type);
/// The signless type of the SSA value that holds an element of `type`.
mlir::Type storageType(mlir::Type type);

class ScalarBuilder {
public:
  ScalarBuilder(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// A constant of element type `type`; integers wrap.
  Scalar constant(mlir::Type type, double value);
  Scalar integer(mlir::Type type, int64_t value);
  /// A constant of x's type.
  Scalar like(Scalar x, double value) { return constant(x.type, value); }
  /// Smallest and largest value of the type (infinities for floats).
  Scalar lowest(mlir::Type type);
  Scalar highest(mlir::Type type);
  Scalar boolean(mlir::Value i1);
  Scalar index(mlir::Value index); // index -> i64 scalar
  mlir::Value toIndex(Scalar integer);

  // Arithmetic on two scalars of one type; integers wrap.
  Scalar add(Scalar a, Scalar c);
  Scalar sub(Scalar a, Scalar c);
  Scalar mul(Scalar a, Scalar c);
  /// Float: IEEE division. Integer: truncating division; division by zero gives 0, INT_MIN / -1 gives INT_MIN.
  Scalar div(Scalar a, Scalar c);
  /// Integer remainder with the dividend's sign; by zero gives 0. Float: C fmod, exact.
  Scalar rem(Scalar a, Scalar c);
  Scalar neg(Scalar x);
  /// NaN-propagating, and -0 < +0.
  Scalar minimum(Scalar a, Scalar c);
  Scalar maximum(Scalar a, Scalar c);
  Scalar bitAnd(Scalar a, Scalar c);
  Scalar bitOr(Scalar a, Scalar c);
  Scalar bitXor(Scalar a, Scalar c);
  /// Amounts below 0 or at or above the width give 0 (sign fill for a signed right shift).
  Scalar shiftLeft(Scalar a, Scalar c);
  Scalar shiftRight(Scalar a, Scalar c);

  // Comparisons give bool. Ordered except ne, as IEEE has them.
  Scalar eq(Scalar a, Scalar c);
  Scalar ne(Scalar a, Scalar c);
  Scalar lt(Scalar a, Scalar c);
  Scalar le(Scalar a, Scalar c);
  Scalar gt(Scalar a, Scalar c);
  Scalar ge(Scalar a, Scalar c);
  Scalar isNan(Scalar x);
  Scalar select(Scalar condition, Scalar a, Scalar c);
  Scalar logicalNot(Scalar x);

  // Float functions; each is one `math` or `arith` op that the target expands or calls.
  Scalar abs(Scalar x); // integers too
  Scalar exp(Scalar x);
  Scalar exp2(Scalar x);
  Scalar expm1(Scalar x);
  Scalar log(Scalar x);
  Scalar log2(Scalar x);
  Scalar log10(Scalar x);
  Scalar log1p(Scalar x);
  Scalar sqrt(Scalar x);
  Scalar rsqrt(Scalar x);
  Scalar sin(Scalar x);
  Scalar cos(Scalar x);
  Scalar tan(Scalar x);
  Scalar asin(Scalar x);
  Scalar acos(Scalar x);
  Scalar atan(Scalar x);
  Scalar atan2(Scalar y, Scalar x);
  Scalar sinh(Scalar x);
  Scalar cosh(Scalar x);
  Scalar tanh(Scalar x);
  Scalar asinh(Scalar x);
  Scalar acosh(Scalar x);
  Scalar atanh(Scalar x);
  Scalar erf(Scalar x);
  Scalar erfc(Scalar x);
  Scalar pow(Scalar x, Scalar y);
  Scalar floor(Scalar x);
  Scalar ceil(Scalar x);
  /// Half to even.
  Scalar round(Scalar x);
  Scalar trunc(Scalar x);
  Scalar copysign(Scalar magnitude, Scalar sign);

  /// Converts between element types, defined for every input: float to bool is `!= 0` (NaN is true); float to integer
  /// truncates, saturates at 32 bits (64 for 64-bit results) with NaN to 0, then wraps to narrower widths; integers wrap;
  /// float narrowing rounds to nearest even (f8E4M3FN overflows to NaN).
  Scalar cast(Scalar x, mlir::Type type);

  mlir::OpBuilder &b;
  mlir::Location loc;
};

} // namespace stator

#endif // STATOR_DIALECTS_INTERFACES_SCALAR_H
