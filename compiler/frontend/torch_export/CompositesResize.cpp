// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizing, sampling grids, and rearrangements between channels and space.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

template <graph::ResizeMode mode> Results resize(Call &c) {
  Value x = c.tensor(c.has("input") ? "input" : "self");
  int64_t spatial = GraphBuilder::rank(x) - 2;
  if (spatial < 1 || spatial > 3) Call::fail("resizing a tensor of rank " + Twine(GraphBuilder::rank(x)));
  SmallVector<double> scales(size_t(spatial), 0.0);
  if (c.has("scale_factors")) {
    SmallVector<double> given = c.reals("scale_factors");
    if (!given.empty() && int64_t(given.size()) != spatial) Call::fail(Twine(given.size()) + " scale factors");
    for (size_t i = 0; i < given.size(); ++i) scales[i] = given[i];
  } else {
    constexpr StringLiteral names[] = {"scales_d", "scales_h", "scales_w"};
    for (int64_t i = 0; i < spatial; ++i) {
      StringRef name = spatial == 1 ? StringRef("scales") : StringRef(names[3 - spatial + i]);
      if (c.has(name)) scales[i] = c.optionalReal(name).value_or(0);
    }
  }
  for (double scale : scales)
    if (!(scale >= 0) || std::isinf(scale)) Call::fail(Twine("a scale factor of ") + std::to_string(scale));
  Dims dims = GraphBuilder::dims(x);
  if (!c.isNone("output_size")) {
    Dims sizes = c.sizes("output_size");
    if (int64_t(sizes.size()) != spatial) Call::fail("an output size of " + Twine(sizes.size()) + " numbers");
    std::copy(sizes.begin(), sizes.end(), dims.begin() + 2);
  } else if (auto declared = c.declaredDims(); declared && declared->size() == dims.size()) {
    dims = *declared;
  } else {
    Call::fail("the size of the result is not stated");
  }
  SmallVector<NamedAttribute> attributes{c.b.attr("mode", graph::ResizeModeAttr::get(c.b.context(), mode)),
                                         c.b.attr("scales", c.b.b.getDenseF64ArrayAttr(scales))};
  if (c.has("align_corners") && c.flag("align_corners")) attributes.push_back(c.b.unit("align_corners"));
  return c.b.opAs<graph::ResizeOp>(graph::tensorOf(dims, GraphBuilder::element(x)), {x}, attributes);
}

double cubicFilter(double x, double a) {
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  if (x < 2) return (((x - 5) * x + 8) * x - 4) * a;
  return 0;
}

/// The matrix [outputs, inputs] of an antialiased resize of one dimension.
Value antialiasMatrix(Call &c, int64_t inputs, int64_t outputs, bool cubic, bool alignCorners, double scaleFactor,
                      Type type) {
  if (inputs <= 0 || outputs <= 0 || inputs > (1 << 12) || outputs > (1 << 12))
    Call::fail("an antialiased resize from " + Twine(inputs) + " to " + Twine(outputs));
  double scale = alignCorners      ? (outputs > 1 ? double(inputs - 1) / double(outputs - 1) : 0)
                 : scaleFactor > 0 ? 1 / scaleFactor
                                   : double(inputs) / double(outputs);
  double reach = (cubic ? 2.0 : 1.0) * std::max(scale, 1.0), inverse = scale >= 1 ? 1 / scale : 1;
  std::vector<Attribute> values;
  for (int64_t o = 0; o < outputs; ++o) {
    double centre = scale * (double(o) + 0.5);
    int64_t first = std::max<int64_t>(int64_t(centre - reach + 0.5), 0),
            last = std::min<int64_t>(int64_t(centre + reach + 0.5), inputs);
    std::vector<double> row(size_t(inputs), 0.0);
    double total = 0;
    for (int64_t i = first; i < last; ++i) {
      double distance = (double(i) - centre + 0.5) * inverse;
      row[size_t(i)] = cubic ? cubicFilter(distance, -0.5) : std::max(0.0, 1 - std::abs(distance));
      total += row[size_t(i)];
    }
    for (double w : row) values.push_back(FloatAttr::get(type, total != 0 ? w / total : 0));
  }
  return c.b.constant(DenseElementsAttr::get(RankedTensorType::get({outputs, inputs}, type), values));
}

