// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Index arithmetic that simplifies itself while it is emitted.
//
// Every `index` value that elemental emission makes has a *form*: a polynomial with integer coefficients over atoms. An
// atom is a loop variable, a size, a value read from memory, or a quotient or remainder that could not be simplified.
// Loop variables and sizes have ranges, loop variables also an extent (a form, for symbolic sizes). That is enough to see
// what reshapes, slices, transposes and broadcasts leave behind:
//
//   (64 * i + j) / 64         is  i               where 0 <= j < 64
//   (64 * i + j) % 64         is  j
//   (s0 * i + j) / s0         is  i               where j's extent is s0
//   64 * (x / 64) + x % 64    is  x               (a reshape of a collapsed loop undoes itself)
//   (x % 128) / 64            is  (x / 64) % 2
//
// Two equal forms are one SSA value wherever the first dominates the second, which is also what lets two consumers of a
// tensor element find that they ask for the same one.
#ifndef STATOR_CODEGEN_SCHEDULE_INDEXFORMS_H
#define STATOR_CODEGEN_SCHEDULE_INDEXFORMS_H

#include "dialects/graph/Symbols.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>
#include <vector>

namespace stator::codegen {

/// coefficient * product of atoms (sorted, repeats allowed).
struct IndexTerm {
  int64_t coefficient;
  llvm::SmallVector<unsigned, 2> atoms;
  bool operator==(const IndexTerm &o) const { return coefficient == o.coefficient && atoms == o.atoms; }
};

/// constant + sum of terms, sorted by atoms, no two with equal atoms, no zero coefficients.
struct IndexForm {
  int64_t constant = 0;
  llvm::SmallVector<IndexTerm, 4> terms;
  bool isConstant() const { return terms.empty(); }
  bool operator==(const IndexForm &o) const { return constant == o.constant && terms == o.terms; }
  bool operator<(const IndexForm &o) const;
};

class IndexForms {
public:
  IndexForms(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  /// States min <= value <= max of a value that no arithmetic here has made.
  void setRange(mlir::Value value, int64_t min, int64_t max);
  /// States 0 <= value < extent.
  void setExtent(mlir::Value value, mlir::Value extent);

  mlir::Value constant(int64_t value);
  mlir::Value add(mlir::Value a, mlir::Value c);
  mlir::Value sub(mlir::Value a, mlir::Value c);
  mlir::Value mul(mlir::Value a, mlir::Value c);
  /// a >= 0, c > 0.
  mlir::Value floorDiv(mlir::Value a, mlir::Value c);
  mlir::Value mod(mlir::Value a, mlir::Value c);
  /// Whether a < c where that is known.
  std::optional<bool> lessThan(mlir::Value a, mlir::Value c);

  /// Row-major number of `indices` in a tensor of `sizes`.
  mlir::Value linearize(mlir::ValueRange indices, mlir::ValueRange sizes);
  /// The inverse; 0 <= linear < product of sizes.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, mlir::ValueRange sizes);

  IndexForm formOf(mlir::Value value);
  /// What multiplies `variable` in the form: nullopt where it stands inside a quotient, a remainder or a power.
  std::optional<IndexForm> strideOf(const IndexForm &form, mlir::Value variable);
  graph::DimRange range(const IndexForm &form) const;
  graph::DimRange rangeOf(mlir::Value value) { return range(formOf(value)); }

  /// The value of the form at the insertion point: an earlier one that dominates, or newly emitted.
  mlir::Value materialize(const IndexForm &form);

private:
  struct Atom {
    mlir::Value value;          // null for a quotient or remainder that is not emitted yet
    graph::DimRange range{INT64_MIN, INT64_MAX};
    std::optional<IndexForm> extent;
    enum Kind { Opaque, Quotient, Remainder } kind = Opaque;
    IndexForm dividend, divisor;
  };
  unsigned atomOf(mlir::Value value);
  void noteLoopBounds(mlir::Value value);
  unsigned divisionAtom(Atom::Kind kind, const IndexForm &dividend, const IndexForm &divisor);
  mlir::Value atomValue(unsigned atom);
  static IndexForm ofAtom(unsigned atom) { return {0, {{1, {atom}}}}; }

  // Null where int64 overflows.
  static std::optional<IndexForm> sum(const IndexForm &a, const IndexForm &c, int64_t scaleOfC);
  static std::optional<IndexForm> product(const IndexForm &a, const IndexForm &c);
  IndexForm recompose(IndexForm form);
  /// a = quotient * c + rest, with every term that c divides in the quotient.
  static bool split(const IndexForm &a, const IndexForm &c, IndexForm &quotient, IndexForm &rest);
  /// Whether 0 <= form < bound is certain.
  bool fits(const IndexForm &form, const IndexForm &bound);
  /// An upper bound: atoms with extents replaced by extent - 1.
  std::optional<IndexForm> upperBound(IndexForm form);
  IndexForm quotient(const IndexForm &a, const IndexForm &c);
  IndexForm remainder(const IndexForm &a, const IndexForm &c);
  bool mentions(const IndexForm &form, unsigned atom);
  bool visible(mlir::Value value) const;

  mlir::OpBuilder &b;
  mlir::Location loc;
  std::vector<Atom> atoms;
  llvm::DenseMap<mlir::Value, unsigned> atomNumbers;
  llvm::DenseMap<mlir::Value, IndexForm> forms;
  std::map<IndexForm, llvm::SmallVector<mlir::Value, 1>> emitted;
};

/// Whether `value` can be used at `block` given that code is only ever appended: its block is `block` or encloses it.
bool isVisibleFrom(mlir::Value value, mlir::Block *block);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_INDEXFORMS_H
