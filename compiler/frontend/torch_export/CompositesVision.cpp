// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// torchvision's operators: pooling over boxes and convolution at learnt places. Boxes are rows [batch, x1, y1, x2, y2].
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

Value constantLike(Call &c, double value, Value like) { return c.b.scalar(value, GraphBuilder::element(like)); }

/// size as a 0-d number of x's type.
Value extent(Call &c, DimExpr size, Value like) { return c.b.cast(c.b.size(size), GraphBuilder::element(like)); }

/// What all pooling over boxes is given.
struct Boxes {
  Boxes(Call &c) : input(c.tensor("input")), rois(c.tensor("rois")) {
    if (GraphBuilder::rank(input) != 4 || GraphBuilder::rank(rois) != 2 || !GraphBuilder::dim(rois, 1).isConstant(5))
      Call::fail("pooling over boxes takes a 4-d input and boxes of five numbers");
    rows = c.size("pooled_height");
    columns = c.size("pooled_width");
    wide = c.b.widen(input);
    rois = c.b.cast(rois, GraphBuilder::element(wide));
    batch = c.b.cast(column(c, 0), c.b.i64());
  }
  Value column(Call &c, int64_t i) { return c.b.select(rois, 1, c.b.dim(i)); }

  Value input, rois, wide, batch;
  DimExpr rows, columns;
};

/// Where samples lie along one dimension, [boxes, bins * samples], and whether they lie inside.
struct Samples {
  Value low, high, fraction, inside;
};

/// Places start + bin * width + (i + 0.5) * width / samples, clamped to the image as torchvision does.
Samples samplesAlong(Call &c, Value start, Value width, DimExpr bins, int64_t samples, Value size) {
  Type type = GraphBuilder::element(start);
  DimExpr count = c.b.dim(samples);
  Dims dims{GraphBuilder::dim(start, 0), bins, count};
  auto spread = [&](Value x) { return c.b.broadcastTo(c.b.unsqueeze(c.b.unsqueeze(x, 1), 2), dims); };
  Value part = c.b.div(c.b.mul(c.b.iota(dims, 2, type, 0.5), spread(width)), double(samples));
  Value at = c.b.add(c.b.add(spread(start), c.b.mul(c.b.iota(dims, 1, type), spread(width))), part);
  at = c.b.reshape(at, {dims[0], DimExpr::mul(bins, count)});
  Value inside = c.b.logicalAnd(c.b.ge(at, -1.0), c.b.le(at, size));
  Value last = c.b.sub(size, 1.0);
  at = c.b.minimum(c.b.maximum(at, 0.0), last);
  Value low = c.b.unary<graph::FloorOp>(at);
  return {c.b.cast(low, c.b.i64()), c.b.cast(c.b.minimum(c.b.add(low, 1.0), last), c.b.i64()), c.b.sub(at, low),
          inside};
}

Results roiAlign(Call &c) {
  Boxes boxes(c);
  double scale = c.real("spatial_scale"), offset = c.flag("aligned") ? 0.5 : 0;
  int64_t samples = c.integer("sampling_ratio");
  if (samples <= 0 || samples > 64)
    Call::fail("roi_align needs a sampling_ratio, the same number of samples for all boxes");
  Dims dims = GraphBuilder::dims(boxes.input);
  auto along = [&](int64_t first, DimExpr bins, DimExpr size) {
    Value start = c.b.sub(c.b.mul(boxes.column(c, first), scale), offset),
          end = c.b.sub(c.b.mul(boxes.column(c, first + 2), scale), offset), length = c.b.sub(end, start);
    if (offset == 0) length = c.b.maximum(length, 1.0);
    return samplesAlong(c, start, c.b.div(length, extent(c, bins, length)), bins, samples, extent(c, size, length));
  };
  Samples y = along(2, boxes.rows, dims[2]), x = along(1, boxes.columns, dims[3]);
  // Every sample is a pair: [boxes, rows * samples, columns * samples].
  Dims grid{GraphBuilder::dim(boxes.rois, 0), GraphBuilder::dim(y.low, 1), GraphBuilder::dim(x.low, 1)};
  auto ofRow = [&](Value v) { return c.b.broadcastTo(c.b.unsqueeze(v, 2), grid); };
  auto ofColumn = [&](Value v) { return c.b.broadcastTo(c.b.unsqueeze(v, 1), grid); };
  Value source = c.b.transpose(boxes.wide, {0, 2, 3, 1});
  Value batch = c.b.broadcastTo(c.b.unsqueeze(c.b.unsqueeze(boxes.batch, 1), 2), grid);
  Value sum;
  for (int corner = 0; corner < 4; ++corner) {
    auto weight = [&](Value fraction, bool high) {
      return high ? fraction : c.b.sub(constantLike(c, 1, fraction), fraction);
    };
    bool down = corner & 2, right = corner & 1;
    Value sample = c.b.op<graph::IndexOp>(
        {source, batch, ofRow(down ? y.high : y.low), ofColumn(right ? x.high : x.low)}, {c.b.ints("dims", {0, 1, 2})});
    Value factor = c.b.mul(ofRow(weight(y.fraction, down)), ofColumn(weight(x.fraction, right)));
    sample = c.b.mul(sample, c.b.unsqueeze(factor, 3));
    sum = sum ? c.b.add(sum, sample) : sample;
  }
  Value inside = c.b.logicalAnd(ofRow(y.inside), ofColumn(x.inside));
  sum = c.b.where(c.b.unsqueeze(inside, 3), sum, constantLike(c, 0, sum));
  Value bins = c.b.reshape(sum, {grid[0], boxes.rows, c.b.dim(samples), boxes.columns, c.b.dim(samples), dims[1]});
  return narrow(c, c.b.transpose(c.b.mean(bins, {2, 4}, false), {0, 3, 1, 2}), boxes.input);
}