template <bool cubic> Results resizeAntialiased(Call &c) {
  Value x = c.tensor(c.has("input") ? "input" : "self");
  if (GraphBuilder::rank(x) != 4) Call::fail("resizing a tensor of rank " + Twine(GraphBuilder::rank(x)));
  auto declared = c.declaredDims();
  if (!declared || declared->size() != 4) Call::fail("the size of the result is not stated");
  SmallVector<double> factors = c.has("scale_factors") ? c.reals("scale_factors")
                                                       : SmallVector<double>{c.optionalReal("scales_h").value_or(0),
                                                                             c.optionalReal("scales_w").value_or(0)};
  factors.resize(2, 0);
  Value wide = c.b.widen(x);
  Type type = GraphBuilder::element(wide);
  auto matrix = [&](int64_t d) {
    auto outputs = (*declared)[d].asConstant();
    if (!outputs) Call::fail("an antialiased resize needs sizes that are known when compiling");
    return antialiasMatrix(c, GraphBuilder::staticDim(x, d, "an antialiased resize"), *outputs, cubic,
                           c.flag("align_corners"), factors[d - 2], type);
  };
  Value columns = c.b.matmul(wide, matrix(3), false, true);                              // N C H w
  Value rows = c.b.matmul(c.b.transpose(columns, {0, 1, 3, 2}), matrix(2), false, true); // N C w h
  return narrow(c, c.b.transpose(rows, {0, 1, 3, 2}), x);
}

/// Where a normalized coordinate of [-1, 1] lies among `size` elements.
Value unnormalize(Call &c, Value coordinate, Value size, bool alignCorners) {
  if (alignCorners) return c.b.mul(c.b.mul(c.b.add(coordinate, 1.0), 0.5), c.b.sub(size, 1.0));
  return c.b.mul(c.b.sub(c.b.mul(c.b.add(coordinate, 1.0), size), 1.0), 0.5);
}

/// Reflects about the borders, which lie at elements' centres (align_corners) or edges, and clips.
Value reflect(Call &c, Value x, Value size, bool alignCorners) {
  Value low = alignCorners ? c.b.scalar(0, GraphBuilder::element(x)) : c.b.scalar(-0.5, GraphBuilder::element(x));
  Value span = alignCorners ? c.b.sub(size, 1.0) : size;
  Value distance = c.b.unary<graph::AbsOp>(c.b.sub(x, low));
  Value extra = c.b.binary<graph::FmodOp>(distance, span), flips = c.b.unary<graph::FloorOp>(c.b.div(distance, span));
  Value even = c.b.eq(c.b.binary<graph::FmodOp>(flips, 2.0), 0.0);
  Value y = c.b.where(even, c.b.add(extra, low), c.b.add(c.b.sub(span, extra), low));
  return c.b.where(c.b.eq(span, 0.0), c.b.scalar(0, GraphBuilder::element(x)), y);
}

