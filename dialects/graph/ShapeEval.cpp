// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The values of the shape family, by plain loops.
#include "dialects/graph/ShapeRules.h"

using namespace mlir;

namespace stator::graph {

using Tensors = ArrayRef<const HostTensor *>;
using Results = MutableArrayRef<HostTensor>;

/// result[i...] = x[source(i...)], for every element.
static void move(const HostTensor &x, HostTensor &result, function_ref<int64_t(ArrayRef<int64_t>)> source) {
  if (result.size() == 0) return;
  SmallVector<int64_t> index(result.rank(), 0);
  int64_t i = 0;
  do result.copyElement(i++, x, source(index));
  while (nextIndex(index, result.shape));
}

LogicalResult IotaOp::evaluate(EvalEnv &, Tensors, Results results) {
  HostTensor &result = results[0];
  if (result.size() == 0) return success();
  double start = getStart().convertToDouble(), step = getStep().convertToDouble();
  SmallVector<int64_t> index(result.rank(), 0);
  int64_t i = 0;
  do {
    int64_t along = index[getDim()];
    if (result.isFloat())
      result.setDouble(i++, start + step * double(along));
    else
      result.setInt(i++, int64_t(uint64_t(int64_t(start)) + uint64_t(int64_t(step)) * uint64_t(along)));
  } while (nextIndex(index, result.shape));
  return success();
}

LogicalResult SizeOp::evaluate(EvalEnv &env, Tensors, Results results) {
  FailureOr<int64_t> value = evaluateDim(env, *this, getExpr().getDims()[0]);
  if (failed(value)) return failure();
  results[0].setInt(0, *value);
  return success();
}

LogicalResult ReshapeOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  if (operands[0]->size() != results[0].size())
    return env.error(*this, "the operand has " + Twine(operands[0]->size()) + " elements and the result " +
                                Twine(results[0].size()));
  if (results[0].size()) std::memcpy(results[0].mutableData(), operands[0]->data(), results[0].bytes());
  return success();
}

LogicalResult BroadcastOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  const HostTensor &x = *operands[0];
  SmallVector<int64_t> strides = x.strides();
  int64_t lead = results[0].rank() - x.rank();
  for (int64_t d = 0; d < x.rank(); ++d) {
    if (x.shape[d] != 1 && x.shape[d] != results[0].shape[lead + d])
      return env.error(*this, "dimension " + Twine(d) + " has size " + Twine(x.shape[d]) + " and becomes " +
                                  Twine(results[0].shape[lead + d]));
    if (x.shape[d] == 1) strides[d] = 0;
  }
  move(x, results[0], [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (int64_t d = 0; d < x.rank(); ++d) at += index[lead + d] * strides[d];
    return at;
  });
  return success();
}

LogicalResult TransposeOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  SmallVector<int64_t> strides = operands[0]->strides();
  move(*operands[0], results[0], [&](ArrayRef<int64_t> index) {
    int64_t at = 0;
    for (auto [i, dim] : llvm::enumerate(getPermutation())) at += index[i] * strides[dim];
    return at;
  });
  return success();
}

/// The values of `starts`, where the window of `sizes` lies inside `shape`.
static FailureOr<SmallVector<int64_t>> evaluateWindow(EvalEnv &env, Operation *op, ArrayRef<DimExpr> starts,
                                                      ArrayRef<int64_t> steps, ArrayRef<int64_t> sizes,
                                                      ArrayRef<int64_t> shape) {
  FailureOr<SmallVector<int64_t>> values = evaluateDims(env, op, starts);
  if (failed(values)) return failure();
  for (auto [d, start] : llvm::enumerate(*values)) {
    if (sizes[d] == 0) continue;
    int64_t last;
    if (start < 0 || __builtin_mul_overflow(sizes[d] - 1, steps[d], &last) ||
        __builtin_add_overflow(start, last, &last) || last >= shape[d])
      return env.error(op, "elements " + Twine(start) + " and on, " + Twine(sizes[d]) + " in steps of " +
                               Twine(steps[d]) + ", are not inside dimension " + Twine(d) + " of size " +
                               Twine(shape[d]));
  }
  return values;
}

