// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions while a template computes them: carried values, elements added in, results stated to the body.
#ifndef STATOR_CODEGEN_SCHEDULE_ACCUMULATORS_H
#define STATOR_CODEGEN_SCHEDULE_ACCUMULATORS_H

#include "codegen/schedule/Domain.h"

namespace stator::codegen {

/// The accumulators of one level's reductions, as one flat list of values.
class Accumulators {
public:
  Accumulators(BodyEmitter &body, llvm::ArrayRef<mlir::Operation *> reductions) : body(body), reductions(reductions) {}
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
  BodyEmitter &body;
  llvm::ArrayRef<mlir::Operation *> reductions;
  llvm::SmallVector<mlir::Type> elementTypes;
  llvm::SmallVector<size_t> counts;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_ACCUMULATORS_H
