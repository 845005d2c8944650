// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums, products, means, extrema and their positions.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

Ints dimsOf(Call &c) {
  if (!c.has("dim")) return {};
  return c.integers("dim");
}
bool keeps(Call &c) { return c.has("keepdim") && c.flag("keepdim"); }
Type dtypeOr(Call &c, Type fallback) { return c.has("dtype") ? c.dtype("dtype", fallback) : fallback; }

/// Integers and bools are summed as int64.
template <typename OpTy> Results accumulate(Call &c) {
  Value x = c.tensor("self");
  Type type = GraphBuilder::element(x);
  x = c.b.cast(x, dtypeOr(c, isFloat(type) ? type : c.b.i64()));
  return c.b.reduce<OpTy>(x, dimsOf(c), keeps(c));
}

Results mean(Call &c) {
  Value x = c.tensor("self");
  Type type = dtypeOr(c, GraphBuilder::element(x));
  if (!isFloat(type)) Call::fail("the mean of integers without a dtype");
  x = c.b.cast(x, type);
  return c.b.cast(c.b.mean(c.b.widen(x), dimsOf(c), keeps(c)), type);
}

/// NaN counts as nothing.
template <bool average> Results ignoringNan(Call &c) {
  Value x = c.tensor("self");
  Type type = dtypeOr(c, isFloat(GraphBuilder::element(x)) ? GraphBuilder::element(x) : Type(c.b.i64()));
  x = c.b.cast(x, type);
  if (!isFloat(type)) return c.b.sum(x, dimsOf(c), keeps(c));
  Value wide = c.b.widen(x), isNan = c.b.unary<graph::IsNanOp>(wide);
  Value sum = c.b.sum(c.b.where(isNan, c.b.scalar(0, GraphBuilder::element(wide)), wide), dimsOf(c), keeps(c));
  if (average)
    sum = c.b.div(sum, c.b.sum(c.b.cast(c.b.logicalNot(isNan), GraphBuilder::element(wide)), dimsOf(c), keeps(c)));
  return c.b.cast(sum, type);
}

template <typename OpTy> Value extremum(Call &c, Value x, Ints dims, bool keep) {
  if (!isBool(GraphBuilder::element(x))) return c.b.reduce<OpTy>(x, dims, keep);
  return std::is_same_v<OpTy, graph::ReduceMaxOp> ? c.b.reduce<graph::AnyOp>(x, dims, keep)
                                                  : c.b.reduce<graph::AllOp>(x, dims, keep);
}

void refuseEmpty(Value x, ArrayRef<int64_t> dims) {
  Ints all = dims.empty() ? counting(0, GraphBuilder::rank(x)) : GraphBuilder::axes(dims, GraphBuilder::rank(x));
  for (int64_t d : all)
    if (GraphBuilder::rank(x) > 0 && GraphBuilder::dim(x, d).isConstant(0)) Call::fail("the extremum of no elements");
}

template <typename OpTy> Results extremumOver(Call &c) {
  Value x = c.tensor("self");
  refuseEmpty(x, dimsOf(c));
  return extremum<OpTy>(c, x, dimsOf(c), keeps(c));
}

/// Values and positions along one dimension.
template <typename OpTy, typename ArgTy> Results extremumAlong(Call &c) {
  Value x = c.tensor("self");
  Ints dims{c.integer("dim")};
  refuseEmpty(x, dims);
  Value numbers = isBool(GraphBuilder::element(x)) ? c.b.cast(x, c.b.b.getI8Type()) : x;
  Value position =
      GraphBuilder::rank(x) == 0 ? c.b.scalarInt(0, c.b.i64()) : c.b.reduce<ArgTy>(numbers, dims, keeps(c));
  return {extremum<OpTy>(c, x, dims, keeps(c)), position};
}

template <typename ArgTy> Results position(Call &c) {
  Value x = c.tensor("self");
  if (isBool(GraphBuilder::element(x))) x = c.b.cast(x, c.b.b.getI8Type());
  bool all = c.isNone("dim");
  refuseEmpty(x, all ? Ints() : dimsOf(c));
  if (GraphBuilder::rank(x) == 0) return c.b.scalarInt(0, c.b.i64());
  return c.b.reduce<ArgTy>(x, all ? Ints() : dimsOf(c), keeps(c));
}

template <typename OpTy> Results truth(Call &c) {
  Value x = c.tensor("self"), y = c.b.reduce<OpTy>(c.b.cast(x, c.b.i1()), dimsOf(c), keeps(c));
  // Of uint8, eager PyTorch gives uint8.
  return GraphBuilder::element(x).isUnsignedInteger(8) ? c.b.cast(y, GraphBuilder::element(x)) : y;
}

double correctionOf(Call &c) {
  if (c.has("correction")) return c.isNone("correction") ? 1 : c.real("correction");
  return c.has("unbiased") && !c.flag("unbiased") ? 0 : 1;
}

