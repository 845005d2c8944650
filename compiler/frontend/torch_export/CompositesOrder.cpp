// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sorting, selection by rank, cumulative sums, search in sorted sequences.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

struct Sorted {
  Value values, positions;
};
Sorted sortAlong(Call &c, Value x, int64_t d, bool descending) {
  if (GraphBuilder::rank(x) == 0) return {x, c.b.scalarInt(0, c.b.i64())};
  SmallVector<NamedAttribute> attributes{c.b.attr("dim", d)};
  if (descending) attributes.push_back(c.b.unit("descending"));
  Operation *op = c.b.make<graph::SortOp>({x}, attributes);
  return {op->getResult(0), op->getResult(1)};
}

Results sort(Call &c) {
  Value x = c.tensor("self");
  Sorted s = sortAlong(c, x, GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)), c.flag("descending"));
  return {s.values, s.positions};
}

Results topk(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) == 0) return {x, c.b.scalarInt(0, c.b.i64())};
  SmallVector<NamedAttribute> attributes{c.b.attr("k", c.integer("k")),
                                         c.b.attr("dim", GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)))};
  if (!c.flag("largest")) attributes.push_back(c.b.unit("smallest"));
  Operation *op = c.b.make<graph::TopkOp>({x}, attributes);
  return {op->getResult(0), op->getResult(1)};
}

Value squeezeUnless(Call &c, Value x, int64_t d, bool keep) {
  return keep || GraphBuilder::rank(x) == 0 ? x : c.b.squeeze(x, {d});
}

/// The k-th smallest (from 0) along a dimension; a NaN makes the result NaN where `propagate`.
Results nth(Call &c, Value x, int64_t d, int64_t k, bool keep, bool propagate) {
  if (GraphBuilder::rank(x) == 0) return {x, c.b.scalarInt(0, c.b.i64())};
  Sorted s = sortAlong(c, x, d, false);
  Value value = c.b.slice(s.values, d, c.b.dim(k), c.b.dim(1)),
        position = c.b.slice(s.positions, d, c.b.dim(k), c.b.dim(1));
  if (propagate && isFloat(GraphBuilder::element(x))) {
    // NaN sorts last: where the largest is NaN so is the result, at the position of the first NaN.
    int64_t n = GraphBuilder::staticDim(x, d, "median");
    Value last = c.b.slice(s.values, d, c.b.dim(n - 1), c.b.dim(1)), isNan = c.b.unary<graph::IsNanOp>(last);
    Value first = c.b.reduce<graph::ArgmaxOp>(x, {d}, true);
    value = c.b.where(isNan, last, value);
    position = c.b.where(isNan, first, position);
  }
  return {squeezeUnless(c, value, d, keep), squeezeUnless(c, position, d, keep)};
}

Results median(Call &c) {
  Value x = c.tensor("self");
  bool along = c.has("dim");
  if (!along) x = c.b.flatten(x);
  int64_t d = along ? GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)) : 0;
  int64_t n = GraphBuilder::rank(x) == 0 ? 1 : GraphBuilder::staticDim(x, d, "median");
  if (n == 0) Call::fail("the median of no elements");
  Results both = nth(c, x, d, (n - 1) / 2, along && c.flag("keepdim"), true);
  if (!along) both.pop_back();
  return both;
}

Results kthValue(Call &c) {
  Value x = c.tensor("self");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)), k = c.integer("k");
  int64_t n = GraphBuilder::rank(x) == 0 ? 1 : GraphBuilder::staticDim(x, d, "kthvalue");
  if (k < 1 || k > n) Call::fail("the value number " + Twine(k) + " of " + Twine(n));
  return nth(c, x, d, k - 1, c.flag("keepdim"), false);
}

