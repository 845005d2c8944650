// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds of dimension expressions, and the bridge between expressions and tensor types.
#include "dialects/graph/Graph.h"
#include "dialects/graph/Symbols.h"

using namespace mlir;

namespace stator::graph {

static int64_t saturate(__int128 value) {
  if (value > INT64_MAX) return INT64_MAX;
  if (value < INT64_MIN) return INT64_MIN;
  return int64_t(value);
}

static DimRange product(DimRange a, DimRange b) {
  int64_t corners[] = {saturate(__int128(a.min) * b.min), saturate(__int128(a.min) * b.max),
                       saturate(__int128(a.max) * b.min), saturate(__int128(a.max) * b.max)};
  return {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
}

DimRange rangeOf(DimExpr expr, function_ref<DimRange(StringRef)> symbolRange) {
  if (auto value = expr.asConstant()) return {*value, *value};
  if (expr.getKind() == DimKind::Symbol) return symbolRange(expr.getSymbol());
  DimRange result = rangeOf(expr.getOperands()[0], symbolRange);
  for (DimExpr operand : expr.getOperands().drop_front()) {
    DimRange next = rangeOf(operand, symbolRange);
    switch (expr.getKind()) {
    case DimKind::Add:
      result = {saturate(__int128(result.min) + next.min), saturate(__int128(result.max) + next.max)};
      break;
    case DimKind::Mul: result = product(result, next); break;
    case DimKind::Min: result = {std::min(result.min, next.min), std::min(result.max, next.max)}; break;
    case DimKind::Max: result = {std::max(result.min, next.min), std::max(result.max, next.max)}; break;
    case DimKind::FloorDiv:
      if (next.min <= 0) return {INT64_MIN, INT64_MAX};
      // Monotonic in the dividend; the divisor's ends bound the rest.
      {
        auto divide = [](int64_t a, int64_t b) { return a / b - (a % b != 0 && a < 0); };
        int64_t corners[] = {divide(result.min, next.min), divide(result.min, next.max), divide(result.max, next.min),
                             divide(result.max, next.max)};
        result = {*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4)};
      }
      break;
    case DimKind::Mod:
      if (next.min <= 0) return {INT64_MIN, INT64_MAX};
      result = result.min >= 0 && result.max < next.min ? result : DimRange{0, next.max - 1};
      break;
    case DimKind::Constant:
    case DimKind::Symbol: break;
    }
  }
  return result;
}

LogicalResult ShapeAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                                        function_ref<InFlightDiagnostic()> emitError) const {
  if (getDims().size() != shape.size())
    return emitError() << "#graph.shape has " << getDims().size() << " expressions for a tensor of rank " << shape.size();
  bool allStatic = true;
  for (auto [d, dim, size] : llvm::enumerate(getDims(), shape)) {
    allStatic &= dim.isConstant();
    if (dim.isConstant() ? dim.getConstant() == size && size >= 0 : ShapedType::isDynamic(size)) continue;
    InFlightDiagnostic error = emitError();
    error << "dimension " << d << " is " << dim.str() << " in #graph.shape and ";
    if (ShapedType::isDynamic(size))
      error << "dynamic";
    else
      error << size;
    return error << " in the tensor type";
  }
  if (allStatic) return emitError() << "#graph.shape stands on a tensor whose sizes are all static";
  return success();
}

bool hasDims(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && (tensor.getEncoding() ? isa<ShapeAttr>(tensor.getEncoding()) : tensor.hasStaticShape());
}

SmallVector<DimExpr> dimsOf(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto shape = dyn_cast_or_null<ShapeAttr>(tensor.getEncoding())) return llvm::to_vector(shape.getDims());
  SmallVector<DimExpr> dims;
  for (int64_t size : tensor.getShape()) dims.push_back(DimExpr::constant(type.getContext(), size));
  return dims;
}

DimExpr dimOf(Type type, unsigned dim) {
  auto tensor = cast<RankedTensorType>(type);
  if (auto shape = dyn_cast_or_null<ShapeAttr>(tensor.getEncoding())) return shape.getDims()[dim];
  return DimExpr::constant(type.getContext(), tensor.getDimSize(dim));
}

RankedTensorType tensorOf(ArrayRef<DimExpr> dims, Type elementType) {
  SmallVector<int64_t> sizes;
  for (DimExpr dim : dims) sizes.push_back(dim.asConstant().value_or(ShapedType::kDynamic));
  Attribute encoding;
  if (llvm::is_contained(sizes, ShapedType::kDynamic)) encoding = ShapeAttr::get(elementType.getContext(), dims);
  return RankedTensorType::get(sizes, elementType, encoding);
}

DimExpr numElements(ArrayRef<DimExpr> dims, MLIRContext *context) {
  DimExpr product = DimExpr::constant(context, 1);
  for (DimExpr dim : dims) product = DimExpr::mul(product, dim);
  return product;
}

std::string shapeText(ArrayRef<DimExpr> dims) {
  std::string text = "[";
  llvm::raw_string_ostream os(text);
  llvm::interleave(dims, os, [&](DimExpr dim) { dim.print(os); }, ", ");
  os << ']';
  return text;
}

DimRange symbolRange(Operation *op, StringRef symbol) {
  for (; op; op = op->getParentOp()) {
    auto symbols = op->getAttrOfType<ArrayAttr>(symbolsAttrName);
    if (!symbols) continue;
    for (auto declared : symbols.getAsRange<SymbolAttr>())
      if (declared.getName() == symbol) return {declared.getMin(), declared.getMax()};
  }
  return {};
}

} // namespace stator::graph
