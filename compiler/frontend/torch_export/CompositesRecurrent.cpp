// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recurrent cells and layers. Short sequences of known length are unrolled; others become a loop.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

enum class Kind { Lstm, Gru, Tanh, Relu };
constexpr int64_t maxUnrolled = 32;

int64_t gatesOf(Kind kind) { return kind == Kind::Lstm ? 4 : kind == Kind::Gru ? 3 : 1; }

struct Weights {
  Value input, hidden, inputBias, hiddenBias;
};

Value project(Call &c, Value x, Value weight, Value bias) {
  Value y = c.b.matmul(x, weight, false, true);
  return bias ? c.b.add(y, bias) : y;
}

/// One step. `gates` is the projected input [B, gates * H]; `states` are h (and c), [B, H]; returns the new ones.
SmallVector<Value> step(Call &c, Kind kind, Value gates, ArrayRef<Value> states, const Weights &w) {
  Value h = states[0], recurrent = project(c, h, w.hidden, w.hiddenBias);
  DimExpr size = GraphBuilder::dim(h, 1);
  auto gate = [&](Value from, int64_t i) { return c.b.slice(from, 1, DimExpr::mul(size, c.b.dim(i)), size); };
  auto sigmoid = [&](Value x) { return c.b.unary<graph::SigmoidOp>(x); };
  auto tanh = [&](Value x) { return c.b.unary<graph::TanhOp>(x); };
  if (kind == Kind::Gru) {
    Value reset = sigmoid(c.b.add(gate(gates, 0), gate(recurrent, 0)));
    Value update = sigmoid(c.b.add(gate(gates, 1), gate(recurrent, 1)));
    Value fresh = tanh(c.b.add(gate(gates, 2), c.b.mul(reset, gate(recurrent, 2))));
    return {c.b.add(c.b.mul(c.b.sub(h, fresh), update), fresh)};
  }
  Value sum = c.b.add(gates, recurrent);
  if (kind == Kind::Tanh) return {tanh(sum)};
  if (kind == Kind::Relu) return {c.b.unary<graph::ReluOp>(sum)};
  Value in = sigmoid(gate(sum, 0)), forget = sigmoid(gate(sum, 1)), cell = tanh(gate(sum, 2)),
        out = sigmoid(gate(sum, 3));
  Value next = c.b.add(c.b.mul(forget, states[1]), c.b.mul(in, cell));
  return {c.b.mul(out, tanh(next)), next};
}

struct Run {
  Value outputs; // [T, B, H]
  SmallVector<Value> states;
};

Run unrolled(Call &c, Kind kind, Value gates, SmallVector<Value> states, const Weights &w, int64_t length,
             bool reverse) {
  SmallVector<Value> outputs(static_cast<size_t>(length));
  for (int64_t i = 0; i < length; ++i) {
    int64_t t = reverse ? length - 1 - i : i;
    states = step(c, kind, c.b.select(gates, 0, c.b.dim(t)), states, w);
    outputs[size_t(t)] = c.b.unsqueeze(states[0], 0);
  }
  return {c.b.concat(outputs, 0), states};
}

Run looped(Call &c, Kind kind, Value gates, SmallVector<Value> states, const Weights &w, DimExpr length, bool reverse) {
  Dims outDims = GraphBuilder::dims(states[0]);
  outDims.insert(outDims.begin(), length);
  SmallVector<Value> initial{c.b.scalarInt(0, c.b.i64())};
  initial.append(states.begin(), states.end());
  initial.push_back(c.b.full(Number::of(0.0), outDims, GraphBuilder::element(states[0])));
  auto loop = graph::WhileOp::create(c.b.b, c.b.loc, TypeRange(ValueRange(initial)), initial);
  OpBuilder::InsertionGuard guard(c.b.b);
  auto open = [&](Region &region) -> Block & {
    Block &block = region.emplaceBlock();
    for (Value value : initial) block.addArgument(value.getType(), c.b.loc);
    c.b.b.setInsertionPointToEnd(&block);
    return block;
  };
  try {
    Block &condition = open(loop.getCondition());
    Value more = c.b.lt(condition.getArgument(0), c.b.size(length));
    graph::YieldOp::create(c.b.b, c.b.loc, ValueRange{more});
    Block &body = open(loop.getBody());
    Value i = body.getArgument(0), t = i;
    if (reverse) t = c.b.sub(c.b.sub(c.b.size(length), c.b.scalarInt(1, c.b.i64())), i);
    Value at = c.b.reshape(t, {c.b.dim(1)});
    SmallVector<Value> now(body.getArguments().begin() + 1, body.getArguments().end() - 1);
    SmallVector<Value> next = step(c, kind, c.b.squeeze(c.b.take(gates, at, 0), {0}), now, w);
    Value out = c.b.opAs<graph::IndexPutOp>(initial.back().getType(),
                                            {body.getArguments().back(), at, c.b.unsqueeze(next[0], 0)},
                                            {c.b.ints("dims", {0}), scatterMode(c, graph::ScatterMode::Set)});
    SmallVector<Value> carried{c.b.add(i, c.b.scalarInt(1, c.b.i64()))};
    carried.append(next);
    carried.push_back(out);
    graph::YieldOp::create(c.b.b, c.b.loc, carried);
  } catch (...) {
    loop.erase();
    throw;
  }
  Run run{loop.getResults().back(), {}};
  for (size_t k = 0; k < states.size(); ++k) run.states.push_back(loop.getResult(unsigned(k + 1)));
  return run;
}

