// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resizing. The coordinate rules are those of PyTorch's upsample functions, in the same precision, so that the same
// source element is chosen where a coordinate falls on a boundary.
#include "dialects/graph/HostSpans.h"
#include "dialects/graph/Window.h"
#include <cmath>

using namespace mlir;

namespace stator::graph {

/// Free parameter of the cubic convolution kernel.
static constexpr double cubicA = -0.75;

LogicalResult ResizeOp::verify() {
  if (failed(verifySpatialChange(*this))) return failure();
  int64_t spatial = getX().getType().getRank() - 2;
  bool nearest = getMode() == ResizeMode::Nearest || getMode() == ResizeMode::NearestExact;
  if (!nearest && failed(verifyFloatElements(*this))) return failure();
  if (nearest && getAlignCorners())
    return Complaint(*this) << "cannot align corners in mode " << stringifyResizeMode(getMode());
  if (getMode() == ResizeMode::Cubic && spatial > 2)
    return Complaint(*this) << "has cubic mode for one or two spatial dimensions, not " << spatial;
  if (!getScales().empty() && int64_t(getScales().size()) != spatial)
    return Complaint(*this) << "needs one number per spatial dimension in 'scales', or none: it has "
                            << getScales().size() << " for " << spatial;
  for (double scale : getScales())
    if (!std::isfinite(scale)) return Complaint(*this) << "has a scale that is not finite";
  return success();
}

namespace {
/// The elements that one dimension contributes, and what each counts; one without weights for nearest.
struct Taps {
  SmallVector<Value, 4> at;
  SmallVector<Scalar, 4> weights;
};

/// Emits the taps of one spatial dimension.
struct TapEmitter {
  ElementEmitter &e;
  ScalarBuilder &s;
  ResizeOp op;
  Type type; ///< of coordinates
  Type i64;

  TapEmitter(ElementEmitter &e, ResizeOp op) : e(e), s(e.s), op(op), i64(s.b.getI64Type()) {
    Type element = op.getX().getType().getElementType();
    type = element.isF64() ? element : s.b.getF32Type();
  }

  Scalar number(double value) { return s.constant(type, value); }
  Scalar size(int64_t d, bool result) {
    return s.index(e.size(dimOf(result ? op.getType() : op.getX().getType(), d + 2)));
  }
  Scalar scaleOf(int64_t d) {
    if (op.getAlignCorners()) {
      Scalar out = s.cast(size(d, true), type), in = s.cast(size(d, false), type);
      return s.select(s.gt(out, number(1)), s.div(s.sub(in, number(1)), s.sub(out, number(1))), number(0));
    }
    if (!op.getScales().empty() && op.getScales()[d] > 0) return number(1 / op.getScales()[d]);
    return s.div(s.cast(size(d, false), type), s.cast(size(d, true), type));
  }
  /// min(integer part, in - 1), of a coordinate that is not below -1.
  Scalar clampedFloor(int64_t d, Scalar coordinate) {
    return s.minimum(s.cast(s.floor(coordinate), i64), s.sub(size(d, false), s.integer(i64, 1)));
  }
  bool keepsSize(int64_t d) { return dimOf(op.getX().getType(), d + 2) == dimOf(op.getType(), d + 2); }

  Taps nearest(int64_t d, Value index) {
    if (keepsSize(d)) return {{index}, {}};
    Scalar i = s.index(index), in = size(d, false), out = size(d, true), offset = s.cast(i, type);
    if (op.getMode() == ResizeMode::NearestExact) {
      Scalar source = clampedFloor(d, s.mul(s.add(offset, number(0.5)), scaleOf(d)));
      return {{s.toIndex(s.select(s.eq(in, out), i, source))}, {}};
    }
    // Twice the size is exact in integers, where a rounded scale might not be.
    Scalar source = clampedFloor(d, s.mul(offset, scaleOf(d)));
    Scalar doubled = s.eq(out, s.add(in, in));
    source = s.select(doubled, s.shiftRight(i, s.integer(i64, 1)), source);
    return {{s.toIndex(s.select(s.eq(in, out), i, source))}, {}};
  }

