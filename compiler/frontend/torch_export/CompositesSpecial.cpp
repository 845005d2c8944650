// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise functions made of others.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

/// The argument as a float tensor, computed wide; `cast back with narrow(c, y, x)` where x is `original`.
struct FloatInput {
  FloatInput(Call &c, StringRef name) {
    original = c.b.promote({c.operand(name)}, Promotion::Float)[0];
    wide = c.b.widen(original);
    type = GraphBuilder::element(wide);
  }
  Value original, wide;
  Type type;
};

Results logAddExp(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Float);
  Value x = c.b.widen(v[0]), y = c.b.widen(v[1]);
  Value larger = c.b.maximum(x, y);
  Value sum = c.b.add(larger, c.b.unary<graph::Log1pOp>(c.b.unary<graph::ExpOp>(
                                  c.b.unary<graph::NegOp>(c.b.unary<graph::AbsOp>(c.b.sub(x, y))))));
  // Two equal infinities: their difference is NaN, their sum is themselves.
  Value infinite = c.b.logicalAnd(c.b.eq(x, y), c.b.unary<graph::IsInfOp>(x));
  return narrow(c, c.b.where(infinite, x, sum), v[0]);
}

/// log2(2^x + 2^y).
Results logAddExp2(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Float);
  Value x = c.b.widen(v[0]), y = c.b.widen(v[1]);
  Value power = c.b.unary<graph::Exp2Op>(c.b.unary<graph::NegOp>(c.b.unary<graph::AbsOp>(c.b.sub(x, y))));
  Value sum = c.b.add(c.b.maximum(x, y), c.b.mul(c.b.unary<graph::Log1pOp>(power), 1 / M_LN2));
  Value infinite = c.b.logicalAnd(c.b.eq(x, y), c.b.unary<graph::IsInfOp>(x));
  return narrow(c, c.b.where(infinite, x, sum), v[0]);
}

Results hypot(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Float);
  Value x = c.b.unary<graph::AbsOp>(c.b.widen(v[0])), y = c.b.unary<graph::AbsOp>(c.b.widen(v[1]));
  Value larger = c.b.maximum(x, y), smaller = c.b.minimum(x, y);
  Value ratio = c.b.div(smaller, larger);
  Value length = c.b.mul(larger, c.b.unary<graph::SqrtOp>(c.b.add(c.b.mul(ratio, ratio), 1.0)));
  Value infinite = c.b.logicalOr(c.b.unary<graph::IsInfOp>(x), c.b.unary<graph::IsInfOp>(y));
  length = c.b.where(c.b.eq(larger, 0.0), larger, length);
  // An infinite side wins over a NaN.
  return narrow(c, c.b.where(infinite, c.b.highest(GraphBuilder::element(x)), length), v[0]);
}

Results nanToNum(Call &c) {
  Value x = c.tensor("self");
  Type type = GraphBuilder::element(x);
  if (!isFloat(type)) return c.b.copy(x);
  auto given = [&](StringRef name, bool highest) {
    if (!c.isNone(name)) return c.b.scalar(c.real(name), type);
    APFloat largest = APFloat::getLargest(llvm::cast<FloatType>(type).getFloatSemantics(), !highest);
    return c.b.constant(DenseElementsAttr::get(RankedTensorType::get({}, type), largest));
  };
  Value nan = c.b.scalar(c.optionalReal("nan").value_or(0), type);
  Value isNan = c.b.unary<graph::IsNanOp>(x);
  Value high = c.b.eq(x, c.b.highest(type)), low = c.b.eq(x, c.b.lowest(type));
  Value y = c.b.where(high, given("posinf", true), x);
  return c.b.where(isNan, nan, c.b.where(low, given("neginf", false), y));
}

Results isClose(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Same);
  Value x = v[0], y = v[1], close = c.b.eq(x, y);
  if (c.flag("equal_nan") && isFloat(GraphBuilder::element(x)))
    close = c.b.logicalOr(close, c.b.logicalAnd(c.b.unary<graph::IsNanOp>(x), c.b.unary<graph::IsNanOp>(y)));
  double rtol = c.real("rtol"), atol = c.real("atol");
  if (rtol == 0 && atol == 0) return close;
  Type type = isFloat(GraphBuilder::element(x)) ? graph::computeType(GraphBuilder::element(x)) : c.b.f32();
  x = c.b.cast(x, type);
  y = c.b.cast(y, type);
  Value allowed = c.b.add(c.b.unary<graph::AbsOp>(c.b.mul(y, rtol)), atol);
  Value distance = c.b.unary<graph::AbsOp>(c.b.sub(x, y));
  return c.b.logicalOr(close, c.b.logicalAnd(c.b.unary<graph::IsFiniteOp>(distance), c.b.le(distance, allowed)));
}

Results logit(Call &c) {
  FloatInput in(c, "self");
  Value x = in.wide;
  // The lower bound wins where eps is above 1/2 and the bounds cross.
  if (auto eps = c.optionalReal("eps")) {
    Value low = c.b.scalar(*eps, in.type), high = c.b.scalar(1 - *eps, in.type);
    x = c.b.where(c.b.lt(x, low), low, c.b.where(c.b.gt(x, high), high, x));
  }
  return narrow(c, c.b.unary<graph::LogOp>(c.b.div(x, c.b.sub(c.b.scalar(1, in.type), x))), in.original);
}

