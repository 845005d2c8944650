// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Higher-order operators: sub-graphs become regions or are inlined.
#include "compiler/frontend/torch_export/Importer.h"
#include "llvm/ADT/ScopeExit.h"

using namespace mlir;

namespace stator::torch_export {

namespace {
constexpr int maxNesting = 32;
}

SmallVector<Argument> Importer::operandsOf(const Node &node, size_t first) {
  SmallVector<Argument> operands;
  for (size_t i = first; i < node.inputs.size(); ++i) {
    const Argument &value = node.inputs[i].value;
    if (value.kind == Argument::Kind::Tensors) {
      for (const std::string &name : value.names) {
        Argument one;
        one.kind = name.empty() ? Argument::Kind::None : Argument::Kind::Tensor;
        one.names = {name};
        operands.push_back(one);
      }
    } else if (value.kind == Argument::Kind::Ints || value.kind == Argument::Kind::Floats ||
               value.kind == Argument::Kind::Bools) {
      for (const ScalarArg &scalar : value.scalars) {
        Argument one;
        one.kind = value.kind == Argument::Kind::Ints     ? Argument::Kind::Int
                   : value.kind == Argument::Kind::Floats ? Argument::Kind::Float
                                                          : Argument::Kind::Bool;
        one.scalars = {scalar};
        operands.push_back(one);
      }
    } else {
      operands.push_back(value);
    }
  }
  return operands;
}

SmallVector<Value> Importer::importSubgraph(Scope &parent, GraphBuilder &b, const Graph &graph,
                                            ArrayRef<Argument> inputs, ArrayRef<Value> values,
                                            std::optional<Autocast> autocast, Scope **innerOut) {
  llvm::scope_exit leave([&] { --depth; });
  if (++depth > maxNesting) GraphBuilder::fail("sub-graphs are nested deeper than 32 levels");
  innerScopes.push_back(std::make_unique<Scope>(graph));
  Scope &inner = *innerScopes.back();
  inner.autocast = autocast;
  if (graph.inputs.size() != values.size())
    GraphBuilder::fail("a sub-graph takes " + Twine(graph.inputs.size()) + " inputs and gets " + Twine(values.size()));
  for (auto [input, given, outer] : llvm::zip(graph.inputs, values, inputs)) {
    Value value = given;
    if (input.kind == Argument::Kind::Tensor) {
      if (!value) GraphBuilder::fail("a sub-graph's tensor input is None");
      if (const TensorMeta *meta = metaOf(inner, input.names[0])) value = b.withShape(value, dimsOf(*meta));
      inner.tensors[input.names[0]] = value;
    } else if (!input.scalars.empty() && input.scalars[0].isName()) {
      SymbolicValue known{{}, value};
      if (!outer.scalars.empty() && outer.scalars[0].isName())
        known = scalar(parent, b, outer.scalars[0].name);
      else if (outer.kind == Argument::Kind::Int && !outer.scalars.empty())
        known.expr = b.dim(outer.scalars[0].integer);
      inner.scalars[input.scalars[0].name] = known;
    }
  }
  size_t problemsBefore = problems.size();
  importNodes(inner);
  if (problems.size() != problemsBefore) throw LostInput();
  SmallVector<Value> results;
  for (const Argument &output : graph.outputs)
    for (const Argument &one : output.kind == Argument::Kind::Tensors
                                   ? operandsOf(Node{"", "", {{"", output}}, {}, "", ""}, 0)
                                   : SmallVector<Argument>{output})
      results.push_back(argumentTensor(inner, b, one));
  if (innerOut) *innerOut = &inner;
  return results;
}

void Importer::inlineGraph(Scope &scope, GraphBuilder &b, const Node &node, size_t graphIndex,
                           std::optional<Autocast> autocast) {
  if (graphIndex >= node.inputs.size() || !node.inputs[graphIndex].value.graph)
    GraphBuilder::fail("it has no sub-graph where one is expected");
  SmallVector<Argument> operands = operandsOf(node, graphIndex + 1);
  SmallVector<Value> values;
  for (const Argument &operand : operands) values.push_back(argumentTensor(scope, b, operand));
  SmallVector<Value> results =
      importSubgraph(scope, b, *node.inputs[graphIndex].value.graph, operands, values, std::move(autocast));
  bindOutputs(scope, b, node, results, nullptr, true);
}

static const Graph &graphArgument(const Node &node, size_t i) {
  if (i >= node.inputs.size() || !node.inputs[i].value.graph)
    GraphBuilder::fail("argument " + Twine(i) + " is not a sub-graph");
  return *node.inputs[i].value.graph;
}

void Importer::importHigherOrder(Scope &scope, GraphBuilder &b, const Node &node) {
  StringRef name = StringRef(node.target).drop_front(13);
  if (name == "cond") return importCond(scope, b, node);
  if (name == "while_loop") return importWhile(scope, b, node);
  if (name == "wrap_with_set_grad_enabled") return inlineGraph(scope, b, node, 1, scope.autocast);
  if (name == "invoke_subgraph")
    return inlineGraph(
        scope, b,
        [&] {
          // subgraph, identifier, *operands: the identifier is dropped.
          Node plain = node;
          if (plain.inputs.size() > 1 && (plain.inputs[1].value.kind == Argument::Kind::String ||
                                          plain.inputs[1].value.kind == Argument::Kind::None))
            plain.inputs.erase(plain.inputs.begin() + 1);
          return plain;
        }(),
        0, scope.autocast);
  // device type, dtype or None, enabled, cache enabled, graph, *operands
  if (node.inputs.size() < 5) GraphBuilder::fail("an autocast region with too few arguments");
  const Argument &device = node.inputs[0].value, &type = node.inputs[1].value, &enabled = node.inputs[2].value;
  if (device.kind != Argument::Kind::String || enabled.kind != Argument::Kind::Bool)
    GraphBuilder::fail("an autocast region with unknown arguments");
  std::optional<Autocast> autocast;
  if (enabled.scalars[0].integer) {
    autocast = Autocast{b.b.getBF16Type(), device.text};
    if (device.text != "cpu") autocast->type = b.b.getF16Type();
    if (type.kind == Argument::Kind::ScalarType) autocast->type = requireElementType(ctx, ScalarType(type.enumerator));
  }
  inlineGraph(scope, b, node, 4, autocast);
}

void Importer::importCond(Scope &scope, GraphBuilder &b, const Node &node) {
  if (node.inputs.size() < 3) GraphBuilder::fail("a conditional with too few arguments");
  Value predicate = argumentTensor(scope, b, node.inputs[0].value);
  if (!predicate) GraphBuilder::fail("a conditional without a condition");
  predicate = b.reshape(b.cast(predicate, b.i1()), {});
  SmallVector<Argument> operands = operandsOf(node, 3);
  SmallVector<Value> values;
  for (const Argument &operand : operands) values.push_back(argumentTensor(scope, b, operand));
  // The results' types are what the program says of the outputs.
  SmallVector<Type> types;
  for (const Argument &output : node.outputs)
    for (const std::string &name : output.names) {
      const TensorMeta *meta = metaOf(scope, name);
      if (!meta) GraphBuilder::fail("the program says nothing of '" + name + "'");
      types.push_back(typeOf(*meta));
    }
  auto op = graph::IfOp::create(b.b, b.loc, types, predicate);
  for (size_t side = 0; side < 2; ++side) {
    OpBuilder::InsertionGuard guard(b.b);
    Region &region = side == 0 ? op.getThenRegion() : op.getElseRegion();
    b.b.setInsertionPointToEnd(&region.emplaceBlock());
    SmallVector<Value> results;
    try {
      results = importSubgraph(scope, b, graphArgument(node, side + 1), operands, values, scope.autocast);
      if (results.size() != types.size())
        GraphBuilder::fail("a branch gives " + Twine(results.size()) + " results where " + Twine(types.size()) +
                           " are expected");
      for (auto [result, type] : llvm::zip(results, types)) {
        if (!result) GraphBuilder::fail("a branch gives None");
        result = b.withShape(result, graph::dimsOf(type));
      }
    } catch (...) {
      op.erase();
      throw;
    }
    graph::YieldOp::create(b.b, b.loc, results);
  }
  bindOutputs(scope, b, node, SmallVector<Value>(op.getResults()), nullptr, true);
}

void Importer::importWhile(Scope &scope, GraphBuilder &b, const Node &node) {
  const Graph &condition = graphArgument(node, 0), &body = graphArgument(node, 1);
  if (node.inputs.size() < 3) GraphBuilder::fail("a loop without carried values");
  SmallVector<Argument> all = operandsOf(node, 2);
  Node carriedOnly = node;
  carriedOnly.inputs.resize(3);
  size_t carried = operandsOf(carriedOnly, 2).size();
  SmallVector<Value> values;
  for (const Argument &operand : all) {
    Value value = argumentTensor(scope, b, operand);
    if (!value) GraphBuilder::fail("a loop operand is None");
    values.push_back(value);
  }
  SmallVector<Value> initial(values.begin(), values.begin() + carried);
  auto op = graph::WhileOp::create(b.b, b.loc, TypeRange(ValueRange(initial)), initial);
  {
    OpBuilder::InsertionGuard guard(b.b);
    for (size_t side = 0; side < 2; ++side) {
      Block &block = (side == 0 ? op.getCondition() : op.getBody()).emplaceBlock();
      SmallVector<Value> inside = values;
      SmallVector<Argument> operands = all;
      for (size_t i = 0; i < carried; ++i) {
        inside[i] = block.addArgument(initial[i].getType(), b.loc);
        // Inside the loop a carried number is what the iteration says, not what the program started with.
        if (!operands[i].scalars.empty()) operands[i].scalars = {ScalarArg()}, operands[i].kind = Argument::Kind::None;
      }
      b.b.setInsertionPointToEnd(&block);
      try {
        SmallVector<Value> results =
            importSubgraph(scope, b, side == 0 ? condition : body, operands, inside, scope.autocast);
        if (results.size() != (side == 0 ? 1 : carried))
          GraphBuilder::fail("a loop's sub-graph gives the wrong number of results");
        for (size_t i = 0; i < results.size(); ++i) {
          if (!results[i]) GraphBuilder::fail("a loop's sub-graph gives None");
          results[i] = side == 0 ? b.reshape(b.cast(results[i], b.i1()), {})
                                 : b.withShape(results[i], GraphBuilder::dims(initial[i]));
        }
        graph::YieldOp::create(b.b, b.loc, results);
      } catch (...) {
        op.erase();
        throw;
      }
    }
  }
  bindOutputs(scope, b, node, SmallVector<Value>(op.getResults()), nullptr, true);
}

} // namespace stator::torch_export
