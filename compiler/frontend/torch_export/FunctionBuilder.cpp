// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body is built with every input of the graph as a block argument. Only then is it known which weights the program
// overwrites: those stay arguments (states), the others become constants at the head of the function.
#include "compiler/frontend/torch_export/FunctionBuilder.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallSet.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// Weights of one view of one record: one value, whatever the program calls it.
struct WeightGroup {
  std::string name;
  std::string record;
  BlockArgument argument;
  bool mutated = false;
};

struct UserInput {
  std::string name;
  BlockArgument argument;
};

class FunctionBuilder {
public:
  FunctionBuilder(MLIRContext &context, Location loc, const std::string &model, const Program &program,
                  Weights &weights)
      : context(context), loc(loc), model(model), program(program), weights(weights), builder(&context),
        importer(&context, program, weights, builder), scope(program.graph) {}

  OwningOpRef<ModuleOp> build() {
    importer.findUnsupported(program.graph);
    if (!signatureIsSupported()) return nullptr;
    module = ModuleOp::create(loc, StringRef(model));
    builder.setInsertionPointToEnd(module->getBody());
    function = func::FuncOp::create(builder, loc, "main", builder.getFunctionType({}, {}));
    block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    try {
      addInputs();
      importer.importNodes(scope);
      if (failed(importer.reportProblems(model))) return nullptr;
      GraphBuilder b(builder, loc);
      findMutated();
      addOutputs(b);
      finishWeights();
      finishSymbols();
    } catch (const LostInput &) {
      (void)importer.reportProblems(model);
      return nullptr;
    } catch (const std::exception &error) {
      emitError(loc) << "model '" << model << "': " << error.what();
      return nullptr;
    }
    finishSignature();
    if (failed(verify(*module))) return nullptr;
    return std::move(module);
  }

private:
  bool signatureIsSupported() {
    bool good = true;
    auto refuse = [&](const Twine &why) {
      emitError(loc) << "model '" << model << "': " << why;
      good = false;
    };
    for (const OutputSpec &spec : program.outputs) {
      if (spec.kind == OutputSpec::Kind::GradientToParameter || spec.kind == OutputSpec::Kind::GradientToUserInput) {
        refuse("the program holds its backward pass (an output is the gradient of '" + spec.target +
               "'): export the forward pass alone; the compiler differentiates it itself");
        break;
      }
      if (spec.kind == OutputSpec::Kind::Token) refuse("effect tokens are not supported");
    }
    for (const InputSpec &spec : program.inputs) {
      if (spec.kind == InputSpec::Kind::Token) refuse("effect tokens are not supported");
      if (spec.kind == InputSpec::Kind::CustomObject) refuse("custom (torchbind) objects are not supported");
    }
    return good;
  }

  const TensorMeta &meta(const std::string &name) {
    const TensorMeta *found = importer.metaOf(scope, name);
    if (!found) throw FormatError("input '" + name + "' has no tensor metadata");
    return *found;
  }
  Location named(StringRef name) { return NameLoc::get(builder.getStringAttr(name), loc); }

  void addInputs() {
    // User inputs come first in the signature.
    for (const InputSpec &spec : program.inputs) {
      if (spec.kind != InputSpec::Kind::UserInput) continue;
      if (spec.value.kind == Argument::Kind::Tensor) {
        const std::string &name = spec.value.names[0];
        addUserInput(name, importer.typeOf(meta(name)));
        scope.tensors[name] = users.back().argument;
      } else if (spec.value.kind == Argument::Kind::Int && spec.value.scalars[0].isName()) {
        addNumber(spec.value.scalars[0].name);
      } else if (spec.value.kind == Argument::Kind::Tensors || spec.value.kind == Argument::Kind::Other ||
                 (!spec.value.scalars.empty() && spec.value.scalars[0].isName())) {
        throw FormatError("an input that is neither a tensor nor a number is not supported");
      } // Other constants were specialised into the program when it was exported.
    }
    for (const InputSpec &spec : program.inputs)
      if (spec.kind == InputSpec::Kind::Parameter || spec.kind == InputSpec::Kind::Buffer ||
          spec.kind == InputSpec::Kind::TensorConstant)
        addWeight(spec);
  }
  void addUserInput(const std::string &name, Type type) {
    users.push_back({name, block->addArgument(type, named(name))});
  }
  /// An integer input: a 0-d tensor whose value is the symbol's.
  void addNumber(const std::string &name) {
    addUserInput(name, RankedTensorType::get({}, builder.getI64Type()));
    SymbolicValue value{{}, users.back().argument};
    auto known = program.graph.symInts.find(name);
    if (known != program.graph.symInts.end()) value.expr = importer.expression(known->second);
    if (value.expr && value.expr.getKind() == graph::DimKind::Symbol)
      graph::BindSymbolOp::create(builder, named(name), value.tensor, value.expr.getSymbol());
    scope.scalars[name] = value;
  }
  void addWeight(const InputSpec &spec) {
    const std::string &name = spec.value.names[0];
    const Payload *payload = weights.find(spec.target);
    if (!payload) throw FormatError("the archive stores no tensor '" + spec.target + "'");
    std::string key =
        payload->record + "|" + std::to_string(int(payload->type)) + "|" + std::to_string(payload->offset);
    for (size_t d = 0; d < payload->sizes.size(); ++d)
      key += "|" + std::to_string(payload->sizes[d]) + ":" + std::to_string(payload->strides[d]);
    auto [slot, fresh] = groupOf.try_emplace(key, groups.size());
    if (fresh) {
      auto type = RankedTensorType::get(payload->sizes, requireElementType(&context, payload->type));
      groups.push_back({spec.target, payload->record, block->addArgument(type, named(spec.target)), false});
    } else if (StringRef(groups[slot->second].name).starts_with("lifted_tensor")) {
      groups[slot->second].name = spec.target;
    }
    groupByName[spec.target] = slot->second;
    BlockArgument argument = groups[slot->second].argument;
    if (argument.getType() != importer.typeOf(meta(name)))
      throw FormatError("'" + spec.target + "' is stored with another type than the program says");
    scope.tensors[name] = argument;
  }

