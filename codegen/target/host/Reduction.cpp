// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

//===----------------------------------------------------------------------------------------------------------------===//
// Stash
//===----------------------------------------------------------------------------------------------------------------===//

void StashPlan::keep(size_t pass, const Coordinates &at, Value j) {
  for (Entry &entry : entries) {
    if (entry.firstPass != pass) continue;
    Scalar element = kernel->body.valueAt(entry.value, at.full(entry.value, j));
    kernel->storeLocal(entry.array, j, element.value, element.type);
  }
}
void StashPlan::recall(size_t pass, const Coordinates &at, Value j) {
  for (Entry &entry : entries) {
    if (entry.firstPass >= pass) continue;
    Type element = cast<RankedTensorType>(entry.value.getType()).getElementType();
    kernel->body.define(entry.value, at.full(entry.value, j), {kernel->loadLocal(entry.array, j, element), element});
  }
}

/// Whether computing one element takes more than reading it back: asked by emitting it.
static bool isCostly(ScalarOpInterface op) {
  OpBuilder b(op.getContext());
  Block scratch;
  b.setInsertionPointToEnd(&scratch);
  ScalarBuilder s(b, op.getLoc());
  SmallVector<Scalar> operands;
  for (Value operand : op->getOperands()) {
    Type type = computeType(cast<RankedTensorType>(operand.getType()).getElementType());
    operands.push_back({scratch.addArgument(storageType(type), op.getLoc()), type});
  }
  op.emitScalar(s, operands);
  bool costly = false;
  for (Operation &inner : scratch) costly |= isa<math::MathDialect>(inner.getDialect()) && !isa<math::AbsFOp>(inner);
  scratch.dropAllReferences();
  return costly;
}

StashPlan planStash(HostKernel &kernel, const FusionShape &shape) {
  StashPlan plan;
  plan.kernel = &kernel;
  auto length = shape.reduced.asConstant();
  if (!length || *length > 8192) return plan;
  MLIRContext *context = kernel.fusion.getContext();
  Block &body = kernel.fusion.getBody().front();
  auto isFull = [&](Value v) { return graph::numElements(graph::dimsOf(v.getType()), context) == shape.elements; };
  // passes[v]: the passes that want v at the domain's index, going from consumers to producers in reverse order.
  size_t last = shape.levels.size();
  DenseMap<Value, llvm::SmallSetVector<size_t, 4>> passes;
  for (auto [level, reductions] : llvm::enumerate(shape.levels))
    for (Operation *op : reductions) passes[op->getOperand(0)].insert(level);
  for (auto [r, full] : llvm::enumerate(shape.fullDomain))
    if (full) passes[domainRoot(body.getTerminator()->getOperand(r))].insert(last);
  int64_t bytes = 0;
  for (Operation &op : llvm::reverse(body.without_terminator())) {
    auto scalar = dyn_cast<ScalarOpInterface>(op);
    if (op.getNumResults() != 1 || !isFull(op.getResult(0))) continue;
    auto wanted = passes.lookup(op.getResult(0));
    if (wanted.empty() || isa<ReductionOpInterface>(op)) continue;
    size_t first = *llvm::min_element(wanted);
    if (scalar && wanted.size() > 1 && isCostly(scalar)) {
      Type element = cast<RankedTensorType>(op.getResult(0).getType()).getElementType();
      int64_t size = *length * int64_t(elementBytes(element));
      if (bytes + size <= 128 * 1024) {
        bytes += size;
        plan.entries.push_back({op.getResult(0), first, kernel.stackArray(element, *length)});
        wanted.clear();
        wanted.insert(first);
      }
    }
    for (Value operand : op.getOperands())
      if (scalar || isFull(operand))
        for (size_t pass : wanted) passes[operand].insert(pass);
  }
  return plan;
}

//===----------------------------------------------------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------------------------------------------------===//

void emitResultsAt(HostKernel &kernel, const FusionShape &shape, const Coordinates &at, Value j, bool full) {
  BodyEmitter &body = kernel.body;
  SmallVector<std::tuple<unsigned, SmallVector<Value>, Scalar>> stores;
  for (auto [r, isFull] : llvm::enumerate(shape.fullDomain)) {
    if (isFull != full) continue;
    Value root = domainRoot(body.result(r));
    SmallVector<Value> index = full ? at.full(root, j) : at.row(root);
    Scalar element = body.valueAt(root, index);
    stores.push_back({unsigned(r), forwardIndex(body, root, body.result(r), index), element});
  }
  for (auto &[r, index, element] : stores) body.store(r, index, element);
}

void emitFullResults(HostKernel &kernel, const FusionShape &shape, const Coordinates &at, function_ref<void(Value)> before) {
  if (!llvm::is_contained(shape.fullDomain, true)) return;
  BodyEmitter &body = kernel.body;
  kernel.loop(
      body.indices.constant(0), body.size(shape.reduced),
      [&](Value j) {
        before(j);
        emitResultsAt(kernel, shape, at, j, true);
      },
      /*parallel=*/true);
}
void emitRowResults(HostKernel &kernel, const FusionShape &shape, const Coordinates &at) {
  emitResultsAt(kernel, shape, at, {}, false);
}

} // namespace stator::codegen
