// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/HostKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace stator::codegen {

/// The type of an element in memory: bools are bytes, unsigned integers signless.
static Type memoryType(Type element) {
  return element.isInteger(1) ? IntegerType::get(element.getContext(), 8) : storageType(element);
}

HostKernel::HostKernel(ModuleOp module, StringRef name, graph::FusionOp fusion)
    : b(module.getContext()), loc(fusion.getLoc()), fusion(fusion), body(b, loc, fusion, *this), module(module) {
  b.setInsertionPointToEnd(module.getBody());
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  auto type = b.getFunctionType({pointerType, pointerType, b.getI64Type(), b.getI64Type()}, {});
  function = func::FuncOp::create(b, loc, name, type);
  Block *entry = function.addEntryBlock();
  b.setInsertionPointToEnd(entry);
  begin = arith::IndexCastOp::create(b, loc, b.getIndexType(), entry->getArgument(2));
  end = arith::IndexCastOp::create(b, loc, b.getIndexType(), entry->getArgument(3));
  entryEnd = arith::ConstantIndexOp::create(b, loc, 0);
  body.indices.setRange(begin, 0, INT64_MAX);
  body.indices.setRange(end, 1, INT64_MAX);
}
HostKernel::~HostKernel() = default;

Value HostKernel::pointer(KernelBuffer buffer) {
  for (auto [known, value] : llvm::zip_equal(buffers, pointers))
    if (known.kind == buffer.kind && known.index == buffer.index) return value;
  OpBuilder entry(entryEnd);
  Type pointerType = LLVM::LLVMPointerType::get(b.getContext());
  Value slot = LLVM::GEPOp::create(entry, loc, pointerType, pointerType, function.getArgument(0),
                                   ArrayRef<LLVM::GEPArg>{int32_t(buffers.size())});
  Value value = LLVM::LoadOp::create(entry, loc, pointerType, slot, 8, false, false, /*isInvariant=*/true);
  buffers.push_back(buffer);
  pointers.push_back(value);
  return value;
}

Value HostKernel::sizeArgument(graph::DimExpr expr) {
  OpBuilder entry(entryEnd);
  Type i64 = b.getI64Type();
  Value slot = LLVM::GEPOp::create(entry, loc, LLVM::LLVMPointerType::get(b.getContext()), i64, function.getArgument(1),
                                   ArrayRef<LLVM::GEPArg>{int32_t(sizes.size())});
  sizes.push_back(expr);
  Value value = LLVM::LoadOp::create(entry, loc, i64, slot, 8, false, false, /*isInvariant=*/true);
  return arith::IndexCastOp::create(entry, loc, b.getIndexType(), value);
}

Value HostKernel::address(Value base, Value linear, Type element) {
  Value offset = arith::IndexCastOp::create(b, loc, b.getI64Type(), linear);
  Type unit = memoryType(element);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(unit)) unit = b.getI8Type();
  return LLVM::GEPOp::create(b, loc, LLVM::LLVMPointerType::get(b.getContext()), unit, base,
                             ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
}

Value HostKernel::loadAt(Value address, Type element, int tag) {
  Type type = memoryType(element);
  bool narrow = isa<Float8E4M3FNType, Float8E5M2Type>(type);
  auto op = LLVM::LoadOp::create(b, loc, narrow ? b.getI8Type() : type, address, llvm::divideCeil(type.getIntOrFloatBitWidth(), 8));
  if (tag >= 0) tagged.push_back({op, unsigned(tag)});
  Value value = op;
  if (narrow) return arith::BitcastOp::create(b, loc, type, value);
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value,
                                 arith::ConstantIntOp::create(b, loc, 0, 8));
  return value;
}
void HostKernel::storeAt(Value address, Value value, Type element, int tag) {
  if (element.isInteger(1)) value = arith::ExtUIOp::create(b, loc, b.getI8Type(), value);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(element)) value = arith::BitcastOp::create(b, loc, b.getI8Type(), value);
  auto op = LLVM::StoreOp::create(b, loc, value, address, llvm::divideCeil(value.getType().getIntOrFloatBitWidth(), 8));
  if (tag >= 0) tagged.push_back({op, unsigned(tag)});
}

