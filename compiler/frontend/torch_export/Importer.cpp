// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/Importer.h"
#include "compiler/frontend/torch_export/SourceLocation.h"
#include "compiler/frontend/torch_export/SymbolicExpr.h"

using namespace mlir;

namespace stator::torch_export {

Importer::Importer(MLIRContext *context, const Program &program, Weights &weights, OpBuilder &builder)
    : ctx(context), prog(program), weights(weights), b(builder) {
  for (RegisteredOperationName op : context->getRegisteredOperations()) {
    auto *importable = op.getInterface<ImportableOpInterface>();
    if (!importable) continue;
    for (StringLiteral target : importable->getTorchTargets())
      elementwise[target] = {Handler::Kind::Elementwise, nullptr, op, importable->getPromotion(), false};
  }
  writes = writesAnything(program.graph);
}

/// `aten.add_.Tensor` -> `aten.add.Tensor`, `aten.__iand__.Tensor` -> `aten.__and__.Tensor`; empty where the name is
/// not that of an in-place operator.
static std::string functionalTarget(StringRef target) {
  auto [library, rest] = target.split('.');
  auto [name, overload] = rest.split('.');
  std::string functional;
  if (name.starts_with("__i") && name.ends_with("__"))
    functional = ("__" + name.drop_front(3)).str();
  else if (name.ends_with("_") && !name.ends_with("__"))
    functional = name.drop_back().str();
  return functional.empty() ? "" : (library + "." + functional + "." + overload).str();
}

Handler Importer::handlerOf(const std::string &target) {
  StringRef name(target);
  if (name.starts_with("higher_order.")) {
    static constexpr StringLiteral known[] = {"cond", "while_loop", "wrap_with_set_grad_enabled", "wrap_with_autocast",
                                              "invoke_subgraph"};
    return {llvm::is_contained(known, name.drop_front(13)) ? Handler::Kind::HigherOrder : Handler::Kind::None};
  }
  if (name.starts_with("_operator.") || name.starts_with("math.") || name.starts_with("torch.sym_"))
    return {Handler::Kind::Symbolic};
  auto direct = [&](StringRef key) -> Handler {
    if (Composite composite = composites.find(key)) return {Handler::Kind::Composite, composite};
    auto found = elementwise.find(key);
    return found == elementwise.end() ? Handler{} : found->second;
  };
  const Schema *schema = schemas.find(target);
  if (!schema) return {};
  Handler handler = direct(name);
  if (schema->writes() && handler.kind != Handler::Kind::Composite) {
    std::string functional = functionalTarget(name);
    if (handler.kind == Handler::Kind::None && !functional.empty()) handler = direct(functional);
    handler.writesResult = handler.kind != Handler::Kind::None;
  } else if (handler.kind == Handler::Kind::None) {
    // `aten.expand_copy.default` is a view operator whose result is a tensor of its own, which its schema says.
    auto [library, rest] = name.split('.');
    auto [base, overload] = rest.split('.');
    if (base.consume_back("_copy")) handler = direct((library + "." + base + "." + overload).str());
  }
  return handler;
}

bool Importer::writesAnything(const Graph &graph) {
  for (const Node &node : graph.nodes) {
    if (const Schema *schema = schemas.find(node.target); schema && schema->writes()) return true;
    // Normalization in training overwrites its running statistics, which its schema does not say.
    if (StringRef(node.target).contains("batch_norm") || StringRef(node.target).contains("instance_norm")) return true;
    for (const NamedArgument &input : node.inputs)
      if (input.value.graph && writesAnything(*input.value.graph)) return true;
  }
  return false;
}

// --- problems ---

void Importer::addProblem(Location loc, const Twine &message) {
  if (problems.size() < 100) problems.push_back({loc, message.str()});
}

void Importer::findUnsupported(const Graph &graph) {
  for (const Node &node : graph.nodes) {
    if (handlerOf(node.target).kind == Handler::Kind::None)
      ++unsupported.try_emplace(node.target, Unsupported{0, locationOf(ctx, node)}).first->second.count;
    for (const NamedArgument &input : node.inputs)
      if (input.value.graph) findUnsupported(*input.value.graph);
  }
}

std::string Importer::nearest(StringRef target) {
  std::string best;
  unsigned bestDistance = std::max<unsigned>(3, unsigned(target.size()) / 4);
  auto base = [](StringRef name) { return name.rsplit('.').first; };
  auto consider = [&](StringRef candidate) {
    // Another overload of the same operator is nearer than any other name.
    unsigned distance =
        base(candidate) == base(target) ? 1 : 1 + base(candidate).edit_distance(base(target), true, bestDistance);
    if (distance < bestDistance || (distance == bestDistance && !best.empty() && candidate < StringRef(best))) {
      bestDistance = distance;
      best = candidate.str();
    }
  };
  for (const auto &row : composites.all()) consider(row.getKey());
  for (const auto &row : elementwise) consider(row.getKey());
  return best;
}

LogicalResult Importer::reportProblems(StringRef model) {
  if (unsupported.empty() && problems.empty()) return success();
  if (!unsupported.empty()) {
    auto diagnostic = emitError(unsupported.begin()->second.first)
                      << "'" << model << "' uses " << unsupported.size() << " operator"
                      << (unsupported.size() == 1 ? "" : "s") << " that cannot be imported";
    for (const auto &[target, facts] : unsupported) {
      auto &note = diagnostic.attachNote(facts.first);
      note << target << ", " << facts.count << (facts.count == 1 ? " call" : " calls, first here");
      if (std::string other = nearest(target); !other.empty()) note << "; the nearest supported form is " << other;
    }
  }
  for (const auto &[loc, message] : problems) emitError(loc) << message;
  return failure();
}

// --- values ---

Value Importer::tensor(Scope &scope, StringRef name) {
  auto found = scope.tensors.find(name);
  if (found != scope.tensors.end()) {
    if (found->second) return found->second;
    GraphBuilder::fail("it uses '" + name + "', a result that is not computed");
  }
  if (scope.lost.contains(name)) throw LostInput();
  GraphBuilder::fail("it uses '" + name + "', which nothing before it defines");
}

DimExpr Importer::expression(const SizeExpr &size) {
  if (!size.isText()) return DimExpr::constant(ctx, size.value);
  auto [slot, fresh] = expressions.try_emplace(size.text);
  if (fresh) {
    std::string error;
    slot->second = parseSymbolic(ctx, size.text, error);
    if (!slot->second) {
      expressions.erase(size.text);
      GraphBuilder::fail("size '" + StringRef(size.text).take_front(200) + "': " + error);
    }
  }
  return slot->second;
}

Dims Importer::dimsOf(const TensorMeta &meta) {
  Dims dims;
  for (const SizeExpr &size : meta.sizes) {
    dims.push_back(expression(size));
    if (dims.back().isConstant() && dims.back().getConstant() < 0) GraphBuilder::fail("a negative size");
  }
  return dims;
}

RankedTensorType Importer::typeOf(const TensorMeta &meta) {
  return graph::tensorOf(dimsOf(meta), requireElementType(ctx, meta.type));
}

const TensorMeta *Importer::metaOf(const Scope &scope, StringRef name) const {
  auto found = scope.graph->tensors.find(name.str());
  return found == scope.graph->tensors.end() ? nullptr : &found->second;
}

SymbolicValue &Importer::scalar(Scope &scope, const GraphBuilder &, StringRef name) {
  auto found = scope.scalars.find(name);
  if (found != scope.scalars.end()) return found->second;
  if (scope.lost.contains(name)) throw LostInput();
  auto known = scope.graph->symInts.find(name.str());
  if (known == scope.graph->symInts.end())
    GraphBuilder::fail("it uses the number '" + name + "', which nothing before it defines");
  DimExpr expr = expression(known->second);
  return scope.scalars[name] = {expr, {}};
}

DimExpr Importer::sizeOf(Scope &scope, const GraphBuilder &b, const ScalarArg &argument) {
  if (!argument.isName()) return DimExpr::constant(ctx, argument.integer);
  SymbolicValue &value = scalar(scope, b, argument.name);
  if (!value.expr)
    GraphBuilder::fail("the size '" + argument.name +
                       "' is computed in a way that is not an integer expression over sizes");
  return value.expr;
}

Value Importer::scalarTensor(Scope &scope, GraphBuilder &b, const ScalarArg &argument, Argument::Kind kind) {
  if (!argument.isName()) {
    if (kind == Argument::Kind::Float) return b.scalar(argument.real, b.b.getF64Type());
    return b.scalarInt(argument.integer, kind == Argument::Kind::Bool ? b.i1() : b.i64());
  }
  SymbolicValue &value = scalar(scope, b, argument.name);
  if (!value.tensor) return b.size(value.expr); // Not remembered: the op may stand in an inner region.
  return value.tensor;
}

Value Importer::argumentTensor(Scope &scope, GraphBuilder &b, const Argument &argument) {
  switch (argument.kind) {
  case Argument::Kind::Tensor: return tensor(scope, argument.names[0]);
  case Argument::Kind::Int:
  case Argument::Kind::Float:
  case Argument::Kind::Bool: return scalarTensor(scope, b, argument.scalars[0], argument.kind);
  case Argument::Kind::None: return {};
  default: GraphBuilder::fail("an operand that is neither a tensor nor a number");
  }
}

// --- bounds ---

Range Importer::symbolRange(StringRef symbol) const {
  Range range;
  if (auto found = prog.ranges.find(symbol.str()); found != prog.ranges.end()) range = found->second;
  // Bounds may be stated of a multiple, '2*s94'.
  for (const auto &[text, bounds] : prog.ranges) {
    if (text == symbol || !StringRef(text).contains(symbol)) continue;
    std::string error;
    DimExpr expr = parseSymbolic(ctx, text, error);
    if (!expr || expr.getKind() != graph::DimKind::Mul || expr.getOperands().size() != 2) continue;
    auto factor = expr.getOperands()[0].asConstant();
    DimExpr atom = expr.getOperands()[1];
    if (!factor || *factor <= 0 || atom.getKind() != graph::DimKind::Symbol || atom.getSymbol() != symbol) continue;
    if (bounds.min && *bounds.min >= 0)
      range.min = std::max(range.min.value_or(0), (*bounds.min - 1) / *factor + (*bounds.min > 0 ? 1 : 0));
    if (bounds.max && *bounds.max >= 0) range.max = std::min(range.max.value_or(INT64_MAX), *bounds.max / *factor);
  }
  return range;
}

graph::DimRange Importer::rangeOf(DimExpr expr) const {
  return graph::rangeOf(expr, [&](StringRef symbol) {
    Range range = symbolRange(symbol);
    return graph::DimRange{range.min.value_or(symbol.starts_with("u") ? INT64_MIN : 0), range.max.value_or(INT64_MAX)};
  });
}

// --- effects ---

Value Importer::aliasRoot(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<ViewOpInterface>(op)) break;
    value = op->getOperand(0);
  }
  return value;
}

