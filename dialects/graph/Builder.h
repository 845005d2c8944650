// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Building graphs from programs that others wrote.
//
// Frontends build through this: it broadcasts, casts and promotes as PyTorch does, and every op is checked where it is
// made, so that a program that makes no sense ends in a BuildError with the verifier's sentence and never in a crash.
// Passes, whose input is known to be good, use OpTy::create.
#ifndef STATOR_DIALECTS_GRAPH_BUILDER_H
#define STATOR_DIALECTS_GRAPH_BUILDER_H

#include "dialects/graph/Graph.h"
#include "mlir/IR/Builders.h"
#include <exception>
#include <string>

namespace stator::graph {

/// Why an op cannot be built. Thrown by GraphBuilder and caught by the frontend at the node that asked; no frame of
/// MLIR lies between.
class BuildError : public std::exception {
public:
  explicit BuildError(const llvm::Twine &message) : message(message.str()) {}
  const char *what() const noexcept override { return message.c_str(); }

private:
  std::string message;
};

/// A Python number: it promotes weaker than any tensor of its category or above.
struct Number {
  enum class Kind { Bool, Int, Float };
  Kind kind = Kind::Int;
  int64_t integer = 0; // Bool and Int.
  double real = 0;     // Float.

  static Number of(bool value) { return {Kind::Bool, value, 0}; }
  static Number of(int64_t value) { return {Kind::Int, value, 0}; }
  static Number of(double value) { return {Kind::Float, 0, value}; }
  double asDouble() const { return kind == Kind::Float ? real : double(integer); }
  bool isZero() const { return kind == Kind::Float ? real == 0 : integer == 0; }
};

/// An operand before promotion: a tensor, a number, or a number that is known at run time only (a 0-d tensor, `weak`).
struct Operand {
  Operand(mlir::Value tensor) : value(tensor) {}
  Operand(Number number) : number(number) {}
  static Operand weakTensor(mlir::Value value) {
    Operand operand(value);
    operand.weak = true;
    return operand;
  }
  mlir::Value value;
  Number number;
  bool weak = false;
};

using Dims = llvm::SmallVector<DimExpr, 6>;
using Ints = llvm::SmallVector<int64_t, 6>;

/// begin, begin + 1, ... below end.
inline Ints counting(int64_t begin, int64_t end) {
  Ints numbers;
  for (int64_t i = begin; i < end; ++i) numbers.push_back(i);
  return numbers;
}

// Element types.
bool isFloat(mlir::Type elementType);
bool isBool(mlir::Type elementType);
/// f16, bf16 and f8: computed in f32 and rounded.
bool isNarrowFloat(mlir::Type elementType);
/// What a composite computes in: f32 for narrow floats, else the type itself.
mlir::Type computeType(mlir::Type elementType);
/// PyTorch's promotion of two element types of one priority.
mlir::Type promoteTypes(mlir::Type a, mlir::Type b);
/// PyTorch's result type: tensors with dimensions outrank 0-d tensors, which outrank numbers, within a category.
mlir::Type resultType(llvm::ArrayRef<Operand> operands, mlir::MLIRContext *context);

class GraphBuilder {
public:
  GraphBuilder(mlir::OpBuilder &builder, mlir::Location loc) : b(builder), loc(loc) {}

  mlir::OpBuilder &b;
  mlir::Location loc;

  mlir::MLIRContext *context() const { return b.getContext(); }
  [[noreturn]] static void fail(const llvm::Twine &message) { throw BuildError(message); }

  // --- any op: inferred result types, verified ---
  mlir::Operation *create(llvm::StringRef name, mlir::ValueRange operands,
                          llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                          std::optional<mlir::TypeRange> resultTypes = std::nullopt);
  template <typename OpTy>
  mlir::Operation *make(mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return create(OpTy::getOperationName(), operands, attributes);
  }
  template <typename OpTy>
  mlir::Value op(mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return create(OpTy::getOperationName(), operands, attributes)->getResult(0);
  }
  template <typename OpTy>
  mlir::Value opAs(mlir::Type type, mlir::ValueRange operands, llvm::ArrayRef<mlir::NamedAttribute> attributes = {}) {
    return create(OpTy::getOperationName(), operands, attributes, mlir::TypeRange(type))->getResult(0);
  }
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value) { return b.getNamedAttr(name, value); }
  mlir::NamedAttribute attr(llvm::StringRef name, int64_t value) { return attr(name, b.getI64IntegerAttr(value)); }
  mlir::NamedAttribute real(llvm::StringRef name, double value) { return attr(name, b.getF64FloatAttr(value)); }
  mlir::NamedAttribute ints(llvm::StringRef name, llvm::ArrayRef<int64_t> value) {
    return attr(name, b.getDenseI64ArrayAttr(value));
  }
  mlir::NamedAttribute shape(llvm::StringRef name, llvm::ArrayRef<DimExpr> value) {
    for (DimExpr dim : value)
      if (!dim) fail("a size leaves 64 bits");
    return attr(name, ShapeAttr::get(context(), value));
  }
  mlir::NamedAttribute unit(llvm::StringRef name) { return attr(name, b.getUnitAttr()); }

