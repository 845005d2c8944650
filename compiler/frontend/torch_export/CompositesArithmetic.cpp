// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arithmetic with scale factors and rounding modes, clamping, selection.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// first + alpha * second (or -), rounded once.
template <typename OpTy> Results addScaled(Call &c, StringRef first, StringRef second) {
  Operand x = c.operand(first), y = c.operand(second);
  Number alpha = c.number("alpha");
  bool one = alpha.kind == Number::Kind::Float ? alpha.real == 1 : alpha.integer == 1;
  if (one) return arithmetic<OpTy>(c, x, y);
  Type type = c.b.resultType({x, y});
  if (alpha.kind == Number::Kind::Float && !isFloat(type)) Call::fail("a float alpha with integer operands");
  if (isBool(type)) Call::fail("an alpha other than 1 with bools");
  Type compute = graph::computeType(type);
  Value scaled = c.b.mul(c.b.as(y, compute), c.b.scalar(alpha, compute));
  return c.b.cast(c.b.binary<OpTy>(c.b.as(x, compute), scaled), type);
}

Results divideRounded(Call &c) {
  Operand x = c.operand("self"), y = c.operand("other");
  if (c.isNone("rounding_mode")) {
    auto v = c.b.promote({x, y}, Promotion::Float);
    return c.b.div(v[0], v[1]);
  }
  auto v = c.b.promote({x, y}, Promotion::Same);
  if (isBool(GraphBuilder::element(v[0]))) Call::fail("integer division of bools");
  StringRef mode = c.string("rounding_mode");
  if (mode == "floor") return c.b.binary<graph::FloorDivideOp>(v[0], v[1]);
  if (mode == "trunc") return c.b.binary<graph::TruncDivideOp>(v[0], v[1]);
  Call::fail("unknown rounding mode '" + mode + "'");
}

/// The cases that eager PyTorch computes without pow.
Results powerByNumber(Call &c) {
  Operand base = c.operand("self"), exponent = c.operand("exponent");
  if (exponent.value) {
    auto v = c.b.promote({base, exponent}, Promotion::Same);
    return c.b.binary<graph::PowOp>(v[0], v[1]);
  }
  Type type = c.b.resultType({base, exponent});
  Value x = c.b.as(base, type);
  double n = exponent.number.asDouble();
  if (isBool(type)) return c.b.binary<graph::PowOp>(x, c.b.scalar(exponent.number, type));
  if (n == 1) return c.b.copy(x);
  if (n == 2) return c.b.mul(x, x);
  if (n == 3) return c.b.mul(c.b.mul(x, x), x);
  if (isFloat(type)) {
    if (n == 0.5) return c.b.unary<graph::SqrtOp>(x);
    if (n == -0.5) return c.b.unary<graph::RsqrtOp>(x);
    if (n == -1) return c.b.unary<graph::ReciprocalOp>(x);
    if (n == -2) return c.b.unary<graph::ReciprocalOp>(c.b.mul(x, x));
    Value wide = c.b.widen(x);
    return narrow(c, c.b.binary<graph::PowOp>(wide, c.b.scalar(n, GraphBuilder::element(wide))), x);
  }
  if (n < 0) Call::fail("an integer to a negative power");
  return c.b.binary<graph::PowOp>(x, c.b.scalar(exponent.number, type));
}

Value clampTo(Call &c, std::optional<Operand> low, std::optional<Operand> high) {
  SmallVector<Operand> operands{c.operand("self")};
  if (low) operands.push_back(*low);
  if (high) operands.push_back(*high);
  Type type = c.b.resultType(operands);
  Value x = c.b.as(operands[0], type);
  if (low) x = c.b.maximum(x, c.b.as(*low, type));
  if (high) x = c.b.minimum(x, c.b.as(*high, type));
  return low || high ? x : c.b.copy(x);
}

Results clamp(Call &c) {
  auto bound = [&](StringRef name) { return c.isNone(name) ? std::nullopt : std::optional<Operand>(c.operand(name)); };
  return clampTo(c, bound("min"), bound("max"));
}

Results whereSelect(Call &c) {
  Value condition = c.b.cast(c.tensor("condition"), c.b.i1());
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Same);
  return c.b.where(condition, v[0], v[1]);
}

Results maskedFill(Call &c) {
  Value x = c.tensor("self"), mask = c.b.cast(c.tensor("mask"), c.b.i1());
  return c.b.where(mask, c.b.as(c.operand("value"), GraphBuilder::element(x)), x);
}

/// The source's elements in order where the mask holds: element number cumsum(mask) - 1.
Results maskedScatter(Call &c) {
  Value x = c.tensor("self"), mask = c.b.cast(c.tensor("mask"), c.b.i1()), source = c.b.flatten(c.tensor("source"));
  Dims common = c.b.broadcastDims({x, mask});
  x = c.b.broadcastTo(x, common);
  mask = c.b.broadcastTo(mask, common);
  Value flat = c.b.cast(c.b.flatten(mask), c.b.i64());
  Value position = c.b.sub(c.b.opAs<graph::CumsumOp>(flat.getType(), {flat}, {c.b.attr("dim", int64_t(0))}),
                           c.b.scalarInt(1, c.b.i64()));
  position = c.b.minimum(c.b.maximum(position, c.b.scalarInt(0, c.b.i64())),
                         c.b.sub(c.b.size(GraphBuilder::dim(source, 0)), c.b.scalarInt(1, c.b.i64())));
  return c.b.where(mask, c.b.reshape(c.b.take(source, position, 0), common), x);
}

