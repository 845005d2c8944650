// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reshapes, permutations, expansions: what eager PyTorch does without moving data.
#include "compiler/frontend/torch_export/Composites.h"
#include "compiler/frontend/torch_export/Importer.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// Sizes with at most one -1, resolved against the number of elements; the program's own spelling where it states one.
Dims resolve(Call &c, Dims sizes, Value x) {
  if (auto declared = c.declaredDims(); declared && declared->size() == sizes.size()) return *declared;
  DimExpr known = c.b.dim(1);
  int64_t open = -1;
  for (auto [i, size] : llvm::enumerate(sizes)) {
    if (size.isConstant(-1)) {
      if (open >= 0) Call::fail("two sizes of -1");
      open = int64_t(i);
    } else {
      known = DimExpr::mul(known, size);
    }
  }
  if (open >= 0) {
    DimExpr all = graph::numElements(GraphBuilder::dims(x), c.b.context());
    sizes[open] = known && known.isConstant(0) ? c.b.dim(0) : DimExpr::floorDiv(all, known);
    if (!sizes[open]) Call::fail("the size of -1 cannot be told");
  }
  return sizes;
}

/// A reshape that eager PyTorch does in place where the layout allows, and by copy elsewhere.
Results reshapeMaybeCopy(Call &c, Value x, Dims dims) {
  Value y = c.b.reshape(x, dims);
  if (!c.programWrites()) return y;
  std::optional<bool> inPlace = c.reshapesInPlace("self", dims);
  if (inPlace.value_or(false)) return y;
  Value copy = c.b.copy(y);
  if (!inPlace) c.notAView(copy, x);
  return copy;
}

Results view(Call &c) {
  Value x = c.tensor("self");
  return c.b.reshape(x, resolve(c, c.sizes(c.has("size") ? "size" : "shape"), x));
}
Results reshape(Call &c) {
  Value x = c.tensor("self");
  return reshapeMaybeCopy(c, x, resolve(c, c.sizes("shape"), x));
}

Results flatten(Call &c) {
  Value x = c.tensor("self");
  int64_t rank = GraphBuilder::rank(x);
  if (rank == 0) return c.b.reshape(x, {c.b.dim(1)});
  int64_t start = GraphBuilder::axis(c.integer("start_dim"), rank),
          end = GraphBuilder::axis(c.integer("end_dim"), rank);
  if (start > end) Call::fail("flatten from dimension " + Twine(start) + " to " + Twine(end));
  Dims dims = GraphBuilder::dims(x), merged(dims.begin(), dims.begin() + start);
  merged.push_back(graph::numElements(ArrayRef(dims).slice(start, end - start + 1), c.b.context()));
  merged.append(dims.begin() + end + 1, dims.end());
  return reshapeMaybeCopy(c, x, resolve(c, merged, x));
}

Results unflatten(Call &c) {
  Value x = c.tensor("self");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  Dims dims = GraphBuilder::dims(x), sizes = c.sizes("sizes"), result(dims.begin(), dims.begin() + d);
  result.append(sizes.begin(), sizes.end());
  result.append(dims.begin() + d + 1, dims.end());
  return c.b.reshape(x, resolve(c, result, x));
}

Results squeeze(Call &c) {
  Value x = c.tensor("self");
  int64_t rank = GraphBuilder::rank(x);
  if (rank == 0) return x;
  Ints dims = c.has("dim") ? GraphBuilder::axes(c.integers("dim"), rank) : counting(0, rank);
  return c.b.squeeze(x, dims);
}

Results unsqueeze(Call &c) {
  Value x = c.tensor("self");
  return c.b.unsqueeze(x, GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x) + 1));
}

template <int which> Results transpose(Call &c) {
  constexpr StringLiteral names[][2] = {{"dim0", "dim1"}, {"axis0", "axis1"}};
  Value x = c.tensor("self");
  int64_t rank = GraphBuilder::rank(x);
  return c.b.swapAxes(x, GraphBuilder::axis(c.integer(names[which][0]), rank),
                      GraphBuilder::axis(c.integer(names[which][1]), rank));
}

