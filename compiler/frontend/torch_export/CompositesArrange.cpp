// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Joining, repeating, rolling, turning.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

SmallVector<Value> promoted(Call &c, StringRef name) {
  SmallVector<Value> values = c.tensors(name);
  if (values.empty()) Call::fail("nothing to join");
  SmallVector<Operand> operands;
  for (Value value : values) {
    if (!value) Call::fail("None among the tensors to join");
    operands.push_back(value);
  }
  return c.b.promote(operands, Promotion::Same);
}

/// 1-d tensors of size 0 are skipped: an old habit of eager PyTorch.
Value join(Call &c, ArrayRef<Value> values, int64_t dim) {
  SmallVector<Value> kept;
  for (Value value : values)
    if (!(GraphBuilder::rank(value) == 1 && GraphBuilder::dim(value, 0).isConstant(0))) kept.push_back(value);
  if (kept.empty()) return values[0];
  int64_t rank = GraphBuilder::rank(kept[0]);
  if (rank == 0) Call::fail("joining 0-d tensors");
  int64_t d = GraphBuilder::axis(dim, rank);
  // One spelling of the other sizes.
  Dims first = GraphBuilder::dims(kept[0]);
  for (Value &value : kept) {
    if (GraphBuilder::rank(value) != rank)
      Call::fail("joining tensors of rank " + Twine(rank) + " and " + Twine(GraphBuilder::rank(value)));
    Dims wanted = first;
    wanted[d] = GraphBuilder::dim(value, d);
    value = c.b.withShape(value, wanted);
  }
  return c.b.concat(kept, d);
}

Results stack(Call &c) {
  SmallVector<Value> values = promoted(c, "tensors");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(values[0]) + 1);
  for (Value &value : values) value = c.b.unsqueeze(value, d);
  return join(c, values, d);
}

template <int kind>
Results stackAlong(Call &c) { // 0 rows, 1 columns of at least 1-d, 2 depth, 3 columns of at least 2-d
  SmallVector<Value> values = promoted(c, "tensors");
  for (Value &value : values) {
    if (GraphBuilder::rank(value) == 0) value = c.b.unsqueeze(value, 0);
    if ((kind == 0 || kind == 2) && GraphBuilder::rank(value) == 1) value = c.b.unsqueeze(value, 0);
    if (kind == 2 && GraphBuilder::rank(value) == 2) value = c.b.unsqueeze(value, 2);
    if (kind == 3 && GraphBuilder::rank(value) == 1) value = c.b.unsqueeze(value, 1);
  }
  int64_t d = kind == 0 ? 0 : kind == 2 ? 2 : kind == 3 ? 1 : GraphBuilder::rank(values[0]) == 1 ? 0 : 1;
  return join(c, values, d);
}

Results blockDiagonal(Call &c) {
  SmallVector<Value> values = promoted(c, "tensors"), rows;
  DimExpr before = c.b.dim(0), total = c.b.dim(0);
  for (Value &value : values) {
    if (GraphBuilder::rank(value) > 2) Call::fail("block_diag of a tensor of rank " + Twine(GraphBuilder::rank(value)));
    while (GraphBuilder::rank(value) < 2) value = c.b.unsqueeze(value, 0);
    total = DimExpr::add(total, GraphBuilder::dim(value, 1));
  }
  for (Value value : values) {
    DimExpr width = GraphBuilder::dim(value, 1), after = DimExpr::sub(DimExpr::sub(total, before), width);
    auto zeros = [&](DimExpr columns) {
      return c.b.full(Number::of(int64_t(0)), {GraphBuilder::dim(value, 0), columns}, GraphBuilder::element(value));
    };
    rows.push_back(c.b.concat({zeros(before), value, zeros(after)}, 1));
    before = DimExpr::add(before, width);
  }
  return join(c, rows, 0);
}

/// The whole tensor `repeats[i]` times along each dimension.
Value repeat(Call &c, Value x, Dims repeats) {
  while (GraphBuilder::rank(x) < int64_t(repeats.size())) x = c.b.unsqueeze(x, 0);
  while (int64_t(repeats.size()) < GraphBuilder::rank(x)) repeats.insert(repeats.begin(), c.b.dim(1));
  Dims dims = GraphBuilder::dims(x), split, wide, merged;
  for (auto [size, times] : llvm::zip(dims, repeats)) {
    if (times.isConstant() && times.getConstant() < 0) Call::fail("a negative number of repetitions");
    if (!times.isConstant(1)) {
      split.push_back(c.b.dim(1));
      wide.push_back(times);
    }
    split.push_back(size);
    wide.push_back(size);
    merged.push_back(DimExpr::mul(size, times));
  }
  return c.b.reshape(c.b.broadcastTo(c.b.reshape(x, split), wide), merged);
}

