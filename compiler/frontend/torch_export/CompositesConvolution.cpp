// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Convolutions of one to three spatial dimensions, and windows unfolded into columns.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

struct Convolution {
  Value input, weight, bias;
  Ints stride, low, high, dilation, outputPadding;
  int64_t groups = 1;
  bool transposed = false;
};

void expectPositive(StringRef what, ArrayRef<int64_t> values) {
  for (int64_t value : values)
    if (value <= 0) Call::fail(what + " of " + Twine(value));
}

Value convolve(Call &c, Convolution v) {
  size_t spatial = size_t(GraphBuilder::rank(v.weight)) - 2;
  expectPositive("a stride", v.stride);
  expectPositive("a dilation", v.dilation);
  expectPositive("a number of groups", {v.groups});
  if (v.outputPadding.empty()) v.outputPadding.assign(spatial, 0);
  bool single = GraphBuilder::rank(v.input) == int64_t(spatial) + 1;
  if (single) v.input = c.b.unsqueeze(v.input, 0);
  SmallVector<NamedAttribute> attributes{c.b.ints("strides", v.stride), c.b.ints("low", v.low),
                                         c.b.ints("high", v.high),      c.b.ints("dilations", v.dilation),
                                         c.b.attr("groups", v.groups),  c.b.ints("output_padding", v.outputPadding)};
  if (v.transposed) attributes.push_back(c.b.unit("transposed"));
  // With a bias, eager PyTorch rounds once: after it is added.
  Value x = v.bias ? c.b.widen(v.input) : v.input, weight = v.bias ? c.b.widen(v.weight) : v.weight;
  Value y = c.b.op<graph::ConvolutionOp>({x, weight}, attributes);
  if (v.bias) y = narrow(c, c.b.add(y, perChannel(c, c.b.widen(v.bias), GraphBuilder::rank(y))), v.input);
  return single ? c.b.squeeze(y, {0}) : y;
}

size_t spatialRank(Call &c, Value weight) {
  int64_t rank = GraphBuilder::rank(weight);
  if (rank < 3 || rank > 5) Call::fail("a convolution with a weight of rank " + Twine(rank));
  return size_t(rank - 2);
}

Results convolution(Call &c) {
  Convolution v;
  v.input = c.tensor("input");
  v.weight = c.tensor("weight");
  v.bias = c.optional("bias");
  size_t n = spatialRank(c, v.weight);
  v.stride = c.integers("stride", n);
  v.dilation = c.integers("dilation", n);
  v.groups = c.integer("groups");
  if (c.argument("padding").kind == Argument::Kind::String) {
    v.low.assign(n, 0);
    v.high.assign(n, 0);
    StringRef mode = c.string("padding");
    if (mode == "same") {
      for (size_t i = 0; i < n; ++i) {
        if (v.stride[i] != 1) Call::fail("padding 'same' with a stride");
        int64_t total = v.dilation[i] * (GraphBuilder::staticDim(v.weight, int64_t(i) + 2, "convolution") - 1);
        v.low[i] = total / 2;
        v.high[i] = total - v.low[i];
      }
    } else if (mode != "valid") {
      Call::fail("unknown padding '" + mode + "'");
    }
  } else {
    v.low = v.high = c.integers("padding", n);
  }
  if (c.has("transposed")) v.transposed = c.flag("transposed");
  if (c.has("output_padding")) v.outputPadding = c.integers("output_padding", n);
  return convolve(c, v);
}

Results transposed(Call &c) {
  Convolution v;
  v.input = c.tensor("input");
  v.weight = c.tensor("weight");
  v.bias = c.optional("bias");
  size_t n = spatialRank(c, v.weight);
  v.stride = c.integers("stride", n);
  v.low = v.high = c.integers("padding", n);
  v.outputPadding = c.integers("output_padding", n);
  v.dilation = c.integers("dilation", n);
  v.groups = c.integer("groups");
  v.transposed = true;
  return convolve(c, v);
}

/// The input positions that window element k of output o reads, as a [kernel, outputs] table.
Value windowIndices(Call &c, int64_t kernel, int64_t dilation, int64_t stride, DimExpr outputs) {
  Dims dims{c.b.dim(kernel), outputs};
  return c.b.add(c.b.iota(dims, 0, c.b.i64(), 0, double(dilation)), c.b.iota(dims, 1, c.b.i64(), 0, double(stride)));
}

DimExpr windows(Call &c, DimExpr size, int64_t kernel, int64_t dilation, int64_t padding, int64_t stride) {
  DimExpr room = DimExpr::sub(DimExpr::add(size, c.b.dim(2 * padding)), c.b.dim(dilation * (kernel - 1) + 1));
  DimExpr count = DimExpr::add(DimExpr::floorDiv(room, c.b.dim(stride)), c.b.dim(1));
  if (!count || (count.isConstant() && count.getConstant() <= 0)) Call::fail("windows larger than the input");
  return count;
}

