// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of the scan family, by plain loops over the lines along one dimension.
#include "dialects/graph/ShapeRules.h"
#include <cmath>
#include <numeric>

using namespace mlir;

namespace stator::graph {

using Tensors = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

/// Calls `visit` with the first element and the stride of each line of `tensor` along `dim`, in row-major order. With the
/// same dimensions elsewhere, line n of one tensor goes with line n of another.
static void forEachLine(const HostTensor &tensor, int64_t dim, function_ref<void(int64_t, int64_t, int64_t)> visit) {
  int64_t inner = 1, outer = 1, size = tensor.shape[dim];
  for (int64_t d = 0; d < dim; ++d) outer *= tensor.shape[d];
  for (int64_t d = dim + 1; d < tensor.rank(); ++d) inner *= tensor.shape[d];
  int64_t number = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < inner; ++i) visit(number++, o * size * inner + i, inner);
}

static void accumulate(const HostTensor &x, HostTensor &result, int64_t dim, double floatStart, int64_t integerStart,
                       function_ref<double(double, double)> onFloat,
                       function_ref<uint64_t(uint64_t, uint64_t)> onInteger) {
  forEachLine(x, dim, [&](int64_t, int64_t first, int64_t stride) {
    double f = floatStart;
    uint64_t n = integerStart;
    for (int64_t i = 0; i < x.shape[dim]; ++i) {
      int64_t at = first + i * stride;
      if (x.isFloat())
        result.setDouble(at, f = onFloat(f, x.getDouble(at)));
      else
        result.setInt(at, int64_t(n = onInteger(n, uint64_t(x.getInt(at)))));
    }
  });
}

LogicalResult CumsumOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  accumulate(*operands[0], results[0], getDim(), 0.0, 0, [](double a, double b) { return a + b; },
             [](uint64_t a, uint64_t b) { return a + b; });
  return success();
}

LogicalResult CumprodOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  accumulate(*operands[0], results[0], getDim(), 1.0, 1, [](double a, double b) { return a * b; },
             [](uint64_t a, uint64_t b) { return a * b; });
  return success();
}

/// Order of two elements, NaN above everything and equal to itself, -0 equal to 0.
static int compareElements(const HostTensor &x, int64_t i, int64_t j) {
  if (x.isFloat()) {
    double a = x.getDouble(i), b = x.getDouble(j);
    if (std::isnan(a) || std::isnan(b)) return int(std::isnan(a)) - int(std::isnan(b));
    return int(a > b) - int(a < b);
  }
  int64_t a = x.getInt(i), b = x.getInt(j);
  if (x.elementType.isUnsignedInteger() || x.elementType.isInteger(1)) {
    uint64_t p = uint64_t(a), q = uint64_t(b);
    return int(p > q) - int(p < q);
  }
  return int(a > b) - int(a < b);
}

static void runningExtremum(const HostTensor &x, Results results, int64_t dim, bool smallest) {
  auto isNan = [&](int64_t at) { return x.isFloat() && std::isnan(x.getDouble(at)); };
  forEachLine(x, dim, [&](int64_t, int64_t first, int64_t stride) {
    int64_t best = 0;
    for (int64_t i = 0; i < x.shape[dim]; ++i) {
      int64_t at = first + i * stride, held = first + best * stride;
      // Equal elements move the position on; once NaN, only another NaN does.
      int order = compareElements(x, at, held);
      if (isNan(at) || (!isNan(held) && (smallest ? order <= 0 : order >= 0))) best = i;
      results[0].copyElement(at, x, first + best * stride);
      results[1].setInt(at, best);
    }
  });
}

LogicalResult CummaxOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  runningExtremum(*operands[0], results, getDim(), false);
  return success();
}

LogicalResult CumminOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  runningExtremum(*operands[0], results, getDim(), true);
  return success();
}

/// The first `count` of each line of x in order, equal ones by position.
static void sortLines(const HostTensor &x, Results results, int64_t dim, int64_t count, bool descending) {
  int64_t inner = 1;
  for (int64_t d = dim + 1; d < x.rank(); ++d) inner *= x.shape[d];
  forEachLine(x, dim, [&](int64_t number, int64_t first, int64_t stride) {
    SmallVector<int64_t> order(x.shape[dim]);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int64_t i, int64_t j) {
      int sign = compareElements(x, first + i * stride, first + j * stride);
      return descending ? sign > 0 : sign < 0;
    });
    int64_t resultFirst = number / inner * count * inner + number % inner;
    for (int64_t i = 0; i < count; ++i) {
      results[0].copyElement(resultFirst + i * inner, x, first + order[i] * stride);
      results[1].setInt(resultFirst + i * inner, order[i]);
    }
  });
}

LogicalResult SortOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  sortLines(*operands[0], results, getDim(), operands[0]->shape[getDim()], getDescending());
  return success();
}

LogicalResult TopkOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  int64_t size = operands[0]->shape[getDim()];
  if (int64_t(getK()) > size)
    return env.error(*this, "k is " + Twine(getK()) + ", above the size of dimension " + Twine(getDim()) + ", " +
                                Twine(size));
  sortLines(*operands[0], results, getDim(), getK(), !getSmallest());
  return success();
}

LogicalResult NonzeroOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  const HostTensor &x = *operands[0];
  HostTensor &result = results[0];
  for (int64_t i = 0; i < result.size(); ++i) result.setInt(i, getFill());
  if (x.size() == 0 || x.rank() == 0) return success();
  SmallVector<int64_t> index(x.rank(), 0);
  int64_t number = 0, row = 0;
  do {
    bool counts = x.isFloat() ? x.getDouble(number) != 0 : x.getInt(number) != 0; // NaN counts.
    if (counts && row < result.shape[0]) {
      for (int64_t d = 0; d < x.rank(); ++d) result.setInt(row * x.rank() + d, index[d]);
      ++row;
    }
    ++number;
  } while (nextIndex(index, x.shape));
  return success();
}

} // namespace stator::graph
