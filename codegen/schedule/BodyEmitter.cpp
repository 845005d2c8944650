// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/BodyEmitter.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;

namespace stator::codegen {

// Nesting of index-changing ops (a slice of a pad of a gather ...). Chains of elementwise ops do not nest.
static constexpr unsigned maxDepth = 256;

// Elements in the text of one kernel; beyond, some value is asked for at so many indices that compiling would not end.
static constexpr int64_t maxElements = 50000;

BodyEmitter::BodyEmitter(OpBuilder &b, Location loc, graph::FusionOp fusion, KernelMemory &memory)
    : ElementEmitter(b, loc), indices(b, loc), fusion(fusion), memory(memory) {}

Value BodyEmitter::size(graph::DimExpr dim) {
  if (dim.isConstant()) return indices.constant(dim.getConstant());
  // Polynomials are taken apart, so that forms see that 4 * s0 is made of s0.
  if (dim.getKind() == graph::DimKind::Add || dim.getKind() == graph::DimKind::Mul) {
    bool isSum = dim.getKind() == graph::DimKind::Add;
    Value total = indices.constant(isSum ? 0 : 1);
    for (graph::DimExpr part : dim.getOperands()) total = isSum ? indices.add(total, size(part)) : indices.mul(total, size(part));
    return total;
  }
  Value &value = sizeValues[dim];
  if (!value) {
    value = memory.sizeArgument(dim);
    graph::DimRange range =
        graph::rangeOf(dim, [&](StringRef name) { return graph::symbolRange(fusion.getOperation(), name); });
    indices.setRange(value, range.min, range.max);
  }
  return value;
}

graph::DimExpr BodyEmitter::exprOf(const IndexForm &form) {
  MLIRContext *context = fusion.getContext();
  graph::DimExpr total = graph::DimExpr::constant(context, form.constant);
  for (const IndexTerm &term : form.terms) {
    graph::DimExpr product = graph::DimExpr::constant(context, term.coefficient);
    for (unsigned atom : term.atoms) {
      graph::DimExpr factor;
      for (auto &[expr, value] : sizeValues)
        if (indices.formOf(value) == IndexForm{0, {{1, {atom}}}}) factor = cast<graph::DimExpr>(expr);
      if (!factor || !product) return {};
      product = graph::DimExpr::mul(product, factor);
    }
    total = product ? graph::DimExpr::add(total, product) : product;
    if (!total) return {};
  }
  return total;
}

SmallVector<Value> BodyEmitter::sizes(Value tensor) {
  SmallVector<Value> result;
  for (graph::DimExpr dim : graph::dimsOf(tensor.getType())) result.push_back(size(dim));
  return result;
}

Value BodyEmitter::compare(Value a, Value c, bool orEqual) {
  // a <= c is !(c < a).
  std::optional<bool> known = orEqual ? indices.lessThan(c, a) : indices.lessThan(a, c);
  if (known) return arith::ConstantIntOp::create(s.b, s.loc, *known != orEqual, 1);
  open.push_back(orEqual ? std::pair(indices.formOf(c), indices.formOf(a))
                         : std::pair(indices.formOf(a), indices.formOf(c)));
  return ElementEmitter::compare(a, c, orEqual);
}

BodyEmitter::Key BodyEmitter::keyOf(Value value, ValueRange at) {
  Key key{value.getAsOpaquePointer(), {}};
  for (Value index : at) key.second.push_back(indices.formOf(index));
  return key;
}

std::optional<Scalar> BodyEmitter::lookup(const Key &key) {
  auto it = known.find(key);
  if (it == known.end()) return std::nullopt;
  for (Scalar scalar : it->second)
    if (isVisibleFrom(scalar.value, s.b.getInsertionBlock())) return scalar;
  return std::nullopt;
}

void BodyEmitter::define(Value value, ValueRange at, Scalar element) {
  element = s.cast(element, cast<RankedTensorType>(value.getType()).getElementType());
  known[keyOf(value, at)].push_back(element);
}

void BodyEmitter::store(unsigned number, ValueRange at, Scalar element) {
  Value tensor = result(number);
  Type type = cast<RankedTensorType>(tensor.getType()).getElementType();
  element = s.cast(element, type);
  memory.storeResult(s.b, s.loc, number, indices.linearize(at, sizes(tensor)), element.value, type);
}

Scalar BodyEmitter::fail(Operation *op, Type element, StringRef why) {
  if (!hasFailed) op->emitOpError() << why;
  hasFailed = true;
  return s.constant(element, 0);
}

Scalar BodyEmitter::valueAt(Value value, ValueRange at) {
  Key key = keyOf(value, at);
  if (auto scalar = lookup(key)) return *scalar;

  // Elementwise ops are emitted in program order, not by recursion: a chain of them may be long.
  if (auto op = value.getDefiningOp<ScalarOpInterface>()) {
    llvm::SetVector<Operation *> needed;
    needed.insert(op);
    for (unsigned i = 0; i < needed.size(); ++i)
      for (Value operand : needed[i]->getOperands())
        if (auto producer = operand.getDefiningOp<ScalarOpInterface>(); producer && !needed.contains(producer))
          if (!lookup(keyOf(operand, at))) needed.insert(producer);
    SmallVector<Operation *> order = needed.takeVector();
    llvm::sort(order, [](Operation *a, Operation *c) { return a->isBeforeInBlock(c); });
    Scalar scalar;
    for (Operation *each : order) {
      scalar = emitScalarOp(cast<ScalarOpInterface>(each), at);
      known[keyOf(each->getResult(0), at)].push_back(scalar);
    }
    return scalar;
  }
  Scalar scalar = emit(value, at);
  known[key].push_back(scalar);
  return scalar;
}

Scalar BodyEmitter::emitScalarOp(ScalarOpInterface op, ValueRange at) {
  ++count;
  SmallVector<Scalar> operands;
  for (OpOperand &operand : op->getOpOperands()) operands.push_back(widen(valueAt(operand.get(), at)));
  Scalar scalar = op.emitScalar(s, operands);
  return s.cast(scalar, cast<RankedTensorType>(op->getResult(0).getType()).getElementType());
}

Scalar BodyEmitter::emit(Value value, ValueRange at) {
  if (++count > maxElements)
    return fail(fusion, cast<RankedTensorType>(value.getType()).getElementType(),
                "reads its values at too many different indices: split it into several kernels");
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    Value linear = indices.linearize(at, sizes(value));
    accessList.push_back({argument.getArgNumber(), indices.formOf(linear)});
    return {memory.loadInput(s.b, s.loc, argument.getArgNumber(), linear, element), element};
  }
  Operation *op = value.getDefiningOp();
  if (auto constant = dyn_cast<graph::ConstantOp>(op)) {
    if (isa<FloatType>(element)) {
      if (auto number = graph::ConstantOp::splatDouble(value)) return s.constant(element, *number);
    } else if (auto number = graph::ConstantOp::splatInt(value)) {
      return s.integer(element, *number);
    }
    return {memory.loadConstant(s.b, s.loc, constant, indices.linearize(at, sizes(value)), element), element};
  }
  auto elemental = dyn_cast<ElementalOpInterface>(op);
  if (!elemental) return fail(op, element, "cannot stand inside a fused kernel: it has no elemental emission");
  if (depth >= maxDepth) return fail(op, element, "too many index-changing ops in one kernel");
  ++depth;
  Scalar scalar = elemental.emitElement(*this, cast<OpResult>(value).getResultNumber(), at);
  --depth;
  return s.cast(scalar, element);
}

} // namespace stator::codegen