void Importer::write(GraphBuilder &b, Value target, Value value) {
  Value root = aliasRoot(target);
  for (auto [x, y] : uncertainAliases)
    if (aliasRoot(x) == root || aliasRoot(y) == root)
      GraphBuilder::fail("it overwrites a tensor of which an earlier operator made a view that cannot be followed");
  graph::WriteOp::create(b.b, b.loc, target, value);
}

// --- nodes ---

void Importer::loseOutputs(Scope &scope, const Node &node) {
  for (const Argument &output : node.outputs) {
    for (const std::string &name : output.names) scope.lost.insert(name);
    for (const ScalarArg &scalar : output.scalars)
      if (scalar.isName()) scope.lost.insert(scalar.name);
  }
}

void Importer::importNodes(Scope &scope) {
  for (const Node &node : scope.graph->nodes) {
    try {
      importNode(scope, node);
    } catch (const LostInput &) {
      loseOutputs(scope, node);
    } catch (const std::exception &error) { // BuildError and FormatError: both name the fact.
      addProblem(locationOf(ctx, node), Twine(node.target) + ": " + error.what());
      loseOutputs(scope, node);
    }
  }
}

void Importer::importNode(Scope &scope, const Node &node) {
  GraphBuilder builder(b, locationOf(ctx, node));
  Handler handler = handlerOf(node.target);
  if (handler.kind == Handler::Kind::Symbolic) return importSymbolic(scope, builder, node);
  if (handler.kind == Handler::Kind::HigherOrder) return importHigherOrder(scope, builder, node);
  if (handler.kind == Handler::Kind::None) throw LostInput(); // Reported by findUnsupported.
  const Schema &schema = *schemas.find(node.target);
  Call call(*this, scope, node, schema, builder);
  Block *block = b.getInsertionBlock();
  Operation *before = block->empty() ? nullptr : &block->back();

  Results results =
      handler.kind == Handler::Kind::Elementwise ? importElementwise(call, handler, schema) : handler.composite(call);

  if (handler.writesResult) {
    auto written = llvm::find_if(schema.arguments, [](const SchemaArgument &argument) { return argument.written; });
    if (results.empty()) GraphBuilder::fail("an in-place operator without a result");
    Value target = call.tensor(written->name);
    call.write(target, results[0]);
    results[0] = target;
  }
  bool aliases = call.isAliasAnyway() || schema.writes();
  if (writes && !aliases) {
    // What eager PyTorch gives as a tensor of its own must not be a view of anything older here.
    for (size_t i = 0; i < results.size(); ++i) {
      size_t row = std::min(i, schema.results.size() - 1);
      if (!results[i] || schema.results.empty() || schema.results[row].alias) continue;
      // Neither is it a view of something new: a broadcast number is one number, an overwritten tensor is many.
      Operation *op = results[i].getDefiningOp();
      bool isNew =
          op && op->getBlock() == block && (!before || before->isBeforeInBlock(op)) && !isa<ViewOpInterface>(op);
      if (!isNew) results[i] = builder.copy(results[i]);
    }
  }
  bindOutputs(scope, builder, node, results, &schema, aliases);
}