struct Windows {
  Ints kernel, dilation, padding, stride;
};
Windows windowArguments(Call &c) {
  Windows w{c.integers("kernel_size", 2), c.integers("dilation", 2), c.integers("padding", 2), c.integers("stride", 2)};
  expectPositive("a kernel size", w.kernel);
  expectPositive("a stride", w.stride);
  expectPositive("a dilation", w.dilation);
  for (ArrayRef<int64_t> list : {ArrayRef(w.kernel), ArrayRef(w.dilation), ArrayRef(w.padding), ArrayRef(w.stride)})
    for (int64_t value : list)
      if (value < 0 || value > (1 << 20)) Call::fail("a window with the number " + Twine(value));
  return w;
}

/// [N, C, H, W] -> [N, C * kh * kw, oh * ow].
Results imageToColumns(Call &c) {
  Value x = c.tensor("self");
  Windows w = windowArguments(c);
  bool single = GraphBuilder::rank(x) == 3;
  if (single) x = c.b.unsqueeze(x, 0);
  if (GraphBuilder::rank(x) != 4) Call::fail("im2col of a tensor of rank " + Twine(GraphBuilder::rank(x)));
  Dims dims = GraphBuilder::dims(x);
  DimExpr rows = windows(c, dims[2], w.kernel[0], w.dilation[0], w.padding[0], w.stride[0]);
  DimExpr columns = windows(c, dims[3], w.kernel[1], w.dilation[1], w.padding[1], w.stride[1]);
  Dims amount = c.b.constants({0, 0, w.padding[0], w.padding[1]});
  x = c.b.pad(x, c.b.scalar(0, GraphBuilder::element(x)), amount, amount);
  x = c.b.take(x, windowIndices(c, w.kernel[0], w.dilation[0], w.stride[0], rows), 2);    // N C kh oh W
  x = c.b.take(x, windowIndices(c, w.kernel[1], w.dilation[1], w.stride[1], columns), 4); // N C kh oh kw ow
  x = c.b.transpose(x, {0, 1, 2, 4, 3, 5});
  x = c.b.reshape(x, {dims[0], DimExpr::mul(dims[1], c.b.dim(w.kernel[0] * w.kernel[1])), DimExpr::mul(rows, columns)});
  return single ? c.b.squeeze(x, {0}) : x;
}

/// The reverse: overlapping window elements are added up.
Results columnsToImage(Call &c) {
  Value x = c.tensor("self");
  Windows w = windowArguments(c);
  Ints output = c.integers("output_size", 2);
  bool single = GraphBuilder::rank(x) == 2;
  if (single) x = c.b.unsqueeze(x, 0);
  if (GraphBuilder::rank(x) != 3) Call::fail("col2im of a tensor of rank " + Twine(GraphBuilder::rank(x)));
  Dims dims = GraphBuilder::dims(x);
  DimExpr rows = windows(c, c.b.dim(output[0]), w.kernel[0], w.dilation[0], w.padding[0], w.stride[0]);
  DimExpr columns = windows(c, c.b.dim(output[1]), w.kernel[1], w.dilation[1], w.padding[1], w.stride[1]);
  DimExpr channels = DimExpr::floorDiv(dims[1], c.b.dim(w.kernel[0] * w.kernel[1]));
  x = c.b.reshape(x, {dims[0], channels, c.b.dim(w.kernel[0]), c.b.dim(w.kernel[1]), rows, columns});
  x = c.b.transpose(x, {0, 1, 2, 4, 3, 5}); // N C kh oh kw ow
  Dims padded{dims[0], channels, c.b.dim(output[0] + 2 * w.padding[0]), c.b.dim(output[1] + 2 * w.padding[1])};
  Dims places{c.b.dim(w.kernel[0]), rows, c.b.dim(w.kernel[1]), columns};
  Value row = c.b.broadcastTo(c.b.reshape(windowIndices(c, w.kernel[0], w.dilation[0], w.stride[0], rows),
                                          {places[0], places[1], c.b.dim(1), c.b.dim(1)}),
                              places);
  Value column = c.b.broadcastTo(c.b.reshape(windowIndices(c, w.kernel[1], w.dilation[1], w.stride[1], columns),
                                             {c.b.dim(1), c.b.dim(1), places[2], places[3]}),
                                 places);
  Value zeros = c.b.full(Number::of(0.0), padded, GraphBuilder::element(x));
  Value y = c.b.opAs<graph::IndexPutOp>(
      zeros.getType(), {zeros, row, column, x},
      {c.b.ints("dims", {2, 3}),
       c.b.attr("mode", graph::ScatterModeAttr::get(c.b.context(), graph::ScatterMode::Add))});
  y = c.b.slice(c.b.slice(y, 2, c.b.dim(w.padding[0]), c.b.dim(output[0])), 3, c.b.dim(w.padding[1]),
                c.b.dim(output[1]));
  return single ? c.b.squeeze(y, {0}) : y;
}

} // namespace

void addConvolutionComposites(CompositeTable &t) {
  t.add({"conv1d.default", "conv2d.default", "conv3d.default", "conv1d.padding", "conv2d.padding", "conv3d.padding",
         "convolution.default", "_convolution.default", "_convolution.deprecated", "convolution_overrideable.default"},
        convolution);
  t.add({"conv_transpose1d.default", "conv_transpose2d.input", "conv_transpose3d.input"}, transposed);
  t.add({"im2col.default"}, imageToColumns);
  t.add({"col2im.default"}, columnsToImage);
}

} // namespace stator::torch_export