/// Quantiles along a dimension by linear interpolation (or as `interpolation` says); those of a tensor q come first in
/// the result. A NaN makes the result NaN, or is left out where `skipNan`.
template <bool skipNan> Results quantile(Call &c) {
  Value x = c.tensor("self");
  if (c.isNone("dim")) x = c.b.flatten(x);
  bool flat = GraphBuilder::rank(x) == 0;
  int64_t d = c.isNone("dim") ? 0 : GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  if (flat) x = c.b.unsqueeze(x, 0);
  int64_t last = GraphBuilder::rank(x) - 1;
  Type type = GraphBuilder::element(x);
  Operand given = c.operand("q");
  if (!given.value && !(given.number.asDouble() >= 0 && given.number.asDouble() <= 1))
    Call::fail("a quantile outside [0, 1]");
  Value q = c.b.as(given, type);
  bool several = GraphBuilder::rank(q) == 1;
  if (GraphBuilder::rank(q) > 1) Call::fail("quantiles of rank " + Twine(GraphBuilder::rank(q)));
  if (!several) q = c.b.unsqueeze(q, 0);
  Sorted s = sortAlong(c, c.b.moveAxis(x, d, last), last, false); // NaN last.
  Value nan = c.b.cast(c.b.unary<graph::IsNanOp>(s.values), c.b.i64());
  Value nans = c.b.sum(nan, {last}, true), size = c.b.size(GraphBuilder::dim(s.values, last));
  Value count = skipNan ? c.b.sub(size, nans) : size;
  Value rank = c.b.mul(q, c.b.cast(c.b.sub(count, c.b.scalarInt(1, c.b.i64())), type)); // [.., q]
  StringRef mode = c.string("interpolation");
  if (mode == "lower") rank = c.b.unary<graph::FloorOp>(rank);
  if (mode == "higher") rank = c.b.unary<graph::CeilOp>(rank);
  if (mode == "nearest") rank = c.b.unary<graph::RoundOp>(rank);
  Value below = c.b.unary<graph::FloorOp>(rank);
  Value weight = mode == "midpoint" ? c.b.scalar(0.5, type) : c.b.sub(rank, below);
  Dims wanted = GraphBuilder::dims(s.values);
  wanted[last] = GraphBuilder::dim(q, 0);
  auto at = [&](Value place) {
    Value index = c.b.maximum(c.b.cast(place, c.b.i64()), c.b.scalarInt(0, c.b.i64()));
    return c.b.op<graph::GatherOp>({s.values, c.b.broadcastTo(index, wanted)}, {c.b.attr("dim", last)});
  };
  Value low = at(below), high = at(c.b.unary<graph::CeilOp>(rank));
  Value y = c.b.where(c.b.eq(low, high), low, c.b.add(low, c.b.mul(c.b.sub(high, low), weight)));
  Value zero = c.b.scalarInt(0, c.b.i64());
  Value lost = skipNan ? c.b.eq(count, zero) : c.b.gt(nans, zero);
  y = c.b.where(lost, c.b.scalar(NAN, type), y);
  // [.., q] -> [q, .., 1 or none at d, ..].
  y = c.b.moveAxis(y, last, 0);
  bool keep = c.flag("keepdim");
  if (keep && c.isNone("dim")) {
    Dims ones(size_t(GraphBuilder::rank(c.tensor("self"))), c.b.dim(1));
    ones.insert(ones.begin(), GraphBuilder::dim(q, 0));
    y = c.b.reshape(y, ones);
  } else if (keep && !flat) {
    y = c.b.unsqueeze(y, d + 1);
  }
  return several ? y : c.b.select(y, 0, c.b.dim(0));
}

/// The lower median of what is not NaN, and where it stands.
Results nanMedian(Call &c) {
  Value x = c.tensor("self");
  bool along = c.has("dim");
  if (!along) x = c.b.flatten(x);
  if (GraphBuilder::rank(x) == 0) return {x, c.b.scalarInt(0, c.b.i64())};
  int64_t d = along ? GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)) : 0;
  Sorted s = sortAlong(c, x, d, false);
  Value number = c.b.logicalNot(c.b.unary<graph::IsNanOp>(s.values));
  Value count = c.b.sum(c.b.cast(number, c.b.i64()), {d}, true), one = c.b.scalarInt(1, c.b.i64());
  Value place = c.b.binary<graph::FloorDivideOp>(c.b.sub(count, one), c.b.scalarInt(2, c.b.i64()));
  place = c.b.maximum(place, c.b.scalarInt(0, c.b.i64()));
  auto at = [&](Value from) { return c.b.op<graph::GatherOp>({from, place}, {c.b.attr("dim", d)}); };
  Results both{squeezeUnless(c, at(s.values), d, along && c.flag("keepdim")),
               squeezeUnless(c, at(s.positions), d, along && c.flag("keepdim"))};
  if (!along) both.pop_back();
  return both;
}

/// Whether each element is among others.
Results isIn(Call &c) {
  Operand elements = c.operand(c.has("element") ? "element" : "elements"),
          others = c.operand(c.has("test_element") ? "test_element" : "test_elements");
  auto v = c.b.promote({elements, others}, Promotion::Same);
  Value row = c.b.flatten(v[1]), x = c.b.unsqueeze(v[0], GraphBuilder::rank(v[0]));
  Value found = c.b.reduce<graph::AnyOp>(c.b.eq(x, row), {GraphBuilder::rank(v[0])}, false);
  return c.flag("invert") ? c.b.logicalNot(found) : found;
}

template <typename OpTy> Results cumulative(Call &c) {
  Value x = c.tensor("self");
  Type type = GraphBuilder::element(x);
  x = c.b.cast(x, c.has("dtype") ? c.dtype("dtype", isFloat(type) ? type : c.b.i64()) : type);
  if (GraphBuilder::rank(x) == 0) return c.b.copy(x);
  return c.b.opAs<OpTy>(x.getType(), {x},
                        {c.b.attr("dim", GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)))});
}

