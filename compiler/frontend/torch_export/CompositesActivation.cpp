// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activation functions with parameters, softmax and its relatives, dropout.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {

Value softmax(Call &c, Value x, int64_t dim, bool log) {
  Value wide = c.b.widen(x);
  int64_t d = GraphBuilder::axis(dim, GraphBuilder::rank(x));
  return log ? c.b.logSoftmax(wide, d) : c.b.softmax(wide, d);
}

namespace {

Value elu(Call &c, double alpha, double scale, double inputScale) {
  return c.b.op<graph::EluOp>(
      {c.tensor("self")}, {c.b.real("alpha", alpha), c.b.real("scale", scale), c.b.real("input_scale", inputScale)});
}
Value leakyRelu(Call &c, double slope) {
  return c.b.op<graph::LeakyReluOp>({c.tensor("self")}, {c.b.real("slope", slope)});
}

Results clampBetween(Call &c, double low, double high) {
  Value x = c.tensor("self");
  return c.b.minimum(c.b.maximum(x, low), high);
}

template <bool log> Results softmaxWithType(Call &c) {
  Value x = c.tensor("self");
  Type type = c.dtype("dtype", GraphBuilder::element(x));
  if (!isFloat(type)) Call::fail("softmax of integers without a dtype");
  x = c.b.cast(x, type);
  return narrow(c, softmax(c, x, c.integer("dim"), log), x);
}

template <bool log> Results softmaxCore(Call &c) {
  Value x = c.tensor("self"), y = softmax(c, x, c.integer("dim"), log);
  return c.flag("half_to_float") ? y : narrow(c, y, x);
}

/// Rows that are -inf throughout give zeros.
Results safeSoftmax(Call &c) {
  Value x = c.tensor("self");
  Type type = c.dtype("dtype", GraphBuilder::element(x));
  x = c.b.cast(x, type);
  Value wide = c.b.widen(x);
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  Value largest = c.b.maximum(c.b.reduce<graph::ReduceMaxOp>(wide, {d}, true), -3.4028234663852886e38);
  Value e = c.b.unary<graph::ExpOp>(c.b.sub(wide, largest));
  return narrow(c, c.b.div(e, c.b.maximum(c.b.sum(e, {d}, true), 1.0)), x);
}

Results logSumExp(Call &c) {
  Value x = c.tensor("self");
  if (!isFloat(GraphBuilder::element(x))) x = c.b.cast(x, c.b.f32());
  Value wide = c.b.widen(x);
  Ints dims = c.integers("dim");
  Value largest = c.b.reduce<graph::ReduceMaxOp>(wide, dims, true);
  // An infinite maximum would turn the differences into NaN.
  Value shift = c.b.where(c.b.unary<graph::IsInfOp>(largest), c.b.scalar(0, GraphBuilder::element(wide)), largest);
  Value sum = c.b.sum(c.b.unary<graph::ExpOp>(c.b.sub(wide, shift)), dims, true);
  Value y = c.b.add(c.b.unary<graph::LogOp>(sum), shift);
  if (!c.flag("keepdim")) {
    Ints all = dims.empty() ? counting(0, GraphBuilder::rank(x)) : GraphBuilder::axes(dims, GraphBuilder::rank(x));
    Dims kept;
    for (auto [i, size] : llvm::enumerate(GraphBuilder::dims(y)))
      if (!llvm::is_contained(all, int64_t(i))) kept.push_back(size);
    y = c.b.reshape(y, kept);
  }
  return narrow(c, y, x);
}

/// Eager PyTorch gives the input itself where nothing is dropped.
Results dropout(Call &c) {
  if (c.flag("train") && c.real("p") != 0)
    Call::fail("dropout in training mode is random: export the model in eval mode");
  c.aliasesAnyway();
  return c.tensor(c.has("input") ? "input" : "self");
}

Results prelu(Call &c) {
  Value x = c.tensor("self"), weight = c.tensor("weight");
  int64_t rank = GraphBuilder::rank(x);
  Value slope = GraphBuilder::rank(weight) == 1 ? perChannel(c, weight, rank) : weight;
  if (rank < 2 && GraphBuilder::rank(weight) == 1 && GraphBuilder::dim(weight, 0).isConstant(1))
    slope = c.b.reshape(weight, {});
  return c.b.where(c.b.gt(x, 0.0), x, c.b.mul(x, slope));
}

Results hardShrink(Call &c) {
  Value x = c.tensor("self");
  double lambda = c.real("lambd");
  Value inside = c.b.logicalAnd(c.b.ge(x, -lambda), c.b.le(x, lambda));
  return c.b.where(inside, c.b.scalar(0, GraphBuilder::element(x)), x);
}

Results softShrink(Call &c) {
  Value x = c.tensor("self");
  double lambda = c.real("lambd");
  Value low = c.b.where(c.b.lt(x, -lambda), c.b.add(x, lambda), c.b.mul(x, 0.0));
  return c.b.where(c.b.gt(x, lambda), c.b.sub(x, lambda), low);
}

Results gatedLinearUnit(Call &c) {
  Value x = c.tensor("self");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  DimExpr half = DimExpr::floorDiv(GraphBuilder::dim(x, d), c.b.dim(2));
  Value a = c.b.widen(c.b.slice(x, d, c.b.dim(0), half)), gate = c.b.widen(c.b.slice(x, d, half, half));
  return narrow(c, c.b.mul(a, c.b.unary<graph::SigmoidOp>(gate)), x);
}

Results gelu(Call &c) {
  Value x = c.tensor("self");
  StringRef mode = c.string("approximate");
  if (mode == "tanh") return c.b.unary<graph::GeluTanhOp>(x);
  if (mode != "none") Call::fail("unknown approximation '" + mode + "'");
  return c.b.unary<graph::GeluOp>(x);
}

} // namespace