/// C's round(): halves away from zero.
Value roundAway(Call &c, Value x) {
  Value size = c.b.unary<graph::FloorOp>(c.b.add(c.b.unary<graph::AbsOp>(x), 0.5));
  return c.b.binary<graph::CopysignOp>(size, x);
}

/// Largest element of each bin of whole pixels, 0 of an empty one. The places of the maxima are not computed.
Results roiPool(Call &c) {
  Boxes boxes(c);
  double scale = c.real("spatial_scale");
  Dims dims = GraphBuilder::dims(boxes.input);
  // Whether an element belongs to a bin: [boxes, bins, size].
  auto along = [&](int64_t first, DimExpr bins, DimExpr size) {
    Value start = roundAway(c, c.b.mul(boxes.column(c, first), scale)),
          end = roundAway(c, c.b.mul(boxes.column(c, first + 2), scale));
    Value length = c.b.maximum(c.b.add(c.b.sub(end, start), 1.0), 1.0);
    Value width = c.b.div(length, extent(c, bins, length));
    Type type = GraphBuilder::element(start);
    Dims table{GraphBuilder::dim(boxes.rois, 0), bins, size};
    auto spread = [&](Value x) { return c.b.broadcastTo(c.b.unsqueeze(c.b.unsqueeze(x, 1), 2), table); };
    Value bin = c.b.iota(table, 1, type), at = c.b.iota(table, 2, type);
    Value from = c.b.add(c.b.unary<graph::FloorOp>(c.b.mul(bin, spread(width))), spread(start));
    Value to = c.b.add(c.b.unary<graph::CeilOp>(c.b.mul(c.b.add(bin, 1.0), spread(width))), spread(start));
    return c.b.logicalAnd(c.b.ge(at, from), c.b.lt(at, to));
  };
  Value inRow = along(2, boxes.rows, dims[2]), inColumn = along(1, boxes.columns, dims[3]);
  Value image = c.b.take(boxes.wide, boxes.batch, 0); // [boxes, channels, height, width]
  Value lowest = c.b.lowest(GraphBuilder::element(image));
  // Along the width first: [boxes, channels, height, columns, width].
  Value masked = c.b.where(c.b.unsqueeze(c.b.unsqueeze(inColumn, 1), 1), c.b.unsqueeze(image, 3), lowest);
  Value best = c.b.reduce<graph::ReduceMaxOp>(masked, {4}, false);
  best = c.b.swapAxes(best, 2, 3); // [boxes, channels, columns, height]
  masked = c.b.where(c.b.unsqueeze(c.b.unsqueeze(inRow, 1), 3), c.b.unsqueeze(best, 2), lowest);
  best = c.b.reduce<graph::ReduceMaxOp>(masked, {4}, false); // [boxes, channels, rows, columns]
  auto any = [&](Value mask) { return c.b.reduce<graph::AnyOp>(mask, {2}, false); };
  Value filled = c.b.logicalAnd(c.b.unsqueeze(any(inRow), 2), c.b.unsqueeze(any(inColumn), 1));
  best = c.b.where(c.b.unsqueeze(filled, 1), best, constantLike(c, 0, best));
  return {narrow(c, best, boxes.input), Value()};
}

