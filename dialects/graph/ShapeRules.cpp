// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/ShapeRules.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;

namespace stator::graph {

LogicalResult checkDim(const Refusal &refuse, const Twine &what, int64_t dim, int64_t rank) {
  if (dim >= 0 && dim < rank) return success();
  return refuse(what + " is " + Twine(dim) + ", outside [0, " + Twine(rank) + "), the dimensions of the operand");
}

LogicalResult checkLength(const Refusal &refuse, StringRef what, size_t length, int64_t rank) {
  if (int64_t(length) == rank) return success();
  return refuse("has " + Twine(length) + " " + what + " for " + Twine(rank) + " dimensions");
}

LogicalResult checkDistinctDims(const Refusal &refuse, StringRef what, ArrayRef<int64_t> dims, int64_t rank) {
  // At most `rank` numbers are distinct and in range, so a long list is refused before it is walked.
  if (int64_t(dims.size()) > rank)
    return refuse("has " + Twine(dims.size()) + " " + what + " for " + Twine(rank) + " dimensions");
  SmallVector<bool> seen(rank, false);
  for (auto [i, dim] : llvm::enumerate(dims)) {
    if (failed(checkDim(refuse, what + "[" + Twine(i) + "]", dim, rank))) return failure();
    if (seen[dim]) return refuse("names dimension " + Twine(dim) + " twice in " + what);
    seen[dim] = true;
  }
  return success();
}

LogicalResult checkSameDim(const Refusal &refuse, unsigned aDim, DimExpr a, StringRef aName, unsigned bDim, DimExpr b,
                           StringRef bName, Value bValue) {
  if (a == b) return success();
  std::string text = llvm::formatv("dimension {0} of {1} is {2} and dimension {3} of {4} is {5}", aDim, aName, a.str(),
                                   bDim, bName, b.str());
  if (aDim == bDim)
    text = llvm::formatv("dimension {0} is {1} in {2} and {3} in {4}", aDim, a.str(), aName, b.str(), bName);
  return refuse(text, bValue);
}

LogicalResult checkSameDims(const Refusal &refuse, Value a, StringRef aName, Value b, StringRef bName, int64_t except) {
  SmallVector<DimExpr> aDims = dimsOf(a.getType()), bDims = dimsOf(b.getType());
  if (aDims.size() != bDims.size())
    return refuse(aName + " has rank " + Twine(aDims.size()) + " and " + bName + " has rank " + Twine(bDims.size()), b);
  for (auto [d, x, y] : llvm::enumerate(aDims, bDims))
    if (int64_t(d) != except && failed(checkSameDim(refuse, d, x, aName, d, y, bName, b))) return failure();
  return success();
}

LogicalResult checkSameElementType(const Refusal &refuse, Value a, StringRef aName, Value b, StringRef bName) {
  Type x = tensorTypeOf(a).getElementType(), y = tensorTypeOf(b).getElementType();
  if (x == y) return success();
  return refuse(llvm::formatv("elements are {0} in {1} and {2} in {3}", x, aName, y, bName), b);
}

DimRange rangeAt(Operation *op, DimExpr expr) {
  return rangeOf(expr, [&](StringRef name) { return symbolRange(op, name); });
}

bool provablyAtMost(Operation *op, DimExpr a, DimExpr b) {
  // The difference first: common terms cancel, so s0 - 1 <= s0 is seen although the intervals overlap.
  DimExpr difference = DimExpr::sub(b, a);
  return difference && rangeAt(op, difference).min >= 0;
}

bool provablyAbove(Operation *op, DimExpr a, DimExpr b) {
  DimExpr difference = DimExpr::sub(a, b);
  return difference && rangeAt(op, difference).min > 0;
}

ShapeAttr constantDims(MLIRContext *context, ArrayRef<int64_t> values) {
  SmallVector<DimExpr> dims;
  for (int64_t value : values) dims.push_back(DimExpr::constant(context, value));
  return ShapeAttr::get(context, dims);
}

FailureOr<int64_t> evaluateDim(EvalEnv &env, Operation *op, DimExpr expr) {
  auto value = expr.evaluate([&](StringRef name) -> std::optional<int64_t> {
    auto it = env.symbols.find(name);
    return it == env.symbols.end() ? std::nullopt : std::optional<int64_t>(it->second);
  });
  if (value) return *value;
  return env.error(op, "the size " + expr.str() + " has no value: an unknown symbol, a division by zero or an overflow");
}

FailureOr<SmallVector<int64_t>> evaluateDims(EvalEnv &env, Operation *op, ArrayRef<DimExpr> dims) {
  SmallVector<int64_t> values;
  for (DimExpr dim : dims) {
    FailureOr<int64_t> value = evaluateDim(env, op, dim);
    if (failed(value)) return failure();
    values.push_back(*value);
  }
  return values;
}

} // namespace stator::graph