  Taps linear(int64_t d, Value index) {
    if (keepsSize(d)) return {{index}, {}};
    Scalar i = s.index(index), scale = scaleOf(d), zero = s.integer(i64, 0), one = s.integer(i64, 1);
    Scalar coordinate = s.mul(scale, s.cast(i, type));
    if (!op.getAlignCorners()) {
      coordinate = s.sub(s.mul(scale, s.add(s.cast(i, type), number(0.5))), number(0.5));
      coordinate = s.select(s.lt(coordinate, number(0)), number(0), coordinate);
    }
    Scalar same = s.eq(size(d, false), size(d, true));
    Scalar left = clampedFloor(d, coordinate);
    Scalar weight = s.sub(coordinate, s.cast(left, type));
    weight = s.minimum(s.maximum(weight, number(0)), number(1));
    left = s.select(same, i, left);
    weight = s.select(same, number(0), weight);
    Scalar step = s.select(s.lt(left, s.sub(size(d, false), one)), one, zero);
    return {{s.toIndex(left), s.toIndex(s.add(left, step))}, {s.sub(number(1), weight), weight}};
  }

  Scalar near(Scalar x) { // |x| <= 1
    Scalar inner = s.sub(s.mul(number(cubicA + 2), x), number(cubicA + 3));
    return s.add(s.mul(s.mul(inner, x), x), number(1));
  }
  Scalar far(Scalar x) { // 1 < |x| < 2
    Scalar inner = s.add(s.mul(s.sub(s.mul(number(cubicA), x), number(5 * cubicA)), x), number(8 * cubicA));
    return s.sub(s.mul(inner, x), number(4 * cubicA));
  }
  Taps cubic(int64_t d, Value index) {
    Scalar i = s.index(index), scale = scaleOf(d), last = s.sub(size(d, false), s.integer(i64, 1));
    Scalar coordinate = s.mul(scale, s.cast(i, type));
    if (!op.getAlignCorners()) coordinate = s.sub(s.mul(scale, s.add(s.cast(i, type), number(0.5))), number(0.5));
    Scalar left = clampedFloor(d, coordinate);
    Scalar t = s.minimum(s.maximum(s.sub(coordinate, s.cast(left, type)), number(0)), number(1));
    Scalar u = s.sub(number(1), t);
    Taps taps;
    taps.weights = {far(s.add(t, number(1))), near(t), near(u), far(s.add(u, number(1)))};
    for (int64_t tap = -1; tap <= 2; ++tap)
      taps.at.push_back(s.toIndex(s.maximum(s.minimum(s.add(left, s.integer(i64, tap)), last), s.integer(i64, 0))));
    return taps;
  }

  Taps taps(int64_t d, Value index) {
    switch (op.getMode()) {
    case ResizeMode::Nearest:
    case ResizeMode::NearestExact: return nearest(d, index);
    case ResizeMode::Linear: return linear(d, index);
    case ResizeMode::Cubic: return cubic(d, index);
    }
    llvm_unreachable("all modes are named");
  }

