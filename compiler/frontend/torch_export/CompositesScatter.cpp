// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gather and scatter: an index for every element.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

Results gather(Call &c) {
  Value x = c.tensor("self"), index = asIndex(c, c.tensor("index"));
  if (GraphBuilder::rank(x) == 0 || GraphBuilder::rank(index) == 0) {
    Value flat = c.b.take(c.b.flatten(x), c.b.flatten(index), 0);
    return c.b.reshape(flat, GraphBuilder::dims(index));
  }
  return c.b.op<graph::GatherOp>({x, index},
                                 {c.b.attr("dim", GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)))});
}

Value scatterInto(Call &c, Value x, Value index, Value updates, graph::ScatterMode mode) {
  Dims shape = GraphBuilder::dims(x);
  bool scalar = GraphBuilder::rank(x) == 0;
  if (scalar) x = c.b.unsqueeze(x, 0);
  if (GraphBuilder::rank(index) == 0) index = c.b.unsqueeze(index, 0);
  if (GraphBuilder::rank(updates) == 0 && scalar) updates = c.b.unsqueeze(updates, 0);
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  // The source may be larger than the index: its leading corner counts.
  Dims wanted = GraphBuilder::dims(index);
  if (GraphBuilder::rank(updates) == 0) updates = c.b.broadcastTo(updates, wanted);
  if (updates && GraphBuilder::rank(updates) != int64_t(wanted.size()))
    Call::fail("scatter of a source and an index of different ranks");
  for (size_t i = 0; i < wanted.size(); ++i)
    if (GraphBuilder::dim(updates, int64_t(i)) != wanted[i])
      updates = c.b.slice(updates, int64_t(i), c.b.dim(0), wanted[i]);
  Value y = c.b.opAs<graph::ScatterOp>(x.getType(), {x, index, c.b.cast(updates, GraphBuilder::element(x))},
                                       {c.b.attr("dim", d), scatterMode(c, mode)});
  return c.b.reshape(y, shape);
}

Value valueArgument(Call &c) {
  return c.b.reshape(c.b.as(c.operand("value"), GraphBuilder::element(c.tensor("self"))), {});
}

template <bool fromValue> Results scatterSet(Call &c) {
  return scatterInto(c, c.tensor("self"), asIndex(c, c.tensor("index")), fromValue ? valueArgument(c) : c.tensor("src"),
                     graph::ScatterMode::Set);
}

template <bool fromValue> Results scatterReduceOld(Call &c) {
  StringRef how = c.string("reduce");
  if (how != "add" && how != "multiply") Call::fail("unknown reduction '" + how + "'");
  return scatterInto(c, c.tensor("self"), asIndex(c, c.tensor("index")), fromValue ? valueArgument(c) : c.tensor("src"),
                     how == "add" ? graph::ScatterMode::Add : graph::ScatterMode::Mul);
}

Results scatterReduce(Call &c) {
  Value x = c.tensor("self"), index = asIndex(c, c.tensor("index")), source = c.tensor("src");
  StringRef how = c.string("reduce");
  Type type = GraphBuilder::element(x);
  graph::ScatterMode mode = graph::ScatterMode::Add;
  Value neutral = c.b.scalarInt(0, type);
  if (how == "prod")
    mode = graph::ScatterMode::Mul, neutral = c.b.scalarInt(1, type);
  else if (how == "amax")
    mode = graph::ScatterMode::Max, neutral = c.b.lowest(type);
  else if (how == "amin")
    mode = graph::ScatterMode::Min, neutral = c.b.highest(type);
  else if (how != "sum" && how != "mean")
    Call::fail("unknown reduction '" + how + "'");
  bool own = c.flag("include_self");
  Value start = own ? x : scatterInto(c, x, index, neutral, graph::ScatterMode::Set);
  Value y = scatterInto(c, start, index, source, mode);
  if (how != "mean") return y;
  Value ones = c.b.full(Number::of(int64_t(1)), GraphBuilder::dims(index), type);
  Value counts = c.b.full(Number::of(int64_t(own ? 1 : 0)), GraphBuilder::dims(x), type);
  counts = c.b.maximum(scatterInto(c, counts, index, ones, graph::ScatterMode::Add), c.b.scalarInt(1, type));
  return isFloat(type) ? c.b.div(y, counts) : c.b.binary<graph::FloorDivideOp>(y, counts);
}

Results takeAlong(Call &c) {
  Value x = c.tensor("self"), index = asIndex(c, c.tensor("indices"));
  if (c.isNone("dim")) return c.b.take(c.b.flatten(x), c.b.flatten(index), 0);
  int64_t rank = GraphBuilder::rank(x), d = GraphBuilder::axis(c.integer("dim"), rank);
  if (GraphBuilder::rank(index) != rank || rank == 0) Call::fail("take_along_dim of tensors of different ranks");
  // All dimensions but the indexed one broadcast.
  Dims xs = GraphBuilder::dims(x), is = GraphBuilder::dims(index), xOthers = xs, iOthers = is;
  xOthers[d] = iOthers[d] = c.b.dim(1);
  Dims common = c.b.broadcastDims(xOthers, iOthers), xWanted = common, iWanted = common;
  xWanted[d] = xs[d];
  iWanted[d] = is[d];
  return c.b.op<graph::GatherOp>({c.b.broadcastTo(x, xWanted), c.b.broadcastTo(index, iWanted)}, {c.b.attr("dim", d)});
}

