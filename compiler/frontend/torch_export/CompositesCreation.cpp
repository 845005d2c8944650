// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors out of nothing: filled, counted, triangular.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

Type typeOfNumber(Call &c, const Operand &value) { return c.b.resultType({value}); }

Results filled(Call &c, const Operand &value, Dims dims, Type type) {
  for (DimExpr dim : dims)
    if (dim.isConstant() && dim.getConstant() < 0) Call::fail("a negative size");
  if (!value.value) return c.b.full(value.number, dims, type);
  return c.b.broadcastTo(c.b.cast(c.b.reshape(value.value, {}), type), dims);
}

template <int64_t number> Results constantOf(Call &c) {
  return filled(c, Number::of(number), c.sizes("size"), c.dtype("dtype", c.defaultFloat()));
}
template <int64_t number> Results constantLike(Call &c) {
  Value x = c.tensor("self");
  return filled(c, Number::of(number), GraphBuilder::dims(x), c.dtype("dtype", GraphBuilder::element(x)));
}
template <int64_t number> Results constantNew(Call &c) {
  return filled(c, Number::of(number), c.sizes("size"), c.dtype("dtype", GraphBuilder::element(c.tensor("self"))));
}

Results full(Call &c) {
  Operand value = c.operand("fill_value");
  return filled(c, value, c.sizes("size"), c.dtype("dtype", typeOfNumber(c, value)));
}

/// The number of steps from start to end, at least 0.
DimExpr stepsBetween(Call &c, double start, double end, double step) {
  double count = std::ceil((end - start) / step);
  if (!(count >= 0) || count > 0x1p62)
    Call::fail(Twine("arange from ") + std::to_string(start) + " to " + std::to_string(end) + " by " +
               std::to_string(step));
  return c.b.dim(int64_t(count));
}

Results arange(Call &c) {
  auto isSymbolic = [&](StringRef name) {
    return c.has(name) && !c.argument(name).scalars.empty() && c.argument(name).scalars[0].isName();
  };
  Operand start = c.has("start") ? c.operand("start") : Operand(Number::of(int64_t(0)));
  Operand end = c.operand("end");
  Operand step = c.has("step") ? c.operand("step") : Operand(Number::of(int64_t(1)));
  bool isReal = false;
  for (const Operand *operand : {&start, &end, &step})
    isReal |=
        operand->value ? isFloat(GraphBuilder::element(operand->value)) : operand->number.kind == Number::Kind::Float;
  Type type = c.dtype("dtype", isReal ? c.b.f32() : c.b.i64());
  if (step.value) Call::fail("arange with a step that is not known when compiling");
  double by = step.number.asDouble();
  if (by == 0) Call::fail("arange with a step of 0");
  if (!isSymbolic("start") && !isSymbolic("end"))
    return c.b.iota({stepsBetween(c, start.number.asDouble(), end.number.asDouble(), by)}, 0, type,
                    start.number.asDouble(), by);
  auto declared = c.declaredDims();
  if (!declared || declared->size() != 1) Call::fail("arange of an unknown size");
  if (!start.value) return c.b.iota(*declared, 0, type, start.number.asDouble(), by);
  return c.b.add(c.b.iota(*declared, 0, type, 0, by), c.b.cast(start.value, type));
}

/// Values as eager PyTorch computes them: from both ends towards the middle, in the result's precision.
template <bool logarithmic> Results spaced(Call &c) {
  double start = c.real("start"), end = c.real("end"), base = logarithmic ? c.real("base") : 0;
  int64_t steps = c.integer("steps");
  Type type = c.dtype("dtype", c.defaultFloat());
  if (steps < 0 || steps > (int64_t(1) << 24)) Call::fail("a sequence of " + Twine(steps) + " steps");
  SmallVector<Attribute> values;
  bool isDouble = type.isF64();
  auto rounded = [&](double x) { return isDouble ? x : double(float(x)); };
  double step = steps > 1 ? rounded((rounded(end) - rounded(start)) / rounded(double(steps - 1))) : 0;
  for (int64_t i = 0; i < steps; ++i) {
    double x = i < steps / 2 || steps == 1 ? rounded(rounded(start) + rounded(step * double(i)))
                                           : rounded(rounded(end) - rounded(step * double(steps - i - 1)));
    if (logarithmic) x = rounded(std::pow(rounded(base), x));
    if (auto floating = dyn_cast<FloatType>(type))
      values.push_back(FloatAttr::get(floating, x));
    else
      values.push_back(IntegerAttr::get(type, int64_t(x)));
  }
  return c.b.constant(DenseElementsAttr::get(RankedTensorType::get({steps}, type), values));
}

Results identity(Call &c) {
  DimExpr rows = c.size("n"), columns = c.has("m") ? c.size("m") : rows;
  Dims dims{rows, columns};
  return c.b.cast(c.b.eq(c.b.iota(dims, 0, c.b.i64()), c.b.iota(dims, 1, c.b.i64())),
                  c.dtype("dtype", c.defaultFloat()));
}

