// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Special functions by series: log-gamma, digamma, the inverse error function, modified Bessel functions. Everything is
// computed in f64 (these functions lose digits by cancellation) and rounded once.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

struct Wide {
  Wide(Call &c) : b(c.b) {
    original = b.promote({c.operand("self")}, Promotion::Float)[0];
    x = b.cast(original, b.b.getF64Type());
  }
  Value constant(double value) { return b.scalar(value, b.b.getF64Type()); }
  Value narrow(Value y) { return b.cast(y, GraphBuilder::element(original)); }
  /// sum(coefficients[i] * t^i).
  Value polynomial(Value t, ArrayRef<double> coefficients) {
    Value y = constant(coefficients.back());
    for (double coefficient : llvm::reverse(coefficients.drop_back())) y = b.add(b.mul(y, t), coefficient);
    return y;
  }
  /// sin(pi x) by its distance from the nearest integer, so that large x loses nothing.
  Value sinPi(Value x) {
    Value nearest = b.unary<graph::RoundOp>(x), rest = b.sub(x, nearest);
    Value odd = b.ne(b.binary<graph::FmodOp>(nearest, 2.0), 0.0);
    Value y = b.unary<graph::SinOp>(b.mul(rest, M_PI));
    return b.where(odd, b.unary<graph::NegOp>(y), y);
  }

  GraphBuilder &b;
  Value original, x;
};

/// log |gamma(x)|. Stirling's series after x is moved above 10 by the recurrence (C. Lanczos' form would do as well,
/// but loses digits near the zeros at 1 and 2); below 1/2 by reflection.
Value logGamma(Wide &w, Value x) {
  GraphBuilder &b = w.b;
  Value reflected = b.lt(x, 0.5);
  Value z = b.where(reflected, b.sub(w.constant(1), x), x);
  // gamma(z) = gamma(z + 10) / (z (z+1) ... (z+9)) where z is small.
  Value small = b.lt(z, 10.0), product = z;
  for (int i = 1; i < 10; ++i) product = b.mul(product, b.add(z, double(i)));
  Value moved = b.where(small, b.add(z, 10.0), z);
  Value inverse = b.div(w.constant(1), moved);
  static constexpr double series[] = {1.0 / 12, -1.0 / 360, 1.0 / 1260, -1.0 / 1680, 1.0 / 1188, -691.0 / 360360};
  Value y = b.add(b.sub(b.mul(b.sub(moved, 0.5), b.unary<graph::LogOp>(moved)), moved), 0.5 * std::log(2 * M_PI));
  y = b.add(y, b.mul(inverse, w.polynomial(b.mul(inverse, inverse), series)));
  y = b.where(small, b.sub(y, b.unary<graph::LogOp>(b.where(small, product, w.constant(1)))), y);
  Value infinite = b.eq(z, b.highest(GraphBuilder::element(z)));
  y = b.where(infinite, z, y);
  // gamma(x) gamma(1 - x) = pi / sin(pi x); poles at 0, -1, ...
  Value sine = b.unary<graph::AbsOp>(w.sinPi(b.where(infinite, w.constant(0), x)));
  Value mirrored = b.sub(b.sub(w.constant(std::log(M_PI)), b.unary<graph::LogOp>(sine)), y);
  Value lowest = b.eq(x, b.lowest(GraphBuilder::element(x)));
  mirrored = b.where(b.logicalOr(lowest, b.eq(sine, 0.0)), b.highest(GraphBuilder::element(x)), mirrored);
  return b.where(reflected, mirrored, y);
}

/// The derivative of log gamma: its asymptotic series above 10, the recurrence and reflection below.
Results digamma(Call &c) {
  Wide w(c);
  GraphBuilder &b = w.b;
  Value x = w.x, negative = b.lt(x, 0.5), z = b.where(negative, b.sub(w.constant(1), x), x), correction;
  Value small = b.lt(z, 10.0);
  for (int i = 0; i < 10; ++i) {
    Value term = b.div(w.constant(1), b.add(z, double(i)));
    correction = correction ? b.add(correction, term) : term;
  }
  Value moved = b.where(small, b.add(z, 10.0), z), inverse = b.div(w.constant(1), moved);
  static constexpr double series[] = {1.0 / 12, -1.0 / 120, 1.0 / 252, -1.0 / 240, 1.0 / 132, -691.0 / 32760};
  Value square = b.mul(inverse, inverse);
  Value y =
      b.sub(b.sub(b.unary<graph::LogOp>(moved), b.mul(inverse, 0.5)), b.mul(square, w.polynomial(square, series)));
  y = b.where(small, b.sub(y, correction), y);
  // psi(x) = psi(1 - x) - pi / tan(pi x).
  Value nearest = b.unary<graph::RoundOp>(x), rest = b.mul(b.sub(x, nearest), M_PI);
  Value cotangent = b.div(b.unary<graph::CosOp>(rest), b.unary<graph::SinOp>(rest));
  Value mirrored = b.sub(y, b.mul(cotangent, M_PI));
  Value pole = b.logicalAnd(b.eq(rest, 0.0), negative);
  mirrored = b.where(pole, w.constant(NAN), mirrored);
  y = b.where(negative, mirrored, y);
  // Minus infinity at 0, plus infinity at -0.
  Value atZero = b.binary<graph::CopysignOp>(b.highest(GraphBuilder::element(x)), b.unary<graph::NegOp>(x));
  y = b.where(b.eq(x, 0.0), atZero, y);
  return w.narrow(b.where(b.eq(x, b.lowest(GraphBuilder::element(x))), w.constant(NAN), y));
}

