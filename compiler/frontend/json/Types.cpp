// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/json/Types.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::graph_json {

Type elementTypeOf(MLIRContext *context, io::DType dtype) {
  auto integer = [&](unsigned width, IntegerType::SignednessSemantics sign = IntegerType::Signless) {
    return IntegerType::get(context, width, sign);
  };
  switch (dtype) {
  case STATOR_DTYPE_BOOL: return integer(1);
  case STATOR_DTYPE_U8: return integer(8, IntegerType::Unsigned);
  case STATOR_DTYPE_U16: return integer(16, IntegerType::Unsigned);
  case STATOR_DTYPE_U32: return integer(32, IntegerType::Unsigned);
  case STATOR_DTYPE_U64: return integer(64, IntegerType::Unsigned);
  case STATOR_DTYPE_I8: return integer(8);
  case STATOR_DTYPE_I16: return integer(16);
  case STATOR_DTYPE_I32: return integer(32);
  case STATOR_DTYPE_I64: return integer(64);
  case STATOR_DTYPE_F16: return Float16Type::get(context);
  case STATOR_DTYPE_BF16: return BFloat16Type::get(context);
  case STATOR_DTYPE_F32: return Float32Type::get(context);
  case STATOR_DTYPE_F64: return Float64Type::get(context);
  case STATOR_DTYPE_F8E4M3FN: return Float8E4M3FNType::get(context);
  case STATOR_DTYPE_F8E5M2: return Float8E5M2Type::get(context);
  default: return {};
  }
}

io::DType dtypeOf(Type elementType) {
  for (int number = 0; number < 256; ++number)
    if (Type type = elementTypeOf(elementType.getContext(), io::DType(number)); type && type == elementType)
      return io::DType(number);
  return STATOR_DTYPE_INVALID;
}

Type readElementType(MLIRContext *context, const Node &node) {
  if (Type type = elementTypeOf(context, io::dtypeFromName(node.text(64).str()))) return type;
  std::string names;
  std::vector<std::string> known;
  for (int number = 0; number < 256; ++number)
    if (elementTypeOf(context, io::DType(number))) known.emplace_back(io::dtypeName(io::DType(number)));
  for (const std::string &name : known) names += (names.empty() ? "" : ", ") + name;
  node.refuse("unknown element type '" + node.text(64) + "'; there are " + names);
}

DimExpr dimFrom(MLIRContext *context, const Json &value) {
  if (value.is_number_integer()) {
    if (value.is_number_unsigned() && value.get<uint64_t>() > uint64_t(INT64_MAX)) return {};
    return DimExpr::constant(context, value.get<int64_t>());
  }
  std::string error;
  if (!value.is_string() || value.get_ref<const std::string &>().size() > maxName) return {};
  return DimExpr::parse(context, value.get_ref<const std::string &>(), error);
}

DimExpr readDim(MLIRContext *context, const Node &node) {
  if (!node.isString()) return DimExpr::constant(context, node.integer());
  std::string error;
  DimExpr dim = DimExpr::parse(context, node.text(), error);
  if (!dim) node.refuse("'" + node.text().take_front(80) + "' is no size: " + error);
  return dim;
}

Written writeDim(DimExpr dim) {
  if (auto constant = dim.asConstant()) return *constant;
  return dim.str();
}

RankedTensorType readTensorType(MLIRContext *context, const Node &object) {
  Type element = readElementType(context, object.get("dtype"));
  Node shape = object.get("shape");
  if (shape.size() > maxRank) shape.refuse("has more than " + Twine(maxRank) + " dimensions");
  SmallVector<DimExpr> dims;
  shape.forEach([&](const Node &size) {
    dims.push_back(readDim(context, size));
    if (dims.back().isConstant() && dims.back().getConstant() < 0) size.refuse("a size is not negative");
  });
  DimExpr count = graph::numElements(dims, context);
  // Widest elements take eight bytes.
  if (!count || (count.isConstant() && count.getConstant() > INT64_MAX / 8))
    shape.refuse("has more elements than 64 bits count");
  return graph::tensorOf(dims, element);
}

bool writeTensorType(Written &object, Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !graph::hasDims(tensor) || size_t(tensor.getRank()) > maxRank) return false;
  io::DType dtype = dtypeOf(tensor.getElementType());
  if (dtype == STATOR_DTYPE_INVALID) return false;
  object["dtype"] = std::string(io::dtypeName(dtype));
  Written shape = Written::array();
  for (DimExpr dim : graph::dimsOf(tensor)) shape.push_back(writeDim(dim));
  object["shape"] = std::move(shape);
  return true;
}

} // namespace stator::graph_json
