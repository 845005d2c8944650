// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of the gather family, by plain loops. An index out of range is an error here; compiled code clamps it.
#include "dialects/graph/ShapeRules.h"
#include <cmath>

using namespace mlir;

namespace stator::graph {

using Tensors = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

/// The place in a dimension of `size` that `index` means, negative ones counted from the end; reports what is outside.
static FailureOr<int64_t> wrap(EvalEnv &env, Operation *op, int64_t index, int64_t size, int64_t dim) {
  if (index >= -size && index < size) return index < 0 ? index + size : index;
  return env.error(op, "index " + Twine(index) + " is outside [" + Twine(-size) + ", " + Twine(size) +
                           "), dimension " + Twine(dim) + " of operand #0");
}

/// Calls `visit` with the row-major number of each indexed place and the number of x's element that it stands for:
/// places have x's dimensions with those from `dim` on replaced by those of the index tensors.
static LogicalResult forEachIndexed(EvalEnv &env, Operation *op, const HostTensor &x, Tensors indices, int64_t dim,
                                    ArrayRef<int64_t> places, function_ref<void(int64_t, int64_t)> visit) {
  if (llvm::is_contained(places, 0)) return success();
  const HostTensor &first = *indices[0];
  SmallVector<int64_t> place(places.size(), 0), at(x.rank());
  int64_t number = 0;
  do {
    ArrayRef<int64_t> lookup = ArrayRef<int64_t>(place).slice(dim, first.rank());
    llvm::copy(ArrayRef<int64_t>(place).take_front(dim), at.begin());
    for (auto [i, tensor] : llvm::enumerate(indices)) {
      int64_t d = dim + i;
      FailureOr<int64_t> wrapped = wrap(env, op, tensor->getInt(tensor->linear(lookup)), x.shape[d], d);
      if (failed(wrapped)) return failure();
      at[d] = *wrapped;
    }
    llvm::copy(ArrayRef<int64_t>(place).drop_front(dim + first.rank()), at.begin() + dim + indices.size());
    visit(number++, x.linear(at));
  } while (nextIndex(place, places));
  return success();
}

/// The same where indices have x's rank and address dimension `dim` only.
static LogicalResult forEachAlong(EvalEnv &env, Operation *op, const HostTensor &x, const HostTensor &indices,
                                  int64_t dim, function_ref<void(int64_t, int64_t)> visit) {
  for (int64_t d = 0; d < x.rank(); ++d)
    if (d != dim && indices.shape[d] > x.shape[d])
      return env.error(op, "dimension " + Twine(d) + " of the indices is " + Twine(indices.shape[d]) + ", above the " +
                               Twine(x.shape[d]) + " of operand #0");
  if (indices.size() == 0) return success();
  SmallVector<int64_t> place(x.rank(), 0);
  int64_t number = 0;
  do {
    SmallVector<int64_t> at(place);
    FailureOr<int64_t> wrapped = wrap(env, op, indices.getInt(number), x.shape[dim], dim);
    if (failed(wrapped)) return failure();
    at[dim] = *wrapped;
    visit(number++, x.linear(at));
  } while (nextIndex(place, indices.shape));
  return success();
}

LogicalResult TakeOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  HostTensor &result = results[0];
  return forEachIndexed(env, *this, *operands[0], operands.drop_front(), getDim(), result.shape,
                        [&](int64_t to, int64_t from) { result.copyElement(to, *operands[0], from); });
}

LogicalResult IndexOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  HostTensor &result = results[0];
  return forEachIndexed(env, *this, *operands[0], operands.drop_front(), getDims()[0], result.shape,
                        [&](int64_t to, int64_t from) { result.copyElement(to, *operands[0], from); });
}

LogicalResult GatherOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  HostTensor &result = results[0];
  return forEachAlong(env, *this, *operands[0], *operands[1], getDim(),
                      [&](int64_t to, int64_t from) { result.copyElement(to, *operands[0], from); });
}

static double combineDoubles(ScatterMode mode, double x, double y) {
  switch (mode) {
  case ScatterMode::Set: return y;
  case ScatterMode::Add: return x + y;
  case ScatterMode::Mul: return x * y;
  case ScatterMode::Max: return std::isnan(x) ? x : std::isnan(y) ? y : x == y ? (std::signbit(x) ? y : x) : std::max(x, y);
  case ScatterMode::Min: return std::isnan(x) ? x : std::isnan(y) ? y : x == y ? (std::signbit(x) ? x : y) : std::min(x, y);
  }
  return y;
}

static int64_t combineIntegers(ScatterMode mode, int64_t x, int64_t y, bool isUnsigned) {
  bool less = isUnsigned ? uint64_t(x) < uint64_t(y) : x < y;
  switch (mode) {
  case ScatterMode::Set: return y;
  case ScatterMode::Add: return int64_t(uint64_t(x) + uint64_t(y));
  case ScatterMode::Mul: return int64_t(uint64_t(x) * uint64_t(y));
  case ScatterMode::Max: return less ? y : x;
  case ScatterMode::Min: return less ? x : y;
  }
  return y;
}

/// result[to] = mode(result[to], updates[from]), rounded into the element type each time, as the order says.
static void combine(ScatterMode mode, HostTensor &result, int64_t to, const HostTensor &updates, int64_t from) {
  if (mode == ScatterMode::Set)
    result.copyElement(to, updates, from);
  else if (result.isFloat())
    result.setDouble(to, combineDoubles(mode, result.getDouble(to), updates.getDouble(from)));
  else
    result.setInt(to, combineIntegers(mode, result.getInt(to), updates.getInt(from),
                                      result.elementType.isUnsignedInteger()));
}

LogicalResult ScatterOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  const HostTensor &x = *operands[0], &updates = *operands[2];
  HostTensor &result = results[0];
  if (x.size()) std::memcpy(result.mutableData(), x.data(), x.bytes());
  return forEachAlong(env, *this, x, *operands[1], getDim(),
                      [&](int64_t from, int64_t to) { combine(getMode(), result, to, updates, from); });
}

LogicalResult IndexPutOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  const HostTensor &x = *operands[0], &updates = *operands.back();
  HostTensor &result = results[0];
  if (x.size()) std::memcpy(result.mutableData(), x.data(), x.bytes());
  return forEachIndexed(env, *this, x, operands.drop_front().drop_back(), getDims()[0], updates.shape,
                        [&](int64_t from, int64_t to) { combine(getMode(), result, to, updates, from); });
}

} // namespace stator::graph