Results diagonalScatter(Call &c) {
  Value x = c.tensor("self"), source = c.b.cast(c.tensor("src"), GraphBuilder::element(x));
  int64_t rank = GraphBuilder::rank(x), a = GraphBuilder::axis(c.integer("dim1"), rank),
          e = GraphBuilder::axis(c.integer("dim2"), rank), offset = c.integer("offset");
  if (rank < 2 || a == e) Call::fail("a diagonal needs two dimensions");
  int64_t rows = GraphBuilder::staticDim(x, a, "diagonal_scatter"),
          columns = GraphBuilder::staticDim(x, e, "diagonal_scatter");
  int64_t length =
      std::max<int64_t>(0, offset >= 0 ? std::min(rows, columns - offset) : std::min(rows + offset, columns));
  Value i = c.b.iota({c.b.dim(length)}, 0, c.b.i64(), double(std::max<int64_t>(-offset, 0))),
        j = c.b.iota({c.b.dim(length)}, 0, c.b.i64(), double(std::max<int64_t>(offset, 0)));
  // The two dimensions to the front, the diagonal of the source likewise.
  Ints order{a, e}, back(size_t(rank), 0);
  for (int64_t d = 0; d < rank; ++d)
    if (d != a && d != e) order.push_back(d);
  for (auto [to, from] : llvm::enumerate(order)) back[from] = int64_t(to);
  Value front = c.b.transpose(x, order), updates = c.b.moveAxis(source, rank - 2, 0);
  Value y = c.b.opAs<graph::IndexPutOp>(front.getType(), {front, i, j, updates},
                                        {c.b.ints("dims", {0, 1}), scatterMode(c, graph::ScatterMode::Set)});
  return c.b.transpose(y, back);
}

/// The last dimension of x on a diagonal of two new ones, a and e, zeros elsewhere.
Value diagonalMatrix(Call &c, Value x, int64_t a, int64_t e, int64_t offset) {
  int64_t rank = GraphBuilder::rank(x) + 1;
  a = GraphBuilder::axis(a, rank);
  e = GraphBuilder::axis(e, rank);
  if (std::abs(offset) > INT32_MAX) Call::fail("a diagonal at " + Twine(offset));
  if (rank < 2 || a == e) Call::fail("diag_embed into one dimension");
  int64_t size = GraphBuilder::staticDim(x, rank - 2, "diag_embed");
  DimExpr side = c.b.dim(size + std::abs(offset));
  // [.., n] -> [.., rows, columns] -> the two dimensions in place.
  Dims low(size_t(rank - 1), c.b.dim(0)), high = low;
  low.back() = c.b.dim(std::max<int64_t>(-offset, 0));
  high.back() = c.b.dim(std::max<int64_t>(offset, 0));
  Value padded = c.b.pad(x, c.b.scalarInt(0, GraphBuilder::element(x)), low, high);
  Dims square{side, side};
  Value on =
      c.b.eq(c.b.sub(c.b.iota(square, 1, c.b.i64()), c.b.iota(square, 0, c.b.i64())), c.b.scalarInt(offset, c.b.i64()));
  Value y = c.b.where(on, c.b.unsqueeze(padded, rank - 1), c.b.scalarInt(0, GraphBuilder::element(x)));
  int64_t first = std::min(a, e), second = std::max(a, e);
  if (a > e) y = c.b.swapAxes(y, rank - 2, rank - 1);
  y = c.b.moveAxis(y, rank - 2, first);
  return c.b.moveAxis(y, rank - 1, second);
}

} // namespace

void addScatterComposites(CompositeTable &t) {
  t.add({"gather.default"}, gather);
  t.add({"take.default"}, [](Call &c) -> Results {
    Value index = asIndex(c, c.tensor("index"));
    return c.b.reshape(c.b.take(c.b.flatten(c.tensor("self")), c.b.flatten(index), 0), GraphBuilder::dims(index));
  });
  t.add({"take_along_dim.default"}, takeAlong);
  t.add({"scatter.src"}, scatterSet<false>);
  t.add({"scatter.value"}, scatterSet<true>);
  t.add({"scatter.reduce"}, scatterReduceOld<false>);
  t.add({"scatter.value_reduce"}, scatterReduceOld<true>);
  t.add({"scatter_add.default"}, [](Call &c) -> Results {
    return scatterInto(c, c.tensor("self"), asIndex(c, c.tensor("index")), c.tensor("src"), graph::ScatterMode::Add);
  });
  t.add({"scatter_reduce.two"}, scatterReduce);
  t.add({"diagonal_scatter.default"}, diagonalScatter);
  t.add({"diag_embed.default"}, [](Call &c) -> Results {
    return diagonalMatrix(c, c.tensor("self"), c.integer("dim1"), c.integer("dim2"), c.integer("offset"));
  });
  t.add({"diag.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    int64_t rank = GraphBuilder::rank(x), offset = c.integer("diagonal");
    if (rank == 1) return diagonalMatrix(c, x, 0, 1, offset);
    if (rank != 2) Call::fail("the diagonal of a tensor of rank " + Twine(rank));
    return c.b.copy(diagonalOf(c, x, 0, 1, offset));
  });
  t.add({"diagflat.default"},
        [](Call &c) -> Results { return diagonalMatrix(c, c.b.flatten(c.tensor("self")), 0, 1, c.integer("offset")); });
}

} // namespace stator::torch_export