Results Importer::importElementwise(Call &call, const Handler &handler, const Schema &schema) {
  SmallVector<Operand> operands;
  for (const SchemaArgument &argument : schema.arguments) {
    if (argument.type == "Tensor" || argument.type == "Scalar") {
      operands.push_back(call.operand(argument.name));
      continue;
    }
    GraphBuilder::fail("argument '" + argument.name + "' has no meaning here");
  }
  GraphBuilder &b = call.b;
  bool integral =
      llvm::all_of(operands, [&](const Operand &o) { return !o.value || !isFloat(GraphBuilder::element(o.value)); });
  // A number or 0-d tensor beside a narrow float is used unrounded by eager arithmetic.
  StringRef op = handler.op->getStringRef();
  bool arithmetic = op == graph::MulOp::getOperationName() || op == graph::DivOp::getOperationName();
  Type type =
      handler.promotion == Promotion::None || handler.promotion == Promotion::Bool ? Type() : b.resultType(operands);
  SmallVector<Value> values;
  bool widened = arithmetic && type && graph::isNarrowFloat(type) && operands.size() == 2 && !integral &&
                 (!operands[1].value || GraphBuilder::rank(operands[1].value) == 0);
  if (widened) {
    for (const Operand &operand : operands) values.push_back(b.as(operand, b.f32()));
  } else {
    values = b.promote(operands, handler.promotion);
  }
  Dims common = b.broadcastDims(values);
  // Where sizes are spelt in several ways, the program's own spelling of the result decides.
  if (auto declared = call.declaredDims(); declared && declared->size() == common.size() && !schema.writes())
    common = *declared;
  for (Value &value : values) value = b.broadcastTo(value, common);
  Value result = b.create(op, values)->getResult(0);
  return widened ? b.cast(result, type) : result;
}

