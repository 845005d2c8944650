// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit/BuildPlan.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;

namespace stator::codegen {

/// The elements as dense row-major bytes, for attributes that do not hold them so (splats, bools).
static std::shared_ptr<std::string> expandedBytes(DenseElementsAttr elements) {
  Type element = elements.getElementType();
  size_t width = elementBytes(element);
  auto bytes = std::make_shared<std::string>();
  bytes->reserve(width * elements.getNumElements());
  auto append = [&](const APInt &bits) {
    uint64_t word = bits.getZExtValue();
    bytes->append(reinterpret_cast<const char *>(&word), width); // both are little-endian
  };
  if (isa<FloatType>(element))
    for (const APFloat &value : elements.getValues<APFloat>()) append(value.bitcastToAPInt());
  else
    for (const APInt &value : elements.getValues<APInt>()) append(value);
  return bytes;
}

std::string WeightTable::add(ElementsAttr value, StringRef preferred) {
  auto [known, isNew] = names.try_emplace(value);
  if (!isNew) return known->second;
  std::string name = preferred.empty() ? "constant" + std::to_string(names.size() - 1) : preferred.str();
  while (unsigned times = taken[name]++) name += "." + std::to_string(times);
  return known->second = name;
}

DictionaryAttr WeightTable::dictionary(MLIRContext *context) const {
  SmallVector<NamedAttribute> list;
  for (auto &[value, name] : names) list.emplace_back(StringAttr::get(context, name), value);
  return DictionaryAttr::get(context, list);
}

Weight weightOf(StringRef name, ElementsAttr value) {
  Weight weight;
  weight.name = name.str();
  weight.element = value.getElementType();
  weight.shape.append(value.getShapedType().getShape().begin(), value.getShapedType().getShape().end());
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      weight.data = StringRef(blob->getData().data(), blob->getData().size());
  } else if (auto dense = dyn_cast<DenseElementsAttr>(value)) {
    if (dense.isSplat() || weight.element.isInteger(1)) {
      weight.owned = expandedBytes(dense);
      weight.data = *weight.owned;
    } else {
      weight.data = StringRef(dense.getRawData().data(), dense.getRawData().size());
    }
  }
  return weight;
}

std::string KernelCache::keyOf(graph::FusionOp fusion) {
  std::string key;
  auto add = [&](const void *pointer) { key.append(reinterpret_cast<const char *>(&pointer), sizeof(pointer)); };
  DenseMap<Value, size_t> numbers;
  auto number = [&](Value value) { numbers.try_emplace(value, numbers.size()); };
  add(fusion.getKindAttr().getAsOpaquePointer());
  // Bounds of the symbols decide what emission may assume.
  if (auto function = fusion->getParentOfType<func::FuncOp>())
    if (Attribute symbols = function->getAttr(graph::symbolsAttrName)) add(symbols.getAsOpaquePointer());
  for (BlockArgument argument : fusion.getBody().getArguments()) {
    number(argument);
    add(argument.getType().getAsOpaquePointer());
  }
  for (Operation &op : fusion.getBody().front()) {
    add(op.getName().getAsOpaquePointer());
    add(op.getAttrDictionary().getAsOpaquePointer());
    for (Value operand : op.getOperands()) add(reinterpret_cast<const void *>(numbers.lookup(operand)));
    for (Value result : op.getResults()) {
      number(result);
      add(result.getType().getAsOpaquePointer());
    }
  }
  return key;
}

void wrapBareOps(func::FuncOp function, StringRef prefix) {
  SmallVector<Operation *> bare;
  function.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isa<graph::FusionOp>(op)) return WalkResult::skip();
    bool structural = isa<graph::ConstantOp, graph::IfOp, graph::WhileOp, graph::BindSymbolOp, graph::AssertOp,
                          graph::AssertShapeOp, graph::YieldOp, graph::ReshapeOp, graph::CopyOp>(op);
    if (isa_and_nonnull<graph::GraphDialect>(op->getDialect()) && !structural && op->getNumResults()) bare.push_back(op);
    return WalkResult::advance();
  });
  unsigned count = 0;
  for (Operation *op : bare) {
    OpBuilder b(op);
    SmallVector<Value> inputs;
    SmallVector<graph::ConstantOp> constants;
    for (Value operand : op->getOperands()) {
      auto constant = operand.getDefiningOp<graph::ConstantOp>();
      auto dense = constant ? dyn_cast<DenseElementsAttr>(constant.getValue()) : DenseElementsAttr();
      if (dense && dense.isSplat()) {
        if (!llvm::is_contained(constants, constant)) constants.push_back(constant);
      } else if (!llvm::is_contained(inputs, operand)) {
        inputs.push_back(operand);
      }
    }
    StringRef kind = isa<ReductionOpInterface>(op)                              ? "reduce"
                     : isa<ScalarOpInterface, ElementalOpInterface>(op) && !isa<graph::MatmulOp, graph::ConvolutionOp>(op)
                         ? "loop"
                         : op->getName().stripDialect();
    auto fusion = graph::FusionOp::create(b, op->getLoc(), op->getResultTypes(), inputs,
                                          b.getStringAttr(prefix + std::to_string(count++)), b.getStringAttr(kind));
    Block *body = b.createBlock(&fusion.getBody());
    IRMapping map;
    for (Value input : inputs) map.map(input, body->addArgument(input.getType(), input.getLoc()));
    for (graph::ConstantOp constant : constants) b.clone(*constant, map);
    Operation *inner = b.clone(*op, map);
    graph::YieldOp::create(b, op->getLoc(), inner->getResults());
    op->replaceAllUsesWith(fusion.getResults());
    op->erase();
  }
}

} // namespace stator::codegen