/// grid_sample of [N, C, spatial...] at [N, out..., spatial] normalized coordinates (last dimension first).
Results gridSample(Call &c) {
  Value x = c.tensor("input"), grid = c.tensor("grid");
  int64_t spatial = GraphBuilder::rank(x) - 2, mode = c.integer("interpolation_mode"),
          padding = c.integer("padding_mode");
  if ((spatial != 2 && spatial != 3) || GraphBuilder::rank(grid) != spatial + 2 ||
      !GraphBuilder::dim(grid, spatial + 1).isConstant(spatial))
    Call::fail("grid_sample of an input and a grid that do not fit");
  if (mode != 0 && mode != 1) Call::fail("bicubic grid_sample is not supported");
  if (padding < 0 || padding > 2) Call::fail("unknown padding mode " + Twine(padding));
  bool align = c.flag("align_corners");
  Value wide = c.b.widen(x), places = c.b.widen(grid);
  Type type = GraphBuilder::element(places);
  Dims out = GraphBuilder::dims(grid);
  out.pop_back();
  SmallVector<Value> position, size;
  for (int64_t s = 0; s < spatial; ++s) {
    Value extent = c.b.cast(c.b.size(GraphBuilder::dim(x, 2 + s)), type);
    Value at = unnormalize(c, c.b.select(places, spatial + 1, c.b.dim(spatial - 1 - s)), extent, align);
    if (padding == 2) at = reflect(c, at, extent, align);
    if (padding != 0) at = c.b.minimum(c.b.maximum(at, 0.0), c.b.sub(extent, 1.0));
    position.push_back(at);
    size.push_back(extent);
  }
  // x as [N, spatial..., C], indexed by batch and corner.
  Ints channelsLast{0};
  for (int64_t s = 0; s < spatial; ++s) channelsLast.push_back(2 + s);
  channelsLast.push_back(1);
  Value source = c.b.transpose(wide, channelsLast);
  Value batch = c.b.iota(out, 0, c.b.i64());
  Value sum;
  for (int64_t corner = 0; corner < (mode == 1 ? 1 : int64_t(1) << spatial); ++corner) {
    SmallVector<Value> operands{source, batch};
    Value weight, inside;
    for (int64_t s = 0; s < spatial; ++s) {
      Value base = mode == 1 ? c.b.unary<graph::RoundOp>(position[s]) : c.b.unary<graph::FloorOp>(position[s]);
      bool upper = (corner >> s) & 1;
      Value at = upper ? c.b.add(base, 1.0) : base;
      if (mode == 0) {
        Value fraction = c.b.sub(position[s], base);
        Value part = upper ? fraction : c.b.sub(c.b.scalar(1, type), fraction);
        weight = weight ? c.b.mul(weight, part) : part;
      }
      Value within = c.b.logicalAnd(c.b.ge(at, 0.0), c.b.le(at, c.b.sub(size[s], 1.0)));
      inside = inside ? c.b.logicalAnd(inside, within) : within;
      operands.push_back(c.b.cast(c.b.minimum(c.b.maximum(at, 0.0), c.b.sub(size[s], 1.0)), c.b.i64()));
    }
    Value sample = c.b.op<graph::IndexOp>(operands, {c.b.ints("dims", counting(0, spatial + 1))});
    sample = c.b.where(c.b.unsqueeze(inside, spatial + 1), sample, c.b.scalar(0, GraphBuilder::element(sample)));
    if (weight) sample = c.b.mul(sample, c.b.cast(c.b.unsqueeze(weight, spatial + 1), GraphBuilder::element(sample)));
    sum = sum ? c.b.add(sum, sample) : sample;
  }
  return narrow(c, c.b.moveAxis(sum, spatial + 1, 1), x);
}

/// The grid of an affine map [N, 2, 3] over an [N, C, H, W] output (or [N, 3, 4] over three dimensions).
Results affineGrid(Call &c) {
  Value theta = c.tensor("theta");
  Dims size = c.sizes("size");
  int64_t spatial = int64_t(size.size()) - 2;
  if (spatial != 2 && spatial != 3) Call::fail("affine_grid over " + Twine(spatial) + " dimensions");
  bool align = c.flag("align_corners");
  Type type = GraphBuilder::element(theta);
  Dims space(size.begin() + 2, size.end());
  SmallVector<Value> columns;
  for (int64_t s = spatial - 1; s >= 0; --s) {
    auto n = space[s].asConstant();
    if (!n || *n <= 0) Call::fail("affine_grid needs sizes that are known when compiling");
    double step = align ? (*n > 1 ? 2.0 / double(*n - 1) : 0) : 2.0 / double(*n), start = *n <= 1 && align ? 0
                                                                                          : align
                                                                                              ? -1
                                                                                              : -1 + 1.0 / double(*n);
    columns.push_back(c.b.unsqueeze(c.b.flatten(c.b.iota(space, s, type, start, step)), 1));
  }
  columns.push_back(c.b.full(Number::of(1.0), GraphBuilder::dims(columns[0]), type));
  Value base = c.b.concat(columns, 1); // [points, spatial + 1]
  Dims batched{size[0], GraphBuilder::dim(base, 0), GraphBuilder::dim(base, 1)}, result{size[0]};
  Value grid = c.b.matmul(c.b.broadcastTo(base, batched), theta, false, true);
  result.append(space);
  result.push_back(c.b.dim(spatial));
  return c.b.reshape(grid, result);
}

