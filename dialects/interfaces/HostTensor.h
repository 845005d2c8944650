// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A dense row-major tensor in host memory, as the evaluator and constant folding see it.
#ifndef STATOR_DIALECTS_INTERFACES_HOSTTENSOR_H
#define STATOR_DIALECTS_INTERFACES_HOSTTENSOR_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/StringMap.h"
#include <cstring>
#include <memory>

namespace stator {

/// Bytes of one element (bool takes one byte).
size_t elementBytes(mlir::Type elementType);

class HostTensor {
public:
  HostTensor() = default;
  /// Zero-filled. Aborts never: a size that does not fit memory makes data() null with a non-zero size; check ok().
  HostTensor(mlir::Type elementType, llvm::ArrayRef<int64_t> shape);
  /// Views bytes that someone else owns (weights); written never.
  static HostTensor view(mlir::Type elementType, llvm::ArrayRef<int64_t> shape, const char *data);

  mlir::Type elementType;
  llvm::SmallVector<int64_t> shape;

  int64_t rank() const { return shape.size(); }
  int64_t size() const { return count; }
  size_t bytes() const { return count * elementBytes(elementType); }
  bool ok() const { return count == 0 || data() != nullptr; }
  const char *data() const { return borrowed ? borrowed : owned.get(); }
  char *mutableData();

  bool isFloat() const { return llvm::isa<mlir::FloatType>(elementType); }

  /// Element `i` in row-major order. Floats widen exactly; integers sign- or zero-extend (u64 by bits).
  double getDouble(int64_t i) const;
  int64_t getInt(int64_t i) const;
  /// Rounds to nearest even into the element type.
  void setDouble(int64_t i, double value);
  /// Wraps into the element type (bool: != 0).
  void setInt(int64_t i, int64_t value);
  /// Copies an element bit for bit from a tensor of the same element type.
  void copyElement(int64_t to, const HostTensor &from, int64_t i) {
    size_t n = elementBytes(elementType);
    std::memcpy(mutableData() + to * n, from.data() + i * n, n);
  }

  /// Row-major strides in elements.
  llvm::SmallVector<int64_t> strides() const;
  /// Row-major number of an index tuple.
  int64_t linear(llvm::ArrayRef<int64_t> index) const;

private:
  int64_t count = 0;
  std::shared_ptr<char> owned;
  const char *borrowed = nullptr;
};

/// Steps `index` through `shape` in row-major order; false after the last. Start at all zeros.
bool nextIndex(llvm::MutableArrayRef<int64_t> index, llvm::ArrayRef<int64_t> shape);

/// What evaluation of one op may ask: symbol values, and how to report.
struct EvalEnv {
  llvm::StringMap<int64_t> symbols;
  /// Set by error(); empty while all is well.
  std::string message;

  mlir::LogicalResult error(mlir::Operation *op, const llvm::Twine &text);
};

} // namespace stator

#endif // STATOR_DIALECTS_INTERFACES_HOSTTENSOR_H