  void findMutated() {
    llvm::SmallSetVector<Value, 8> roots;
    function.walk([&](graph::WriteOp op) { roots.insert(Importer::aliasRoot(op.getTarget())); });
    for (WeightGroup &group : groups) group.mutated = roots.contains(group.argument);
    for (const OutputSpec &spec : program.outputs)
      if (spec.kind == OutputSpec::Kind::BufferMutation || spec.kind == OutputSpec::Kind::ParameterMutation) {
        auto found = groupByName.find(spec.target);
        if (found == groupByName.end())
          throw FormatError("the program overwrites '" + spec.target + "', which is no input of it");
        groups[found->second].mutated = true;
      }
    for (const WeightGroup &group : groups)
      for (const WeightGroup &other : groups)
        if (group.mutated && &group != &other && group.record == other.record && !other.argument.use_empty())
          throw FormatError("'" + group.name + "' is overwritten and shares memory with '" + other.name +
                            "' in another shape, which is not supported");
  }

  void addResult(Value value, StringRef attribute = {}, Attribute content = {}) {
    results.push_back(value);
    SmallVector<NamedAttribute> attributes;
    if (!attribute.empty()) attributes.push_back(builder.getNamedAttr(attribute, content));
    resultAttributes.push_back(builder.getDictionaryAttr(attributes));
  }
  void addUserOutput(GraphBuilder &b, const Argument &value) {
    switch (value.kind) {
    case Argument::Kind::None: return;
    case Argument::Kind::Tensor: return addResult(importer.tensor(scope, value.names[0]));
    case Argument::Kind::Tensors:
      for (const std::string &name : value.names)
        if (!name.empty()) addResult(importer.tensor(scope, name));
      return;
    case Argument::Kind::Int:
    case Argument::Kind::Float:
    case Argument::Kind::Bool: return addResult(importer.scalarTensor(scope, b, value.scalars[0], value.kind));
    default: throw FormatError("an output that is neither a tensor nor a number cannot be returned");
    }
  }
  void addOutputs(GraphBuilder &b) {
    for (const OutputSpec &spec : program.outputs)
      if (spec.kind == OutputSpec::Kind::UserOutput || spec.kind == OutputSpec::Kind::LossOutput)
        addUserOutput(b, spec.value);
    llvm::SmallSet<size_t, 8> updated;
    for (const OutputSpec &spec : program.outputs) {
      if (spec.kind == OutputSpec::Kind::BufferMutation || spec.kind == OutputSpec::Kind::ParameterMutation) {
        size_t i = groupByName.at(spec.target);
        Value value = importer.tensor(scope, spec.value.names[0]);
        if (value.getType() != groups[i].argument.getType())
          throw FormatError("'" + spec.target + "' is overwritten with another type");
        if (updated.insert(i).second) addResult(value, graph::updatesAttrName, builder.getStringAttr(groups[i].name));
      } else if (spec.kind == OutputSpec::Kind::UserInputMutation) {
        auto user = llvm::find_if(users, [&](const UserInput &u) { return u.name == spec.target; });
        if (user == users.end())
          throw FormatError("the program overwrites '" + spec.target + "', which is no input of it");
        addResult(importer.tensor(scope, spec.value.names[0]), graph::updatesInputAttrName,
                  builder.getI64IntegerAttr(user - users.begin()));
      }
    }
    // What is written in place gets its result from normalize, which resolves graph.write.
    func::ReturnOp::create(builder, loc, results);
  }

