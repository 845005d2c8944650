// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/HostSpans.h"
#include "dialects/graph/Window.h"

using namespace mlir;

namespace stator::graph {

LogicalResult ConvolutionOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  WindowOp op{location, getOperationName()};
  Value x = adaptor.getX(), weight = adaptor.getWeight();
  auto xType = cast<RankedTensorType>(x.getType()), weightType = cast<RankedTensorType>(weight.getType());
  auto both = [&](Complaint &complaint) -> LogicalResult { return complaint.at(x, "x").at(weight, "weight"); };
  int64_t groups = adaptor.getGroups();
  bool transposed = adaptor.getTransposed();
  if (failed(op.checkRank(x)) || failed(op.checkList(x, "strides", adaptor.getStrides(), 1)) ||
      failed(op.checkList(x, "low", adaptor.getLow(), -windowLimit)) ||
      failed(op.checkList(x, "high", adaptor.getHigh(), -windowLimit)) ||
      failed(op.checkList(x, "dilations", adaptor.getDilations(), 1)) ||
      failed(op.checkList(x, "output_padding", adaptor.getOutputPadding(), 0)))
    return failure();
  if (groups < 1 || groups > windowLimit)
    return op.complain() << "needs a number of groups from 1 to " << windowLimit << ", not " << groups;
  if (weightType.getRank() != xType.getRank())
    return both(op.complain() << "needs x and weight of one rank: x has " << xType.getRank() << ", weight "
                              << weightType.getRank());
  if (xType.getElementType() != weightType.getElementType())
    return both(op.complain() << "needs one element type: x has " << xType.getElementType() << ", weight "
                              << weightType.getElementType());
  if (!transposed && llvm::any_of(adaptor.getOutputPadding(), [](int64_t padding) { return padding != 0; }))
    return op.complain() << "has output padding, which only a transposed convolution takes";

  auto number = [&](int64_t value) { return DimExpr::constant(context, value); };
  SmallVector<DimExpr> in = dimsOf(xType), kernel = dimsOf(weightType);
  DimExpr channels = transposed ? kernel[0] : DimExpr::mul(kernel[1], number(groups));
  DimExpr outputs = transposed ? DimExpr::mul(kernel[1], number(groups)) : kernel[0];
  if (!channels || !outputs) return both(op.complain() << "has more channels than fit 64 bits");
  if (channels != in[1])
    return both(op.complain() << "has " << in[1] << " channels in x, but weight with " << groups << " groups takes "
                              << channels);
  if (!DimExpr::mod(transposed ? channels : outputs, number(groups)).isConstant(0))
    return both(op.complain() << "cannot divide " << (transposed ? channels : outputs)
                              << (transposed ? " input" : " output") << " channels into " << groups << " groups");

  SmallVector<DimExpr> result{in[0], outputs};
  for (int64_t d = 0; d < xType.getRank() - 2; ++d) {
    int64_t padding = adaptor.getLow()[d] + adaptor.getHigh()[d], dilation = adaptor.getDilations()[d];
    if (kernel[d + 2].isConstant(0)) return both(op.complain() << "has a kernel of size 0 in spatial dimension " << d);
    if (!transposed) {
      result.push_back(op.outputSize(x, d, padding, kernel[d + 2], dilation, adaptor.getStrides()[d]));
      if (!result.back()) return failure();
      continue;
    }
    DimExpr spread = DimExpr::mul(DimExpr::sub(in[d + 2], number(1)), number(adaptor.getStrides()[d]));
    DimExpr window = DimExpr::mul(DimExpr::sub(kernel[d + 2], number(1)), number(dilation));
    DimExpr size = DimExpr::add(DimExpr::add(spread, window), number(adaptor.getOutputPadding()[d] + 1 - padding));
    if (!size || (size.isConstant() && size.getConstant() < 0))
      return both(op.complain() << "has no output size in spatial dimension " << d
                                << ": padding cuts off more than there is");
    result.push_back(size);
  }
  types.push_back(tensorOf(result, xType.getElementType()));
  return success();
}

