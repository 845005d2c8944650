// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "passes/fuse/FusionPlan.h"
#include "passes/fuse/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

#define DEBUG_TYPE "stator-fuse-kernels"

using namespace mlir;
using namespace stator::graph;

namespace stator::fuse {
#define GEN_PASS_DEF_FUSEKERNELS
#include "passes/fuse/Passes.h.inc"

namespace {

/// A short name that says what the kernel does: its kind or its most telling ops, and a number.
std::string nameOf(const Kernel &kernel, unsigned number) {
  std::string name;
  unsigned parts = 0;
  auto mention = [&](StringRef op) {
    if (parts == 3 || StringRef(name).contains(op)) return;
    name += (parts++ ? "_" : "") + op.str();
  };
  if (kernel.kind != "loop" && kernel.kind != "reduce") mention(kernel.kind);
  for (Operation *op : llvm::reverse(kernel.ops)) {
    auto scalar = dyn_cast<ScalarOpInterface>(op);
    if (isa<ReductionOpInterface>(op) || (scalar && scalar.isExpensive())) mention(op->getName().stripDialect());
  }
  if (parts == 0) mention(kernel.ops[0]->getName().stripDialect());
  return name + "_" + std::to_string(number);
}

/// Literals that every kernel may have its own copy of.
bool isLiteral(Value value) {
  auto constant = value.getDefiningOp<ConstantOp>();
  return constant && isa<DenseElementsAttr>(constant.getValue()) && cast<DenseElementsAttr>(constant.getValue()).isSplat();
}

class Rewriter {
public:
  Rewriter(Block &block, const FusionPlan &plan, unsigned &number) : block(block), plan(plan), number(number) {}

  unsigned run() {
    DenseMap<Operation *, int64_t> positions;
    int64_t position = 0;
    for (Operation &op : block) positions[&op] = position++;
    // Kernels are planned from the block's end; they are numbered in program order.
    for (size_t k = plan.kernels.size(); k-- > 0;) {
      SmallVector<Operation *> ops = llvm::to_vector(plan.kernels[k].ops);
      llvm::sort(ops, [&](Operation *a, Operation *b) { return positions[a] < positions[b]; });
      build(k, ops);
    }
    for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
      if (plan.kernelsOf.count(&op)) {
        op.dropAllUses();
        op.erase();
      }
    sortTopologically(&block);
    return plan.kernels.size();
  }

private:
  void build(unsigned k, ArrayRef<Operation *> ops) {
    const Kernel &kernel = plan.kernels[k];
    llvm::SetVector<Value> inputs, outputs, literals;
    for (Operation *op : ops) {
      for (Value operand : op->getOperands()) {
        if (kernel.ops.contains(operand.getDefiningOp())) continue;
        if (isLiteral(operand)) literals.insert(operand);
        else inputs.insert(operand);
      }
      if (!kernel.homes.contains(op)) continue;
      // An op that runs by itself writes all of its results, read or not: that is how its kernel works.
      bool writesAll = op->getNumResults() > 1 && kernel.kind == op->getName().stripDialect();
      for (Value result : op->getResults())
        if (writesAll || llvm::any_of(result.getUses(), [&](OpOperand &use) { return isOutside(use.getOwner(), k); }))
          outputs.insert(result);
    }
    SmallVector<Location> locations;
    for (Operation *op : ops) locations.push_back(op->getLoc());
    OpBuilder b(ops.back());
    auto fusion = FusionOp::create(b, b.getFusedLoc(locations), TypeRange(ValueRange(outputs.getArrayRef())),
                                   inputs.getArrayRef(), nameOf(kernel, number++), kernel.kind);
    Block *body = b.createBlock(&fusion.getBody());
    IRMapping mapping;
    for (Value input : inputs) mapping.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (Value literal : literals) b.clone(*literal.getDefiningOp(), mapping);
    for (Operation *op : ops) b.clone(*op, mapping);
    SmallVector<Value> yielded;
    for (Value output : outputs) yielded.push_back(mapping.lookup(output));
    YieldOp::create(b, fusion.getLoc(), yielded);
    for (auto [i, result] : llvm::enumerate(fusion.getResults()))
      Value(outputs[i]).replaceUsesWithIf(result, [&](OpOperand &use) { return isOutside(use.getOwner(), k); });
    explain(fusion, k);
  }

  /// Whether `user` reads from memory what kernel `k` computes: always, unless it only stands in that kernel.
  bool isOutside(Operation *user, unsigned k) {
    auto found = plan.kernelsOf.find(user);
    return found == plan.kernelsOf.end() || llvm::any_of(found->second, [&](unsigned other) { return other != k; });
  }

  void explain(FusionOp fusion, unsigned k) {
    SmallVector<Attribute> reasons;
    OpBuilder b(fusion);
    for (const Refusal &refusal : plan.refusals) {
      if (!plan.kernels[k].ops.contains(refusal.consumer)) continue;
      std::string text = (refusal.producer->getName().stripDialect() + " into " +
                          refusal.consumer->getName().stripDialect() + ": " + refusal.reason).str();
      if (!llvm::is_contained(reasons, b.getStringAttr(text))) reasons.push_back(b.getStringAttr(text));
    }
    if (!reasons.empty()) fusion->setAttr("graph.not_fused", b.getArrayAttr(reasons));
  }

  Block &block;
  const FusionPlan &plan;
  unsigned &number;
};

struct FuseKernelsPass : impl::FuseKernelsBase<FuseKernelsPass> {
  void runOnOperation() override {
    unsigned number = 0;
    SmallVector<Block *> blocks;
    getOperation().walk<WalkOrder::PreOrder>([&](Block *block) {
      if (!isa<FusionOp>(block->getParentOp())) blocks.push_back(block);
    });
    for (Block *block : blocks) {
      FusionPlan plan = planFusion(*block);
      numKernels += Rewriter(*block, plan, number).run();
    }
  }
};

} // namespace
} // namespace stator::fuse
