// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emission of a fused kernel's body, the same for every target and template.
//
// A template makes loops (or threads), knows which index it is at, and asks for values there:
//
//   BodyEmitter body(builder, loc, fusion, memory);
//   body.indices.setExtent(i, n);                        // what is known about the loop variable
//   Scalar y = body.valueAt(result, {i, j});             // emits the loads and arithmetic for result[i, j]
//   body.store(0, {i, j}, y);
//
// valueAt emits every element once: a second request for the same value at the same index (equal index *forms*, see
// IndexForms.h) gives the first answer as long as it dominates. A template uses that to decide loops that ops would not:
// it computes a reduction as it likes and states the outcome with `define`; consumers then find it. What nobody defined,
// the op itself computes with a loop, so a template can be wrong about speed but not about values.
//
// Numbers: an op computes in computeType (f32 for f16, bf16 and f8) and its result is rounded to its element type before
// anyone uses it, inside a kernel as outside: fusing never changes a result.
//
// Code must only be appended: the insertion point stays at the end of its block (before a terminator that was there
// when emission into the block began), and blocks are entered from enclosing ones.
#ifndef STATOR_CODEGEN_SCHEDULE_BODYEMITTER_H
#define STATOR_CODEGEN_SCHEDULE_BODYEMITTER_H

#include "codegen/schedule/IndexForms.h"
#include "dialects/graph/Graph.h"
#include "dialects/interfaces/ElementEmitter.h"

namespace stator::codegen {

/// What a kernel knows of its memory; each target writes one.
class KernelMemory {
public:
  virtual ~KernelMemory() = default;
  /// Element `linear` (row-major, an `index`) of fusion input `input`; `element` is its element type. Bools are bytes in
  /// memory and i1 as scalars.
  virtual mlir::Value loadInput(mlir::OpBuilder &b, mlir::Location loc, unsigned input, mlir::Value linear,
                                mlir::Type element) = 0;
  virtual void storeResult(mlir::OpBuilder &b, mlir::Location loc, unsigned result, mlir::Value linear, mlir::Value value,
                           mlir::Type element) = 0;
  /// Element `linear` of a constant that stands in the body and is no splat.
  virtual mlir::Value loadConstant(mlir::OpBuilder &b, mlir::Location loc, graph::ConstantOp constant, mlir::Value linear,
                                   mlir::Type element) = 0;
  /// The value of a size that is not a constant, as an `index` that dominates all of the kernel. Asked once for each
  /// distinct expression; the runtime evaluates the expression for the launch.
  virtual mlir::Value sizeArgument(graph::DimExpr expr) = 0;
};

class BodyEmitter : public ElementEmitter {
public:
  BodyEmitter(mlir::OpBuilder &b, mlir::Location loc, graph::FusionOp fusion, KernelMemory &memory);

  /// The element in its own element type, not widened.
  Scalar valueAt(mlir::Value value, mlir::ValueRange at);
  /// The same in the type in which it is computed with.
  Scalar wideValueAt(mlir::Value value, mlir::ValueRange at) { return widen(valueAt(value, at)); }
  /// States that `value` at `at` is `element` (rounded here to the value's element type), for every later request that
  /// the element's definition dominates.
  void define(mlir::Value value, mlir::ValueRange at, Scalar element);
  /// Writes fusion result number `result`.
  void store(unsigned result, mlir::ValueRange at, Scalar element);

  Scalar widen(Scalar x) { return s.cast(x, computeType(x.type)); }

  llvm::SmallVector<mlir::Value> sizes(mlir::Value tensor);
  /// The yielded values: result i of the fusion is result(i).
  mlir::Value result(unsigned i) { return fusion.getBody().front().getTerminator()->getOperand(i); }

  /// Elements emitted so far; a measure of code size.
  int64_t emittedElements() const { return count; }
  /// Set where the body has an op that answers no emission interface or an expression that cannot be evaluated; an error
  /// has been reported at it, and what was emitted is of no use.
  bool failed() const { return hasFailed; }

  // What ops ask.
  Scalar element(mlir::OpOperand &operand, mlir::ValueRange at) override { return valueAt(operand.get(), at); }
  mlir::Value size(graph::DimExpr dim) override;
  mlir::Value add(mlir::Value a, mlir::Value c) override { return indices.add(a, c); }
  mlir::Value sub(mlir::Value a, mlir::Value c) override { return indices.sub(a, c); }
  mlir::Value mul(mlir::Value a, mlir::Value c) override { return indices.mul(a, c); }
  mlir::Value floorDiv(mlir::Value a, mlir::Value c) override { return indices.floorDiv(a, c); }
  mlir::Value mod(mlir::Value a, mlir::Value c) override { return indices.mod(a, c); }

  /// The form as an expression over symbols; null where it holds anything but sizes.
  graph::DimExpr exprOf(const IndexForm &form);

  /// Every read of an input, for templates that look at access patterns before they choose loops.
  struct Access {
    unsigned input;
    IndexForm linear;
  };
  llvm::ArrayRef<Access> accesses() const { return accessList; }
  /// Every comparison `first < second` of indices that was left to run time.
  llvm::ArrayRef<std::pair<IndexForm, IndexForm>> comparisons() const { return open; }

  IndexForms indices;
  graph::FusionOp fusion;

protected:
  mlir::Value compare(mlir::Value a, mlir::Value c, bool orEqual) override;

private:
  using Key = std::pair<void *, llvm::SmallVector<IndexForm, 4>>;
  Key keyOf(mlir::Value value, mlir::ValueRange at);
  std::optional<Scalar> lookup(const Key &key);
  Scalar emit(mlir::Value value, mlir::ValueRange at);
  Scalar emitScalarOp(ScalarOpInterface op, mlir::ValueRange at);
  Scalar fail(mlir::Operation *op, mlir::Type element, llvm::StringRef why);

  KernelMemory &memory;
  std::map<Key, llvm::SmallVector<Scalar, 1>> known;
  llvm::DenseMap<mlir::Attribute, mlir::Value> sizeValues;
  llvm::SmallVector<Access> accessList;
  std::vector<std::pair<IndexForm, IndexForm>> open;
  int64_t count = 0;
  unsigned depth = 0;
  bool hasFailed = false;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_BODYEMITTER_H