Results repeatInterleave(Call &c) {
  Value x = c.tensor("self");
  DimExpr times = c.size("repeats");
  if (c.isNone("dim")) x = c.b.flatten(x);
  int64_t rank = GraphBuilder::rank(x), d = c.isNone("dim") ? 0 : GraphBuilder::axis(c.integer("dim"), rank);
  if (rank == 0) x = c.b.unsqueeze(x, 0);
  Dims wide = GraphBuilder::dims(x), merged = wide;
  wide.insert(wide.begin() + d + 1, times);
  merged[d] = DimExpr::mul(merged[d], times);
  return c.b.reshape(c.b.broadcastTo(c.b.unsqueeze(x, d + 1), wide), merged);
}

/// Repetitions from a tensor: source position i of result position j is the number of cumulative counts at or below j.
Results repeatInterleaveBy(Call &c) {
  bool ofSelf = c.has("self");
  Value x = ofSelf ? c.tensor("self") : Value(), repeats = c.b.cast(c.tensor("repeats"), c.b.i64());
  int64_t d = 0;
  if (ofSelf && c.isNone("dim")) x = c.b.flatten(x);
  if (ofSelf && !c.isNone("dim")) d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  auto declared = c.declaredDims();
  if (!declared || declared->size() <= size_t(d)) Call::fail("the size of the result is not stated");
  DimExpr total = (*declared)[d];
  bool known = true;
  total.forEachSymbol([&](StringRef name) { known &= !name.starts_with("u"); });
  if (!known) Call::fail("a result of data-dependent size is not supported");
  if (GraphBuilder::rank(repeats) == 0) repeats = c.b.unsqueeze(repeats, 0);
  if (ofSelf) repeats = c.b.broadcastTo(repeats, {GraphBuilder::dim(x, d)});
  Value ends = c.b.opAs<graph::CumsumOp>(repeats.getType(), {repeats}, {c.b.attr("dim", int64_t(0))});
  Dims table{total, GraphBuilder::dim(repeats, 0)};
  Value source = c.b.sum(
      c.b.cast(c.b.le(c.b.broadcastTo(c.b.unsqueeze(ends, 0), table), c.b.iota(table, 0, c.b.i64())), c.b.i64()), {1},
      false);
  return ofSelf ? c.b.take(x, source, d) : source;
}

Value rollAlong(Call &c, Value x, int64_t d, DimExpr shift) {
  DimExpr size = GraphBuilder::dim(x, d);
  if (size.isConstant(0)) return x;
  DimExpr start = DimExpr::mod(DimExpr::mul(shift, c.b.dim(-1)), size);
  if (!start) Call::fail("a shift that leaves 64 bits");
  if (start.isConstant(0)) return x;
  return c.b.concat({c.b.slice(x, d, start, DimExpr::sub(size, start)), c.b.slice(x, d, c.b.dim(0), start)}, d);
}

Results roll(Call &c) {
  Value x = c.tensor("self");
  Dims shifts = c.sizes("shifts");
  Ints dims = c.integers("dims");
  if (dims.empty()) {
    if (shifts.size() != 1) Call::fail("several shifts without dimensions");
    return c.b.reshape(rollAlong(c, c.b.flatten(x), 0, shifts[0]), GraphBuilder::dims(x));
  }
  if (shifts.size() != dims.size()) Call::fail("as many shifts as dimensions are needed");
  Value y = x;
  for (auto [shift, dim] : llvm::zip(shifts, dims))
    if (GraphBuilder::rank(x) > 0) y = rollAlong(c, y, GraphBuilder::axis(dim, GraphBuilder::rank(x)), shift);
  return y;
}

Results flip(Call &c) {
  Value x = c.tensor("self");
  Ints dims = GraphBuilder::axes(c.integers("dims"), GraphBuilder::rank(x));
  llvm::sort(dims);
  return GraphBuilder::rank(x) == 0 ? x : c.b.reverse(x, dims);
}

Results rotate(Call &c) {
  Value x = c.tensor("self");
  Ints dims = GraphBuilder::axes(c.integers("dims"), GraphBuilder::rank(x));
  if (dims.size() != 2) Call::fail("a rotation needs two dimensions");
  int64_t turns = ((c.integer("k") % 4) + 4) % 4;
  if (turns == 0) return x;
  if (turns == 2) {
    llvm::sort(dims);
    return c.b.reverse(x, dims);
  }
  Value flipped = c.b.reverse(x, {turns == 1 ? dims[1] : dims[0]});
  return c.b.swapAxes(flipped, dims[0], dims[1]);
}

