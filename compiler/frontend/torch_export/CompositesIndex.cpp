// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reading and writing by index lists: x[i, :, j] and relatives.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {

NamedAttribute scatterMode(Call &c, graph::ScatterMode mode) {
  return c.b.attr("mode", graph::ScatterModeAttr::get(c.b.context(), mode));
}

Value asIndex(Call &c, Value index) {
  Type type = GraphBuilder::element(index);
  if (isFloat(type) || isBool(type)) Call::fail("an index that is not an integer");
  return type.isInteger(32) || type.isInteger(64) ? index : c.b.cast(index, c.b.i64());
}

namespace {

bool isMask(Value index) {
  return isBool(GraphBuilder::element(index)) || GraphBuilder::element(index).isUnsignedInteger(8);
}

/// The positions of what is not zero, [count, rank]. Their number is data-dependent: `count` names it.
Value positions(Call &c, Value mask, DimExpr count) {
  Value isSet = c.b.cast(mask, c.b.i1());
  c.bindSize(count, c.b.sum(c.b.cast(isSet, c.b.i64()), {}, false));
  Dims dims{count, c.b.dim(GraphBuilder::rank(mask))};
  return c.b.opAs<graph::NonzeroOp>(graph::tensorOf(dims, c.b.i64()), {isSet}, {c.b.attr("fill", int64_t(0))});
}

/// Masks replaced by the positions they stand for. `count` is the size that all of them have.
SmallVector<Value> withoutMasks(Call &c, ArrayRef<Value> given, DimExpr count) {
  SmallVector<Value> result;
  for (Value index : given) {
    if (!index || !isMask(index)) {
      result.push_back(index);
      continue;
    }
    if (!count) Call::fail("a mask whose number of elements the program does not name");
    Value rows = positions(c, index, count);
    for (int64_t i = 0; i < GraphBuilder::rank(index); ++i) result.push_back(c.b.select(rows, 1, c.b.dim(i)));
  }
  return result;
}

bool hasMask(ArrayRef<Value> indices) {
  return llvm::any_of(indices, [](Value index) { return index && isMask(index); });
}

/// An index list made regular: the indexed dimensions of x (transposed to the front where they do not lie together) and
/// index tensors of one shape.
struct Indexing {
  Value x;
  SmallVector<Value> indices;
  Ints dims;
  /// The permutation that was applied to x; empty where none was.
  Ints order;
};

Indexing indexing(Call &c, Value x, SmallVector<Value> given) {
  Indexing result;
  int64_t rank = GraphBuilder::rank(x);
  if (int64_t(given.size()) > rank) Call::fail(Twine(given.size()) + " indices for a tensor of rank " + Twine(rank));
  Type type;
  for (auto [d, index] : llvm::enumerate(given)) {
    if (!index) continue;
    if (isMask(index)) Call::fail("a mask among other indices");
    result.dims.push_back(int64_t(d));
    result.indices.push_back(asIndex(c, index));
    Type one = GraphBuilder::element(result.indices.back());
    type = type && type != one ? c.b.i64() : one;
  }
  if (result.dims.empty()) {
    result.x = x;
    return result;
  }
  Dims common = c.b.broadcastDims(result.indices);
  for (Value &index : result.indices) index = c.b.broadcastTo(c.b.cast(index, type), common);
  bool adjacent = result.dims.back() - result.dims.front() + 1 == int64_t(result.dims.size());
  if (!adjacent) {
    result.order = result.dims;
    for (int64_t d = 0; d < rank; ++d)
      if (!llvm::is_contained(result.dims, d)) result.order.push_back(d);
    x = c.b.transpose(x, result.order);
    result.dims = counting(0, int64_t(result.dims.size()));
  }
  result.x = x;
  return result;
}

Value read(Call &c, const Indexing &i) {
  if (i.dims.empty()) return c.b.copy(i.x);
  if (i.dims.size() == 1) return c.b.take(i.x, i.indices[0], i.dims[0]);
  SmallVector<Value> operands{i.x};
  operands.append(i.indices.begin(), i.indices.end());
  return c.b.op<graph::IndexOp>(operands, {c.b.ints("dims", i.dims)});
}

Value put(Call &c, const Indexing &i, Value updates, graph::ScatterMode mode) {
  SmallVector<Value> operands{i.x};
  operands.append(i.indices.begin(), i.indices.end());
  operands.push_back(updates);
  Value y = c.b.opAs<graph::IndexPutOp>(i.x.getType(), operands, {c.b.ints("dims", i.dims), scatterMode(c, mode)});
  if (i.order.empty()) return y;
  Ints back(i.order.size(), 0);
  for (auto [to, from] : llvm::enumerate(i.order)) back[from] = int64_t(to);
  return c.b.transpose(y, back);
}

Results indexRead(Call &c) {
  Value x = c.tensor("self");
  SmallVector<Value> indices = c.tensors("indices");
  if (hasMask(indices)) {
    // The masks' size stands in the result at the place of the first index, or in front where indices do not lie
    // together.
    auto declared = c.declaredDims();
    int64_t first = -1, last = -1, covered = 0;
    for (auto [d, index] : llvm::enumerate(indices)) {
      if (!index) continue;
      if (first < 0) first = int64_t(d);
      last = int64_t(d);
      ++covered;
    }
    size_t place = last - first + 1 == covered ? size_t(first) : 0;
    if (!declared || place >= declared->size()) Call::fail("the size of the result is not stated");
    indices = withoutMasks(c, indices, (*declared)[place]);
  }
  return read(c, indexing(c, x, indices));
}

Results nonzeroStatic(Call &c) {
  Value mask = c.b.cast(c.tensor("self"), c.b.i1());
  Dims dims{c.size("size"), c.b.dim(GraphBuilder::rank(mask))};
  return c.b.opAs<graph::NonzeroOp>(graph::tensorOf(dims, c.b.i64()), {mask},
                                    {c.b.attr("fill", c.integer("fill_value"))});
}

Results maskedSelect(Call &c) {
  Value x = c.tensor("self"), mask = c.tensor("mask");
  auto declared = c.declaredDims();
  if (!declared || declared->size() != 1) Call::fail("the size of the result is not stated");
  Dims common = c.b.broadcastDims({x, mask});
  Value rows = positions(c, c.b.flatten(c.b.broadcastTo(mask, common)), (*declared)[0]);
  return c.b.take(c.b.flatten(c.b.broadcastTo(x, common)), c.b.select(rows, 1, c.b.dim(0)), 0);
}

/// The shape of a read, without reading.
Dims shapeOf(Call &c, const Indexing &i) {
  Dims dims = GraphBuilder::dims(i.x), result(dims.begin(), dims.begin() + i.dims.front());
  result.append(GraphBuilder::dims(i.indices[0]));
  result.append(dims.begin() + i.dims.back() + 1, dims.end());
  return result;
}

/// The dimensions of x behind those that the indices cover.
int64_t trailingRank(Value x, ArrayRef<Value> indices) {
  int64_t covered = 0;
  for (Value index : indices) covered += index && isMask(index) ? GraphBuilder::rank(index) : 1;
  return GraphBuilder::rank(x) - covered;
}

/// x[mask] = value with one value for all: a selection.
Results putMasked(Call &c, Value x, ArrayRef<Value> indices, Value values, bool accumulate) {
  int64_t place = -1;
  for (auto [d, index] : llvm::enumerate(indices)) {
    if (!index) continue;
    if (place >= 0) Call::fail("writing by a mask together with other indices");
    place = int64_t(d);
  }
  Value mask = c.b.cast(indices[place], c.b.i1());
  int64_t rank = GraphBuilder::rank(x), covered = GraphBuilder::rank(mask);
  if (place + covered > rank)
    Call::fail("a mask of rank " + Twine(covered) + " at dimension " + Twine(place) + " of a tensor of rank " +
               Twine(rank));
  Dims shape(size_t(rank), c.b.dim(1)), maskDims = GraphBuilder::dims(mask);
  for (int64_t i = 0; i < covered; ++i) shape[place + i] = maskDims[i];
  // Values must be the same for every masked place: nothing may stand for the dimension that the mask collapses.
  Dims valueDims = GraphBuilder::dims(values);
  int64_t trailing = rank - place - covered;
  if (place != 0 && !valueDims.empty() && !(valueDims.size() == 1 && valueDims[0].isConstant(1)))
    Call::fail("writing several values by a mask");
  if (int64_t(valueDims.size()) > trailing) {
    for (size_t i = 0; i + size_t(trailing) < valueDims.size(); ++i)
      if (!valueDims[i].isConstant(1)) Call::fail("writing several values by a mask");
    values = c.b.reshape(values, ArrayRef<DimExpr>(valueDims).take_back(size_t(trailing)));
  }
  if (accumulate) values = c.b.add(x, values);
  return c.b.where(c.b.broadcastTo(c.b.reshape(mask, shape), GraphBuilder::dims(x)), values, x);
}

Results indexPut(Call &c) {
  Value x = c.tensor("self"), values = c.b.cast(c.tensor("values"), GraphBuilder::element(x));
  SmallVector<Value> indices = c.tensors("indices");
  bool accumulate = c.flag("accumulate");
  if (hasMask(indices)) {
    // One value for all masked places is a selection; several values need the places themselves.
    DimExpr rows = GraphBuilder::rank(values) > 0 ? GraphBuilder::dim(values, 0) : DimExpr();
    if (!rows || rows.isConstant(1) || int64_t(GraphBuilder::rank(values)) <= trailingRank(x, indices))
      return putMasked(c, x, indices, values, accumulate);
    indices = withoutMasks(c, indices, rows);
  }
  Indexing i = indexing(c, x, indices);
  if (i.dims.empty()) return c.b.broadcastTo(accumulate ? c.b.add(x, values) : values, GraphBuilder::dims(x));
  return put(c, i, c.b.broadcastTo(values, shapeOf(c, i)),
             accumulate ? graph::ScatterMode::Add : graph::ScatterMode::Set);
}

/// One index list along one dimension.
Results putAlong(Call &c, Value updates, graph::ScatterMode mode) {
  Value x = c.tensor("self"), index = asIndex(c, c.tensor("index"));
  if (GraphBuilder::rank(index) == 0) index = c.b.unsqueeze(index, 0);
  bool scalar = GraphBuilder::rank(x) == 0;
  if (scalar) x = c.b.unsqueeze(x, 0);
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  Dims dims = GraphBuilder::dims(x);
  dims[d] = GraphBuilder::dim(index, 0);
  if (GraphBuilder::rank(updates) == 0 || GraphBuilder::rank(updates) == int64_t(dims.size()))
    updates = c.b.broadcastTo(updates, dims);
  Value y = c.b.opAs<graph::IndexPutOp>(x.getType(), {x, index, c.b.cast(updates, GraphBuilder::element(x))},
                                        {c.b.ints("dims", {d}), scatterMode(c, mode)});
  return scalar ? c.b.reshape(y, {}) : y;
}

Results indexAdd(Call &c) {
  Value source = c.tensor("source");
  Number alpha = c.number("alpha");
  if (alpha.asDouble() != 1) source = c.b.mul(source, c.b.scalar(alpha, GraphBuilder::element(source)));
  return putAlong(c, source, graph::ScatterMode::Add);
}

Results indexSelect(Call &c) {
  Value x = c.tensor("self"), index = asIndex(c, c.tensor("index"));
  if (GraphBuilder::rank(index) == 0) index = c.b.unsqueeze(index, 0);
  if (GraphBuilder::rank(x) == 0) return c.b.reshape(c.b.take(c.b.unsqueeze(x, 0), index, 0), {});
  return c.b.take(x, index, GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x)));
}