  /// Combines dimensions `d` and after, with `at` fixed before them.
  Scalar combine(ArrayRef<Taps> all, size_t d, SmallVectorImpl<Value> &at, Type compute) {
    if (d == all.size()) return s.cast(e.element(op.getXMutable(), at), compute);
    Scalar sum{};
    for (auto [i, place] : llvm::enumerate(all[d].at)) {
      at.push_back(place);
      Scalar value = combine(all, d + 1, at, compute);
      at.pop_back();
      if (all[d].weights.empty()) return value;
      value = s.mul(all[d].weights[i], value);
      sum = i == 0 ? value : s.add(sum, value);
    }
    return sum;
  }
};
} // namespace

Scalar ResizeOp::emitElement(ElementEmitter &e, unsigned, ValueRange indices) {
  Type element = getType().getElementType(), compute = computeType(element);
  auto emit = [&]() -> Scalar {
    TapEmitter emitter(e, *this);
    SmallVector<Taps> all;
    for (size_t d = 0; d + 2 < indices.size(); ++d) all.push_back(emitter.taps(d, indices[d + 2]));
    SmallVector<Value> at{indices[0], indices[1]};
    return e.s.cast(emitter.combine(all, 0, at, compute), element);
  };
  // A dimension that may be empty at run time has no element to read.
  Value some;
  for (size_t d = 2; d < indices.size(); ++d) {
    DimExpr in = dimOf(getX().getType(), d);
    DimRange range = rangeOf(in, [&](StringRef symbol) { return symbolRange(getOperation(), symbol); });
    if (range.min < 1) some = emitBoth(e, some, e.lessThan(e.index(0), e.size(in)));
  }
  return some ? e.guarded(some, emit, [&] { return e.s.constant(element, 0); }) : emit();
}

namespace {
/// One output index of one dimension: elements and weights, as the evaluator computes them.
struct HostTaps {
  int64_t count = 0;
  int64_t at[4] = {};
  double weights[4] = {};
  void add(int64_t place, double weight) {
    at[count] = place;
    weights[count++] = weight;
  }
};
} // namespace

/// Coordinates are of type T.
template <typename T>
static std::vector<HostTaps> hostTaps(ResizeMode mode, bool alignCorners, double given, int64_t in, int64_t out) {
  std::vector<HostTaps> all(out);
  T scale = alignCorners ? (out > 1 ? T(in - 1) / T(out - 1) : T(0)) : given > 0 ? T(1 / given) : T(in) / T(out);
  auto clampedFloor = [&](T x) { return std::min(int64_t(std::floor(x)), in - 1); };
  for (int64_t i = 0; i < out; ++i) {
    HostTaps &taps = all[i];
    T centred = scale * (T(i) + T(0.5)) - T(0.5), coordinate = alignCorners ? scale * T(i) : centred;
    switch (mode) {
    case ResizeMode::Nearest: taps.add(in == out ? i : out == 2 * in ? i / 2 : clampedFloor(T(i) * scale), 1); break;
    case ResizeMode::NearestExact: taps.add(in == out ? i : clampedFloor((T(i) + T(0.5)) * scale), 1); break;
    case ResizeMode::Linear: {
      if (in == out) {
        taps.add(i, 1);
        break;
      }
      coordinate = std::max(coordinate, T(0));
      int64_t left = clampedFloor(coordinate);
      T weight = std::min(std::max(coordinate - T(left), T(0)), T(1));
      taps.add(left, T(1) - weight);
      taps.add(std::min(left + 1, in - 1), weight);
      break;
    }
    case ResizeMode::Cubic: {
      int64_t left = clampedFloor(coordinate);
      T t = std::min(std::max(coordinate - T(left), T(0)), T(1));
      T A = T(cubicA);
      auto near = [&](T x) { return ((A + 2) * x - (A + 3)) * x * x + 1; };
      auto far = [&](T x) { return ((A * x - 5 * A) * x + 8 * A) * x - 4 * A; };
      T weights[4] = {far(t + 1), near(t), near(1 - t), far(2 - t)};
      for (int64_t tap = 0; tap < 4; ++tap) taps.add(std::clamp<int64_t>(left + tap - 1, 0, in - 1), weights[tap]);
      break;
    }
    }
  }
  return all;
}

LogicalResult ResizeOp::evaluate(EvalEnv &env, ArrayRef<const HostTensor *> operands,
                                 MutableArrayRef<HostTensor> results) {
  const HostTensor &x = *operands[0];
  HostTensor &result = results[0];
  if (result.size() == 0) return success();
  if (x.size() == 0) return env.error(*this, "makes elements from none");
  Triple in = spatialSizes(x), out = spatialSizes(result);
  std::array<double, 3> scales{};
  std::copy(getScales().begin(), getScales().end(), scales.end() - getScales().size());
  std::vector<HostTaps> taps[3];
  for (int d = 0; d < 3; ++d) {
    if (d < 5 - x.rank()) // A dimension that is not there.
      taps[d].push_back({1, {0}, {1}});
    else
      taps[d] = (x.elementType.isF64() ? hostTaps<double> : hostTaps<float>)(getMode(), getAlignCorners(), scales[d],
                                                                             in[d], out[d]);
  }
  int64_t plane = in[0] * in[1] * in[2], to = 0;
  bool copies = getMode() == ResizeMode::Nearest || getMode() == ResizeMode::NearestExact;
  for (int64_t first = 0; first < x.shape[0] * x.shape[1] * plane; first += plane) {
    for (const HostTaps &a : taps[0]) {
      for (const HostTaps &b : taps[1]) {
        for (const HostTaps &c : taps[2]) {
          auto place = [&](int64_t i, int64_t j, int64_t k) {
            return first + (a.at[i] * in[1] + b.at[j]) * in[2] + c.at[k];
          };
          if (copies) {
            result.copyElement(to++, x, place(0, 0, 0));
            continue;
          }
          double sum = 0;
          for (int64_t i = 0; i < a.count; ++i)
            for (int64_t j = 0; j < b.count; ++j)
              for (int64_t k = 0; k < c.count; ++k)
                sum += a.weights[i] * b.weights[j] * c.weights[k] * x.getDouble(place(i, j, k));
          result.setDouble(to++, sum);
        }
      }
    }
  }
  return success();
}

} // namespace stator::graph