void addActivationComposites(CompositeTable &t) {
  t.add({"gelu.default"}, gelu);
  t.add({"leaky_relu.default"}, [](Call &c) -> Results { return leakyRelu(c, c.real("negative_slope")); });
  t.add({"rrelu.default", "rrelu_with_noise.default", "rrelu_with_noise_functional.default"}, [](Call &c) -> Results {
    if (c.flag("training")) Call::fail("randomized relu in training mode is random: export the model in eval mode");
    return {leakyRelu(c, (c.real("lower") + c.real("upper")) / 2), Value()};
  });
  t.add({"elu.default"},
        [](Call &c) -> Results { return elu(c, c.real("alpha"), c.real("scale"), c.real("input_scale")); });
  t.add({"selu.default"}, [](Call &c) -> Results {
    return elu(c, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946, 1);
  });
  t.add({"celu.default"}, [](Call &c) -> Results {
    double alpha = c.real("alpha");
    if (alpha == 0) Call::fail("celu with an alpha of 0");
    return elu(c, alpha, 1, 1 / alpha);
  });
  t.add({"softplus.default"}, [](Call &c) -> Results {
    if (c.real("beta") == 0) Call::fail("softplus with a beta of 0");
    return c.b.op<graph::SoftplusOp>({c.tensor("self")},
                                     {c.b.real("beta", c.real("beta")), c.b.real("threshold", c.real("threshold"))});
  });
  t.add({"hardtanh.default"}, [](Call &c) { return clampBetween(c, c.real("min_val"), c.real("max_val")); });
  t.add({"relu6.default"}, [](Call &c) { return clampBetween(c, 0, 6); });
  t.add({"threshold.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    Type type = GraphBuilder::element(x);
    return c.b.where(c.b.le(x, c.b.scalar(c.number("threshold"), type)), c.b.scalar(c.number("value"), type), x);
  });
  t.add({"prelu.default", "_prelu_kernel.default"}, prelu);
  t.add({"hardshrink.default"}, hardShrink);
  t.add({"softshrink.default"}, softShrink);
  t.add({"glu.default"}, gatedLinearUnit);
  t.add({"log_sigmoid_forward.default"},
        [](Call &c) -> Results { return {c.b.unary<graph::LogSigmoidOp>(c.tensor("self")), Value()}; });
  t.add({"softmax.int", "special_softmax.int"}, softmaxWithType<false>);
  t.add({"log_softmax.int", "special_log_softmax.int"}, softmaxWithType<true>);
  t.add({"_softmax.default"}, softmaxCore<false>);
  t.add({"_log_softmax.default"}, softmaxCore<true>);
  t.add({"_safe_softmax.default"}, safeSoftmax);
  t.add({"logsumexp.default", "special_logsumexp.default"}, logSumExp);
  t.add({"dropout.default", "dropout_.default", "feature_dropout.default", "feature_dropout_.default",
         "alpha_dropout.default", "alpha_dropout_.default", "feature_alpha_dropout.default"},
        dropout);
  t.add({"native_dropout.default"}, [](Call &c) -> Results {
    if (c.flag("train") && c.real("p") != 0)
      Call::fail("dropout in training mode is random: export the model in eval mode");
    Value x = c.tensor("input");
    return {c.b.copy(x), c.b.full(Number::of(true), GraphBuilder::dims(x), c.b.i1())};
  });
}

} // namespace stator::torch_export
