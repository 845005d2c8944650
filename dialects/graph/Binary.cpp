// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Elementwise.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace stator::graph {

void GraphDialect::registerBinaryOps() {
  addOperations<
#define GET_OP_LIST
#include "dialects/graph/Binary.cpp.inc"
      >();
}

// Evaluation on 64-bit integers. Division by zero gives 0 and INT64_MIN / -1 wraps, as ScalarBuilder emits them.

static int64_t truncDivide(int64_t x, int64_t y, bool isUnsigned) {
  if (y == 0) return 0;
  if (isUnsigned) return int64_t(uint64_t(x) / uint64_t(y));
  return y == -1 ? int64_t(0 - uint64_t(x)) : x / y;
}
static int64_t truncRemainder(int64_t x, int64_t y, bool isUnsigned) {
  if (y == 0) return 0;
  if (isUnsigned) return int64_t(uint64_t(x) % uint64_t(y));
  return y == -1 ? 0 : x % y;
}
static int64_t remainderLikePython(int64_t x, int64_t y, bool isUnsigned) {
  int64_t r = truncRemainder(x, y, isUnsigned);
  return !isUnsigned && r != 0 && ((r < 0) != (y < 0)) ? r + y : r;
}
static int64_t floorDivide(int64_t x, int64_t y, bool isUnsigned) {
  int64_t q = truncDivide(x, y, isUnsigned);
  return !isUnsigned && y != 0 && truncRemainder(x, y, false) != 0 && ((x < 0) != (y < 0)) ? q - 1 : q;
}
static int64_t powInteger(int64_t x, int64_t y, bool isUnsigned) {
  if (!isUnsigned && y < 0) return x == 1 ? 1 : x == -1 ? (y % 2 ? -1 : 1) : 0;
  uint64_t result = 1, base = x;
  for (uint64_t exponent = y; exponent; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return int64_t(result);
}
static int64_t shiftLeft(int64_t x, int64_t amount, unsigned width) {
  return amount < 0 || amount >= int64_t(width) ? 0 : int64_t(uint64_t(x) << amount);
}
static int64_t shiftRight(int64_t x, int64_t amount, unsigned width, bool isUnsigned) {
  bool outside = amount < 0 || amount >= int64_t(width);
  if (isUnsigned) return outside ? 0 : int64_t(uint64_t(x) >> amount);
  return x >> (outside ? int64_t(width) - 1 : amount);
}

/// Python's float remainder: exact, with the divisor's sign; a zero keeps the divisor's sign too.
static double remainderLikePython(double x, double y) {
  double r = std::fmod(x, y);
  if (r != 0) return (r < 0) != (y < 0) ? r + y : r;
  return std::isnan(r) ? r : std::copysign(0.0, y);
}
/// Python's float floor division: from the exact remainder, so 1 // 0.1 is 9 where floor(1 / 0.1) is 10. Quotients beyond the
/// type's precision are rounded, so it matters in which type this is computed.
template <typename Float> static double floorDivide(Float x, Float y) {
  if (y == 0) return x / y;
  Float r = std::fmod(x, y);
  Float q = (x - r) / y;
  if (r != 0 && (r < 0) != (y < 0)) q -= 1;
  if (q == 0) return std::copysign(Float(0), x / y);
  Float floored = std::floor(q);
  return q - floored > Float(0.5) ? floored + 1 : floored;
}

// Emission of the same, on scalars.

static Scalar emitRemainder(ScalarBuilder &s, Scalar x, Scalar y) {
  Scalar r = s.rem(x, y), zero = s.like(x, 0);
  if (x.isUnsigned()) return r;
  Scalar signsDiffer = s.ne(s.lt(r, zero), s.lt(y, zero));
  Scalar adjusted = s.select(signsDiffer, s.add(r, y), r);
  // A zero remainder keeps the divisor's sign; NaN stays NaN (comparing it with zero is unequal).
  return s.select(s.ne(r, zero), adjusted, x.isFloat() ? s.copysign(zero, y) : r);
}

static Scalar emitFloorDivide(ScalarBuilder &s, Scalar x, Scalar y) {
  if (x.isUnsigned()) return s.div(x, y);
  Scalar zero = s.like(x, 0), one = s.like(x, 1);
  Scalar r = s.rem(x, y);
  Scalar adjust = s.bitAnd(s.ne(r, zero), s.ne(s.lt(r, zero), s.lt(y, zero)));
  if (!x.isFloat()) {
    Scalar q = s.div(x, y);
    return s.select(adjust, s.sub(q, one), q);
  }
  Scalar q = s.div(s.sub(x, r), y);
  q = s.select(adjust, s.sub(q, one), q);
  Scalar floored = s.floor(q);
  floored = s.select(s.gt(s.sub(q, floored), s.like(x, 0.5)), s.add(floored, one), floored);
  Scalar quotient = s.div(x, y);
  floored = s.select(s.eq(q, zero), s.copysign(zero, quotient), floored);
  return s.select(s.eq(y, zero), quotient, floored);
}

/// Integer powers by squaring, in a loop that ends with the exponent's bits: unrolled for 64 bits it is a chain of selects
/// that the vectoriser walks in exponential time.
static Scalar emitPow(ScalarBuilder &s, Scalar x, Scalar y) {
  if (x.isFloat()) return s.pow(x, y);
  Scalar one = s.like(x, 1), zero = s.like(x, 0);
  Type word = x.value.getType();
  auto loop = scf::WhileOp::create(
      s.b, s.loc, TypeRange{word, word, word}, ValueRange{one.value, x.value, y.value},
      [&](OpBuilder &b, Location loc, ValueRange v) {
        Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, v[2], zero.value);
        scf::ConditionOp::create(b, loc, more, v);
      },
      [&](OpBuilder &b, Location loc, ValueRange v) {
        Value bit = arith::AndIOp::create(b, loc, v[2], one.value);
        Value odd = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, bit, zero.value);
        Value product = arith::MulIOp::create(b, loc, v[0], v[1]);
        Value result = arith::SelectOp::create(b, loc, odd, product, v[0]);
        Value square = arith::MulIOp::create(b, loc, v[1], v[1]);
        Value rest = arith::ShRUIOp::create(b, loc, v[2], one.value);
        scf::YieldOp::create(b, loc, ValueRange{result, square, rest});
      });
  Scalar result{loop.getResult(0), x.type};
  if (x.isUnsigned()) return result;
  Scalar isOdd = s.ne(s.bitAnd(y, one), zero), minusOne = s.integer(x.type, -1);
  Scalar negative = s.select(s.eq(x, one), one,
                             s.select(s.eq(x, minusOne), s.select(isOdd, minusOne, one), zero));
  return s.select(s.lt(y, zero), negative, result);
}

/// The greater and the lesser of two numbers that are not NaN, -0 below 0; the other where one is NaN.
static double greaterNumber(double x, double y) {
  if (std::isnan(x) || std::isnan(y)) return std::isnan(x) ? y : x;
  return x == y ? (std::signbit(x) ? y : x) : std::max(x, y);
}

} // namespace stator::graph

using namespace stator;
using namespace stator::graph;
#define GET_OP_CLASSES
#include "dialects/graph/Binary.cpp.inc"
