// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit/BuildPlan.h"
#include "codegen/emit/Signature.h"
#include "codegen/emit/Steps.h"
#include "dialects/graph/Preconditions.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
class PlanBuilder {
public:
  PlanBuilder(func::FuncOp function, Target &target, ModuleOp plans, WeightTable &weights, KernelCache &kernels,
              ArtifactParts &parts)
      : function(function), target(target), weights(weights), kernels(kernels), parts(parts), b(plans.getContext()),
        plans(plans) {}
  FailureOr<plan::ProgramOp> build();

private:
  void begin();
  LogicalResult block(Block &block);
  LogicalResult step(Operation &op);
  LogicalResult fusion(graph::FusionOp op);
  LogicalResult conditional(graph::IfOp op);
  LogicalResult repeat(graph::WhileOp op);
  void assertion(graph::AssertOp op);
  void checkPreconditions(Operation &op);

  Value bufferOf(Value tensor) { return buffers.lookup(tensor); }
  /// The buffer that `result` is written to: where its consumer wants it, or a new one.
  Value place(Value result);
  /// Where a fusion of `block` computes `value`, it shall write to `buffer`.
  void preassign(Value value, Block &block, Value buffer) {
    Operation *op = value.getDefiningOp();
    if (op && isa<graph::FusionOp>(op) && op->getBlock() == &block) preassigned.try_emplace(value, buffer);
  }
  Value allocate(DimExpr bytes, Type type);
  Value allocate(Type type);
  Value declare(StringRef space, Type type, std::optional<int64_t> index, StringRef weight = {});
  LogicalResult checkSymbols();
  void copy(Value from, Value to, Location loc) {
    if (from != to) plan::CopyOp::create(b, loc, from, to);
  }
  graph::ShapeAttr exprs(ArrayRef<DimExpr> list) { return graph::ShapeAttr::get(b.getContext(), list); }

  func::FuncOp function;
  Target &target;
  WeightTable &weights;
  KernelCache &kernels;
  ArtifactParts &parts;
  OpBuilder b;
  ModuleOp plans;
  plan::ProgramOp program;
  Operation *declarations = nullptr; // buffers are declared before it
  DenseMap<Value, Value> buffers, preassigned;
  llvm::StringSet<> dataSymbols;
  unsigned assertions = 0;
};
} // namespace

Value PlanBuilder::declare(StringRef space, Type type, std::optional<int64_t> index, StringRef weight) {
  OpBuilder at(declarations);
  return plan::BufferOp::create(at, function.getLoc(), plan::BufferType::get(b.getContext()), b.getStringAttr(space),
                                index ? b.getI64IntegerAttr(*index) : IntegerAttr(),
                                weight.empty() ? StringAttr() : b.getStringAttr(weight), graph::ShapeAttr(), graph::ShapeAttr(),
                                TypeAttr::get(type), Value());
}
Value PlanBuilder::allocate(DimExpr bytes, Type type) {
  bool dynamic = false;
  bytes.forEachSymbol([&](StringRef name) { dynamic |= dataSymbols.contains(name); });
  OpBuilder at(declarations);
  return plan::BufferOp::create(at, function.getLoc(), plan::BufferType::get(b.getContext()),
                                b.getStringAttr(dynamic ? "dynamic" : "arena"), IntegerAttr(), StringAttr(), exprs(bytes),
                                graph::ShapeAttr(), TypeAttr::get(type), Value());
}
Value PlanBuilder::allocate(Type type) {
  DimExpr count = graph::numElements(graph::dimsOf(type), b.getContext());
  DimExpr width = DimExpr::constant(b.getContext(), elementBytes(cast<RankedTensorType>(type).getElementType()));
  DimExpr bytes = count ? DimExpr::mul(count, width) : DimExpr();
  // A size that leaves int64 cannot be had: no memory is that large.
  return allocate(bytes ? bytes : DimExpr::constant(b.getContext(), INT64_MAX / 2), type);
}
Value PlanBuilder::place(Value result) {
  Value buffer = preassigned.lookup(result);
  return buffers[result] = buffer ? buffer : allocate(result.getType());
}

void PlanBuilder::begin() {
  Signature signature = signatureOf(function, weights);
  dataSymbols = signature.dataSymbols;
  b.setInsertionPointToEnd(plans.getBody());
  program = plan::ProgramOp::create(b, function.getLoc(), b.getStringAttr(function.getName()), b.getStringAttr(target.device()),
                                    b.getArrayAttr(signature.symbols), b.getArrayAttr(signature.inputs),
                                    b.getArrayAttr(signature.outputs), b.getArrayAttr(signature.states), b.getArrayAttr({}));
  b.createBlock(&program.getBody());
  DimExpr zero = DimExpr::constant(b.getContext(), 0);
  declarations = plan::AssertOp::create(b, function.getLoc(), exprs({zero, zero}), b.getStringAttr("eq"), b.getStringAttr(""));
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    bool isState = bool(function.getArgAttr(i, graph::stateAttrName));
    buffers[argument] = declare(isState ? "state" : "input", argument.getType(), signature.argumentIndex[i]);
  }
}