/// Convolution whose taps lie at offset places, read bilinearly with zeros around the image, times a mask.
Results deformedConvolution(Call &c) {
  Value x = c.tensor("input"), weight = c.tensor("weight"), offset = c.tensor("offset");
  for (Value v : {x, weight, offset})
    if (GraphBuilder::rank(v) != 4) Call::fail("deform_conv2d takes 4-d tensors");
  int64_t groups = c.integer("groups"), offsetGroups = c.integer("offset_groups");
  Ints taps{GraphBuilder::staticDim(weight, 2, "deform_conv2d"), GraphBuilder::staticDim(weight, 3, "deform_conv2d")};
  int64_t channels = GraphBuilder::staticDim(x, 1, "deform_conv2d"),
          filters = GraphBuilder::staticDim(weight, 0, "deform_conv2d");
  if (groups <= 0 || offsetGroups <= 0 || taps[0] <= 0 || taps[1] <= 0 || channels % groups || filters % groups ||
      channels % offsetGroups || !GraphBuilder::dim(weight, 1).isConstant(channels / groups))
    Call::fail("deform_conv2d of sizes that do not fit");
  int64_t tapCount = taps[0] * taps[1];
  Dims in = GraphBuilder::dims(x), out{GraphBuilder::dim(offset, 2), GraphBuilder::dim(offset, 3)};
  if (!GraphBuilder::dim(offset, 1).isConstant(2 * offsetGroups * tapCount))
    Call::fail("deform_conv2d needs two offsets for each tap");
  Value wide = c.b.widen(x);
  Type type = GraphBuilder::element(wide);
  // Places of every tap: [batch, offset groups, taps, out height, out width].
  Dims places{in[0], c.b.dim(offsetGroups), c.b.dim(tapCount), out[0], out[1]};
  Dims pairs{in[0], c.b.dim(offsetGroups), c.b.dim(tapCount), c.b.dim(2), out[0], out[1]};
  Value offsets = c.b.reshape(c.b.cast(offset, type), pairs);
  auto along = [&](int64_t s, StringRef stride, StringRef pad, StringRef dilation) {
    Dims kernel{c.b.dim(taps[0]), c.b.dim(taps[1])};
    Value tap = c.b.flatten(c.b.iota(kernel, s, type, 0, double(c.integer(dilation))));
    tap = c.b.reshape(tap, {c.b.dim(1), c.b.dim(1), c.b.dim(tapCount), c.b.dim(1), c.b.dim(1)});
    Value base = c.b.iota(places, 3 + s, type, -double(c.integer(pad)), double(c.integer(stride)));
    return c.b.add(c.b.add(base, tap), c.b.select(offsets, 3, c.b.dim(s)));
  };
  Value at[2] = {along(0, "stride_h", "pad_h", "dilation_h"), along(1, "stride_w", "pad_w", "dilation_w")};
  Dims grouped{in[0], c.b.dim(offsetGroups), c.b.dim(channels / offsetGroups), in[2], in[3]};
  Value source = c.b.transpose(c.b.reshape(wide, grouped), {0, 1, 3, 4, 2});
  Value batch = c.b.iota(places, 0, c.b.i64()), group = c.b.iota(places, 1, c.b.i64());
  Value sum;
  for (int corner = 0; corner < 4; ++corner) {
    SmallVector<Value> operands{source, batch, group};
    Value factor, inside;
    for (int s = 0; s < 2; ++s) {
      Value base = c.b.unary<graph::FloorOp>(at[s]), fraction = c.b.sub(at[s], base);
      bool high = (corner >> s) & 1;
      Value place = high ? c.b.add(base, 1.0) : base, last = c.b.sub(extent(c, in[2 + s], base), 1.0);
      Value part = high ? fraction : c.b.sub(constantLike(c, 1, fraction), fraction);
      factor = factor ? c.b.mul(factor, part) : part;
      Value within = c.b.logicalAnd(c.b.ge(place, 0.0), c.b.le(place, last));
      inside = inside ? c.b.logicalAnd(inside, within) : within;
      operands.push_back(c.b.cast(c.b.minimum(c.b.maximum(place, 0.0), last), c.b.i64()));
    }
    Value sample = c.b.op<graph::IndexOp>(operands, {c.b.ints("dims", {0, 1, 2, 3})});
    factor = c.b.where(inside, factor, constantLike(c, 0, factor));
    sample = c.b.mul(sample, c.b.unsqueeze(factor, 5));
    sum = sum ? c.b.add(sum, sample) : sample;
  }
  if (c.flag("use_mask")) sum = c.b.mul(sum, c.b.unsqueeze(c.b.reshape(c.b.cast(c.tensor("mask"), type), places), 5));
  // [batch, offset groups, taps, h, w, channels of a group] -> [batch, groups, channels * taps, pixels].
  DimExpr pixels = DimExpr::mul(out[0], out[1]), depth = c.b.dim(channels / groups * tapCount);
  Value patches = c.b.reshape(c.b.transpose(sum, {0, 1, 5, 2, 3, 4}), {in[0], c.b.dim(groups), depth, pixels});
  Value filter = c.b.reshape(c.b.cast(weight, type), {c.b.dim(1), c.b.dim(groups), c.b.dim(filters / groups), depth});
  Value result = c.b.reshape(c.b.matmul(filter, patches), {in[0], c.b.dim(filters), out[0], out[1]});
  result = c.b.add(result, perChannel(c, c.b.cast(c.tensor("bias"), type), 4));
  return narrow(c, result, x);
}

} // namespace

void addVisionComposites(CompositeTable &t) {
  t.addExact("torchvision.roi_align.default", roiAlign);
  t.addExact("torchvision.roi_pool.default", roiPool);
  t.addExact("torchvision.deform_conv2d.default", deformedConvolution);
}

} // namespace stator::torch_export
