// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/lower/FusionCost.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
/// Arithmetic in which one null makes the outcome null.
DimExpr sum(DimExpr a, DimExpr b) { return a && b ? DimExpr::add(a, b) : DimExpr(); }
DimExpr product(DimExpr a, DimExpr b) { return a && b ? DimExpr::mul(a, b) : DimExpr(); }
DimExpr smaller(DimExpr a, DimExpr b) { return !a || !b || a == b ? (a && b ? a : DimExpr()) : DimExpr::min(a, b); }
DimExpr larger(DimExpr a, DimExpr b) { return !a || !b || a == b ? (a && b ? a : DimExpr()) : DimExpr::max(a, b); }

class Counter {
public:
  explicit Counter(graph::FusionOp fusion) : context(fusion.getContext()), body(fusion.getBody().front()) {}

  FusionCost run() {
    FusionCost cost;
    DimExpr zero = DimExpr::constant(context, 0);
    cost.operations = zero;
    for (Value result : body.getTerminator()->getOperands()) {
      cost.written.push_back(bytes(result, count(result)));
      need(result, count(result), false);
    }
    for (Operation &op : llvm::reverse(body.without_terminator())) {
      DimExpr wanted = zero;
      for (Value result : op.getResults()) wanted = larger(wanted, neededOf(result));
      for (OpOperand &operand : op.getOpOperands()) askFor(op, operand.get(), wanted);
      cost.operations = sum(cost.operations, operations(op, wanted));
    }
    for (BlockArgument argument : body.getArguments()) cost.read.push_back(bytes(argument, neededOf(argument)));
    return cost;
  }

private:
  DimExpr count(Value value) { return graph::numElements(graph::dimsOf(value.getType()), context); }
  DimExpr bytes(Value value, DimExpr elements) {
    int64_t width = llvm::divideCeil(cast<RankedTensorType>(value.getType()).getElementTypeBitWidth(), 8);
    return product(elements, DimExpr::constant(context, width));
  }

  /// Elements of `value` that are asked for by readers of the same elements, and by readers of others.
  struct Need {
    DimExpr same, others;
  };
  Need &at(Value value) {
    auto [it, isNew] = needs.try_emplace(value);
    if (isNew) it->second = {DimExpr::constant(context, 0), DimExpr::constant(context, 0)};
    return it->second;
  }
  void need(Value value, DimExpr elements, bool others) {
    Need &entry = at(value);
    if (others)
      entry.others = sum(entry.others, elements);
    else
      entry.same = larger(entry.same, elements);
  }
  DimExpr neededOf(Value value) { return smaller(count(value), sum(at(value).same, at(value).others)); }

  void askFor(Operation &op, Value operand, DimExpr wanted) {
    if (isa<ScalarOpInterface>(op)) return need(operand, wanted, false);
    auto elemental = dyn_cast<ElementalOpInterface>(op);
    bool all = isa<ReductionOpInterface>(op) || !elemental || elemental.readsMany();
    need(operand, all ? count(operand) : smaller(count(operand), wanted), true);
  }

  DimExpr operations(Operation &op, DimExpr wanted) {
    if (isa<ScalarOpInterface>(op)) return wanted;
    if (isa<ReductionOpInterface>(op)) return count(op.getOperand(0));
    if (auto matmul = dyn_cast<graph::MatmulOp>(op)) {
      auto dims = graph::dimsOf(matmul.getLhs().getType());
      return product(wanted,
                     product(DimExpr::constant(context, 2), dims[dims.size() - (matmul.getTransposeLhs() ? 2 : 1)]));
    }
    if (auto convolution = dyn_cast<graph::ConvolutionOp>(op)) {
      // Each element of the output (of the input, where transposed) meets the weights of one channel of its group.
      auto weight = graph::dimsOf(convolution.getWeight().getType());
      DimExpr taps = graph::numElements(ArrayRef(weight).drop_front(), context);
      return product(convolution.getTransposed() ? count(convolution.getX()) : wanted,
                     product(DimExpr::constant(context, 2), taps));
    }
    return DimExpr::constant(context, 0);
  }

  MLIRContext *context;
  Block &body;
  llvm::DenseMap<Value, Need> needs;
};
} // namespace

FusionCost costOf(graph::FusionOp fusion) { return Counter(fusion).run(); }

} // namespace stator::codegen
