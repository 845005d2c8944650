// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Symbolic dimensions.
//
// A dimension is an integer or an expression over named symbols: `s0`, `4 * s0 * s1 + 3`, `floordiv(s0, 2)`. The tensor
// *type* carries one expression per dimension, so "same shape" is type equality, shape inference is type inference, and a
// verifier can name the symbol that disagrees:
//
//   tensor<?x64x?xf32, #graph.shape<s0, 64, 2 * s1 + 1>>
//
// Expressions are uniqued attributes in canonical form: a sum of monomials, each a coefficient times a sorted product of
// atoms (symbols, floordiv, mod, min, max). Two expressions that a polynomial identity makes equal are the same pointer:
// (s0 + 1) * 2 and s0 + s0 + 2 both become `2 * s0 + 2`. What canonical form cannot see (floordiv(s0, 2) * 2 == s0 for even
// s0) stays two expressions; `graph.assert_shape` is how a program states such facts.
#ifndef STATOR_DIALECTS_GRAPH_SYMBOLS_H
#define STATOR_DIALECTS_GRAPH_SYMBOLS_H

#include "mlir/IR/Attributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace stator::graph {

enum class DimKind { Constant, Symbol, Add, Mul, FloorDiv, Mod, Min, Max };

namespace detail {
struct DimExprStorage;
}

/// One dimension. Values are int64; arithmetic that leaves int64 makes a null expression (test with `if (expr)`), so
/// every caller that feeds numbers from a file can refuse them.
class DimExpr : public mlir::Attribute::AttrBase<DimExpr, mlir::Attribute, detail::DimExprStorage> {
public:
  using Base::Base;
  static constexpr llvm::StringLiteral name = "graph.dim";

  static DimExpr constant(mlir::MLIRContext *context, int64_t value);
  static DimExpr symbol(mlir::MLIRContext *context, llvm::StringRef name);
  static DimExpr add(DimExpr a, DimExpr b);
  static DimExpr sub(DimExpr a, DimExpr b);
  static DimExpr mul(DimExpr a, DimExpr b);
  /// Rounds toward minus infinity. Null where the divisor is the constant 0.
  static DimExpr floorDiv(DimExpr a, DimExpr b);
  /// -floorDiv(-a, b).
  static DimExpr ceilDiv(DimExpr a, DimExpr b);
  /// Sign of the divisor, as Python's %. Null where the divisor is the constant 0.
  static DimExpr mod(DimExpr a, DimExpr b);
  static DimExpr min(DimExpr a, DimExpr b);
  static DimExpr max(DimExpr a, DimExpr b);

  /// Parses the text that print() writes, and parentheses. Null and a message in `error` where it is malformed, deeper
  /// than 64 levels, or leaves int64.
  static DimExpr parse(mlir::MLIRContext *context, llvm::StringRef text, std::string &error);

  DimKind getKind() const;
  bool isConstant() const { return getKind() == DimKind::Constant; }
  bool isConstant(int64_t value) const { return isConstant() && getConstant() == value; }
  int64_t getConstant() const;
  llvm::StringRef getSymbol() const;
  llvm::ArrayRef<DimExpr> getOperands() const;
  std::optional<int64_t> asConstant() const {
    return isConstant() ? std::optional<int64_t>(getConstant()) : std::nullopt;
  }

  /// Calls `visit` for each symbol's name, repeats included.
  void forEachSymbol(llvm::function_ref<void(llvm::StringRef)> visit) const;
  /// Replaces symbols: `map` returns null to keep one.
  DimExpr substitute(llvm::function_ref<DimExpr(llvm::StringRef)> map) const;
  /// The value for given symbol values; nullopt on overflow, division by zero or an unknown symbol.
  std::optional<int64_t> evaluate(llvm::function_ref<std::optional<int64_t>(llvm::StringRef)> symbolValue) const;

  void print(llvm::raw_ostream &os) const;
  std::string str() const;
};

/// Closed interval; saturates at the ends of int64.
struct DimRange {
  int64_t min = 0;
  int64_t max = INT64_MAX;
};

/// Bounds of `expr` by interval arithmetic, given the bounds of each symbol.
DimRange rangeOf(DimExpr expr, llvm::function_ref<DimRange(llvm::StringRef)> symbolRange);

/// Whether the type is a tensor whose dimensions are known as expressions: static without an encoding, or with a
/// #graph.shape encoding. Every operand and result of the dialect is.
bool hasDims(mlir::Type tensorType);

/// The dimensions of a ranked tensor type, from its sizes and its #graph.shape encoding.
llvm::SmallVector<DimExpr> dimsOf(mlir::Type tensorType);
DimExpr dimOf(mlir::Type tensorType, unsigned dim);

/// The tensor type with these dimensions: plain where all are constants, with a #graph.shape encoding otherwise.
mlir::RankedTensorType tensorOf(llvm::ArrayRef<DimExpr> dims, mlir::Type elementType);

/// Product of the dimensions; null where it leaves int64.
DimExpr numElements(llvm::ArrayRef<DimExpr> dims, mlir::MLIRContext *context);

/// Prints `[s0, 64]`.
std::string shapeText(llvm::ArrayRef<DimExpr> dims);

/// Bounds of the symbol in the `graph.symbols` attribute of the function around `op`; [0, INT64_MAX] where it has none.
DimRange symbolRange(mlir::Operation *op, llvm::StringRef symbol);

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_SYMBOLS_H