template <typename OpTy> Results cumulativeExtremum(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) == 0) return {x, c.b.scalarInt(0, c.b.i64())};
  Operation *op = c.b.make<OpTy>({x}, {c.b.attr("dim", GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)))});
  return {op->getResult(0), op->getResult(1)};
}

/// Each prefix is shifted by its own running maximum, so nothing under- or overflows: the sum of exp(x[j] - m[i]) over
/// j <= i.
Results logCumSumExp(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) == 0) return c.b.copy(x);
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)), rank = GraphBuilder::rank(x);
  Value wide = c.b.moveAxis(c.b.widen(x), d, rank - 1);
  Value running = c.b.make<graph::CummaxOp>({wide}, {c.b.attr("dim", rank - 1)})->getResult(0);
  Value finite = c.b.where(c.b.unary<graph::IsInfOp>(running), c.b.scalar(0, GraphBuilder::element(wide)), running);
  Value terms = c.b.unary<graph::ExpOp>(c.b.sub(c.b.unsqueeze(wide, rank - 1), c.b.unsqueeze(finite, rank)));
  Dims square = GraphBuilder::dims(terms);
  Value before = c.b.le(c.b.iota(square, rank, c.b.i64()), c.b.iota(square, rank - 1, c.b.i64()));
  Value sum = c.b.sum(c.b.where(before, terms, c.b.scalar(0, GraphBuilder::element(wide))), {rank}, false);
  return narrow(c, c.b.moveAxis(c.b.add(c.b.unary<graph::LogOp>(sum), finite), rank - 1, d), x);
}

/// The number of boundaries below each value (`right`: below or equal).
Value search(Call &c, Value boundaries, Value values, bool right, Type type) {
  auto v = c.b.promote({boundaries, values}, Promotion::Same);
  int64_t last = GraphBuilder::rank(values);
  Value edge = v[0];
  if (GraphBuilder::rank(edge) > 1) edge = c.b.unsqueeze(edge, GraphBuilder::rank(edge) - 1);
  Value value = c.b.unsqueeze(v[1], last);
  Value below = right ? c.b.le(edge, value) : c.b.lt(edge, value);
  return c.b.sum(c.b.cast(below, type), {GraphBuilder::rank(below) - 1}, false);
}
bool fromRight(Call &c) {
  return c.flag("right") || (c.has("side") && !c.isNone("side") && c.string("side") == "right");
}
Type indexType(Call &c) { return c.flag("out_int32") ? Type(c.b.b.getI32Type()) : c.b.i64(); }

Results cumulativeTrapezoid(Call &c) {
  Value y = c.tensor("y");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(y));
  DimExpr less = DimExpr::sub(GraphBuilder::dim(y, d), c.b.dim(1));
  Value pairs = c.b.add(c.b.slice(y, d, c.b.dim(0), less), c.b.slice(y, d, c.b.dim(1), less));
  Value sums = c.b.opAs<graph::CumsumOp>(pairs.getType(), {pairs}, {c.b.attr("dim", d)});
  return c.b.mul(sums, c.real("dx") / 2);
}

} // namespace

void addOrderComposites(CompositeTable &t) {
  t.add({"sort.default", "sort.stable"}, sort);
  t.add({"argsort.default", "argsort.stable"}, [](Call &c) -> Results { return sort(c)[1]; });
  t.add({"msort.default"}, [](Call &c) -> Results { return sortAlong(c, c.tensor("self"), 0, false).values; });
  t.add({"topk.default"}, topk);
  t.add({"median.default", "median.dim"}, median);
  t.add({"kthvalue.default"}, kthValue);
  t.add({"quantile.scalar", "quantile.default"}, quantile<false>);
  t.add({"nanquantile.scalar", "nanquantile.default"}, quantile<true>);
  t.add({"nanmedian.default", "nanmedian.dim"}, nanMedian);
  t.add({"isin.Tensor_Tensor", "isin.Tensor_Scalar", "isin.Scalar_Tensor"}, isIn);
  t.add({"cumsum.default"}, cumulative<graph::CumsumOp>);
  t.add({"cumprod.default"}, cumulative<graph::CumprodOp>);
  t.add({"cummax.default"}, cumulativeExtremum<graph::CummaxOp>);
  t.add({"cummin.default"}, cumulativeExtremum<graph::CumminOp>);
  t.add({"logcumsumexp.default"}, logCumSumExp);
  t.add({"cumulative_trapezoid.dx"}, cumulativeTrapezoid);
  t.add({"bucketize.Tensor", "bucketize.Scalar"}, [](Call &c) -> Results {
    return search(c, c.tensor("boundaries"), c.tensor("self"), c.flag("right"), indexType(c));
  });
  t.add({"searchsorted.Tensor", "searchsorted.Scalar"}, [](Call &c) -> Results {
    if (!c.isNone("sorter")) Call::fail("searchsorted with a sorter");
    return search(c, c.tensor("sorted_sequence"), c.tensor("self"), fromRight(c), indexType(c));
  });
}

} // namespace stator::torch_export