Results roundDecimals(Call &c) {
  Value x = c.tensor("self");
  int64_t decimals = c.integer("decimals");
  if (!isFloat(GraphBuilder::element(x))) return c.b.copy(x);
  double power = std::pow(10.0, double(std::abs(decimals)));
  Value wide = c.b.widen(x);
  if (decimals == 0) return c.b.unary<graph::RoundOp>(x);
  Value y = decimals > 0 ? c.b.div(c.b.unary<graph::RoundOp>(c.b.mul(wide, power)), power)
                         : c.b.mul(c.b.unary<graph::RoundOp>(c.b.div(wide, power)), power);
  return narrow(c, y, x);
}

Results sinc(Call &c) {
  FloatInput in(c, "self");
  Value x = c.b.mul(in.wide, M_PI);
  return narrow(c, c.b.where(c.b.eq(x, 0.0), c.b.scalar(1, in.type), c.b.div(c.b.unary<graph::SinOp>(x), x)),
                in.original);
}

Results entropy(Call &c) {
  FloatInput in(c, "self");
  Value x = in.wide, zero = c.b.scalar(0, in.type);
  Value y = c.b.unary<graph::NegOp>(c.b.mul(x, c.b.unary<graph::LogOp>(x)));
  y = c.b.where(c.b.eq(x, 0.0), zero, c.b.where(c.b.lt(x, 0.0), c.b.lowest(in.type), y));
  return narrow(c, y, in.original);
}

/// x * log(y): 0 where x is 0 and y is a number.
Results xLogY(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Float);
  Value x = c.b.widen(v[0]), y = c.b.widen(v[1]);
  Value product = c.b.mul(x, c.b.unary<graph::LogOp>(y));
  Value zero = c.b.logicalAnd(c.b.eq(x, 0.0), c.b.logicalNot(c.b.unary<graph::IsNanOp>(y)));
  return narrow(c, c.b.where(zero, c.b.scalar(0, GraphBuilder::element(x)), product), v[0]);
}

template <typename Scale> Results scaled(Call &c) {
  auto v = c.b.promote({c.operand("self")}, Promotion::Float);
  return narrow(c, c.b.mul(c.b.widen(v[0]), Scale::value), v[0]);
}
struct ToRadians {
  static constexpr double value = M_PI / 180;
};
struct ToDegrees {
  static constexpr double value = 180 / M_PI;
};

template <bool positive> Results isSignedInfinity(Call &c) {
  Value x = c.tensor("self");
  Type type = GraphBuilder::element(x);
  if (!isFloat(type)) return c.b.full(Number::of(false), GraphBuilder::dims(x), c.b.i1());
  return c.b.eq(x, positive ? c.b.highest(type) : c.b.lowest(type));
}

} // namespace

void addSpecialComposites(CompositeTable &t) {
  t.add({"logaddexp.default"}, logAddExp);
  t.add({"logaddexp2.default"}, logAddExp2);
  t.add({"hypot.default"}, hypot);
  t.add({"nan_to_num.default"}, nanToNum);
  t.add({"isclose.default"}, isClose);
  t.add({"logit.default", "special_logit.default"}, logit);
  t.add({"round.decimals"}, roundDecimals);
  t.add({"sinc.default", "special_sinc.default"}, sinc);
  t.add({"special_entr.default"}, entropy);
  t.add({"xlogy.Tensor", "xlogy.Scalar_Other", "xlogy.Scalar_Self", "special_xlogy.default",
         "special_xlogy.other_scalar", "special_xlogy.self_scalar"},
        xLogY);
  t.add({"deg2rad.default"}, scaled<ToRadians>);
  t.add({"rad2deg.default"}, scaled<ToDegrees>);
  t.add({"isposinf.default"}, isSignedInfinity<true>);
  t.add({"isneginf.default"}, isSignedInfinity<false>);
  t.add({"heaviside.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self"), values = c.tensor("values");
    return c.b.where(c.b.eq(x, 0.0), values, c.b.cast(c.b.gt(x, 0.0), GraphBuilder::element(x)));
  });
  t.add({"ldexp.Tensor"}, [](Call &c) -> Results {
    auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Float);
    return c.b.mul(v[0], c.b.unary<graph::Exp2Op>(v[1]));
  });
  t.add({"signbit.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    Type type = GraphBuilder::element(x);
    if (isBool(type)) return c.b.full(Number::of(false), GraphBuilder::dims(x), c.b.i1());
    return c.b.lt(isFloat(type) ? c.b.binary<graph::CopysignOp>(c.b.scalar(1, type), x) : x, 0.0);
  });
  t.add({"isreal.default"},
        [](Call &c) -> Results { return c.b.full(Number::of(true), GraphBuilder::dims(c.tensor("self")), c.b.i1()); });
  t.add({"logical_not.default"}, [](Call &c) -> Results { return c.b.logicalNot(c.tensor("self")); });
}

} // namespace stator::torch_export