static int numberOf(ArrayRef<KernelBuffer> buffers, KernelBuffer buffer) {
  for (auto [i, known] : llvm::enumerate(buffers))
    if (known.kind == buffer.kind && known.index == buffer.index) return i;
  return -1;
}
Value HostKernel::load(KernelBuffer buffer, Value linear, Type element) {
  Value base = pointer(buffer);
  return loadAt(address(base, linear, element), element, numberOf(buffers, buffer));
}
void HostKernel::store(KernelBuffer buffer, Value linear, Value value, Type element) {
  Value base = pointer(buffer);
  storeAt(address(base, linear, element), value, element, numberOf(buffers, buffer));
}
Value HostKernel::loadInput(OpBuilder &, Location, unsigned input, Value linear, Type element) {
  return load({KernelBuffer::Input, input}, linear, element);
}
void HostKernel::storeResult(OpBuilder &, Location, unsigned result, Value linear, Value value, Type element) {
  store({KernelBuffer::Result, result}, linear, value, element);
}

Value HostKernel::loadConstant(OpBuilder &, Location, graph::ConstantOp constant, Value linear, Type element) {
  Value &base = constants[constant];
  if (!base) {
    // The bytes as they would stand in memory, as one private global.
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    std::string bytes;
    unsigned width = element.getIntOrFloatBitWidth(), stored = llvm::divideCeil(width, 8);
    auto append = [&](APInt bits) {
      uint64_t word = bits.getZExtValue();
      bytes.append(reinterpret_cast<const char *>(&word), stored); // both little-endian
    };
    if (isa<FloatType>(element))
      for (APFloat value : elements.getValues<APFloat>()) append(value.bitcastToAPInt());
    else
      for (APInt value : elements.getValues<APInt>()) append(value);
    OpBuilder top(module.getBody(), module.getBody()->begin());
    std::string name = (function.getName() + "_constant" + llvm::Twine(constants.size())).str();
    auto type = LLVM::LLVMArrayType::get(b.getI8Type(), bytes.size());
    globals.push_back(LLVM::GlobalOp::create(top, loc, type, /*isConstant=*/true, LLVM::Linkage::Private, name,
                                             top.getStringAttr(bytes), /*alignment=*/64));
    OpBuilder entry(entryEnd);
    base = LLVM::AddressOfOp::create(entry, loc, LLVM::LLVMPointerType::get(b.getContext()), name);
  }
  return loadAt(address(base, linear, element), element, -1);
}

Value HostKernel::stackArray(Type element, int64_t count) {
  OpBuilder entry(entryEnd);
  Type unit = memoryType(element);
  if (isa<Float8E4M3FNType, Float8E5M2Type>(unit)) unit = b.getI8Type();
  Value size = LLVM::ConstantOp::create(entry, loc, b.getI64Type(), b.getI64IntegerAttr(count));
  return LLVM::AllocaOp::create(entry, loc, LLVM::LLVMPointerType::get(b.getContext()), unit, size, 64);
}
Value HostKernel::loadLocal(Value array, Value linear, Type element) {
  return loadAt(address(array, linear, element), element, -1);
}
void HostKernel::storeLocal(Value array, Value linear, Value value, Type element) {
  storeAt(address(array, linear, element), value, element, -1);
}

void HostKernel::loop(Value lower, Value upper, function_ref<void(Value)> emit, bool parallel, Value extent) {
  auto op = scf::ForOp::create(b, loc, lower, upper, body.indices.constant(1));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(op.getBody()->getTerminator());
  Value i = op.getInductionVar();
  body.indices.setExtent(i, extent ? extent : upper);
  emit(i);
  if (!parallel) return;
  // Every access in the loop belongs to one group, and the loop says that the group has no dependence between iterations.
  MLIRContext *context = b.getContext();
  auto group = LLVM::AccessGroupAttr::get(context, DistinctAttr::create(UnitAttr::get(context)));
  op.walk([&](Operation *inner) {
    if (auto access = dyn_cast<LLVM::AccessGroupOpInterface>(inner)) {
      SmallVector<Attribute> groups;
      if (ArrayAttr old = access.getAccessGroupsOrNull()) llvm::append_range(groups, old);
      groups.push_back(group);
      access.setAccessGroups(b.getArrayAttr(groups));
    }
  });
  // Without a prefix: so it becomes the branch's own attribute on the way to the llvm dialect.
  op->setAttr("loop_annotation",
              LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, group));
}