LogicalResult ConvolutionOp::verify() {
  if (getX().getType().getElementType().isInteger(1)) return Complaint(*this) << "has no meaning for bool: cast first";
  return success();
}

Scalar ConvolutionOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  Type element = getType().getElementType(), compute = computeType(element);
  bool transposed = getTransposed();
  int64_t groups = getGroups(), spatial = indices.size() - 2;
  SmallVector<DimExpr> kernel = dimsOf(getWeight().getType()), in = dimsOf(getX().getType());
  DimExpr groupCount = DimExpr::constant(getContext(), groups);
  DimExpr groupInputs = transposed ? DimExpr::floorDiv(kernel[0], groupCount) : kernel[1];
  DimExpr groupOutputs = transposed ? kernel[1] : DimExpr::floorDiv(kernel[0], groupCount);

  // Input channels [first, first + groupInputs) and the output channel's place in its group.
  Value first = e.index(0), place = indices[1];
  if (groups != 1) {
    Value outputs = e.size(groupOutputs);
    first = e.mul(e.floorDiv(indices[1], outputs), e.size(groupInputs));
    place = e.mod(indices[1], outputs);
  }
  SmallVector<Value> lower(spatial + 1, e.index(0)), upper{e.size(groupInputs)};
  for (int64_t d = 0; d < spatial; ++d) upper.push_back(e.size(kernel[d + 2]));

  auto body = [&](ArrayRef<Value> k, ArrayRef<Scalar> state) -> SmallVector<Scalar> {
    Value channel = e.add(first, k[0]), inside;
    SmallVector<Value> at{indices[0], channel}, weightAt{indices[1], k[0]};
    if (transposed) weightAt = {channel, place};
    for (int64_t d = 0; d < spatial; ++d) {
      weightAt.push_back(k[d + 1]);
      Value tap = e.mul(k[d + 1], e.index(getDilations()[d])), stride = e.index(getStrides()[d]),
            low = e.index(getLow()[d]);
      if (!transposed) {
        at.push_back(e.sub(e.add(e.mul(indices[d + 2], stride), tap), low));
        // Without padding on a side the output size keeps windows inside on that side.
        if (getLow()[d] > 0) inside = emitBoth(e, inside, e.atLeast(at.back(), e.index(0)));
        if (getHigh()[d] > 0) inside = emitBoth(e, inside, e.lessThan(at.back(), e.size(in[d + 2])));
      } else {
        // The input element i with i * stride + tap - low == output index, if there is one. Shifted up by a whole
        // number of strides, the numerator is never negative, and the quotient is shifted back.
        Value shift = e.mul(upper[d + 1], e.index(getDilations()[d]));
        Value numerator = e.add(e.sub(e.add(indices[d + 2], low), tap), e.mul(shift, stride));
        if (getLow()[d] < 0) numerator = e.add(numerator, e.mul(e.index(-getLow()[d]), stride));
        if (getLow()[d] < 0) shift = e.add(shift, e.index(-getLow()[d]));
        at.push_back(e.sub(e.floorDiv(numerator, stride), shift));
        inside = emitBoth(e, inside, e.atLeast(at.back(), e.index(0)));
        inside = emitBoth(e, inside, e.lessThan(at.back(), e.size(in[d + 2])));
        if (getStrides()[d] != 1) inside = emitBoth(e, inside, e.lessThan(e.mod(numerator, stride), e.index(1)));
      }
    }
    auto accumulate = [&]() -> Scalar {
      Scalar a = e.s.cast(e.element(getXMutable(), at), compute),
             w = e.s.cast(e.element(getWeightMutable(), weightAt), compute);
      return e.s.add(state[0], e.s.mul(a, w));
    };
    if (!inside) return {accumulate()};
    return {e.guarded(inside, accumulate, [&] { return state[0]; })};
  };
  return e.s.cast(emitLoops(e, lower, upper, {e.s.constant(compute, 0)}, body)[0], element);
}