Value spread(Call &c, Value x, bool root) {
  Value y = c.b.variance(c.b.widen(x), dimsOf(c), correctionOf(c), keeps(c));
  return narrow(c, root ? c.b.unary<graph::SqrtOp>(y) : y, x);
}
template <bool root> Results variance(Call &c) {
  Value x = c.tensor("self");
  if (!isFloat(GraphBuilder::element(x))) Call::fail("the variance of integers");
  return spread(c, x, root);
}
template <bool root> Results varianceAndMean(Call &c) {
  Value x = c.tensor("self");
  if (!isFloat(GraphBuilder::element(x))) Call::fail("the variance of integers");
  return {spread(c, x, root), narrow(c, c.b.mean(c.b.widen(x), dimsOf(c), keeps(c)), x)};
}

Results histogram(Call &c) {
  Value x = c.b.flatten(c.tensor("self"));
  int64_t bins = c.integer("bins");
  if (bins <= 0) Call::fail("a histogram of " + Twine(bins) + " bins");
  Type type = GraphBuilder::element(x), compute = isFloat(type) ? graph::computeType(type) : c.b.f32();
  Value wide = c.b.cast(x, compute);
  double low = c.real("min"), high = c.real("max");
  Value first = c.b.scalar(low, compute), last = c.b.scalar(high, compute);
  if (low == high) {
    if (low == 0) {
      first = c.b.reduce<graph::ReduceMinOp>(wide, {}, false);
      last = c.b.reduce<graph::ReduceMaxOp>(wide, {}, false);
    }
    Value same = c.b.eq(first, last);
    Value f = c.b.where(same, c.b.sub(first, 1.0), first);
    last = c.b.where(same, c.b.add(last, 1.0), last);
    first = f;
  }
  Value inside = c.b.logicalAnd(c.b.ge(wide, first), c.b.le(wide, last));
  Value bin = c.b.div(c.b.mul(c.b.sub(wide, first), double(bins)), c.b.sub(last, first));
  Value index = c.b.minimum(c.b.cast(bin, c.b.i64()), c.b.scalarInt(bins - 1, c.b.i64()));
  Dims dims{GraphBuilder::dim(x, 0), c.b.dim(bins)};
  Value hits = c.b.eq(c.b.broadcastTo(c.b.unsqueeze(index, 1), dims), c.b.iota(dims, 1, c.b.i64()));
  hits = c.b.logicalAnd(hits, c.b.unsqueeze(inside, 1));
  return c.b.cast(c.b.sum(c.b.cast(hits, c.b.i64()), {0}, false), type);
}

} // namespace

void addReductionComposites(CompositeTable &t) {
  t.add({"sum.default", "sum.dim_IntList"}, accumulate<graph::SumOp>);
  t.add({"prod.default", "prod.dim_int"}, accumulate<graph::ProdOp>);
  t.add({"mean.default", "mean.dim"}, mean);
  t.add({"nansum.default"}, ignoringNan<false>);
  t.add({"nanmean.default"}, ignoringNan<true>);
  t.add({"amax.default", "max.default"}, extremumOver<graph::ReduceMaxOp>);
  t.add({"amin.default", "min.default"}, extremumOver<graph::ReduceMinOp>);
  t.add({"max.dim"}, extremumAlong<graph::ReduceMaxOp, graph::ArgmaxOp>);
  t.add({"min.dim"}, extremumAlong<graph::ReduceMinOp, graph::ArgminOp>);
  t.add({"aminmax.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    Ints dims = c.isNone("dim") ? Ints() : Ints{c.integer("dim")};
    refuseEmpty(x, dims);
    return {extremum<graph::ReduceMinOp>(c, x, dims, keeps(c)), extremum<graph::ReduceMaxOp>(c, x, dims, keeps(c))};
  });
  t.add({"argmax.default"}, position<graph::ArgmaxOp>);
  t.add({"argmin.default"}, position<graph::ArgminOp>);
  t.add({"any.default", "any.dim", "any.dims", "_is_any_true.default"}, truth<graph::AnyOp>);
  t.add({"all.default", "all.dim", "all.dims", "_is_all_true.default"}, truth<graph::AllOp>);
  t.add({"var.default", "var.dim", "var.correction"}, variance<false>);
  t.add({"std.default", "std.dim", "std.correction"}, variance<true>);
  t.add({"var_mean.default", "var_mean.dim", "var_mean.correction"}, varianceAndMean<false>);
  t.add({"std_mean.default", "std_mean.dim", "std_mean.correction"}, varianceAndMean<true>);
  t.add({"count_nonzero.default", "count_nonzero.dim_IntList"}, [](Call &c) -> Results {
    return c.b.sum(c.b.cast(c.b.cast(c.tensor("self"), c.b.i1()), c.b.i64()), dimsOf(c), false);
  });
  t.add({"histc.default"}, histogram);
}

} // namespace stator::torch_export
