// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One operator call of a program as a composite sees it: arguments by their schema's names, with defaults filled in,
// and a builder at the call's location.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_CALL_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_CALL_H

#include "compiler/frontend/torch_export/AtenSchemas.h"
#include "compiler/frontend/torch_export/Scope.h"

namespace stator::torch_export {

using graph::counting;
using graph::DimExpr;
using graph::Dims;
using graph::GraphBuilder;
using graph::Ints;
using graph::isBool;
using graph::isFloat;
using graph::Number;
using graph::Operand;
using mlir::Type;
using mlir::Value;

class Importer;

/// The results of a call, flattened: one value a tensor. A null value stands for a result that nobody may use.
struct Results : llvm::SmallVector<Value, 4> {
  Results() = default;
  Results(Value value) { push_back(value); }
  Results(std::initializer_list<Value> values) : SmallVector(values) {}
  Results(llvm::ArrayRef<Value> values) : SmallVector(values) {}
};

class Call {
public:
  Call(Importer &importer, Scope &scope, const Node &node, const Schema &schema, GraphBuilder &builder)
      : b(builder), importer(importer), scope(scope), node(node), schema(schema) {}

  GraphBuilder &b;

  [[noreturn]] static void fail(const llvm::Twine &message) { GraphBuilder::fail(message); }

  // Arguments by schema name. An argument of another kind than the schema's is an error.
  const Argument &argument(llvm::StringRef name) const;
  bool has(llvm::StringRef name) const { return schema.find(name) != nullptr; }
  bool isNone(llvm::StringRef name) const { return argument(name).kind == Argument::Kind::None; }
  Value tensor(llvm::StringRef name);
  /// Null where the argument is None.
  Value optional(llvm::StringRef name) { return isNone(name) ? Value() : tensor(name); }
  /// Null elements where the list holds None.
  llvm::SmallVector<Value> tensors(llvm::StringRef name);
  /// A tensor or a Python number.
  Operand operand(llvm::StringRef name);
  /// A number that is known when compiling.
  Number number(llvm::StringRef name) const;
  double real(llvm::StringRef name) const { return number(name).asDouble(); }
  std::optional<double> optionalReal(llvm::StringRef name) const {
    return isNone(name) ? std::nullopt : std::optional<double>(real(name));
  }
  llvm::SmallVector<double> reals(llvm::StringRef name) const;
  int64_t integer(llvm::StringRef name) const;
  bool flag(llvm::StringRef name) const;
  llvm::StringRef string(llvm::StringRef name) const;
  Ints integers(llvm::StringRef name) const;
  /// A list of `count` integers; one number stands for all, an empty list for `otherwise`.
  Ints integers(llvm::StringRef name, size_t count, std::optional<Ints> otherwise = std::nullopt) const;
  DimExpr size(llvm::StringRef name);
  Dims sizes(llvm::StringRef name);
  /// The element type of a ScalarType argument, or `fallback` where it is None.
  Type dtype(llvm::StringRef name, Type fallback);
  Type defaultFloat() { return b.f32(); }

  /// What the program says about result `i`; nothing where it says nothing.
  std::optional<Dims> declaredDims(size_t i = 0);
  Type declaredType(size_t i = 0);
  size_t resultCount() const;

  // Effects and aliasing.
  /// Overwrites `target`, and so whatever it is a view of, with `value` (cast and broadcast to the target).
  void write(Value target, Value value);
  /// The results alias their inputs although the schema does not say so, or the reverse.
  void aliasesAnyway() { alias = true; }
  bool isAliasAnyway() const { return alias; }
  /// `result` is a copy although eager PyTorch would (or might) give a view of `source`: correct unless either is
  /// written later.
  void notAView(Value result, Value source);
  /// Whether anything in the program is overwritten, so that aliasing matters.
  bool programWrites() const;
  /// Whether eager PyTorch reshapes the argument without a copy; nothing where that cannot be told.
  std::optional<bool> reshapesInPlace(llvm::StringRef name, llvm::ArrayRef<DimExpr> to);
  bool isContiguous(llvm::StringRef name);
  /// Known bounds of a size.
  graph::DimRange range(DimExpr expr) const;

  /// The number of non-zero elements of a mask is `size`, a data-dependent symbol or something known.
  void bindSize(DimExpr size, Value count);

  const Node &getNode() const { return node; }

private:
  Value adjust(Value value, llvm::ArrayRef<Value> beside = {});
  const TensorMeta *declared(size_t i) const;

  Importer &importer;
  Scope &scope;
  const Node &node;
  const Schema &schema;
  bool alias = false;
};

using Composite = Results (*)(Call &);

/// Composites by target.
class CompositeTable {
public:
  CompositeTable();
  void add(std::initializer_list<llvm::StringRef> targets, Composite composite) {
    for (llvm::StringRef target : targets) rows[("aten." + target).str()] = composite;
  }
  void addExact(llvm::StringRef target, Composite composite) { rows[target] = composite; }
  Composite find(llvm::StringRef target) const { return rows.lookup(target); }
  const llvm::StringMap<Composite> &all() const { return rows; }

private:
  llvm::StringMap<Composite> rows;
};

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_CALL_H