Results difference(Call &c) {
  SmallVector<Value> parts;
  if (!c.isNone("prepend")) parts.push_back(c.tensor("prepend"));
  parts.push_back(c.tensor("self"));
  if (!c.isNone("append")) parts.push_back(c.tensor("append"));
  int64_t rank = GraphBuilder::rank(c.tensor("self")), d = GraphBuilder::axis(c.integer("dim"), rank),
          n = c.integer("n");
  if (n < 0 || n > 64) Call::fail("a difference of order " + Twine(n));
  if (n == 0) return c.b.copy(c.tensor("self")); // Without what would be put before and after it.
  Value x = join(c, parts, d);
  for (int64_t i = 0; i < n; ++i) {
    DimExpr less = DimExpr::sub(GraphBuilder::dim(x, d), c.b.dim(1));
    Value later = c.b.slice(x, d, c.b.dim(1), less), earlier = c.b.slice(x, d, c.b.dim(0), less);
    x = isBool(GraphBuilder::element(x)) ? c.b.binary<graph::LogicalXorOp>(later, earlier) : c.b.sub(later, earlier);
  }
  return x;
}

/// Sums over what a broadcast from `size` would have repeated.
Results sumToSize(Call &c) {
  Value x = c.tensor("self");
  Dims size = c.sizes("size");
  int64_t rank = GraphBuilder::rank(x), extra = rank - int64_t(size.size());
  if (extra < 0) Call::fail("a sum to more dimensions");
  Ints dims = counting(0, extra);
  for (auto [d, to] : llvm::enumerate(size))
    if (to.isConstant(1) && !GraphBuilder::dim(x, extra + int64_t(d)).isConstant(1)) dims.push_back(extra + int64_t(d));
  return c.b.reshape(dims.empty() ? c.b.copy(x) : c.b.sum(x, dims, true), size);
}

/// All k-element subsets in lexicographic order.
Results combinations(Call &c) {
  Value x = c.tensor("self");
  int64_t n = GraphBuilder::staticDim(x, 0, "combinations"), r = c.integer("r");
  bool again = c.flag("with_replacement");
  if (r < 1 || r > 8 || n > 512) Call::fail("combinations of " + Twine(r) + " of " + Twine(n));
  SmallVector<int64_t> table, index(size_t(r), 0);
  for (int64_t i = 0; i < r; ++i) index[i] = again ? 0 : i;
  while (index.back() < n) {
    table.append(index.begin(), index.end());
    if (table.size() > (size_t(1) << 22)) Call::fail("too many combinations");
    int64_t at = r - 1;
    while (at > 0 && index[at] >= n - (again ? 1 : r - at)) --at;
    ++index[at];
    for (int64_t i = at + 1; i < r; ++i) index[i] = index[i - 1] + (again ? 0 : 1);
    if (at == 0 && index[0] > n - (again ? 1 : r)) break;
  }
  Value places = c.b.reshape(c.b.indices(table), {c.b.dim(int64_t(table.size()) / r), c.b.dim(r)});
  return c.b.take(x, places, 0);
}

} // namespace

void addArrangeComposites(CompositeTable &t) {
  t.add({"cat.default", "concat.default", "concatenate.default"},
        [](Call &c) -> Results { return join(c, promoted(c, "tensors"), c.integer("dim")); });
  t.add({"stack.default"}, stack);
  t.add({"vstack.default", "row_stack.default"}, stackAlong<0>);
  t.add({"hstack.default"}, stackAlong<1>);
  t.add({"dstack.default"}, stackAlong<2>);
  t.add({"column_stack.default"}, stackAlong<3>);
  t.add({"block_diag.default"}, blockDiagonal);
  t.add({"repeat.default"}, [](Call &c) -> Results { return repeat(c, c.tensor("self"), c.sizes("repeats")); });
  t.add({"tile.default"}, [](Call &c) -> Results { return repeat(c, c.tensor("self"), c.sizes("dims")); });
  t.add({"repeat_interleave.self_int"}, repeatInterleave);
  t.add({"repeat_interleave.self_Tensor", "repeat_interleave.Tensor"}, repeatInterleaveBy);
  t.add({"broadcast_tensors.default"}, [](Call &c) {
    c.aliasesAnyway();
    SmallVector<Value> values = c.tensors("tensors");
    Dims common = c.b.broadcastDims(values);
    for (Value &value : values) value = c.b.broadcastTo(value, common);
    return Results(ArrayRef<Value>(values));
  });
  t.add({"roll.default"}, roll);
  t.add({"flip.default"}, flip);
  t.add({"fliplr.default"}, [](Call &c) -> Results { return c.b.reverse(c.tensor("self"), {1}); });
  t.add({"flipud.default"}, [](Call &c) -> Results { return c.b.reverse(c.tensor("self"), {0}); });
  t.add({"rot90.default"}, rotate);
  t.add({"diff.default"}, difference);
  t.add({"sum_to_size.default"}, sumToSize);
  t.add({"combinations.default"}, combinations);
}

} // namespace stator::torch_export
