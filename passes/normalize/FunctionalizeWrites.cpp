// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes become values.
//
// Every tensor has a *base*: itself, or through a chain of views the tensor it shares memory with. The pass walks a
// block in order and keeps, for each base that was written, its current value; a view of a written base is built again
// from that value where it is read next. A write through the chain base -> v1 -> v2 computes v1' = v1 with v2's elements
// replaced, base' = base with v1's elements replaced (ViewOpInterface::scatterBack), and base' is current from then on.
#include "passes/normalize/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

#define DEBUG_TYPE "stator-functionalize-writes"

using namespace mlir;
using namespace stator::graph;

namespace stator::normalize {
#define GEN_PASS_DEF_FUNCTIONALIZEWRITES
#include "passes/normalize/Passes.h.inc"

namespace {

/// The op by which `value` is a view of its operand 0; null for a tensor of its own.
ViewOpInterface viewOf(Value value) { return value.getDefiningOp<ViewOpInterface>(); }

Value baseOf(Value value) {
  while (auto view = viewOf(value)) value = view->getOperand(0);
  return value;
}

class Functionalizer {
public:
  Functionalizer(func::FuncOp function) : function(function), b(function.getContext()) {}

  /// Number of writes, or failure with a diagnostic.
  FailureOr<unsigned> run() {
    unsigned writes = 0;
    Block &block = function.getBody().front();
    for (Operation &op : llvm::make_early_inc_range(block)) {
      for (Region &region : op.getRegions()) {
        bool inside = false;
        region.walk([&](WriteOp write) {
          write.emitOpError("inside a branch or loop is not supported: the region should yield the new value instead");
          inside = true;
        });
        if (inside) return failure();
      }
      b.setInsertionPoint(&op);
      if (auto write = dyn_cast<WriteOp>(op)) {
        apply(write);
        ++writes;
        continue;
      }
      if (op.hasTrait<mlir::OpTrait::IsTerminator>()) break;
      readCurrent(&op);
    }
    finish(block.getTerminator());
    // Writes go last: until then they are uses of what they overwrote.
    function.walk([](WriteOp write) { write.erase(); });
    function.walk([](CopyOp copy) {
      copy.replaceAllUsesWith(copy.getX());
      copy.erase();
    });
    return writes;
  }

private:
  /// What `value` holds now: the value itself unless its base was written since it was made.
  Value current(Value value) {
    auto version = versions.find(baseOf(value));
    if (version == versions.end()) return value;
    auto view = viewOf(value);
    if (!view) return version->second.value;
    auto &[stamp, rebuilt] = views[value];
    if (stamp != version->second.stamp) {
      Value source = current(view->getOperand(0));
      IRMapping mapping;
      mapping.map(view->getOperand(0), source);
      rebuilt = b.clone(*view, mapping)->getResult(0);
      fresh.insert(rebuilt.getDefiningOp());
      stamp = version->second.stamp;
    }
    return rebuilt;
  }

  void readCurrent(Operation *op) {
    // Views are rebuilt on demand, from the value current at the time of the read.
    if (isa<ViewOpInterface>(op)) return;
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (Value now = current(operand.get()); now != operand.get()) operand.set(now);
    });
  }

  void apply(WriteOp write) {
    Value target = write.getTarget(), updated = current(write.getValue());
    while (auto view = viewOf(target)) {
      Value source = current(view->getOperand(0));
      updated = view.scatterBack(b, source, updated);
      target = view->getOperand(0);
    }
    auto &version = versions[target];
    version.value = updated;
    version.stamp = ++stamps;
  }

  /// Results read what is current; written arguments become results of their own.
  void finish(Operation *terminator) {
    b.setInsertionPoint(terminator);
    for (OpOperand &operand : terminator->getOpOperands()) operand.set(current(operand.get()));
    for (BlockArgument argument : function.getArguments()) {
      auto version = versions.find(argument);
      if (version == versions.end()) continue;
      unsigned result = terminator->getNumOperands(), number = argument.getArgNumber();
      terminator->insertOperands(result, version->second.value);
      StringAttr state = function.getArgAttrOfType<StringAttr>(number, stateAttrName);
      NamedAttribute mark = state ? b.getNamedAttr(updatesAttrName, state)
                                  : b.getNamedAttr(updatesInputAttrName, b.getI64IntegerAttr(number));
      (void)function.insertResult(result, argument.getType(), b.getDictionaryAttr(mark));
    }
  }

  struct Version {
    Value value;
    uint64_t stamp = 0;
  };
  func::FuncOp function;
  OpBuilder b;
  llvm::MapVector<Value, Version> versions;
  DenseMap<Value, std::pair<uint64_t, Value>> views;
  DenseSet<Operation *> fresh;
  uint64_t stamps = 0;
};

struct FunctionalizeWritesPass : impl::FunctionalizeWritesBase<FunctionalizeWritesPass> {
  void runOnOperation() override {
    if (!llvm::hasSingleElement(getOperation().getBody())) return;
    FailureOr<unsigned> writes = Functionalizer(getOperation()).run();
    if (failed(writes)) return signalPassFailure();
    numWrites += *writes;
  }
};

} // namespace
} // namespace stator::normalize