Results permute(Call &c) {
  Value x = c.tensor("self");
  Ints order = GraphBuilder::axes(c.integers("dims"), GraphBuilder::rank(x));
  if (int64_t(order.size()) != GraphBuilder::rank(x))
    Call::fail("a permutation of " + Twine(order.size()) + " of " + Twine(GraphBuilder::rank(x)) + " dimensions");
  return c.b.transpose(x, order);
}

Results reverseAxes(Call &c) {
  Value x = c.tensor("self");
  auto order = llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(0, GraphBuilder::rank(x))));
  return c.b.transpose(x, order);
}

Results matrixTranspose(Call &c) {
  Value x = c.tensor("self");
  int64_t rank = GraphBuilder::rank(x);
  if (rank < 2) {
    if (rank == 0 || StringRef(c.getNode().target).contains(".t.")) return x;
    Call::fail("a transposed matrix of a tensor of rank " + Twine(rank));
  }
  return c.b.swapAxes(x, rank - 2, rank - 1);
}

Results moveDims(Call &c) {
  Value x = c.tensor("self");
  int64_t rank = GraphBuilder::rank(x);
  Ints from = GraphBuilder::axes(c.integers("source"), rank), to = GraphBuilder::axes(c.integers("destination"), rank);
  if (from.size() != to.size()) Call::fail("as many destinations as sources are needed");
  Ints order(rank, -1), rest;
  for (auto [f, t] : llvm::zip(from, to)) order[t] = f;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(from, d)) rest.push_back(d);
  size_t next = 0;
  for (int64_t &place : order)
    if (place < 0) place = rest[next++];
  return c.b.transpose(x, order);
}

Results expand(Call &c) {
  Value x = c.tensor("self");
  Dims sizes = c.sizes("size"), mine = GraphBuilder::dims(x);
  if (sizes.size() < mine.size()) Call::fail("expanding " + graph::shapeText(mine) + " to fewer dimensions");
  size_t shift = sizes.size() - mine.size();
  for (size_t i = 0; i < sizes.size(); ++i)
    if (sizes[i].isConstant(-1)) {
      if (i < shift) Call::fail("a size of -1 for a new dimension");
      sizes[i] = mine[i - shift];
    }
  return c.b.broadcastTo(x, sizes);
}

/// as_strided speaks of the memory that a tensor lies in; here that is known where the tensor is dense from offset 0.
Results asStrided(Call &c) {
  Value x = c.tensor("self");
  Dims sizes = c.sizes("size"), strides = c.sizes("stride");
  DimExpr offset = c.isNone("storage_offset") ? c.b.dim(0) : c.size("storage_offset");
  if (!c.isContiguous("self") || Importer::aliasRoot(x) != x)
    Call::fail("as_strided of a tensor that is itself a view of another");
  if (sizes.size() != strides.size()) Call::fail("sizes and strides differ in number");
  return c.b.strided(x, sizes, strides, offset);
}

Results unfold(Call &c) {
  Value x = c.tensor("self");
  int64_t rank = GraphBuilder::rank(x), d = GraphBuilder::axis(c.integer("dimension"), rank), size = c.integer("size"),
          step = c.integer("step");
  if (rank == 0) Call::fail("unfolding a 0-d tensor");
  if (size < 0 || step <= 0) Call::fail("unfold with size " + Twine(size) + " and step " + Twine(step));
  Dims dims = GraphBuilder::dims(x), strides = c.b.rowMajorStrides(x);
  DimExpr count = DimExpr::add(DimExpr::floorDiv(DimExpr::sub(dims[d], c.b.dim(size)), c.b.dim(step)), c.b.dim(1));
  if (!count || (count.isConstant() && count.getConstant() <= 0)) Call::fail("a window larger than the dimension");
  dims[d] = count;
  dims.push_back(c.b.dim(size));
  strides.push_back(strides[d]);
  strides[d] = DimExpr::mul(strides[d], c.b.dim(step));
  return c.b.strided(x, dims, strides, c.b.dim(0));
}

template <int rank> Results atLeast(Call &c) {
  c.aliasesAnyway();
  Value x = c.tensor("self");
  while (GraphBuilder::rank(x) < rank) x = c.b.unsqueeze(x, 0);
  return x;
}

} // namespace