namespace {
/// One convolution with three spatial dimensions. A plain one reads input `wide` and writes output `narrow`; a
/// transposed one the other way round: wide = narrow * stride + tap * dilation - low.
struct ConvolutionLoops {
  Triple narrow, wide, kernel, strides, dilations, low;

  /// Narrow indices whose wide index lies inside, for one tap.
  std::pair<int64_t, int64_t> range(int d, int64_t tap) const {
    int64_t offset = tap * dilations[d] - low[d];
    int64_t begin = offset >= 0 ? 0 : (-offset + strides[d] - 1) / strides[d];
    int64_t room = wide[d] - 1 - offset;
    return {begin, room < 0 ? 0 : std::min(narrow[d], room / strides[d] + 1)};
  }

  /// Adds one channel's contribution to `output`.
  template <typename T> void run(const T *input, const T *weight, T *output, bool transposed) const {
    for (int64_t a = 0; a < kernel[0]; ++a) {
      for (int64_t b = 0; b < kernel[1]; ++b) {
        for (int64_t c = 0; c < kernel[2]; ++c) {
          T factor = *weight++;
          auto [begin0, end0] = range(0, a);
          auto [begin1, end1] = range(1, b);
          auto [begin2, end2] = range(2, c);
          for (int64_t i = begin0; i < end0; ++i) {
            for (int64_t j = begin1; j < end1; ++j) {
              int64_t wideRow =
                  (i * strides[0] + a * dilations[0] - low[0]) * wide[1] + j * strides[1] + b * dilations[1] - low[1];
              int64_t at = wideRow * wide[2] + c * dilations[2] - low[2], row = (i * narrow[1] + j) * narrow[2];
              if (transposed)
                for (int64_t k = begin2; k < end2; ++k) output[at + k * strides[2]] += factor * input[row + k];
              else
                for (int64_t k = begin2; k < end2; ++k) output[row + k] += factor * input[at + k * strides[2]];
            }
          }
        }
      }
    }
  }
};
} // namespace

template <typename T>
static void convolve(const ConvolutionLoops &loops, const HostTensor &x, const HostTensor &weight, HostTensor &result,
                     int64_t groups, bool transposed) {
  std::vector<T> input = widen<T>(x), factors = widen<T>(weight), output(result.size(), T(0));
  auto volume = [](const Triple &sizes) { return sizes[0] * sizes[1] * sizes[2]; };
  int64_t inputs = x.shape[1] / groups, outputs = result.shape[1] / groups;
  int64_t inVolume = volume(spatialSizes(x)), outVolume = volume(spatialSizes(result)), taps = volume(loops.kernel);
  for (int64_t n = 0; n < x.shape[0]; ++n) {
    for (int64_t o = 0; o < result.shape[1]; ++o) {
      int64_t group = o / outputs;
      for (int64_t c = 0; c < inputs; ++c) {
        int64_t channel = group * inputs + c;
        int64_t kernel = transposed ? channel * outputs + o % outputs : o * inputs + c;
        loops.run(&input[(n * x.shape[1] + channel) * inVolume], &factors[kernel * taps],
                  &output[(n * result.shape[1] + o) * outVolume], transposed);
      }
    }
  }
  narrow(output, result);
}

LogicalResult ConvolutionOp::evaluate(EvalEnv &env, ArrayRef<const HostTensor *> operands,
                                      MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0], &weight = *operands[1];
  if (results[0].size() == 0 || x.size() == 0 || weight.size() == 0) return success(); // Zero-filled already.
  bool transposed = getTransposed();
  ConvolutionLoops loops;
  loops.narrow = spatialSizes(transposed ? x : results[0]);
  loops.wide = spatialSizes(transposed ? results[0] : x);
  loops.kernel = spatialSizes(weight);
  loops.strides = triple(getStrides(), 1);
  loops.dilations = triple(getDilations(), 1);
  loops.low = triple(getLow(), 0);
  auto run = x.isFloat() ? convolve<double> : convolve<uint64_t>;
  run(loops, x, weight, results[0], getGroups(), transposed);
  return success();
}

} // namespace stator::graph