  // --- types ---
  static mlir::Type element(mlir::Value x) { return llvm::cast<mlir::RankedTensorType>(x.getType()).getElementType(); }
  static int64_t rank(mlir::Value x) { return llvm::cast<mlir::RankedTensorType>(x.getType()).getRank(); }
  static Dims dims(mlir::Value x) { return Dims(graph::dimsOf(x.getType())); }
  /// The size of one dimension; an error outside the rank.
  static DimExpr dim(mlir::Value x, int64_t d);
  Dims constants(llvm::ArrayRef<int64_t> values) {
    Dims result;
    for (int64_t value : values) result.push_back(dim(value));
    return result;
  }
  DimExpr dim(int64_t value) { return DimExpr::constant(context(), value); }
  /// The sizes, all of which must be known now; `what` names the op in the error.
  static Ints staticDims(mlir::Value x, llvm::StringRef what);
  static int64_t staticDim(mlir::Value x, int64_t d, llvm::StringRef what);
  /// A dimension number from the end where negative; an error outside the rank (0-d tensors count as 1-d).
  static int64_t axis(int64_t dim, int64_t rank);
  static Ints axes(llvm::ArrayRef<int64_t> dims, int64_t rank);
  mlir::Type i1() { return b.getI1Type(); }
  mlir::Type i64() { return b.getI64Type(); }
  mlir::Type f32() { return b.getF32Type(); }

  // --- constants ---
  mlir::Value scalar(Number value, mlir::Type elementType);
  mlir::Value scalar(double value, mlir::Type elementType) { return scalar(Number::of(value), elementType); }
  mlir::Value scalarInt(int64_t value, mlir::Type elementType) { return scalar(Number::of(value), elementType); }
  mlir::Value full(Number value, llvm::ArrayRef<DimExpr> dims, mlir::Type elementType);
  mlir::Value constant(mlir::ElementsAttr value) { return ConstantOp::create(b, loc, value); }
  /// A 1-d constant of i64.
  mlir::Value indices(llvm::ArrayRef<int64_t> values);
  /// start + step * i.
  mlir::Value iota(llvm::ArrayRef<DimExpr> dims, int64_t dim, mlir::Type elementType, double start = 0,
                   double step = 1);
  /// The expression's value as a 0-d i64.
  mlir::Value size(DimExpr expr);
  mlir::Value highest(mlir::Type elementType);
  mlir::Value lowest(mlir::Type elementType);

