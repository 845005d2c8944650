// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the reduction templates of the host share.
#ifndef STATOR_CODEGEN_TARGET_HOST_REDUCTION_H
#define STATOR_CODEGEN_TARGET_HOST_REDUCTION_H

#include "codegen/target/host/HostTemplates.h"

namespace stator::codegen {

/// A place in outer x reduced x inner. Gives tensors' indices there: a tensor with an element for every element of the
/// domain is indexed by (outer, j, inner), one with an element for every row by (outer, inner).
class Coordinates {
public:
  Coordinates(BodyEmitter &body, const FusionShape &shape, mlir::Value outer, mlir::Value inner)
      : body(body), shape(shape), outer(outer), inner(inner) {}
  llvm::SmallVector<mlir::Value> full(mlir::Value tensor, mlir::Value j) const;
  llvm::SmallVector<mlir::Value> row(mlir::Value tensor) const;

  BodyEmitter &body;
  const FusionShape &shape;
  mlir::Value outer, inner;
};

/// The accumulators of one level's reductions, as one flat list of values.
class Accumulators {
public:
  Accumulators(HostKernel &kernel, llvm::ArrayRef<mlir::Operation *> reductions) : kernel(kernel), reductions(reductions) {}
  llvm::SmallVector<mlir::Value> identities();
  /// Types after identities(): the element types of the accumulators.
  llvm::ArrayRef<mlir::Type> types() const { return elementTypes; }
  /// `carried` with the elements at j added in.
  llvm::SmallVector<mlir::Value> accumulate(mlir::ValueRange carried, const Coordinates &at, mlir::Value j);
  llvm::SmallVector<mlir::Value> combine(mlir::ValueRange a, mlir::ValueRange c);
  /// The reductions' results, in widened types.
  llvm::SmallVector<Scalar> finish(mlir::ValueRange last);
  /// States the reductions' results at the row.
  void define(mlir::ValueRange last, const Coordinates &at);
  void define(llvm::ArrayRef<Scalar> results, const Coordinates &at);

private:
  llvm::SmallVector<Scalar> wrap(mlir::ValueRange values, size_t first, size_t count);
  HostKernel &kernel;
  llvm::ArrayRef<mlir::Operation *> reductions;
  llvm::SmallVector<mlir::Type> elementTypes;
  llvm::SmallVector<size_t> counts;
};

/// Values of the domain that are costly and wanted by several passes (exp(x - max) of a softmax): kept in a row on the
/// stack by the first pass and read back by the later ones.
class StashPlan {
public:
  struct Entry {
    mlir::Value value;
    size_t firstPass;
    mlir::Value array;
  };
  void keep(size_t pass, const Coordinates &at, mlir::Value j);
  void recall(size_t pass, const Coordinates &at, mlir::Value j);
  HostKernel *kernel = nullptr;
  llvm::SmallVector<Entry> entries;
};
StashPlan planStash(HostKernel &kernel, const FusionShape &shape);

/// for j: every full-domain result; `before(j)` runs first.
void emitFullResults(HostKernel &kernel, const FusionShape &shape, const Coordinates &at,
                     llvm::function_ref<void(mlir::Value)> before);
void emitRowResults(HostKernel &kernel, const FusionShape &shape, const Coordinates &at);
/// The element of full-domain (or row) result `r` and its store at one place.
void emitResultsAt(HostKernel &kernel, const FusionShape &shape, const Coordinates &at, mlir::Value j, bool full);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_REDUCTION_H