SmallVector<Value> HostKernel::loopCarrying(Value lower, Value upper, ValueRange initial,
                                            function_ref<SmallVector<Value>(Value, ValueRange)> emit,
                                            Value extent) {
  auto op = scf::ForOp::create(b, loc, lower, upper, body.indices.constant(1), initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(op.getBody());
  Value i = op.getInductionVar();
  body.indices.setExtent(i, extent ? extent : upper);
  SmallVector<Value> next = emit(i, op.getRegionIterArgs());
  if (!initial.empty()) {
    b.setInsertionPointToEnd(op.getBody());
    scf::YieldOp::create(b, loc, next);
  }
  return SmallVector<Value>(op.getResults());
}

void HostKernel::setAliasScopes() {
  MLIRContext *context = b.getContext();
  auto unique = [&] { return DistinctAttr::create(UnitAttr::get(context)); };
  auto domain = LLVM::AliasScopeDomainAttr::get(context, unique(), {});
  SmallVector<Attribute> scopes;
  for (size_t i = 0; i < buffers.size(); ++i) scopes.push_back(LLVM::AliasScopeAttr::get(context, unique(), domain, {}));
  // Inputs may be one buffer among themselves; whatever is written is apart from the rest.
  auto disjoint = [&](KernelBuffer x, KernelBuffer y) {
    if (x.kind == KernelBuffer::Input && y.kind == KernelBuffer::Input) return false;
    for (auto [result, input] : shared)
      for (auto [p, q] : {std::pair(x, y), std::pair(y, x)})
        if (p.kind == KernelBuffer::Result && p.index == result && q.kind == KernelBuffer::Input && q.index == input)
          return false;
    return true;
  };
  for (auto [op, number] : tagged) {
    auto access = cast<LLVM::AliasAnalysisOpInterface>(op);
    SmallVector<Attribute> apart;
    for (size_t i = 0; i < buffers.size(); ++i)
      if (i != number && disjoint(buffers[number], buffers[i])) apart.push_back(scopes[i]);
    access.setAliasScopes(b.getArrayAttr(scopes[number]));
    if (!apart.empty()) access.setNoAliasScopes(b.getArrayAttr(apart));
  }
}

int64_t HostKernel::work() {
  int64_t total = 0;
  function.walk([&](Operation *op) {
    StringRef dialect = op->getDialect()->getNamespace();
    if (dialect == "math") total += 8;
    else if (dialect == "arith" || dialect == "llvm") total += isa<arith::DivFOp, arith::RemFOp>(op) ? 4 : 1;
  });
  return total;
}
Value HostKernel::probeIndex(Value extent) {
  Value index = UnrealizedConversionCastOp::create(b, loc, b.getIndexType(), function.getArgument(2)).getResult(0);
  body.indices.setExtent(index, extent);
  return index;
}
SmallVector<IndexForm> HostKernel::indicesUsedAsNumbers() {
  SmallVector<IndexForm> forms;
  function.walk([&](Operation *op) {
    if (!isa<arith::IndexCastOp, arith::CmpIOp>(op) || !op->getOperand(0).getType().isIndex()) return;
    bool address = isa<arith::IndexCastOp>(op) &&
                   llvm::all_of(op->getUsers(), [](Operation *user) { return isa<LLVM::GEPOp>(user); });
    if (address) return;
    for (Value operand : op->getOperands()) forms.push_back(body.indices.formOf(operand));
  });
  return forms;
}

KernelLaunch HostKernel::finish() {
  b.setInsertionPointToEnd(&function.getBody().back());
  func::ReturnOp::create(b, loc);
  setAliasScopes();
  KernelLaunch launch;
  launch.kernel = function.getName().str();
  launch.buffers = buffers;
  launch.sizes = sizes;
  return launch;
}
void HostKernel::discard() {
  function.erase();
  for (Operation *global : globals) global->erase();
}

} // namespace stator::codegen