Value diagonalOf(Call &c, Value x, int64_t a, int64_t e, int64_t offset) {
  int64_t rank = GraphBuilder::rank(x);
  a = GraphBuilder::axis(a, rank);
  e = GraphBuilder::axis(e, rank);
  if (rank < 2 || a == e) Call::fail("a diagonal needs two dimensions");
  Dims strides = c.b.rowMajorStrides(x), dims, steps;
  DimExpr rows = GraphBuilder::dim(x, a), columns = GraphBuilder::dim(x, e), shift = c.b.dim(offset), zero = c.b.dim(0);
  DimExpr length =
      offset >= 0 ? DimExpr::min(rows, DimExpr::sub(columns, shift)) : DimExpr::min(DimExpr::add(rows, shift), columns);
  if (length && c.range(length).min < 0) length = DimExpr::max(length, zero);
  DimExpr start = length && length.isConstant(0) ? zero
                  : offset >= 0                  ? DimExpr::mul(shift, strides[e])
                                                 : DimExpr::mul(c.b.dim(-offset), strides[a]);
  for (int64_t d = 0; d < rank; ++d) {
    if (d == a || d == e) continue;
    dims.push_back(GraphBuilder::dim(x, d));
    steps.push_back(strides[d]);
  }
  dims.push_back(length);
  steps.push_back(DimExpr::add(strides[a], strides[e]));
  return c.b.strided(x, dims, steps, start);
}

void addViewComposites(CompositeTable &t) {
  t.add({"view.default", "_unsafe_view.default", "view_copy.default"}, view);
  t.add({"reshape.default"}, reshape);
  t.add({"view_as.default", "reshape_as.default"},
        [](Call &c) { return reshapeMaybeCopy(c, c.tensor("self"), GraphBuilder::dims(c.tensor("other"))); });
  t.add({"ravel.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    return reshapeMaybeCopy(c, x, {graph::numElements(GraphBuilder::dims(x), c.b.context())});
  });
  t.add({"flatten.using_ints"}, flatten);
  t.add({"unflatten.int"}, unflatten);
  t.add({"squeeze.default", "squeeze.dim", "squeeze.dims"}, squeeze);
  t.add({"unsqueeze.default"}, unsqueeze);
  t.add({"transpose.int", "swapdims.default"}, transpose<0>);
  t.add({"swapaxes.default"}, transpose<1>);
  t.add({"permute.default"}, permute);
  t.add({"numpy_T.default"}, reverseAxes);
  t.add({"t.default", "mT.default", "mH.default", "adjoint.default"}, matrixTranspose);
  t.add({"movedim.int", "movedim.intlist", "moveaxis.int", "moveaxis.intlist"}, moveDims);
  t.add({"expand.default", "broadcast_to.default"}, expand);
  t.add({"expand_as.default"},
        [](Call &c) -> Results { return c.b.broadcastTo(c.tensor("self"), GraphBuilder::dims(c.tensor("other"))); });
  t.add({"as_strided.default"}, asStrided);
  t.add({"unfold.default"}, unfold);
  t.add({"diagonal.default"}, [](Call &c) -> Results {
    return diagonalOf(c, c.tensor("self"), c.integer("dim1"), c.integer("dim2"), c.integer("offset"));
  });
  t.add({"linalg_diagonal.default"}, [](Call &c) -> Results {
    return diagonalOf(c, c.tensor("A"), c.integer("dim1"), c.integer("dim2"), c.integer("offset"));
  });
  t.add({"atleast_1d.default"}, atLeast<1>);
  t.add({"atleast_2d.default"}, atLeast<2>);
  t.add({"atleast_3d.default"}, [](Call &c) -> Results {
    c.aliasesAnyway();
    Value x = c.tensor("self");
    if (GraphBuilder::rank(x) == 0) return c.b.reshape(x, {c.b.dim(1), c.b.dim(1), c.b.dim(1)});
    if (GraphBuilder::rank(x) == 1) return c.b.reshape(x, {c.b.dim(1), GraphBuilder::dim(x, 0), c.b.dim(1)});
    return GraphBuilder::rank(x) == 2 ? c.b.unsqueeze(x, 2) : x;
  });
}

} // namespace stator::torch_export