/// A symbol that sizes use needs a value: an input's size, or a graph.bind_symbol.
LogicalResult PlanBuilder::checkSymbols() {
  llvm::StringSet<> used, bound;
  auto use = [&](Type type) {
    if (!graph::hasDims(type)) return;
    for (DimExpr dim : graph::dimsOf(type)) dim.forEachSymbol([&](StringRef name) { used.insert(name); });
  };
  for (Type type : function.getArgumentTypes()) use(type);
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) use(type);
    if (auto bind = dyn_cast<graph::BindSymbolOp>(op)) bound.insert(bind.getSymbol());
  });
  auto declared = function->getAttrOfType<ArrayAttr>(graph::symbolsAttrName);
  for (auto symbol : declared ? declared.getAsRange<graph::SymbolAttr>() : ArrayAttr::get(b.getContext(), {}).getAsRange<graph::SymbolAttr>())
    if (used.contains(symbol.getName()) && dataSymbols.contains(symbol.getName()) && !bound.contains(symbol.getName()))
      return function.emitError("symbol '")
             << symbol.getName() << "' has no value: no dimension of an input gives it, and no graph.bind_symbol";
  return success();
}

FailureOr<plan::ProgramOp> PlanBuilder::build() {
  begin();
  if (failed(checkSymbols())) return failure();
  Block &body = function.getBody().front();
  auto returned = body.getTerminator()->getOperands();
  // Results that a fusion computes are written where the caller wants them.
  SmallVector<Value> targets;
  int64_t outputs = 0;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    if (auto state = function.getResultAttrOfType<StringAttr>(r, graph::updatesAttrName)) {
      targets.push_back({});
      for (BlockArgument argument : function.getArguments())
        if (function.getArgAttr(argument.getArgNumber(), graph::stateAttrName) == state) targets.back() = bufferOf(argument);
      if (!targets.back()) return function.emitError("result ") << r << " updates the unknown state " << state;
    } else if (auto input = function.getResultAttrOfType<IntegerAttr>(r, graph::updatesInputAttrName)) {
      targets.push_back(bufferOf(function.getArgument(input.getInt())));
    } else {
      targets.push_back(declare("output", returned[r].getType(), outputs++));
      preassign(returned[r], body, targets.back());
    }
  }
  if (failed(block(body))) return failure();
  // A buffer that one of these copies overwrites and another one reads is saved first.
  SmallVector<std::pair<Value, Value>> copies;
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    Value from = bufferOf(returned[r]);
    if (from == targets[r]) continue;
    if (llvm::is_contained(targets, from)) {
      Value saved = allocate(returned[r].getType());
      copy(from, saved, function.getLoc());
      from = saved;
    }
    copies.push_back({from, targets[r]});
  }
  for (auto [from, to] : copies) copy(from, to, function.getLoc());
  declarations->erase();
  return program;
}

LogicalResult PlanBuilder::block(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(step(op))) return failure();
  return success();
}

LogicalResult PlanBuilder::step(Operation &op) {
  if (auto fused = dyn_cast<graph::FusionOp>(op)) return fusion(fused);
  if (auto branch = dyn_cast<graph::IfOp>(op)) return conditional(branch);
  if (auto loop = dyn_cast<graph::WhileOp>(op)) return repeat(loop);
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    if (op.use_empty()) return success();
    std::string name = weights.add(constant.getValue(), constant.getName().value_or(""));
    buffers[op.getResult(0)] = declare("weight", op.getResult(0).getType(), std::nullopt, name);
  } else if (auto bind = dyn_cast<graph::BindSymbolOp>(op)) {
    plan::ReadSymbolOp::create(b, op.getLoc(), bind.getSymbolAttr(), bufferOf(bind.getValue()),
                               TypeAttr::get(cast<RankedTensorType>(bind.getValue().getType()).getElementType()));
  } else if (auto check = dyn_cast<graph::AssertOp>(op)) {
    assertion(check);
  } else if (auto shape = dyn_cast<graph::AssertShapeOp>(op)) {
    checkPreconditions(op);
    buffers[shape.getResult()] = bufferOf(shape.getX());
  } else if (isa<graph::ReshapeOp, graph::CopyOp>(op)) {
    buffers[op.getResult(0)] = bufferOf(op.getOperand(0));
  } else {
    return op.emitOpError() << "cannot be compiled: no kernel template takes it";
  }
  return success();
}

void PlanBuilder::assertion(graph::AssertOp op) {
  // The bool is read as a symbol that nobody else knows.
  std::string name = "assert" + std::to_string(assertions++);
  NamedAttrList dict;
  dict.set("name", b.getStringAttr(name));
  dict.set("min", b.getI64IntegerAttr(0));
  dict.set("max", b.getI64IntegerAttr(1));
  SmallVector<Attribute> symbols(program.getSymbols().getValue());
  symbols.push_back(dict.getDictionary(b.getContext()));
  program.setSymbolsAttr(b.getArrayAttr(symbols));
  plan::ReadSymbolOp::create(b, op.getLoc(), b.getStringAttr(name), bufferOf(op.getCondition()), TypeAttr::get(b.getI1Type()));
  plan::AssertOp::create(b, op.getLoc(), exprs({DimExpr::symbol(b.getContext(), name), DimExpr::constant(b.getContext(), 1)}),
                         b.getStringAttr("eq"), op.getMessageAttr());
}