  // --- shapes ---
  mlir::Value cast(mlir::Value x, mlir::Type elementType);
  mlir::Value widen(mlir::Value x) { return cast(x, computeType(element(x))); }
  mlir::Value reshape(mlir::Value x, llvm::ArrayRef<DimExpr> dims);
  mlir::Value flatten(mlir::Value x);
  /// Broadcasts to exactly `dims`; where a size other than 1 is spelt another way, the program asserts that they are
  /// equal.
  mlir::Value broadcastTo(mlir::Value x, llvm::ArrayRef<DimExpr> dims);
  /// The same tensor under these dimension expressions (a run-time assertion where they are not the same already).
  mlir::Value withShape(mlir::Value x, llvm::ArrayRef<DimExpr> dims);
  Dims broadcastDims(llvm::ArrayRef<DimExpr> x, llvm::ArrayRef<DimExpr> y);
  Dims broadcastDims(llvm::ArrayRef<mlir::Value> values);
  mlir::Value transpose(mlir::Value x, llvm::ArrayRef<int64_t> permutation);
  mlir::Value swapAxes(mlir::Value x, int64_t a, int64_t c);
  /// Moves dimension `from` to place `to`.
  mlir::Value moveAxis(mlir::Value x, int64_t from, int64_t to);
  mlir::Value unsqueeze(mlir::Value x, int64_t dim);
  mlir::Value squeeze(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  /// Elements start + i * step of one dimension, i < size.
  mlir::Value slice(mlir::Value x, int64_t dim, DimExpr start, DimExpr size, int64_t step = 1);
  mlir::Value select(mlir::Value x, int64_t dim, DimExpr index);
  mlir::Value concat(llvm::ArrayRef<mlir::Value> xs, int64_t dim);
  mlir::Value pad(mlir::Value x, mlir::Value value, llvm::ArrayRef<DimExpr> low, llvm::ArrayRef<DimExpr> high);
  /// Element (i...) is element offset + sum(i[d] * strides[d]) of x in row-major order.
  mlir::Value strided(mlir::Value x, llvm::ArrayRef<DimExpr> dims, llvm::ArrayRef<DimExpr> strides, DimExpr offset);
  /// x with the elements that slice(start, size, step) along `dim` would give replaced.
  mlir::Value updateSlice(mlir::Value x, mlir::Value updates, int64_t dim, DimExpr start, int64_t step = 1);
  /// The steps in elements from one element to the next along each dimension of x, in row-major order.
  Dims rowMajorStrides(mlir::Value x);
  mlir::Value reverse(mlir::Value x, llvm::ArrayRef<int64_t> dims);
  mlir::Value copy(mlir::Value x) { return opAs<CopyOp>(x.getType(), {x}); }
  mlir::Value take(mlir::Value x, mlir::Value indices, int64_t dim);

  // --- elementwise: operands of one element type; shapes are broadcast ---
  template <typename OpTy> mlir::Value unary(mlir::Value x) { return op<OpTy>({x}); }
  template <typename OpTy> mlir::Value binary(mlir::Value x, mlir::Value y) {
    Dims common = broadcastDims({x, y});
    return op<OpTy>({broadcastTo(x, common), broadcastTo(y, common)});
  }
  template <typename OpTy> mlir::Value binary(mlir::Value x, double y) {
    return binary<OpTy>(x, scalar(y, element(x)));
  }
  template <typename T> mlir::Value add(mlir::Value x, T y) { return binary<AddOp>(x, y); }
  template <typename T> mlir::Value sub(mlir::Value x, T y) { return binary<SubOp>(x, y); }
  template <typename T> mlir::Value mul(mlir::Value x, T y) { return binary<MulOp>(x, y); }
  template <typename T> mlir::Value div(mlir::Value x, T y) { return binary<DivOp>(x, y); }
  template <typename T> mlir::Value eq(mlir::Value x, T y) { return binary<EqOp>(x, y); }
  template <typename T> mlir::Value ne(mlir::Value x, T y) { return binary<NeOp>(x, y); }
  template <typename T> mlir::Value lt(mlir::Value x, T y) { return binary<LtOp>(x, y); }
  template <typename T> mlir::Value le(mlir::Value x, T y) { return binary<LeOp>(x, y); }
  template <typename T> mlir::Value gt(mlir::Value x, T y) { return binary<GtOp>(x, y); }
  template <typename T> mlir::Value ge(mlir::Value x, T y) { return binary<GeOp>(x, y); }
  template <typename T> mlir::Value maximum(mlir::Value x, T y) { return binary<MaximumOp>(x, y); }
  template <typename T> mlir::Value minimum(mlir::Value x, T y) { return binary<MinimumOp>(x, y); }
  mlir::Value where(mlir::Value condition, mlir::Value x, mlir::Value y);
  /// Of bools.
  mlir::Value logicalAnd(mlir::Value x, mlir::Value y) { return binary<LogicalAndOp>(x, y); }
  mlir::Value logicalOr(mlir::Value x, mlir::Value y) { return binary<LogicalOrOp>(x, y); }
  mlir::Value logicalNot(mlir::Value x) { return op<LogicalNotOp>({x}); }

  // --- promotion ---
  /// The operand in `elementType`: a number becomes a constant, a tensor is cast.
  mlir::Value as(const Operand &operand, mlir::Type elementType);
  mlir::Type resultType(llvm::ArrayRef<Operand> operands) { return graph::resultType(operands, context()); }
  /// All operands in their result type (Promotion::Float: at least f32; Promotion::Bool: compared with zero).
  llvm::SmallVector<mlir::Value> promote(llvm::ArrayRef<Operand> operands, Promotion rule);

  // --- reductions: an empty list of dimensions stands for all of them; `keep` leaves size 1 ---
  template <typename OpTy> mlir::Value reduce(mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keep) {
    return reduceNamed(OpTy::getOperationName(), x, dims, keep);
  }
  mlir::Value sum(mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keep) { return reduce<SumOp>(x, dims, keep); }
  /// Sum divided by the number of elements, in x's type (0 / 0 = NaN of none).
  mlir::Value mean(mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keep);
  /// Two-pass variance: sum((x - mean)^2) / max(n - correction, 0).
  mlir::Value variance(mlir::Value x, llvm::ArrayRef<int64_t> dims, double correction, bool keep);
  /// The number of elements along dimensions as a 0-d value of a float type.
  mlir::Value count(mlir::Value x, llvm::ArrayRef<int64_t> dims, mlir::Type elementType);

  // --- composites, in x's type; widen first where x is narrow ---
  mlir::Value softmax(mlir::Value x, int64_t dim);
  mlir::Value logSoftmax(mlir::Value x, int64_t dim);
  /// x normalised over `dims`: (x - mean) / sqrt(var + eps).
  mlir::Value normalize(mlir::Value x, llvm::ArrayRef<int64_t> dims, double eps, mlir::Value *mean = nullptr,
                        mlir::Value *rstd = nullptr);
  /// Matrix product of at least 2-d operands; leading dimensions are broadcast.
  mlir::Value matmul(mlir::Value lhs, mlir::Value rhs, bool transposeLhs = false, bool transposeRhs = false);

private:
  static void requireDim(mlir::Value x, int64_t d);
  mlir::Value reduceNamed(llvm::StringRef name, mlir::Value x, llvm::ArrayRef<int64_t> dims, bool keep);
};

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_BUILDER_H