Results pixelShuffle(Call &c) {
  Value x = c.tensor("self");
  int64_t r = c.integer("upscale_factor"), rank = GraphBuilder::rank(x);
  if (rank < 3 || r <= 0 || r > (1 << 15))
    Call::fail("pixel_shuffle by " + Twine(r) + " of a tensor of rank " + Twine(rank));
  Dims dims = GraphBuilder::dims(x), lead(dims.begin(), dims.end() - 3);
  DimExpr channels = DimExpr::floorDiv(dims[rank - 3], c.b.dim(r * r)), h = dims[rank - 2], w = dims[rank - 1];
  Dims split = lead, result = lead;
  split.append({channels, c.b.dim(r), c.b.dim(r), h, w});
  result.append({channels, DimExpr::mul(h, c.b.dim(r)), DimExpr::mul(w, c.b.dim(r))});
  Ints order = counting(0, rank - 3);
  for (int64_t offset : {0, 3, 1, 4, 2}) order.push_back(rank - 3 + offset);
  return c.b.reshape(c.b.transpose(c.b.reshape(x, split), order), result);
}

Results pixelUnshuffle(Call &c) {
  Value x = c.tensor("self");
  int64_t r = c.integer("downscale_factor"), rank = GraphBuilder::rank(x);
  if (rank < 3 || r <= 0 || r > (1 << 15))
    Call::fail("pixel_unshuffle by " + Twine(r) + " of a tensor of rank " + Twine(rank));
  Dims dims = GraphBuilder::dims(x), lead(dims.begin(), dims.end() - 3);
  DimExpr h = DimExpr::floorDiv(dims[rank - 2], c.b.dim(r)), w = DimExpr::floorDiv(dims[rank - 1], c.b.dim(r));
  Dims split = lead, result = lead;
  split.append({dims[rank - 3], h, c.b.dim(r), w, c.b.dim(r)});
  result.append({DimExpr::mul(dims[rank - 3], c.b.dim(r * r)), h, w});
  Ints order = counting(0, rank - 3);
  for (int64_t offset : {0, 2, 4, 1, 3}) order.push_back(rank - 3 + offset);
  return c.b.reshape(c.b.transpose(c.b.reshape(x, split), order), result);
}

Results channelShuffle(Call &c) {
  Value x = c.tensor("self");
  int64_t groups = c.integer("groups"), rank = GraphBuilder::rank(x);
  if (rank < 3 || groups <= 0) Call::fail("channel_shuffle with " + Twine(groups) + " groups");
  Dims dims = GraphBuilder::dims(x), split{dims[0], c.b.dim(groups), DimExpr::floorDiv(dims[1], c.b.dim(groups))};
  split.append(dims.begin() + 2, dims.end());
  return c.b.reshape(c.b.swapAxes(c.b.reshape(x, split), 1, 2), dims);
}

} // namespace

void addResizeComposites(CompositeTable &t) {
  t.add({"upsample_nearest1d.vec", "upsample_nearest2d.vec", "upsample_nearest3d.vec", "upsample_nearest1d.default",
         "upsample_nearest2d.default", "upsample_nearest3d.default"},
        resize<graph::ResizeMode::Nearest>);
  t.add({"_upsample_nearest_exact1d.vec", "_upsample_nearest_exact2d.vec", "_upsample_nearest_exact3d.vec",
         "_upsample_nearest_exact1d.default", "_upsample_nearest_exact2d.default", "_upsample_nearest_exact3d.default"},
        resize<graph::ResizeMode::NearestExact>);
  t.add({"upsample_linear1d.vec", "upsample_bilinear2d.vec", "upsample_trilinear3d.vec", "upsample_linear1d.default",
         "upsample_bilinear2d.default", "upsample_trilinear3d.default"},
        resize<graph::ResizeMode::Linear>);
  t.add({"upsample_bicubic2d.vec", "upsample_bicubic2d.default"}, resize<graph::ResizeMode::Cubic>);
  t.add({"_upsample_bilinear2d_aa.vec", "_upsample_bilinear2d_aa.default"}, resizeAntialiased<false>);
  t.add({"_upsample_bicubic2d_aa.vec", "_upsample_bicubic2d_aa.default"}, resizeAntialiased<true>);
  t.add({"grid_sampler.default", "grid_sampler_2d.default", "grid_sampler_3d.default"}, gridSample);
  t.add({"affine_grid_generator.default"}, affineGrid);
  t.add({"pixel_shuffle.default"}, pixelShuffle);
  t.add({"pixel_unshuffle.default"}, pixelUnshuffle);
  t.add({"channel_shuffle.default", "native_channel_shuffle.default"}, channelShuffle);
}

} // namespace stator::torch_export
