// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/HostSpans.h"
#include "dialects/graph/Window.h"
#include <cmath>

using namespace mlir;

namespace stator::graph {

LogicalResult MaxPoolOp::inferReturnTypes(MLIRContext *context, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  auto dims = inferPool({location, getOperationName()}, adaptor.getX(), adaptor.getKernel(), adaptor.getStrides(),
                        adaptor.getPadding(), adaptor.getDilations(), adaptor.getCeilMode());
  if (failed(dims)) return failure();
  types.push_back(tensorOf(*dims, cast<RankedTensorType>(adaptor.getX().getType()).getElementType()));
  types.push_back(tensorOf(*dims, IntegerType::get(context, 64)));
  return success();
}

LogicalResult MaxPoolOp::verify() { return success(); }

/// a where `condition` holds, else c.
static Value choose(ElementEmitter &e, Value condition, Value a, Value c) {
  if (auto decided = getConstantIntValue(condition)) return *decided ? a : c;
  return arith::SelectOp::create(e.s.b, e.s.loc, condition, a, c);
}

Scalar MaxPoolOp::emitElement(ElementEmitter &e, unsigned result, ValueRange indices) {
  ScalarBuilder &s = e.s;
  int64_t spatial = indices.size() - 2;
  Type element = getX().getType().getElementType(), compute = computeType(element), i64 = s.b.getI64Type();
  SmallVector<DimExpr> in = dimsOf(getX().getType());
  SmallVector<Value> lower(spatial, e.index(0)), upper;
  for (int64_t size : getKernel()) upper.push_back(e.index(size));

  auto bounds = [&](StringRef symbol) { return symbolRange(getOperation(), symbol); };
  bool isFilled = llvm::all_of(in, [&](DimExpr size) { return rangeOf(size, bounds).min >= 1; });
  if (result == 0 && isFilled && llvm::all_of(getDilations(), [](int64_t d) { return d == 1; })) {
    // The window's elements are adjacent and one at least is inside: where a tap is outside, the nearest one inside,
    // which is in the window too, stands in for it. So nothing depends on the border, and loops over places can be
    // vectors.
    auto best = emitLoops(
        e, lower, upper, {s.lowest(compute)}, [&](ArrayRef<Value> k, ArrayRef<Scalar> state) -> SmallVector<Scalar> {
          SmallVector<Value> at{indices[0], indices[1]};
          for (int64_t d = 0; d < spatial; ++d) {
            Value place = e.sub(e.add(e.mul(indices[d + 2], e.index(getStrides()[d])), k[d]), e.index(getPadding()[d]));
            if (getPadding()[d] > 0) place = choose(e, e.lessThan(place, e.index(0)), e.index(0), place);
            Value last = e.sub(e.size(in[d + 2]), e.index(1));
            if (getPadding()[d] > 0 || getCeilMode()) place = choose(e, e.lessThan(last, place), last, place);
            at.push_back(place);
          }
          Scalar value = s.cast(e.element(getXMutable(), at), compute);
          Scalar better = s.gt(value, state[0]);
          if (value.isFloat()) better = s.bitOr(better, s.isNan(value));
          return {s.select(better, value, state[0])};
        });
    return s.cast(best[0], element);
  }

  // State: the best value and its position, -1 before the first.
  auto body = [&](ArrayRef<Value> k, ArrayRef<Scalar> state) -> SmallVector<Scalar> {
    SmallVector<Value> at{indices[0], indices[1]};
    Value inside, position;
    for (int64_t d = 0; d < spatial; ++d) {
      Value tap = e.mul(k[d], e.index(getDilations()[d]));
      at.push_back(e.sub(e.add(e.mul(indices[d + 2], e.index(getStrides()[d])), tap), e.index(getPadding()[d])));
      if (getPadding()[d] > 0) inside = emitBoth(e, inside, e.atLeast(at.back(), e.index(0)));
      if (getPadding()[d] > 0 || getCeilMode()) inside = emitBoth(e, inside, e.lessThan(at.back(), e.size(in[d + 2])));
      position = position ? e.add(e.mul(position, e.size(in[d + 2])), at.back()) : at.back();
    }
    auto load = [&] { return s.cast(e.element(getXMutable(), at), compute); };
    Scalar value = inside ? e.guarded(inside, load, [&] { return s.lowest(compute); }) : load();
    Scalar better = s.bitOr(s.lt(state[1], s.integer(i64, 0)), s.gt(value, state[0]));
    if (value.isFloat()) better = s.bitOr(better, s.isNan(value));
    if (inside) better = s.bitAnd(better, s.boolean(inside));
    return {s.select(better, value, state[0]), s.select(better, s.index(position), state[1])};
  };
  auto best = emitLoops(e, lower, upper, {s.lowest(compute), s.integer(i64, -1)}, body);
  return result == 0 ? s.cast(best[0], element) : s.maximum(best[1], s.integer(i64, 0));
}

namespace {
/// The windows of a pool, with three spatial dimensions.
struct Windows {
  Triple in, out, kernel, strides, padding, dilations;