Results embedding(Call &c) { return c.b.take(c.tensor("weight"), asIndex(c, c.tensor("indices")), 0); }

/// Bags are runs of indices; each starts at its offset. The bag of position i is the number of offsets at or below i,
/// less one.
Results embeddingBag(Call &c) {
  Value weight = c.tensor("weight"), indices = asIndex(c, c.tensor("indices")), offsets = c.tensor("offsets");
  if (GraphBuilder::rank(weight) != 2 || GraphBuilder::rank(indices) != 1 || GraphBuilder::rank(offsets) != 1)
    Call::fail("embedding_bag of tensors of unexpected ranks");
  int64_t mode = c.integer("mode");
  DimExpr count = GraphBuilder::dim(indices, 0), bags = GraphBuilder::dim(offsets, 0);
  Value kept;
  if (c.flag("include_last_offset")) {
    // The last offset ends the last bag; what lies behind it belongs to none.
    bags = DimExpr::sub(bags, c.b.dim(1));
    Value end = c.b.cast(c.b.slice(offsets, 0, bags, c.b.dim(1)), c.b.i64());
    kept = c.b.lt(c.b.iota({count}, 0, c.b.i64()), end);
    offsets = c.b.slice(offsets, 0, c.b.dim(0), bags);
  }
  Dims table{count, bags};
  Value starts = c.b.broadcastTo(c.b.unsqueeze(c.b.cast(offsets, c.b.i64()), 0), table);
  Value bag = c.b.sub(c.b.sum(c.b.cast(c.b.le(starts, c.b.iota(table, 0, c.b.i64())), c.b.i64()), {1}, false),
                      c.b.scalarInt(1, c.b.i64()));
  Value rows = c.b.widen(c.b.take(weight, indices, 0));
  Type type = GraphBuilder::element(rows);
  if (Value scales = c.optional("per_sample_weights")) rows = c.b.mul(rows, c.b.unsqueeze(c.b.cast(scales, type), 1));
  if (c.has("padding_idx") && !c.isNone("padding_idx") && c.integer("padding_idx") >= 0) {
    Value real = c.b.ne(indices, c.b.scalarInt(c.integer("padding_idx"), GraphBuilder::element(indices)));
    kept = kept ? c.b.logicalAnd(kept, real) : real;
  }
  Value counted = kept ? c.b.cast(kept, type) : c.b.full(Number::of(1.0), {count}, type);
  double empty = mode == 2 ? -INFINITY : 0;
  if (kept) rows = c.b.where(c.b.unsqueeze(kept, 1), rows, c.b.scalar(empty, type));
  auto gatherInto = [&](Value start, Value updates, graph::ScatterMode how) {
    return c.b.opAs<graph::IndexPutOp>(start.getType(), {start, bag, updates},
                                       {c.b.ints("dims", {0}), scatterMode(c, how)});
  };
  Value start = c.b.full(Number::of(empty), {bags, GraphBuilder::dim(weight, 1)}, type);
  Value y = gatherInto(start, rows, mode == 2 ? graph::ScatterMode::Max : graph::ScatterMode::Add);
  if (mode == 1 || mode == 2) {
    Value members =
        c.b.unsqueeze(gatherInto(c.b.full(Number::of(0.0), {bags}, type), counted, graph::ScatterMode::Add), 1);
    y = mode == 1 ? c.b.div(y, c.b.maximum(members, 1.0)) : c.b.where(c.b.eq(members, 0.0), c.b.scalar(0, type), y);
  }
  // What the three other results hold serves the backward pass.
  return {narrow(c, y, weight), Value(), Value(), Value()};
}

} // namespace

