// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an op may ask of the kernel template that is emitting it.
//
// Elemental emission: every value in a fused kernel is "the element at this index". An op computes its element by asking
// for elements of its operands, at indices that it derives from its own; the template decides who computes which index
// and where an operand's element comes from (a load, a value computed a moment ago, or the operand's own emission).
#ifndef STATOR_DIALECTS_INTERFACES_ELEMENTEMITTER_H
#define STATOR_DIALECTS_INTERFACES_ELEMENTEMITTER_H

#include "dialects/graph/Symbols.h"
#include "dialects/interfaces/Scalar.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace stator {

class ElementEmitter {
public:
  ElementEmitter(mlir::OpBuilder &b, mlir::Location loc) : s(b, loc) {}
  virtual ~ElementEmitter() = default;

  /// The element of `operand` at `indices` (one `index` value per dimension, in bounds), in the operand's own element
  /// type, not widened.
  virtual Scalar element(mlir::OpOperand &operand, mlir::ValueRange indices) = 0;
  /// The size as an `index` value.
  virtual mlir::Value size(graph::DimExpr dim) = 0;

  mlir::Value index(int64_t value);
  // Virtual, so that a template which knows the ranges of its loops can simplify what an op asks for.
  virtual mlir::Value add(mlir::Value a, mlir::Value c);
  virtual mlir::Value sub(mlir::Value a, mlir::Value c);
  virtual mlir::Value mul(mlir::Value a, mlir::Value c);
  /// For values that are not negative, and divisors above 0.
  virtual mlir::Value floorDiv(mlir::Value a, mlir::Value c);
  virtual mlir::Value mod(mlir::Value a, mlir::Value c);
  /// Signed comparison of index values, as an i1.
  mlir::Value lessThan(mlir::Value a, mlir::Value c) { return compare(a, c, false); }
  mlir::Value atLeast(mlir::Value a, mlir::Value c) { return compare(c, a, true); }

  /// `condition ? inside() : otherwise()`, evaluating one side only, so that `inside` may load what exists only then.
  Scalar guarded(mlir::Value condition, llvm::function_ref<Scalar()> inside, llvm::function_ref<Scalar()> otherwise);
  /// for (i = lower; i < upper; i += step) state = body(i, state); returns the last state.
  llvm::SmallVector<Scalar> loop(mlir::Value lower, mlir::Value upper, mlir::Value step, llvm::ArrayRef<Scalar> initial,
                                 llvm::function_ref<llvm::SmallVector<Scalar>(mlir::Value, llvm::ArrayRef<Scalar>)> body);

  ScalarBuilder s;

protected:
  /// a < c, or a <= c where `orEqual`.
  virtual mlir::Value compare(mlir::Value a, mlir::Value c, bool orEqual);
};

} // namespace stator

#endif // STATOR_DIALECTS_INTERFACES_ELEMENTEMITTER_H