/// Keeps what lies on one side of a diagonal of the last two dimensions.
template <bool lower> Results triangle(Call &c) {
  Value x = c.tensor("self");
  if (GraphBuilder::rank(x) < 2) Call::fail("a triangle of a tensor of rank " + Twine(GraphBuilder::rank(x)));
  Dims dims = GraphBuilder::dims(x), square(dims.end() - 2, dims.end());
  Value distance = c.b.sub(c.b.iota(square, 1, c.b.i64()), c.b.iota(square, 0, c.b.i64()));
  Value diagonal = c.b.as(c.operand("diagonal"), c.b.i64());
  Value keep = lower ? c.b.le(distance, diagonal) : c.b.ge(distance, diagonal);
  return c.b.where(keep, x, c.b.scalarInt(0, GraphBuilder::element(x)));
}

template <bool lower> Results triangleIndices(Call &c) {
  int64_t rows = c.integer("row"), columns = c.integer("col"), offset = c.integer("offset");
  if (rows < 0 || columns < 0 || rows > (1 << 14) || columns > (1 << 14))
    Call::fail("indices of a triangle of " + Twine(rows) + " by " + Twine(columns));
  SmallVector<int64_t> values, second;
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      if (lower ? j - i <= offset : j - i >= offset) values.push_back(i), second.push_back(j);
  int64_t count = int64_t(values.size());
  values.append(second);
  Value pairs =
      c.b.constant(DenseElementsAttr::get(RankedTensorType::get({2, count}, c.b.i64()), ArrayRef<int64_t>(values)));
  return c.b.cast(pairs, c.dtype("dtype", c.b.i64()));
}

Results oneHot(Call &c) {
  Value x = c.tensor("self");
  int64_t classes = c.integer("num_classes");
  if (classes < 0) Call::fail("one_hot without a number of classes");
  Dims dims = GraphBuilder::dims(x);
  dims.push_back(c.b.dim(classes));
  Value index = c.b.broadcastTo(c.b.unsqueeze(x, GraphBuilder::rank(x)), dims);
  return c.b.cast(c.b.eq(index, c.b.iota(dims, int64_t(dims.size()) - 1, GraphBuilder::element(x))), c.b.i64());
}

SmallVector<Value> grid(Call &c, SmallVector<Value> axes) {
  Dims dims;
  for (Value &axis : axes) {
    if (GraphBuilder::rank(axis) > 1) Call::fail("meshgrid of tensors that are not 1-d");
    if (GraphBuilder::rank(axis) == 0) axis = c.b.unsqueeze(axis, 0);
    dims.push_back(GraphBuilder::dim(axis, 0));
  }
  SmallVector<Value> results;
  for (auto [i, axis] : llvm::enumerate(axes)) {
    Dims shape(dims.size(), c.b.dim(1));
    shape[i] = dims[i];
    results.push_back(c.b.broadcastTo(c.b.reshape(axis, shape), dims));
  }
  return results;
}

Results meshgrid(Call &c) {
  c.aliasesAnyway();
  SmallVector<Value> axes = c.tensors("tensors");
  bool swap = c.has("indexing") && c.string("indexing") == "xy" && axes.size() > 1;
  if (swap) std::swap(axes[0], axes[1]);
  SmallVector<Value> results = grid(c, axes);
  if (swap) std::swap(results[0], results[1]);
  return Results(ArrayRef<Value>(results));
}

Results cartesianProduct(Call &c) {
  SmallVector<Value> axes = c.tensors("tensors");
  if (axes.size() == 1) return axes[0];
  SmallVector<Value> columns;
  for (Value each : grid(c, axes)) columns.push_back(c.b.unsqueeze(c.b.flatten(each), 1));
  return c.b.concat(columns, 1);
}

} // namespace

void addCreationComposites(CompositeTable &t) {
  t.add({"zeros.default", "empty.memory_format", "empty_permuted.default"}, constantOf<0>);
  t.add({"empty_strided.default"}, constantOf<0>);
  t.add({"ones.default"}, constantOf<1>);
  t.add({"zeros_like.default", "empty_like.default"}, constantLike<0>);
  t.add({"ones_like.default"}, constantLike<1>);
  t.add({"new_zeros.default", "new_empty.default", "new_empty_strided.default"}, constantNew<0>);
  t.add({"new_ones.default"}, constantNew<1>);
  t.add({"full.default"}, full);
  t.add({"full_like.default"}, [](Call &c) {
    Value x = c.tensor("self");
    return filled(c, c.operand("fill_value"), GraphBuilder::dims(x), c.dtype("dtype", GraphBuilder::element(x)));
  });
  t.add({"new_full.default"}, [](Call &c) {
    return filled(c, c.operand("fill_value"), c.sizes("size"),
                  c.dtype("dtype", GraphBuilder::element(c.tensor("self"))));
  });
  t.add({"scalar_tensor.default"},
        [](Call &c) { return filled(c, c.operand("s"), {}, c.dtype("dtype", c.defaultFloat())); });
  t.add({"arange.default", "arange.start", "arange.start_step"}, arange);
  t.add({"linspace.default"}, spaced<false>);
  t.add({"logspace.default"}, spaced<true>);
  t.add({"eye.default", "eye.m"}, identity);
  t.add({"tril.default"}, triangle<true>);
  t.add({"triu.default"}, triangle<false>);
  t.add({"tril_indices.default"}, triangleIndices<true>);
  t.add({"triu_indices.default"}, triangleIndices<false>);
  t.add({"one_hot.default"}, oneHot);
  t.add({"meshgrid.default", "meshgrid.indexing"}, meshgrid);
  t.add({"cartesian_prod.default"}, cartesianProduct);
}

} // namespace stator::torch_export
