// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pooling.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// Adds a batch dimension where the tensor lacks one, and takes it off the results again.
struct Batched {
  Batched(Call &c, Value input, int64_t spatial) : c(c), x(input) {
    int64_t rank = GraphBuilder::rank(x);
    if (rank != spatial + 1 && rank != spatial + 2)
      Call::fail("pooling over " + Twine(spatial) + " dimensions of a tensor of rank " + Twine(rank));
    single = rank == spatial + 1;
    if (single) x = c.b.unsqueeze(x, 0);
  }
  Value back(Value y) { return single ? c.b.squeeze(y, {0}) : y; }
  Call &c;
  Value x;
  bool single;
};

void expectPositive(StringRef what, ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value <= 0) Call::fail(what + " of " + Twine(value));
}

template <int spatial> Results maxPool(Call &c) {
  Batched in(c, c.tensor("self"), spatial);
  Ints kernel = c.integers("kernel_size", spatial), stride = c.integers("stride", spatial, kernel),
       padding = c.integers("padding", spatial), dilation = c.integers("dilation", spatial);
  expectPositive("a kernel size", kernel);
  expectPositive("a stride", stride);
  expectPositive("a dilation", dilation);
  SmallVector<NamedAttribute> attributes{c.b.ints("kernel", kernel), c.b.ints("strides", stride),
                                         c.b.ints("padding", padding), c.b.ints("dilations", dilation)};
  if (c.flag("ceil_mode")) attributes.push_back(c.b.unit("ceil_mode"));
  Operation *op = c.b.make<graph::MaxPoolOp>({in.x}, attributes);
  return {in.back(op->getResult(0)), in.back(op->getResult(1))};
}
template <int spatial> Results maxPoolValues(Call &c) { return maxPool<spatial>(c)[0]; }

template <int spatial> Results avgPool(Call &c) {
  Batched in(c, c.tensor("self"), spatial);
  Ints kernel = c.integers("kernel_size", spatial), stride = c.integers("stride", spatial, kernel),
       padding = c.integers("padding", spatial);
  expectPositive("a kernel size", kernel);
  expectPositive("a stride", stride);
  SmallVector<NamedAttribute> attributes{c.b.ints("kernel", kernel), c.b.ints("strides", stride),
                                         c.b.ints("padding", padding)};
  if (c.flag("ceil_mode")) attributes.push_back(c.b.unit("ceil_mode"));
  if (!c.flag("count_include_pad")) attributes.push_back(c.b.unit("exclude_padding"));
  if (c.has("divisor_override") && !c.isNone("divisor_override")) {
    int64_t divisor = c.integer("divisor_override");
    if (divisor == 0) Call::fail("a divisor of 0");
    attributes.push_back(c.b.attr("divisor", divisor));
  }
  return in.back(c.b.op<graph::AvgPoolOp>({in.x}, attributes));
}

Dims outputDims(Call &c, Value x, int64_t spatial) {
  Dims dims = GraphBuilder::dims(x), sizes = c.sizes("output_size");
  if (sizes.size() == 1 && spatial > 1) sizes.assign(size_t(spatial), sizes[0]);
  if (int64_t(sizes.size()) != spatial) Call::fail("an output size of " + Twine(sizes.size()) + " numbers");
  for (int64_t i = 0; i < spatial; ++i) dims[2 + i] = sizes[i];
  return dims;
}

template <int spatial> Results adaptiveAvgPool(Call &c) {
  Batched in(c, c.tensor("self"), spatial);
  Dims dims = outputDims(c, in.x, spatial);
  bool global = llvm::all_of(ArrayRef(dims).drop_front(2), [](DimExpr d) { return d.isConstant(1); });
  if (global) return in.back(narrow(c, c.b.mean(c.b.widen(in.x), counting(2, 2 + spatial), true), in.x));
  return in.back(c.b.opAs<graph::AdaptiveAvgPoolOp>(graph::tensorOf(dims, GraphBuilder::element(in.x)), {in.x}));
}