LogicalResult SliceOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  const HostTensor &x = *operands[0];
  auto starts = evaluateWindow(env, *this, getStarts().getDims(), getSteps(), results[0].shape, x.shape);
  if (failed(starts)) return failure();
  SmallVector<int64_t> at(x.rank());
  move(x, results[0], [&](ArrayRef<int64_t> index) {
    for (int64_t d = 0; d < x.rank(); ++d) at[d] = (*starts)[d] + index[d] * getSteps()[d];
    return x.linear(at);
  });
  return success();
}

LogicalResult UpdateSliceOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  const HostTensor &x = *operands[0], &updates = *operands[1];
  auto starts = evaluateWindow(env, *this, getStarts().getDims(), getSteps(), updates.shape, x.shape);
  if (failed(starts)) return failure();
  HostTensor &result = results[0];
  if (x.size()) std::memcpy(result.mutableData(), x.data(), x.bytes());
  if (updates.size() == 0) return success();
  SmallVector<int64_t> index(x.rank(), 0), at(x.rank());
  int64_t i = 0;
  do {
    for (int64_t d = 0; d < x.rank(); ++d) at[d] = (*starts)[d] + index[d] * getSteps()[d];
    result.copyElement(result.linear(at), updates, i++);
  } while (nextIndex(index, updates.shape));
  return success();
}

LogicalResult ReverseOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  const HostTensor &x = *operands[0];
  move(x, results[0], [&](ArrayRef<int64_t> index) {
    SmallVector<int64_t> at(index);
    for (int64_t d : getDims()) at[d] = x.shape[d] - 1 - at[d];
    return x.linear(at);
  });
  return success();
}

LogicalResult PadOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  const HostTensor &x = *operands[0];
  FailureOr<SmallVector<int64_t>> low = evaluateDims(env, *this, getLow().getDims());
  if (failed(low)) return failure();
  HostTensor &result = results[0];
  if (result.size() == 0) return success();
  SmallVector<int64_t> index(x.rank(), 0), at(x.rank());
  int64_t i = 0;
  do {
    bool inside = true;
    for (int64_t d = 0; d < x.rank(); ++d) {
      bool overflow = __builtin_sub_overflow(index[d], (*low)[d], &at[d]);
      inside &= !overflow && at[d] >= 0 && at[d] < x.shape[d];
    }
    if (inside)
      result.copyElement(i++, x, x.linear(at));
    else
      result.copyElement(i++, *operands[1], 0);
  } while (nextIndex(index, result.shape));
  return success();
}

LogicalResult ConcatOp::evaluate(EvalEnv &, Tensors operands, Results results) {
  HostTensor &result = results[0];
  int64_t dim = getDim(), offset = 0;
  for (const HostTensor *x : operands) {
    if (x->size() != 0) {
      SmallVector<int64_t> index(x->rank(), 0);
      int64_t i = 0;
      do {
        SmallVector<int64_t> at(index);
        at[dim] += offset;
        result.copyElement(result.linear(at), *x, i++);
      } while (nextIndex(index, x->shape));
    }
    offset += x->shape[dim];
  }
  return success();
}

LogicalResult StridedOp::evaluate(EvalEnv &env, Tensors operands, Results results) {
  const HostTensor &x = *operands[0];
  FailureOr<SmallVector<int64_t>> strides = evaluateDims(env, *this, getStrides().getDims());
  FailureOr<int64_t> offset = evaluateDim(env, *this, getOffset().getDims()[0]);
  if (failed(strides) || failed(offset)) return failure();
  if (results[0].size() == 0) return success();
  int64_t last = *offset;
  bool bad = *offset < 0;
  for (auto [d, stride] : llvm::enumerate(*strides)) {
    int64_t extent;
    bad |= stride < 0 || __builtin_mul_overflow(results[0].shape[d] - 1, stride, &extent) ||
           __builtin_add_overflow(last, extent, &last);
  }
  if (bad || last >= x.size())
    return env.error(*this, "strides and offset leave an operand of " + Twine(x.size()) + " elements");
  move(x, results[0], [&](ArrayRef<int64_t> index) {
    int64_t at = *offset;
    for (auto [d, stride] : llvm::enumerate(*strides)) at += index[d] * stride;
    return at;
  });
  return success();
}

} // namespace stator::graph
