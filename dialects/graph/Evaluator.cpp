// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regions are run by an explicit stack of frames, so nesting costs no recursion; values are dropped after their last
// use in their own block, so memory follows the program's live values.
#include "dialects/graph/Evaluator.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/HostElements.h"
#include "dialects/graph/SymbolBinding.h"

using namespace mlir;

namespace stator::graph {

std::string describe(Location location) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (Location at = location;;) {
    if (auto file = dyn_cast<FileLineColLoc>(at)) {
      os << file.getFilename().getValue() << ':' << file.getLine() << ':' << file.getColumn();
    } else if (auto name = dyn_cast<NameLoc>(at)) {
      os << '\'' << name.getName().getValue() << '\'';
      if (!isa<UnknownLoc>(name.getChildLoc())) os << " at ";
      at = name.getChildLoc();
      if (!isa<UnknownLoc>(at)) continue;
    } else if (auto call = dyn_cast<CallSiteLoc>(at)) {
      at = call.getCallee();
      continue;
    } else if (auto fused = dyn_cast<FusedLoc>(at); fused && !fused.getLocations().empty()) {
      at = fused.getLocations().front();
      continue;
    } else {
      os << "unknown location";
    }
    return text;
  }
}

Evaluator::Evaluator(func::FuncOp function) : function(function) {
  auto note = [&](Value value) {
    Block *home = value.getParentBlock();
    Operation *last = nullptr;
    for (Operation *user : value.getUsers()) {
      Operation *ancestor = home->findAncestorOpInBlock(*user);
      if (!last || last->isBeforeInBlock(ancestor)) last = ancestor;
    }
    if (last) lastUses[last].push_back(value);
  };
  function->walk([&](Block *block) {
    for (Value argument : block->getArguments()) note(argument);
    for (Operation &op : *block)
      for (Value result : op.getResults()) note(result);
  });
}

LogicalResult Evaluator::fail(Operation *op, const Twine &text) {
  env.message = (describe(op->getLoc()) + ": " + text).str();
  return failure();
}

void Evaluator::keep(Value value, const HostTensor &tensor) {
  if (value.use_empty()) return;
  values[value] = tensor;
  live += tensor.bytes();
  peak = std::max(peak, live);
}

void Evaluator::drop(Operation *lastUser) {
  auto dead = lastUses.find(lastUser);
  if (dead == lastUses.end()) return;
  for (Value value : dead->second) {
    auto found = values.find(value);
    if (found == values.end()) continue;
    live -= found->second.bytes();
    values.erase(found);
  }
}

void Evaluator::define(Operation *op, ArrayRef<HostTensor> results) {
  if (onResults) onResults(op, results);
  for (auto [value, tensor] : llvm::zip_equal(op->getResults(), results)) keep(value, tensor);
  drop(op);
}

void Evaluator::enter(Operation *owner, Block &block, ArrayRef<HostTensor> arguments) {
  for (auto [value, tensor] : llvm::zip_equal(block.getArguments(), arguments)) keep(value, tensor);
  frames.push_back({owner, &block, block.begin(), {}});
}

LogicalResult Evaluator::bindArguments(ArrayRef<HostTensor> inputs, SmallVectorImpl<HostTensor> &arguments) {
  auto refuse = [&](const Twine &text) {
    env.message = (describe(function.getLoc()) + ": function '" + function.getName() + "': " + text).str();
    return failure();
  };
  unsigned used = 0, wanted = 0;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) wanted += !function.getArgAttr(i, stateAttrName);
  if (inputs.size() != wanted) return refuse("takes " + Twine(wanted) + " inputs, not " + Twine(inputs.size()));
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name = function.getArgAttrOfType<StringAttr>(i, stateAttrName);
    if (!name) {
      arguments.push_back(inputs[used++]);
      continue;
    }
    auto known = state.find(name.getValue());
    if (known != state.end()) {
      arguments.push_back(known->second);
      continue;
    }
    auto initial = function.getArgAttrOfType<ElementsAttr>(i, initialAttrName);
    std::string why = "it has no initial value";
    FailureOr<HostTensor> tensor = initial ? hostTensorOf(initial, why) : FailureOr<HostTensor>(failure());
    if (failed(tensor)) return refuse("state '" + name.getValue() + "' has no value: " + why);
    arguments.push_back(std::move(*tensor));
  }
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &argument : arguments) pointers.push_back(&argument);
  if (failed(bindSymbols(function, pointers, env))) return refuse(env.message);
  return success();
}