/// One dimension after the other: the windows [floor(i in / out), ceil((i + 1) in / out)) as a masked gather.
template <int spatial> Results adaptiveMaxPool(Call &c) {
  Batched in(c, c.tensor("self"), spatial);
  Dims dims = outputDims(c, in.x, spatial);
  Value x = in.x, position;
  // The row-major position of every element among the spatial dimensions.
  Dims all = GraphBuilder::dims(x), space(all.begin() + 2, all.end());
  Value flat = c.b.reshape(c.b.iota({graph::numElements(space, c.b.context())}, 0, c.b.i64()), space);
  position = c.b.broadcastTo(flat, all);
  for (int64_t s = spatial - 1; s >= 0; --s) {
    int64_t d = 2 + s, size = GraphBuilder::staticDim(x, d, "adaptive max pooling");
    auto outputs = dims[d].asConstant();
    if (!outputs || *outputs <= 0 || size <= 0)
      Call::fail("adaptive max pooling needs sizes that are known when compiling");
    int64_t width = 0;
    SmallVector<int64_t> starts, ends, table;
    for (int64_t i = 0; i < *outputs; ++i) {
      starts.push_back(i * size / *outputs);
      ends.push_back(((i + 1) * size + *outputs - 1) / *outputs);
      width = std::max(width, ends.back() - starts.back());
    }
    // Shorter windows repeat their last element, which never changes the maximum or its first position.
    for (int64_t i = 0; i < *outputs; ++i)
      for (int64_t k = 0; k < width; ++k) table.push_back(std::min(starts[i] + k, ends[i] - 1));
    Value index = c.b.reshape(c.b.indices(table), {c.b.dim(*outputs), c.b.dim(width)});
    Value windows = c.b.take(x, index, d), places = c.b.take(position, index, d);
    Value best = c.b.reduce<graph::ArgmaxOp>(windows, {d + 1}, true);
    auto pick = [&](Value from) {
      return c.b.squeeze(c.b.op<graph::GatherOp>({from, best}, {c.b.attr("dim", d + 1)}), {d + 1});
    };
    x = pick(windows);
    position = pick(places);
  }
  return {in.back(x), in.back(position)};
}

/// Puts each element back where max pooling found it, zeros elsewhere.
template <int64_t spatial> Results maxUnpool(Call &c) {
  Value x = c.tensor("self"), places = c.tensor("indices");
  int64_t rank = GraphBuilder::rank(x), lead = rank - spatial;
  Dims size = c.sizes("output_size"), dims = GraphBuilder::dims(x);
  if (lead < 1 || lead > 2 || GraphBuilder::rank(places) != rank || int64_t(size.size()) != spatial)
    Call::fail("max_unpool of a tensor of rank " + Twine(rank));
  Dims flatIn(dims.begin(), dims.begin() + lead), flatOut = flatIn, result = flatIn;
  flatIn.push_back(graph::numElements(ArrayRef(dims).drop_front(lead), c.b.context()));
  flatOut.push_back(graph::numElements(size, c.b.context()));
  result.append(size);
  if (!flatIn.back() || !flatOut.back()) Call::fail("a size leaves 64 bits");
  Value empty = c.b.full(Number::of(int64_t(0)), flatOut, GraphBuilder::element(x));
  Value y = c.b.opAs<graph::ScatterOp>(empty.getType(),
                                       {empty, asIndex(c, c.b.reshape(places, flatIn)), c.b.reshape(x, flatIn)},
                                       {c.b.attr("dim", lead), scatterMode(c, graph::ScatterMode::Set)});
  return c.b.reshape(y, result);
}

} // namespace

void addPoolComposites(CompositeTable &t) {
  t.add({"max_unpool2d.default"}, maxUnpool<2>);
  t.add({"max_unpool3d.default"}, maxUnpool<3>);
  t.add({"max_pool1d.default"}, maxPoolValues<1>);
  t.add({"max_pool2d.default"}, maxPoolValues<2>);
  t.add({"max_pool3d.default"}, maxPoolValues<3>);
  t.add({"max_pool1d_with_indices.default"}, maxPool<1>);
  t.add({"max_pool2d_with_indices.default"}, maxPool<2>);
  t.add({"max_pool3d_with_indices.default"}, maxPool<3>);
  t.add({"avg_pool1d.default"}, avgPool<1>);
  t.add({"avg_pool2d.default"}, avgPool<2>);
  t.add({"avg_pool3d.default"}, avgPool<3>);
  t.add({"adaptive_avg_pool1d.default"}, adaptiveAvgPool<1>);
  t.add({"adaptive_avg_pool2d.default", "_adaptive_avg_pool2d.default"}, adaptiveAvgPool<2>);
  t.add({"adaptive_avg_pool3d.default", "_adaptive_avg_pool3d.default"}, adaptiveAvgPool<3>);
  t.add({"adaptive_max_pool1d.default"}, adaptiveMaxPool<1>);
  t.add({"adaptive_max_pool2d.default"}, adaptiveMaxPool<2>);
  t.add({"adaptive_max_pool3d.default"}, adaptiveMaxPool<3>);
}

} // namespace stator::torch_export
