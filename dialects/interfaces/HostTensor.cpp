// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/interfaces/HostTensor.h"
#include "llvm/ADT/APFloat.h"
#include <new>

using namespace mlir;

namespace stator {

size_t elementBytes(Type type) { return (type.getIntOrFloatBitWidth() + 7) / 8; }

static int64_t product(ArrayRef<int64_t> shape) {
  int64_t count = 1;
  for (int64_t size : shape)
    if (__builtin_mul_overflow(count, size, &count)) return INT64_MAX / 64;
  return count;
}

HostTensor::HostTensor(Type elementType, ArrayRef<int64_t> shape)
    : elementType(elementType), shape(shape), count(product(shape)) {
  // calloc: untouched pages of a huge tensor cost nothing, and a size that cannot be had is null, not an exception.
  if (count > 0)
    owned = std::shared_ptr<char>(static_cast<char *>(std::calloc(count, elementBytes(elementType))),
                                  [](char *p) { std::free(p); });
}

HostTensor HostTensor::view(Type elementType, ArrayRef<int64_t> shape, const char *data) {
  HostTensor tensor;
  tensor.elementType = elementType;
  tensor.shape.assign(shape.begin(), shape.end());
  tensor.count = product(shape);
  tensor.borrowed = data;
  return tensor;
}

char *HostTensor::mutableData() {
  // Copy on write: a view's bytes belong to someone else, and copies of a tensor share theirs.
  if (borrowed || (owned && owned.use_count() > 1)) {
    HostTensor copy(elementType, shape);
    if (count && copy.owned) std::memcpy(copy.owned.get(), data(), bytes());
    owned = copy.owned;
    borrowed = nullptr;
  }
  return owned.get();
}

template <typename T> static T load(const char *data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * sizeof(T), sizeof(T));
  return value;
}
template <typename T> static void store(char *data, int64_t i, T value) { std::memcpy(data + i * sizeof(T), &value, sizeof(T)); }

static const llvm::fltSemantics &semantics(Type type) { return cast<FloatType>(type).getFloatSemantics(); }

double HostTensor::getDouble(int64_t i) const {
  if (!isFloat()) return elementType.isUnsignedInteger(64) ? double(uint64_t(getInt(i))) : double(getInt(i));
  if (elementType.isF32()) return load<float>(data(), i);
  if (elementType.isF64()) return load<double>(data(), i);
  unsigned width = elementType.getIntOrFloatBitWidth();
  uint64_t bits = width == 16 ? load<uint16_t>(data(), i) : load<uint8_t>(data(), i);
  llvm::APFloat value(semantics(elementType), llvm::APInt(width, bits));
  bool lost;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven, &lost);
  return value.convertToDouble();
}

int64_t HostTensor::getInt(int64_t i) const {
  if (isFloat()) return int64_t(getDouble(i));
  bool isUnsigned = elementType.isUnsignedInteger() || elementType.isInteger(1);
  switch (elementBytes(elementType)) {
  case 1: return isUnsigned ? int64_t(load<uint8_t>(data(), i)) : int64_t(load<int8_t>(data(), i));
  case 2: return isUnsigned ? int64_t(load<uint16_t>(data(), i)) : int64_t(load<int16_t>(data(), i));
  case 4: return isUnsigned ? int64_t(load<uint32_t>(data(), i)) : int64_t(load<int32_t>(data(), i));
  default: return load<int64_t>(data(), i);
  }
}

void HostTensor::setDouble(int64_t i, double value) {
  char *to = mutableData();
  if (!isFloat()) return setInt(i, int64_t(value));
  if (elementType.isF32()) return store<float>(to, i, float(value));
  if (elementType.isF64()) return store<double>(to, i, value);
  llvm::APFloat rounded(value);
  bool lost;
  rounded.convert(semantics(elementType), llvm::APFloat::rmNearestTiesToEven, &lost);
  uint64_t bits = rounded.bitcastToAPInt().getZExtValue();
  if (elementType.getIntOrFloatBitWidth() == 16) store<uint16_t>(to, i, uint16_t(bits));
  else store<uint8_t>(to, i, uint8_t(bits));
}

void HostTensor::setInt(int64_t i, int64_t value) {
  char *to = mutableData();
  if (isFloat()) return setDouble(i, double(value));
  if (elementType.isInteger(1)) return store<uint8_t>(to, i, value != 0);
  switch (elementBytes(elementType)) {
  case 1: return store<int8_t>(to, i, int8_t(value));
  case 2: return store<int16_t>(to, i, int16_t(value));
  case 4: return store<int32_t>(to, i, int32_t(value));
  default: return store<int64_t>(to, i, value);
  }
}

SmallVector<int64_t> HostTensor::strides() const {
  SmallVector<int64_t> result(shape.size(), 1);
  for (int64_t d = rank() - 2; d >= 0; --d) result[d] = result[d + 1] * shape[d + 1];
  return result;
}

int64_t HostTensor::linear(ArrayRef<int64_t> index) const {
  int64_t result = 0;
  for (auto [i, size] : llvm::zip_equal(index, shape)) result = result * size + i;
  return result;
}

bool nextIndex(MutableArrayRef<int64_t> index, ArrayRef<int64_t> shape) {
  for (int64_t d = int64_t(shape.size()) - 1; d >= 0; --d) {
    if (++index[d] < shape[d]) return true;
    index[d] = 0;
  }
  return false;
}

LogicalResult EvalEnv::error(Operation *op, const Twine &text) {
  message = (op->getName().getStringRef() + ": " + text).str();
  return failure();
}

} // namespace stator