void Importer::bindSize(GraphBuilder &b, DimExpr size, Value value) {
  if (size.isConstant() && graph::ConstantOp::splatInt(value) == size.asConstant()) return;
  if (size.getKind() == graph::DimKind::Symbol && size.getSymbol().starts_with("u") &&
      boundSymbols.insert(size.getSymbol()).second) {
    graph::BindSymbolOp::create(b.b, b.loc, value, size.getSymbol());
    return;
  }
  graph::AssertOp::create(b.b, b.loc, b.eq(value, b.size(size)), ("a data-dependent size is not " + size.str()));
}

void Importer::bindScalar(Scope &scope, GraphBuilder &b, const Argument &output, Value value) {
  const ScalarArg &scalar = output.scalars[0];
  if (!scalar.isName()) return;
  SymbolicValue bound{{}, value};
  auto known = scope.graph->symInts.find(scalar.name);
  if (output.kind == Argument::Kind::Int && known != scope.graph->symInts.end()) {
    std::string error;
    bound.expr = known->second.isText() ? parseSymbolic(ctx, known->second.text, error)
                                        : DimExpr::constant(ctx, known->second.value);
    if (value && bound.expr) {
      bound.tensor = b.cast(value, b.i64());
      bindSize(b, bound.expr, bound.tensor);
    }
  }
  scope.scalars[scalar.name] = bound;
}

void Importer::bindOutputs(Scope &scope, GraphBuilder &b, const Node &node, ArrayRef<Value> values,
                           const Schema *schema, bool aliases) {
  size_t next = 0;
  auto bind = [&](const std::string &name) {
    if (next >= values.size()) GraphBuilder::fail("it has more results than the operator gives");
    Value value = values[next++];
    if (!value) {
      scope.tensors[name] = Value(); // An error where it is used.
      return;
    }
    if (const TensorMeta *meta = metaOf(scope, name)) {
      Type element = requireElementType(ctx, meta->type);
      if (element != GraphBuilder::element(value)) {
        std::string mine, theirs;
        llvm::raw_string_ostream(mine) << GraphBuilder::element(value);
        llvm::raw_string_ostream(theirs) << element;
        GraphBuilder::fail("result '" + name + "' is " + mine + " where the program says " + theirs);
      }
      value = b.withShape(value, dimsOf(*meta));
    }
    // An assertion about sizes is not a view: a write to either side could not be followed to the other.
    if (auto assertion = aliasRoot(value).getDefiningOp<graph::AssertShapeOp>(); assertion && writes)
      addUncertainAlias(value, assertion.getX());
    scope.tensors[name] = value;
  };
  for (const Argument &output : node.outputs) {
    switch (output.kind) {
    case Argument::Kind::Tensor:
    case Argument::Kind::Tensors:
      for (const std::string &name : output.names) bind(name);
      break;
    case Argument::Kind::Int:
    case Argument::Kind::Bool:
    case Argument::Kind::Float:
      bindScalar(scope, b, output, next < values.size() ? values[next] : Value());
      ++next;
      break;
    case Argument::Kind::None: ++next; break;
    default: GraphBuilder::fail("a result that is neither a tensor nor a number");
    }
  }
}

} // namespace stator::torch_export
