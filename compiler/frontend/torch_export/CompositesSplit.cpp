// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices and splits.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {

/// A slice's bound as Python reads it: from the end where negative, clamped to [0, size].
static DimExpr bound(Call &c, DimExpr value, DimExpr size) {
  graph::DimRange range = c.range(value);
  if (range.max < 0) {
    value = DimExpr::add(value, size);
    if (!value) Call::fail("a slice bound leaves 64 bits");
    if (c.range(value).min < 0) value = DimExpr::max(value, c.b.dim(0));
  } else if (range.min < 0) {
    Call::fail("a slice bound of unknown sign: " + value.str());
  }
  DimExpr room = DimExpr::sub(size, value);
  return room && c.range(room).min >= 0 ? value : DimExpr::min(value, size);
}

namespace {

struct Slice {
  DimExpr start, size;
  int64_t step;
};

Slice sliceOf(Call &c, Value x, int64_t d, std::optional<DimExpr> declared) {
  DimExpr size = GraphBuilder::dim(x, d);
  int64_t step = c.integer("step");
  if (step <= 0) Call::fail("a slice with step " + Twine(step));
  DimExpr start = c.isNone("start") ? c.b.dim(0) : bound(c, c.size("start"), size);
  DimExpr end = size;
  if (!c.isNone("end")) {
    DimExpr given = c.size("end");
    if (!given.isConstant() || given.getConstant() < INT64_MAX / 2) end = bound(c, given, size);
  }
  DimExpr length = DimExpr::sub(end, start);
  if (!length) Call::fail("a slice bound leaves 64 bits");
  if (c.range(length).min < 0) length = DimExpr::max(length, c.b.dim(0));
  length = DimExpr::ceilDiv(length, c.b.dim(step));
  // The program's spelling, unless both are numbers that differ (which the result's check then reports).
  if (declared && !(declared->isConstant() && length.isConstant())) length = *declared;
  return {start, length, step};
}

std::optional<DimExpr> declaredDim(Call &c, int64_t d, size_t i = 0) {
  auto dims = c.declaredDims(i);
  return dims && size_t(d) < dims->size() ? std::optional<DimExpr>((*dims)[d]) : std::nullopt;
}

Results slice(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) == 0) Call::fail("a slice of a 0-d tensor");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  Slice s = sliceOf(c, x, d, declaredDim(c, d));
  return c.b.slice(x, d, s.start, s.size, s.step);
}

DimExpr indexIn(Call &c, DimExpr index, DimExpr size) {
  graph::DimRange range = c.range(index);
  if (range.max < 0) return DimExpr::add(index, size);
  if (range.min < 0) Call::fail("an index of unknown sign: " + index.str());
  return index;
}

Results select(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) == 0) Call::fail("selecting from a 0-d tensor");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  return c.b.select(x, d, indexIn(c, c.size("index"), GraphBuilder::dim(x, d)));
}

Results narrowed(Call &c) {
  Value x = c.tensor("self");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  return c.b.slice(x, d, indexIn(c, c.size("start"), GraphBuilder::dim(x, d)), c.size("length"));
}

/// Pieces one after the other, as large as the program says the results are.
Results split(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) == 0) Call::fail("splitting a 0-d tensor");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  Results results;
  DimExpr start = c.b.dim(0);
  for (size_t i = 0; i < c.resultCount(); ++i) {
    auto size = declaredDim(c, d, i);
    if (!size) Call::fail("the program does not state the size of piece " + Twine(i));
    results.push_back(c.b.slice(x, d, start, *size));
    start = DimExpr::add(start, *size);
  }
  DimExpr whole = GraphBuilder::dim(x, d);
  if (!start || (start.isConstant() && whole.isConstant() && start != whole))
    Call::fail("the pieces do not make up the whole");
  return results;
}

Results unbind(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) == 0) Call::fail("unbinding a 0-d tensor");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  if (GraphBuilder::staticDim(x, d, "unbind") != int64_t(c.resultCount()))
    Call::fail("unbind gives " + Twine(c.resultCount()) + " results");
  Results results;
  for (size_t i = 0; i < c.resultCount(); ++i) results.push_back(c.b.select(x, d, c.b.dim(int64_t(i))));
  return results;
}

/// self with one slice replaced.
Results selectScatter(Call &c) {
  Value x = c.tensor("self"), source = c.tensor("src");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  DimExpr index = indexIn(c, c.size("index"), GraphBuilder::dim(x, d));
  return c.b.updateSlice(x, c.b.unsqueeze(c.b.cast(source, GraphBuilder::element(x)), d), d, index);
}

Results sliceScatter(Call &c) {
  Value x = c.tensor("self"), source = c.b.cast(c.tensor("src"), GraphBuilder::element(x));
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  Slice s = sliceOf(c, x, d, GraphBuilder::dim(source, d));
  Dims wanted = GraphBuilder::dims(x);
  wanted[d] = s.size;
  return c.b.updateSlice(x, c.b.broadcastTo(source, wanted), d, s.start, s.step);
}

} // namespace

void addSplitComposites(CompositeTable &t) {
  t.add({"slice.Tensor", "slice_copy.Tensor"}, slice);
  t.add({"select.int", "select_copy.int"}, select);
  t.add({"narrow.default", "narrow_copy.default"}, narrowed);
  t.add({"split.Tensor", "split_with_sizes.default", "split.sizes", "chunk.default", "tensor_split.sections",
         "tensor_split.indices", "unsafe_split.Tensor", "unsafe_split_with_sizes.default", "unsafe_chunk.default",
         "split_copy.Tensor", "split_with_sizes_copy.default"},
        split);
  t.add({"unbind.int", "unbind_copy.int"}, unbind);
  t.add({"select_scatter.default"}, selectScatter);
  t.add({"slice_scatter.default"}, sliceScatter);
}

} // namespace stator::torch_export
