// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/HostElements.h"
#include "dialects/graph/Graph.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace stator::graph {

FailureOr<HostTensor> hostTensorOf(ElementsAttr elements, std::string &error) {
  ShapedType type = elements.getShapedType();
  Type elementType = type.getElementType();
  auto fail = [&](const Twine &text) -> FailureOr<HostTensor> {
    error = text.str();
    return failure();
  };
  if (!elementType.isIntOrFloat()) return fail("a constant has elements that are neither integers nor floats");
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    HostTensor view = HostTensor::view(elementType, type.getShape(), blob ? blob->getData().data() : nullptr);
    if (!blob) return fail("resource '" + resource.getRawHandle().getKey() + "' has no bytes");
    if (blob->getData().size() != view.bytes())
      return fail("resource '" + resource.getRawHandle().getKey() + "' has " + Twine(blob->getData().size()) +
                  " bytes where its type needs " + Twine(view.bytes()));
    return view;
  }
  auto literal = dyn_cast<DenseElementsAttr>(elements);
  if (!literal) return fail("a constant is neither a literal nor a resource");
  bool packed = elementType.isInteger(1); // Eight to a byte.
  if (!literal.isSplat() && !packed) return HostTensor::view(elementType, type.getShape(), literal.getRawData().data());
  HostTensor tensor(elementType, type.getShape());
  if (!tensor.ok()) return fail("cannot allocate " + Twine(tensor.bytes()) + " bytes");
  if (tensor.size() == 0) return tensor;
  char *to = tensor.mutableData();
  size_t bytes = elementBytes(elementType);
  if (literal.isSplat()) {
    if (packed)
      std::memset(to, literal.getSplatValue<bool>(), tensor.size());
    else
      for (int64_t i = 0; i < tensor.size(); ++i) std::memcpy(to + i * bytes, literal.getRawData().data(), bytes);
    return tensor;
  }
  for (bool value : literal.getValues<bool>()) *to++ = value;
  return tensor;
}

DenseElementsAttr elementsOf(const HostTensor &tensor, RankedTensorType type) {
  size_t bytes = elementBytes(tensor.elementType);
  ArrayRef<char> data(tensor.data(), tensor.bytes());
  bool equal = tensor.size() > 0;
  for (int64_t i = 1; equal && i < tensor.size(); ++i)
    equal = std::memcmp(data.data(), data.data() + i * bytes, bytes) == 0;
  if (tensor.elementType.isInteger(1)) {
    if (equal) return DenseElementsAttr::get(type, data[0] != 0);
    SmallVector<bool> bits(data.begin(), data.end());
    return DenseElementsAttr::get(type, ArrayRef<bool>(bits));
  }
  return DenseElementsAttr::getFromRawBuffer(type, equal ? data.take_front(bytes) : data);
}

std::optional<SmallVector<HostTensor>> foldByEvaluation(Operation *op, ArrayRef<HostTensor> operands,
                                                        int64_t maxElements) {
  auto evaluable = dyn_cast<EvaluableOpInterface>(op);
  if (!evaluable || !isMemoryEffectFree(op) || op->getNumRegions() != 0) return std::nullopt;
  int64_t total = 0;
  SmallVector<HostTensor> results;
  for (Type type : op->getResultTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    DimExpr count = tensor ? numElements(dimsOf(tensor), op->getContext()) : DimExpr();
    if (!count || !count.isConstant() || !tensor.hasStaticShape()) return std::nullopt;
    if (count.getConstant() > maxElements - total) return std::nullopt;
    total += count.getConstant();
    results.emplace_back(tensor.getElementType(), tensor.getShape());
    if (!results.back().ok()) return std::nullopt;
  }
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &operand : operands) pointers.push_back(&operand);
  EvalEnv env;
  if (failed(evaluable.evaluate(env, pointers, results))) return std::nullopt;
  return results;
}

} // namespace stator::graph