  /// Calls visit(channel and batch, output element, window start of each dimension).
  template <typename Visit> void forEach(int64_t planes, Visit visit) const {
    int64_t element = 0;
    for (int64_t plane = 0; plane < planes; ++plane)
      for (int64_t i = 0; i < out[0]; ++i)
        for (int64_t j = 0; j < out[1]; ++j)
          for (int64_t k = 0; k < out[2]; ++k)
            visit(plane, element++,
                  Triple{i * strides[0] - padding[0], j * strides[1] - padding[1], k * strides[2] - padding[2]});
  }
  /// The window's first element that is not in the left padding.
  Triple firstInside(Triple start) const {
    for (int d = 0; d < 3; ++d)
      if (start[d] < 0) start[d] += (-start[d] + dilations[d] - 1) / dilations[d] * dilations[d];
    return start;
  }
  /// One past the window's last element, or the input's.
  Triple windowEnd(Triple start) const {
    for (int d = 0; d < 3; ++d) start[d] = std::min(in[d], start[d] + (kernel[d] - 1) * dilations[d] + 1);
    return start;
  }
  int64_t planeSize() const { return in[0] * in[1] * in[2]; }
  int64_t position(int64_t i, int64_t j, int64_t k) const { return (i * in[1] + j) * in[2] + k; }
};
} // namespace

static Windows windowsOf(const HostTensor &x, const HostTensor &result, ArrayRef<int64_t> kernel,
                         ArrayRef<int64_t> strides, ArrayRef<int64_t> padding, ArrayRef<int64_t> dilations) {
  return {spatialSizes(x),    spatialSizes(result), triple(kernel, 1),
          triple(strides, 1), triple(padding, 0),   triple(dilations, 1)};
}

template <typename T>
static void findMaxima(const Windows &w, const HostTensor &x, HostTensor &result, HostTensor &indices) {
  auto values = widen<std::conditional_t<std::is_same_v<T, double>, double, uint64_t>>(x);
  w.forEach(x.shape[0] * x.shape[1], [&](int64_t plane, int64_t to, Triple start) {
    T best = 0;
    int64_t where = -1;
    Triple begin = w.firstInside(start), end = w.windowEnd(start);
    for (int64_t i = begin[0]; i < end[0]; i += w.dilations[0]) {
      for (int64_t j = begin[1]; j < end[1]; j += w.dilations[1]) {
        for (int64_t k = begin[2]; k < end[2]; k += w.dilations[2]) {
          T value = T(values[plane * w.planeSize() + w.position(i, j, k)]);
          if (where >= 0 && !(value > best) && value == value) continue;
          best = value;
          where = w.position(i, j, k);
        }
      }
    }
    indices.setInt(to, std::max<int64_t>(where, 0));
    if (where >= 0)
      result.copyElement(to, x, plane * w.planeSize() + where);
    else if (x.isFloat())
      result.setDouble(to, -INFINITY);
    else
      result.setInt(to, lowestInteger(x.elementType));
  });
}

LogicalResult MaxPoolOp::evaluate(EvalEnv &, ArrayRef<const HostTensor *> operands,
                                  MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  Windows windows = windowsOf(x, results[0], getKernel(), getStrides(), getPadding(), getDilations());
  auto run = x.isFloat()                        ? findMaxima<double>
             : isUnsignedElement(x.elementType) ? findMaxima<uint64_t>
                                                : findMaxima<int64_t>;
  run(windows, x, results[0], results[1]);
  return success();
}

LogicalResult AvgPoolOp::inferReturnTypes(MLIRContext *, std::optional<Location> location, Adaptor adaptor,
                                          SmallVectorImpl<Type> &types) {
  SmallVector<int64_t> ones(adaptor.getKernel().size(), 1);
  auto dims = inferPool({location, getOperationName()}, adaptor.getX(), adaptor.getKernel(), adaptor.getStrides(),
                        adaptor.getPadding(), ones, adaptor.getCeilMode());
  if (failed(dims)) return failure();
  types.push_back(tensorOf(*dims, cast<RankedTensorType>(adaptor.getX().getType()).getElementType()));
  return success();
}

LogicalResult AvgPoolOp::verify() {
  if (getDivisor() == 0) return Complaint(*this) << "has divisor 0";
  return verifyFloatElements(*this);
}

static Scalar emitMean(ElementEmitter &e, OpOperand &x, ValueRange indices, ArrayRef<Value> lower,
                       ArrayRef<Value> upper, Scalar count) {
  Type element = cast<RankedTensorType>(x.get().getType()).getElementType(), compute = computeType(element);
  auto sum = emitLoops(e, lower, upper, {e.s.constant(compute, 0)},
                       [&](ArrayRef<Value> place, ArrayRef<Scalar> state) -> SmallVector<Scalar> {
                         SmallVector<Value> at{indices[0], indices[1]};
                         at.append(place.begin(), place.end());
                         return {e.s.add(state[0], e.s.cast(e.element(x, at), compute))};
                       });
  return e.s.cast(e.s.div(sum[0], e.s.cast(count, compute)), element);
}

Scalar AvgPoolOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  ScalarBuilder &s = e.s;
  Type i64 = s.b.getI64Type();
  auto least = [&](Value a, Value b) { return s.toIndex(s.minimum(s.index(a), s.index(b))); };
  SmallVector<Value> lower, upper;
  Scalar padded = s.integer(i64, 1), inside = padded;
  for (auto [d, kernel] : llvm::enumerate(getKernel())) {
    Value size = e.size(dimOf(getX().getType(), d + 2)), padding = e.index(getPadding()[d]);
    Value start = e.sub(e.mul(indices[d + 2], e.index(getStrides()[d])), padding), end = e.add(start, e.index(kernel));
    // Without ceil_mode every window lies inside the padded input.
    if (getCeilMode()) end = least(end, e.add(size, padding));
    padded = s.mul(padded, s.index(e.sub(end, start)));
    if (getPadding()[d] > 0) start = s.toIndex(s.maximum(s.index(start), s.integer(i64, 0)));
    if (getPadding()[d] > 0 || getCeilMode()) end = least(end, size);
    inside = s.mul(inside, s.index(e.sub(end, start)));
    lower.push_back(start);
    upper.push_back(end);
  }
  Scalar count = getExcludePadding() ? inside : padded;
  if (auto divisor = getDivisor()) count = s.integer(i64, int64_t(*divisor));
  return emitMean(e, getXMutable(), indices, lower, upper, count);
}

