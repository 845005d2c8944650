// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Places in a fusion's iteration space (codegen/lower/FusionShape.h) and the elements of tensors that stand there.
#ifndef STATOR_CODEGEN_SCHEDULE_DOMAIN_H
#define STATOR_CODEGEN_SCHEDULE_DOMAIN_H

#include "codegen/lower/FusionShape.h"
#include "codegen/schedule/BodyEmitter.h"

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

/// What `result` is made of by transposes and reshapes alone: a value of the domain.
mlir::Value domainRoot(mlir::Value result);
/// The index in `result` of the element that stands at `at` in `root`, which domainRoot(result) gave.
llvm::SmallVector<mlir::Value> forwardIndex(BodyEmitter &body, mlir::Value root, mlir::Value result,
                                            mlir::ValueRange at);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_DOMAIN_H