void addIndexComposites(CompositeTable &t) {
  t.add({"embedding.default"}, embedding);
  t.add({"embedding_bag.default", "embedding_bag.padding_idx", "_embedding_bag.default",
         "_embedding_bag_forward_only.default"},
        embeddingBag);
  t.add({"index_select.default"}, indexSelect);
  t.add({"index.Tensor", "_unsafe_index.Tensor"}, indexRead);
  t.add({"nonzero.default"}, [](Call &c) -> Results {
    auto declared = c.declaredDims();
    if (!declared || declared->size() != 2) Call::fail("the size of the result is not stated");
    return positions(c, c.tensor("self"), (*declared)[0]);
  });
  t.add({"nonzero_static.default"}, nonzeroStatic);
  t.add({"masked_select.default"}, maskedSelect);
  t.add({"index_put.default", "_unsafe_index_put.default"}, indexPut);
  t.add({"index_add.default"}, indexAdd);
  t.add({"index_copy.default"}, [](Call &c) { return putAlong(c, c.tensor("source"), graph::ScatterMode::Set); });
  t.add({"index_fill.int_Scalar", "index_fill.int_Tensor"}, [](Call &c) {
    return putAlong(c, c.b.reshape(c.b.as(c.operand("value"), GraphBuilder::element(c.tensor("self"))), {}),
                    graph::ScatterMode::Set);
  });
}

} // namespace stator::torch_export