Run direction(Call &c, Kind kind, Value x, SmallVector<Value> states, const Weights &w, bool reverse) {
  Value gates = project(c, x, w.input, w.inputBias);
  DimExpr length = GraphBuilder::dim(x, 0);
  if (length.isConstant() && length.getConstant() > 0 && length.getConstant() <= maxUnrolled)
    return unrolled(c, kind, gates, std::move(states), w, length.getConstant(), reverse);
  return looped(c, kind, gates, std::move(states), w, length, reverse);
}

/// A stack of layers: (output, h_n[, c_n]).
Results layers(Call &c, Kind kind, SmallVector<Value> hx) {
  SmallVector<Value> params = c.tensors("params");
  bool biases = c.flag("has_biases"), both = c.flag("bidirectional"), batchFirst = c.flag("batch_first");
  int64_t count = c.integer("num_layers"), directions = both ? 2 : 1, perLayer = biases ? 4 : 2;
  if (c.flag("train") && c.real("dropout") != 0)
    Call::fail("dropout between layers is random: export the model in eval mode");
  if (count <= 0 || count > 1024 || int64_t(params.size()) != count * directions * perLayer)
    Call::fail(Twine(params.size()) + " parameters for " + Twine(count) + " layers (projections are not supported)");
  Value x = c.tensor("input");
  bool single = GraphBuilder::rank(x) == 2;
  if (single) {
    x = c.b.unsqueeze(x, batchFirst ? 0 : 1);
    for (Value &state : hx) state = c.b.unsqueeze(state, 1);
  }
  if (GraphBuilder::rank(x) != 3) Call::fail("a recurrent layer over a tensor of rank " + Twine(GraphBuilder::rank(x)));
  if (batchFirst) x = c.b.swapAxes(x, 0, 1);
  SmallVector<SmallVector<Value>> finals(hx.size());
  for (int64_t layer = 0; layer < count; ++layer) {
    SmallVector<Value> outputs;
    for (int64_t side = 0; side < directions; ++side) {
      int64_t row = layer * directions + side;
      ArrayRef<Value> p = ArrayRef<Value>(params).slice(size_t(row * perLayer), size_t(perLayer));
      Weights w{p[0], p[1], biases ? p[2] : Value(), biases ? p[3] : Value()};
      SmallVector<Value> states;
      for (Value state : hx) states.push_back(c.b.select(state, 0, c.b.dim(row)));
      Run run = direction(c, kind, x, states, w, side == 1);
      outputs.push_back(run.outputs);
      for (auto [list, state] : llvm::zip(finals, run.states)) list.push_back(c.b.unsqueeze(state, 0));
    }
    x = c.b.concat(outputs, 2);
  }
  if (batchFirst) x = c.b.swapAxes(x, 0, 1);
  Results results(single ? c.b.squeeze(x, {batchFirst ? 0 : 1}) : x);
  for (ArrayRef<Value> list : finals) {
    Value state = c.b.concat(list, 0);
    results.push_back(single ? c.b.squeeze(state, {1}) : state);
  }
  return results;
}

template <Kind kind> Results layersFromOne(Call &c) { return layers(c, kind, {c.tensor("hx")}); }

Results cell(Call &c, Kind kind, SmallVector<Value> states) {
  Weights w{c.tensor("w_ih"), c.tensor("w_hh"), c.optional("b_ih"), c.optional("b_hh")};
  Value x = c.tensor("input");
  bool single = GraphBuilder::rank(x) == 1;
  if (single) {
    x = c.b.unsqueeze(x, 0);
    for (Value &state : states) state = c.b.unsqueeze(state, 0);
  }
  if (GraphBuilder::rank(x) != 2 || GraphBuilder::rank(w.hidden) != 2 || GraphBuilder::rank(states[0]) != 2)
    Call::fail("a recurrent cell over tensors of unexpected ranks");
  auto rows = GraphBuilder::dim(w.hidden, 0).asConstant();
  if (rows && *rows % gatesOf(kind) != 0) Call::fail("a recurrent weight of " + Twine(*rows) + " rows");
  SmallVector<Value> next = step(c, kind, project(c, x, w.input, w.inputBias), states, w);
  if (single)
    for (Value &state : next) state = c.b.squeeze(state, {0});
  return Results(ArrayRef<Value>(next));
}
template <Kind kind> Results cellFromOne(Call &c) { return cell(c, kind, {c.tensor("hx")}); }

} // namespace

void addRecurrentComposites(CompositeTable &t) {
  t.add({"lstm.input"}, [](Call &c) {
    SmallVector<Value> states = c.tensors("hx");
    if (states.size() != 2) Call::fail("an LSTM with " + Twine(states.size()) + " states");
    return layers(c, Kind::Lstm, states);
  });
  t.add({"gru.input"}, layersFromOne<Kind::Gru>);
  t.add({"rnn_tanh.input"}, layersFromOne<Kind::Tanh>);
  t.add({"rnn_relu.input"}, layersFromOne<Kind::Relu>);
  t.add({"lstm_cell.default"}, [](Call &c) {
    SmallVector<Value> states = c.tensors("hx");
    if (states.size() != 2) Call::fail("an LSTM cell with " + Twine(states.size()) + " states");
    return cell(c, Kind::Lstm, states);
  });
  t.add({"gru_cell.default"}, cellFromOne<Kind::Gru>);
  t.add({"rnn_tanh_cell.default"}, cellFromOne<Kind::Tanh>);
  t.add({"rnn_relu_cell.default"}, cellFromOne<Kind::Relu>);
}

} // namespace stator::torch_export
