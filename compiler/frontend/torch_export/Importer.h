// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From a program to a function of graph ops.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_IMPORTER_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_IMPORTER_H

#include "compiler/frontend/torch_export/Call.h"
#include "compiler/frontend/torch_export/Weights.h"
#include "mlir/IR/BuiltinOps.h"

namespace stator::torch_export {

/// What imports a target.
struct Handler {
  enum class Kind { None, Elementwise, Composite, HigherOrder, Symbolic };
  Kind kind = Kind::None;
  Composite composite = nullptr;
  std::optional<mlir::RegisteredOperationName> op;
  Promotion promotion = Promotion::None;
  /// The handler is that of the functional operator; the result is written into the argument that the schema names.
  bool writesResult = false;
};

class Importer {
public:
  Importer(mlir::MLIRContext *context, const Program &program, Weights &weights, mlir::OpBuilder &builder);

  /// Builds the body of the program's graph in `block`; the graph's inputs are in `scope`. Problems are collected.
  void importNodes(Scope &scope);
  /// Reports everything that could not be imported; failure where there was something.
  mlir::LogicalResult reportProblems(llvm::StringRef model);
  void addProblem(mlir::Location loc, const llvm::Twine &message);

  /// Looks at every node, also those of sub-graphs, for targets without a handler.
  void findUnsupported(const Graph &graph);
  Handler handlerOf(const std::string &target);
  const Schema *schemaOf(const std::string &target) { return schemas.find(target); }

  // Values.
  Value tensor(Scope &scope, llvm::StringRef name);
  SymbolicValue &scalar(Scope &scope, const GraphBuilder &b, llvm::StringRef name);
  DimExpr sizeOf(Scope &scope, const GraphBuilder &b, const ScalarArg &argument);
  /// A symbolic number as a 0-d tensor.
  Value scalarTensor(Scope &scope, GraphBuilder &b, const ScalarArg &argument, Argument::Kind kind);
  DimExpr expression(const SizeExpr &size);
  Dims dimsOf(const TensorMeta &meta);
  mlir::RankedTensorType typeOf(const TensorMeta &meta);
  const TensorMeta *metaOf(const Scope &scope, llvm::StringRef name) const;
  graph::DimRange rangeOf(DimExpr expr) const;
  Range symbolRange(llvm::StringRef symbol) const;

  // Results.
  /// Gives the outputs of a node their values, checked against what the program says of them.
  void bindOutputs(Scope &scope, GraphBuilder &b, const Node &node, llvm::ArrayRef<Value> values, const Schema *schema,
                   bool aliases);
  void bindScalar(Scope &scope, GraphBuilder &b, const Argument &output, Value value);
  void loseOutputs(Scope &scope, const Node &node);
  /// Makes `size` the value of a 0-d i64 tensor: defines the symbol where it is a data-dependent one without a value
  /// yet, else the program asserts that they are equal.
  void bindSize(GraphBuilder &b, DimExpr size, Value value);

  // Effects.
  bool programWrites() const { return writes; }
  void write(GraphBuilder &b, Value target, Value value);
  void addUncertainAlias(Value a, Value c) { uncertainAliases.push_back({a, c}); }
  static Value aliasRoot(Value value);

  mlir::OpBuilder &builder() { return b; }
  mlir::MLIRContext *context() const { return ctx; }
  const Program &program() const { return prog; }

private:
  void importNode(Scope &scope, const Node &node);
  Results importElementwise(Call &call, const Handler &handler, const Schema &schema);
  void importSymbolic(Scope &scope, GraphBuilder &b, const Node &node);
  void importHigherOrder(Scope &scope, GraphBuilder &b, const Node &node);
  void inlineGraph(Scope &scope, GraphBuilder &b, const Node &node, size_t graphIndex,
                   std::optional<Autocast> autocast);
  void importCond(Scope &scope, GraphBuilder &b, const Node &node);
  void importWhile(Scope &scope, GraphBuilder &b, const Node &node);
  /// Imports a sub-graph whose inputs stand for `inputs`; gives its outputs' values.
  llvm::SmallVector<Value> importSubgraph(Scope &parent, GraphBuilder &b, const Graph &graph,
                                          llvm::ArrayRef<Argument> inputs, llvm::ArrayRef<Value> values,
                                          std::optional<Autocast> autocast, Scope **inner = nullptr);
  llvm::SmallVector<Argument> operandsOf(const Node &node, size_t first);
  Value argumentTensor(Scope &scope, GraphBuilder &b, const Argument &argument);
  std::string nearest(llvm::StringRef target);
  bool writesAnything(const Graph &graph);

  struct Unsupported {
    size_t count = 0;
    mlir::Location first;
  };
  mlir::MLIRContext *ctx;
  const Program &prog;
  Weights &weights;
  mlir::OpBuilder &b;
  SchemaTable schemas;
  CompositeTable composites;
  llvm::StringMap<Handler> elementwise;
  llvm::StringMap<DimExpr> expressions;
  std::map<std::string, Unsupported> unsupported;
  std::vector<std::pair<mlir::Location, std::string>> problems;
  std::vector<std::pair<Value, Value>> uncertainAliases;
  std::vector<std::unique_ptr<Scope>> innerScopes;
  llvm::StringSet<> boundSymbols;
  bool writes = false;
  int depth = 0;
};

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_IMPORTER_H