FailureOr<SmallVector<HostTensor>> Evaluator::run(ArrayRef<HostTensor> inputs) {
  env = EvalEnv();
  values.clear();
  frames.clear();
  outcome.clear();
  live = peak = 0;
  if (function.isExternal() || !llvm::hasSingleElement(function.getBody())) {
    env.message = ("function '" + function.getName() + "' has no body of one block").str();
    return failure();
  }
  {
    SmallVector<HostTensor> arguments;
    if (failed(bindArguments(inputs, arguments))) return failure();
    enter(function, function.getBody().front(), arguments);
  }
  while (!frames.empty()) {
    Operation *op = &*frames.back().next++;
    if (failed(step(op))) return failure();
  }
  values.clear();
  for (auto [i, result] : llvm::enumerate(outcome))
    if (auto name = function.getResultAttrOfType<StringAttr>(i, updatesAttrName)) state[name.getValue()] = result;
  return std::move(outcome);
}

LogicalResult Evaluator::step(Operation *op) {
  if (op->hasTrait<mlir::OpTrait::IsTerminator>()) return finish(op);
  auto operand = [&](Value value) -> const HostTensor & { return values.find(value)->second; };
  auto operands = [&](ValueRange range) {
    SmallVector<HostTensor> tensors;
    for (Value value : range) tensors.push_back(operand(value));
    return tensors;
  };
  if (auto branch = dyn_cast<IfOp>(op)) {
    Region &taken = operand(branch.getCondition()).getInt(0) ? branch.getThenRegion() : branch.getElseRegion();
    enter(op, taken.front(), {});
    return success();
  }
  if (auto loop = dyn_cast<WhileOp>(op)) {
    SmallVector<HostTensor> initial = operands(loop.getInitial());
    enter(op, loop.getCondition().front(), initial);
    frames.back().carried = std::move(initial);
    return success();
  }
  if (auto fusion = dyn_cast<FusionOp>(op)) {
    enter(op, fusion.getBody().front(), operands(fusion.getInputs()));
    return success();
  }
  return compute(op);
}

LogicalResult Evaluator::finish(Operation *terminator) {
  SmallVector<HostTensor> yielded;
  for (Value value : terminator->getOperands()) yielded.push_back(values.find(value)->second);
  drop(terminator);
  Frame frame = frames.pop_back_val();
  if (frame.owner == function) {
    outcome = std::move(yielded);
    return success();
  }
  auto loop = dyn_cast<WhileOp>(frame.owner);
  if (!loop) {
    define(frame.owner, yielded);
  } else if (frame.block == &loop.getBody().front()) {
    enter(loop, loop.getCondition().front(), yielded);
    frames.back().carried = std::move(yielded);
  } else if (yielded[0].getInt(0)) {
    enter(loop, loop.getBody().front(), frame.carried);
  } else {
    define(loop, frame.carried);
  }
  return success();
}

LogicalResult Evaluator::allocate(Operation *op, unsigned result, HostTensor &tensor) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(result).getType());
  if (!type) return fail(op, op->getName().getStringRef() + " has a result that is not a ranked tensor");
  SmallVector<int64_t> shape;
  for (auto [d, dim] : llvm::enumerate(dimsOf(type))) {
    auto size = dim.evaluate([&](StringRef symbol) -> std::optional<int64_t> {
      auto known = env.symbols.find(symbol);
      return known == env.symbols.end() ? std::nullopt : std::optional<int64_t>(known->second);
    });
    std::string where =
        (op->getName().getStringRef() + ": dimension " + Twine(d) + " of result " + Twine(result)).str();
    if (!size) return fail(op, where + ", " + dim.str() + ", has no value");
    if (*size < 0) return fail(op, where + ", " + dim.str() + ", is " + Twine(*size));
    shape.push_back(*size);
  }
  tensor = HostTensor(type.getElementType(), shape);
  if (!tensor.ok())
    return fail(op, op->getName().getStringRef() + ": cannot allocate a result of " + shapeText(dimsOf(type)));
  return success();
}

LogicalResult Evaluator::compute(Operation *op) {
  auto evaluable = dyn_cast<EvaluableOpInterface>(op);
  if (!evaluable) return fail(op, op->getName().getStringRef() + " cannot be evaluated");
  SmallVector<const HostTensor *> operands;
  for (Value operand : op->getOperands()) operands.push_back(&values.find(operand)->second);
  SmallVector<HostTensor> results(op->getNumResults());
  for (unsigned i = 0; i < results.size(); ++i)
    if (failed(allocate(op, i, results[i]))) return failure();
  if (failed(evaluable.evaluate(env, operands, results))) return fail(op, env.message);
  define(op, results);
  return success();
}

} // namespace stator::graph