  void finishWeights() {
    builder.setInsertionPointToStart(block);
    for (const UserInput &user : users)
      argumentAttributes.push_back(
          builder.getDictionaryAttr(builder.getNamedAttr(graph::nameAttrName, builder.getStringAttr(user.name))));
    for (WeightGroup &group : groups) {
      if (!group.mutated) {
        if (!group.argument.use_empty()) {
          auto constant =
              graph::ConstantOp::create(builder, named(group.name), group.argument.getType(),
                                        weights.attribute(&context, group.name), builder.getStringAttr(group.name));
          Value(group.argument).replaceAllUsesWith(constant);
        }
        continue;
      }
      argumentAttributes.push_back(builder.getDictionaryAttr(
          {builder.getNamedAttr(graph::stateAttrName, builder.getStringAttr(group.name)),
           builder.getNamedAttr(graph::initialAttrName, weights.attribute(&context, group.name))}));
    }
    llvm::BitVector dead(block->getNumArguments());
    for (const WeightGroup &group : groups)
      if (!group.mutated) dead.set(group.argument.getArgNumber());
    block->eraseArguments(dead);
  }

  void finishSymbols() {
    llvm::SetVector<StringRef> used, read;
    auto addDim = [&](DimExpr dim) { dim.forEachSymbol([&](StringRef name) { used.insert(name); }); };
    auto addType = [&](Type type) {
      if (isa<RankedTensorType>(type))
        for (DimExpr dim : graph::dimsOf(type)) addDim(dim);
    };
    for (BlockArgument argument : block->getArguments()) {
      addType(argument.getType());
      for (DimExpr dim : graph::dimsOf(argument.getType())) {
        // Readable: the size is linear in one symbol.
        llvm::SetVector<StringRef> names;
        dim.forEachSymbol([&](StringRef name) { names.insert(name); });
        if (names.size() == 1) read.insert(names[0]);
      }
    }
    function.walk([&](Operation *op) {
      for (Value result : op->getResults()) addType(result.getType());
      for (Region &region : op->getRegions())
        for (Block &inner : region)
          for (BlockArgument argument : inner.getArguments()) addType(argument.getType());
      if (auto bind = dyn_cast<graph::BindSymbolOp>(op)) read.insert(bind.getSymbol()), used.insert(bind.getSymbol());
      if (auto size = dyn_cast<graph::SizeOp>(op))
        for (DimExpr dim : size.getExpr().getDims()) addDim(dim);
      if (auto slice = dyn_cast<graph::SliceOp>(op))
        for (DimExpr dim : slice.getStarts().getDims()) addDim(dim);
    });
    SmallVector<StringRef> names(used.begin(), used.end());
    llvm::sort(names, [](StringRef a, StringRef c) { return a.compare_numeric(c) < 0; });
    SmallVector<Attribute> symbols;
    for (StringRef name : names) {
      if (!read.contains(name))
        throw FormatError(
            ("the size '" + name + "' cannot be read from any input, and nothing in the program gives it a value")
                .str());
      graph::DimRange range = importer.rangeOf(DimExpr::symbol(&context, name));
      if (range.min > range.max)
        throw FormatError(("the bounds of the size '" + name + "' contradict each other").str());
      symbols.push_back(graph::SymbolAttr::get(&context, name, range.min, range.max));
    }
    if (!symbols.empty()) function->setAttr(graph::symbolsAttrName, builder.getArrayAttr(symbols));
  }

  void finishSignature() {
    function.setFunctionType(
        builder.getFunctionType(block->getArgumentTypes(), block->getTerminator()->getOperandTypes()));
    function.setAllArgAttrs(argumentAttributes);
    function.setAllResultAttrs(resultAttributes);
  }

  MLIRContext &context;
  Location loc;
  const std::string &model;
  const Program &program;
  Weights &weights;
  OpBuilder builder;
  Importer importer;
  Scope scope;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function;
  Block *block = nullptr;
  std::vector<UserInput> users;
  std::vector<WeightGroup> groups;
  std::map<std::string, size_t> groupOf, groupByName;
  SmallVector<Value> results;
  SmallVector<DictionaryAttr> argumentAttributes, resultAttributes;
};

} // namespace

OwningOpRef<ModuleOp> buildModule(MLIRContext &context, Location loc, const std::string &model, const Program &program,
                                  Weights &weights) {
  return FunctionBuilder(context, loc, model, program, weights).build();
}

} // namespace stator::torch_export