LogicalResult AvgPoolOp::evaluate(EvalEnv &, ArrayRef<const HostTensor *> operands,
                                  MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  SmallVector<int64_t> ones(getKernel().size(), 1);
  Windows w = windowsOf(x, results[0], getKernel(), getStrides(), getPadding(), ones);
  std::vector<double> values = widen<double>(x), means(results[0].size());
  w.forEach(x.shape[0] * x.shape[1], [&](int64_t plane, int64_t to, Triple start) {
    int64_t padded = 1, inside = 1;
    Triple begin, end;
    for (int d = 0; d < 3; ++d) {
      end[d] = std::min(start[d] + w.kernel[d], w.in[d] + w.padding[d]);
      padded *= end[d] - start[d];
      begin[d] = std::max<int64_t>(start[d], 0);
      end[d] = std::min(end[d], w.in[d]);
      inside *= std::max<int64_t>(end[d] - begin[d], 0);
    }
    double sum = 0;
    for (int64_t i = begin[0]; i < end[0]; ++i)
      for (int64_t j = begin[1]; j < end[1]; ++j)
        for (int64_t k = begin[2]; k < end[2]; ++k) sum += values[plane * w.planeSize() + w.position(i, j, k)];
    means[to] = sum / double(getDivisor() ? int64_t(*getDivisor()) : getExcludePadding() ? inside : padded);
  });
  narrow(means, results[0]);
  return success();
}

LogicalResult AdaptiveAvgPoolOp::verify() {
  if (failed(verifySpatialChange(*this))) return failure();
  return verifyFloatElements(*this);
}

Scalar AdaptiveAvgPoolOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  ScalarBuilder &s = e.s;
  SmallVector<Value> lower, upper;
  Scalar count = s.integer(s.b.getI64Type(), 1);
  for (size_t d = 2; d < indices.size(); ++d) {
    Value in = e.size(dimOf(getX().getType(), d)), out = e.size(dimOf(getType(), d));
    Value next = e.mul(e.add(indices[d], e.index(1)), in);
    lower.push_back(e.floorDiv(e.mul(indices[d], in), out));
    upper.push_back(e.floorDiv(e.add(next, e.sub(out, e.index(1))), out));
    count = s.mul(count, s.index(e.sub(upper.back(), lower.back())));
  }
  return emitMean(e, getXMutable(), indices, lower, upper, count);
}

LogicalResult AdaptiveAvgPoolOp::evaluate(EvalEnv &, ArrayRef<const HostTensor *> operands,
                                          MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  Triple unit = triple({}, 1), none = triple({}, 0);
  Windows w{spatialSizes(x), spatialSizes(results[0]), unit, unit, none, unit}; // start is the output index itself
  std::vector<double> values = widen<double>(x), means(results[0].size());
  w.forEach(x.shape[0] * x.shape[1], [&](int64_t plane, int64_t to, Triple index) {
    Triple begin, end;
    int64_t count = 1;
    for (int d = 0; d < 3; ++d) {
      begin[d] = index[d] * w.in[d] / w.out[d];
      end[d] = ((index[d] + 1) * w.in[d] + w.out[d] - 1) / w.out[d];
      count *= end[d] - begin[d];
    }
    double sum = 0;
    for (int64_t i = begin[0]; i < end[0]; ++i)
      for (int64_t j = begin[1]; j < end[1]; ++j)
        for (int64_t k = begin[2]; k < end[2]; ++k) sum += values[plane * w.planeSize() + w.position(i, j, k)];
    means[to] = sum / double(count);
  });
  narrow(means, results[0]);
  return success();
}

} // namespace stator::graph