template <typename OpTy> Results addProduct(Call &c) {
  Operand self = c.operand("self"), x = c.operand("tensor1"), y = c.operand("tensor2"), value = c.operand("value");
  Type type = c.b.resultType({self, x, y});
  if (std::is_same_v<OpTy, graph::DivOp> && !isFloat(type)) type = c.b.f32();
  Type compute = graph::computeType(type);
  Value product = c.b.binary<OpTy>(c.b.mul(c.b.as(value, compute), c.b.as(x, compute)), c.b.as(y, compute));
  return c.b.cast(c.b.add(c.b.as(self, compute), product), type);
}

Results lerp(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("end")}, Promotion::Same);
  Value start = c.b.widen(v[0]), end = c.b.widen(v[1]);
  Value weight = c.b.as(c.operand("weight"), GraphBuilder::element(start));
  Value difference = c.b.sub(end, start), magnitude = c.b.unary<graph::AbsOp>(weight);
  Value near = c.b.add(start, c.b.mul(weight, difference));
  Value far = c.b.sub(end, c.b.mul(difference, c.b.sub(c.b.scalar(1, GraphBuilder::element(weight)), weight)));
  return narrow(c, c.b.where(c.b.lt(magnitude, 0.5), near, far), v[0]);
}

template <typename OpTy, Promotion rule> Results promoted(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, rule);
  return c.b.binary<OpTy>(v[0], v[1]);
}

} // namespace

void addArithmeticComposites(CompositeTable &t) {
  t.add({"add.Tensor", "add.Scalar"}, [](Call &c) { return addScaled<graph::AddOp>(c, "self", "other"); });
  t.add({"sub.Tensor", "sub.Scalar", "subtract.Tensor", "subtract.Scalar"},
        [](Call &c) { return addScaled<graph::SubOp>(c, "self", "other"); });
  t.add({"rsub.Tensor", "rsub.Scalar"}, [](Call &c) { return addScaled<graph::SubOp>(c, "other", "self"); });
  t.add({"multiply.Scalar"},
        [](Call &c) -> Results { return arithmetic<graph::MulOp>(c, c.operand("self"), c.operand("other")); });
  t.add({"div.Tensor_mode", "div.Scalar_mode", "divide.Tensor_mode", "divide.Scalar_mode"}, divideRounded);
  t.add({"true_divide.Scalar", "divide.Scalar"}, promoted<graph::DivOp, Promotion::Float>);
  t.add({"floor_divide.Scalar"}, promoted<graph::FloorDivideOp, Promotion::Same>);
  t.add({"remainder.Scalar_Tensor"}, promoted<graph::RemainderOp, Promotion::Same>);
  t.add({"pow.Tensor_Scalar"}, powerByNumber);
  t.add({"float_power.Tensor_Scalar", "float_power.Tensor_Tensor", "float_power.Scalar"}, [](Call &c) -> Results {
    Type f64 = c.b.b.getF64Type();
    return c.b.binary<graph::PowOp>(c.b.as(c.operand("self"), f64), c.b.as(c.operand("exponent"), f64));
  });
  t.add({"square.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    return c.b.mul(x, x);
  });
  t.add({"positive.default"}, [](Call &c) -> Results { return c.tensor("self"); });
  t.add({"addcmul.default"}, addProduct<graph::MulOp>);
  t.add({"addcdiv.default"}, addProduct<graph::DivOp>);
  t.add({"lerp.Scalar", "lerp.Tensor"}, lerp);
  t.add({"clamp.default", "clamp.Tensor", "clip.default", "clip.Tensor"}, clamp);
  t.add({"clamp_min.default", "clamp_min.Tensor"},
        [](Call &c) -> Results { return clampTo(c, c.operand("min"), std::nullopt); });
  t.add({"clamp_max.default", "clamp_max.Tensor"},
        [](Call &c) -> Results { return clampTo(c, std::nullopt, c.operand("max")); });
  t.add({"where.self", "where.ScalarOther", "where.ScalarSelf", "where.Scalar"}, whereSelect);
  t.add({"masked_fill.Scalar", "masked_fill.Tensor"}, maskedFill);
  t.add({"masked_scatter.default"}, maskedScatter);
  t.add({"bitwise_and.Scalar_Tensor"}, promoted<graph::BitwiseAndOp, Promotion::Same>);
  t.add({"bitwise_or.Scalar_Tensor"}, promoted<graph::BitwiseOrOp, Promotion::Same>);
  t.add({"bitwise_xor.Scalar_Tensor"}, promoted<graph::BitwiseXorOp, Promotion::Same>);
  t.add({"bitwise_left_shift.Scalar_Tensor"}, promoted<graph::ShiftLeftOp, Promotion::Same>);
  t.add({"bitwise_right_shift.Scalar_Tensor"}, promoted<graph::ShiftRightOp, Promotion::Same>);
  t.add({"not_equal.Scalar"}, promoted<graph::NeOp, Promotion::Same>);
  t.add({"less.Scalar"}, promoted<graph::LtOp, Promotion::Same>);
  t.add({"less_equal.Scalar"}, promoted<graph::LeOp, Promotion::Same>);
  t.add({"greater.Scalar"}, promoted<graph::GtOp, Promotion::Same>);
  t.add({"greater_equal.Scalar"}, promoted<graph::GeOp, Promotion::Same>);
}

} // namespace stator::torch_export