/// A start that is right to three digits (S. Winitzki's formula), then Newton's steps of third order on erf(y) = x, on
/// erfc where x is near 1 so that the difference is exact.
Results inverseErf(Call &c) {
  Wide w(c);
  GraphBuilder &b = w.b;
  Value x = b.unary<graph::AbsOp>(w.x), one = w.constant(1), rest = b.sub(one, x);
  Value log = b.unary<graph::LogOp>(b.mul(rest, b.add(x, 1.0)));
  constexpr double a = 0.147;
  Value half = b.add(b.mul(log, 0.5), 2 / (M_PI * a));
  Value root = b.unary<graph::SqrtOp>(b.sub(b.mul(half, half), b.mul(log, 1 / a)));
  Value y = b.unary<graph::SqrtOp>(b.maximum(b.sub(root, half), 0.0));
  for (int i = 0; i < 3; ++i) {
    Value far = b.gt(x, 0.5);
    Value error = b.where(far, b.sub(rest, b.unary<graph::ErfcOp>(y)), b.sub(b.unary<graph::ErfOp>(y), x));
    Value step = b.div(error, b.mul(b.unary<graph::ExpOp>(b.unary<graph::NegOp>(b.mul(y, y))), 2 / std::sqrt(M_PI)));
    y = b.sub(y, b.div(step, b.add(b.mul(y, step), 1.0)));
  }
  y = b.where(b.eq(x, 1.0), b.highest(GraphBuilder::element(x)), y);
  return w.narrow(b.binary<graph::CopysignOp>(b.where(b.gt(x, 1.0), w.constant(NAN), y), w.x));
}

/// The modified Bessel function of order 0 or 1: its power series up to 16, its asymptotic one beyond; times e^-|x|
/// where `scaled`.
template <int order, bool scaled> Results bessel(Call &c) {
  Wide w(c);
  GraphBuilder &b = w.b;
  Value x = b.unary<graph::AbsOp>(w.x), large = b.gt(x, 16.0);
  Value near = b.where(large, w.constant(0), x);
  SmallVector<double> series;
  double term = 1;
  for (int k = 0; k < 48; ++k) {
    series.push_back(term);
    term /= double(k + 1) * double(k + 1 + order);
  }
  Value sum = w.polynomial(b.mul(b.mul(near, near), 0.25), series);
  if (order == 1) sum = b.mul(sum, b.mul(near, 0.5));
  SmallVector<double> tail;
  term = 1;
  for (int k = 0; k < 24; ++k) {
    tail.push_back(term);
    double odd = 2 * k + 1;
    term *= (odd * odd - 4.0 * order * order) / (8.0 * (k + 1));
  }
  Value far = b.where(large, x, w.constant(32));
  Value rest = b.div(w.polynomial(b.div(w.constant(1), far), tail), b.unary<graph::SqrtOp>(b.mul(far, 2 * M_PI)));
  if (scaled)
    sum = b.mul(sum, b.unary<graph::ExpOp>(b.unary<graph::NegOp>(near)));
  else
    rest = b.mul(rest, b.unary<graph::ExpOp>(far));
  Value y = b.where(large, rest, sum);
  Value infinite = b.unary<graph::IsInfOp>(x);
  y = b.where(infinite, scaled ? w.constant(0) : x, b.where(b.unary<graph::IsNanOp>(x), x, y));
  if (order == 1) y = b.where(b.lt(w.x, 0.0), b.unary<graph::NegOp>(y), y);
  return w.narrow(y);
}

} // namespace

void addGammaComposites(CompositeTable &t) {
  t.add({"lgamma.default", "special_gammaln.default"}, [](Call &c) -> Results {
    Wide w(c);
    return w.narrow(logGamma(w, w.x));
  });
  t.add({"digamma.default", "special_digamma.default", "special_psi.default"}, digamma);
  t.add({"erfinv.default", "special_erfinv.default"}, inverseErf);
  t.add({"i0.default", "special_i0.default", "special_modified_bessel_i0.default"}, bessel<0, false>);
  t.add({"special_i0e.default"}, bessel<0, true>);
  t.add({"special_i1.default", "special_modified_bessel_i1.default"}, bessel<1, false>);
  t.add({"special_i1e.default"}, bessel<1, true>);
}

} // namespace stator::torch_export