/// What a kernel takes for granted is checked before it runs.
void PlanBuilder::checkPreconditions(Operation &op) {
  for (const graph::Precondition &condition : graph::preconditionsOf(&op))
    plan::AssertOp::create(b, op.getLoc(), exprs({condition.left, condition.right}), b.getStringAttr(condition.relation),
                           b.getStringAttr(condition.text));
}

LogicalResult PlanBuilder::fusion(graph::FusionOp op) {
  auto [it, isNew] = kernels.entries.try_emplace(KernelCache::keyOf(op));
  KernelCache::Entry &entry = it->second;
  if (isNew) {
    FailureOr<LoweredFusion> lowered = target.lower(op, op.getName());
    if (failed(lowered)) return failure();
    entry = {op.getName().str(), std::move(*lowered)};
  }
  const LoweredFusion &lowered = entry.lowered;
  KernelReport report;
  report.function = function.getName().str();
  report.device = target.device().str();
  report.name = op.getName().str();
  report.kind = op.getKind().str();
  report.templateName = lowered.templateName;
  if (lowered.library) report.library = lowered.library->library + " " + lowered.library->operation;
  report.launches = lowered.launches.size();
  if (!isNew) report.sameAs = entry.name;
  for (Operation &inner : op.getBody().front().without_terminator()) {
    checkPreconditions(inner);
    collectSources(inner.getLoc(), report.sources);
    report.ops.push_back(inner.getName().stripDialect().str());
  }
  StepBuffers at;
  for (Value input : op.getInputs()) at.inputs.push_back(bufferOf(input));
  for (Value result : op.getResults()) at.results.push_back(place(result));
  for (DimExpr bytes : lowered.scratchBytes)
    at.scratch.push_back(allocate(bytes, RankedTensorType::get({}, b.getI8Type())));
  std::string label = op.getName().str(), source = llvm::join(ArrayRef(report.sources).take_front(3), ", ");
  emitSteps(b, op.getLoc(), lowered, at, costOf(op), target.device() == "host", label, source);
  parts.kernels.push_back(std::move(report));
  return success();
}

LogicalResult PlanBuilder::conditional(graph::IfOp op) {
  SmallVector<Value> results;
  for (Value result : op.getResults()) results.push_back(place(result));
  auto branch = plan::IfOp::create(b, op.getLoc(), bufferOf(op.getCondition()));
  OpBuilder::InsertionGuard guard(b);
  for (auto [from, to] : {std::pair(&op.getThenRegion(), &branch.getThenSteps()), std::pair(&op.getElseRegion(), &branch.getElseSteps())}) {
    b.createBlock(to);
    Block &body = from->front();
    auto yielded = body.getTerminator()->getOperands();
    for (auto [value, buffer] : llvm::zip_equal(yielded, results)) preassign(value, body, buffer);
    if (failed(block(body))) return failure();
    for (auto [value, buffer] : llvm::zip_equal(yielded, results)) copy(bufferOf(value), buffer, op.getLoc());
  }
  return success();
}

LogicalResult PlanBuilder::repeat(graph::WhileOp op) {
  SmallVector<Value> carried;
  Block &condition = op.getCondition().front(), &body = op.getBody().front();
  for (auto [i, initial] : llvm::enumerate(op.getInitial())) {
    Value buffer = place(op.getResult(i));
    carried.push_back(buffer);
    copy(bufferOf(initial), buffer, op.getLoc());
    buffers[condition.getArgument(i)] = buffers[body.getArgument(i)] = buffer;
  }
  Value test = condition.getTerminator()->getOperand(0);
  Value predicate = allocate(test.getType());
  auto loop = plan::WhileOp::create(b, op.getLoc(), predicate);
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&loop.getCondition());
  preassign(test, condition, predicate);
  if (failed(block(condition))) return failure();
  copy(bufferOf(test), predicate, op.getLoc());

  b.createBlock(&loop.getBody());
  if (failed(block(body))) return failure();
  // Carried values that change places are saved first, so that none is overwritten before it is read.
  SmallVector<Value> next;
  for (auto [i, value] : llvm::enumerate(body.getTerminator()->getOperands())) {
    Value from = bufferOf(value);
    if (from != carried[i] && llvm::is_contained(carried, from)) {
      Value saved = allocate(value.getType());
      copy(from, saved, op.getLoc());
      from = saved;
    }
    next.push_back(from);
  }
  for (auto [from, to] : llvm::zip_equal(next, carried)) copy(from, to, op.getLoc());
  return success();
}

FailureOr<plan::ProgramOp> buildPlan(func::FuncOp function, Target &target, ModuleOp plans, WeightTable &weights,
                                     KernelCache &kernels, ArtifactParts &parts) {
  if (!function.getBody().hasOneBlock()) return function.emitError("must have one block");
  return PlanBuilder(function, target, plans, weights, kernels, parts).build();
}

} // namespace stator::codegen
