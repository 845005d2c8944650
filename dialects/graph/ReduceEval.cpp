// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What reductions compute, by plain loops.
#include "dialects/graph/HostSpans.h"
#include "dialects/graph/Reduce.h"
#include <cmath>

using namespace mlir;

namespace stator::graph {

double largerOf(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) ? a : b;
  if (a == b) return std::signbit(a) ? b : a;
  return a < b ? b : a;
}

/// Calls visit(result element, operand element, position among the reduced) for every operand element, in row-major
/// order.
static void forEachReduced(const HostTensor &x, ArrayRef<int64_t> dims,
                           function_ref<void(int64_t, int64_t, int64_t)> visit) {
  if (x.size() == 0) return;
  // Strides of the operand's dimensions in the result and in the positions; 0 where a dimension does not count.
  SmallVector<int64_t> toResult(x.rank(), 0), toPosition(x.rank(), 0);
  int64_t kept = 1, reduced = 1;
  for (int64_t d = x.rank() - 1; d >= 0; --d) {
    int64_t &stride = llvm::is_contained(dims, d) ? reduced : kept;
    (&stride == &reduced ? toPosition : toResult)[d] = stride;
    stride *= x.shape[d];
  }
  SmallVector<int64_t> index(x.rank(), 0);
  int64_t row = x.rank() ? x.shape.back() : 1, last = x.rank() - 1;
  int64_t stepResult = x.rank() ? toResult[last] : 0, stepPosition = x.rank() ? toPosition[last] : 0;
  ArrayRef<int64_t> outer = ArrayRef(x.shape).drop_back(x.rank() ? 1 : 0);
  for (int64_t i = 0; i < x.size();) {
    int64_t result = 0, position = 0;
    for (size_t d = 0; d < outer.size(); ++d) {
      result += index[d] * toResult[d];
      position += index[d] * toPosition[d];
    }
    for (int64_t j = 0; j < row; ++j, ++i) visit(result + j * stepResult, i, position + j * stepPosition);
    nextIndex(MutableArrayRef(index).take_front(outer.size()), outer);
  }
}

void evaluateReduction(const HostTensor &x, ArrayRef<int64_t> dims, HostTensor &result, ReducedIdentity identity,
                       function_ref<double(double, double)> onFloat,
                       function_ref<int64_t(int64_t, int64_t, bool)> onInteger) {
  double none = 0;
  int64_t noInteger = 0;
  switch (identity) {
  case ReducedIdentity::sum:
  case ReducedIdentity::any: break;
  case ReducedIdentity::prod:
  case ReducedIdentity::all: none = noInteger = 1; break;
  case ReducedIdentity::reduce_max:
    none = -INFINITY;
    if (!x.isFloat()) noInteger = lowestInteger(x.elementType);
    break;
  case ReducedIdentity::reduce_min:
    none = INFINITY;
    if (!x.isFloat()) noInteger = highestInteger(x.elementType);
    break;
  }
  if (x.isFloat()) {
    std::vector<double> values = widen<double>(x), state(result.size(), none);
    forEachReduced(x, dims, [&](int64_t to, int64_t i, int64_t) { state[to] = onFloat(state[to], values[i]); });
    narrow(state, result);
    return;
  }
  bool isUnsigned = isUnsignedElement(x.elementType);
  std::vector<uint64_t> values = widen<uint64_t>(x), state(result.size(), uint64_t(noInteger));
  forEachReduced(x, dims, [&](int64_t to, int64_t i, int64_t) {
    state[to] = uint64_t(onInteger(int64_t(state[to]), int64_t(values[i]), isUnsigned));
  });
  narrow(state, result);
}

template <typename T>
static void findArgument(const HostTensor &x, ArrayRef<int64_t> dims, HostTensor &result, bool largest) {
  auto values = widen<std::conditional_t<std::is_same_v<T, double>, double, uint64_t>>(x);
  std::vector<T> best(result.size());
  std::vector<int64_t> where(result.size(), -1);
  // Row-major order visits positions in ascending order, so only a strictly better element replaces one.
  forEachReduced(x, dims, [&](int64_t to, int64_t i, int64_t position) {
    T value = T(values[i]);
    bool better = where[to] < 0 || (largest ? value > best[to] : value < best[to]);
    if constexpr (std::is_same_v<T, double>)
      better = where[to] < 0 || (!std::isnan(best[to]) && (std::isnan(value) || better));
    if (!better) return;
    best[to] = value;
    where[to] = position;
  });
  for (int64_t i = 0; i < result.size(); ++i) result.setInt(i, std::max<int64_t>(where[i], 0));
}

void evaluateArgument(const HostTensor &x, ArrayRef<int64_t> dims, HostTensor &result, bool largest) {
  if (x.isFloat()) return findArgument<double>(x, dims, result, largest);
  bool isUnsigned = isUnsignedElement(x.elementType);
  return isUnsigned ? findArgument<uint64_t>(x, dims, result, largest)
                    : findArgument<int64_t>(x, dims, result, largest);
}

} // namespace stator::graph
