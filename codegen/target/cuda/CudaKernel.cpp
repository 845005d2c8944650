// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/CudaKernel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include <numeric>

using namespace mlir;

namespace stator::codegen {

static constexpr unsigned globalSpace = 1, sharedSpace = 3;

/// The type of an element in memory: bools are bytes, f8 are bytes, unsigned integers signless.
static Type memoryType(Type element) {
  if (element.isInteger(1) || element.getIntOrFloatBitWidth() == 8) return IntegerType::get(element.getContext(), 8);
  return storageType(element);
}

CudaKernel::CudaKernel(CudaRequest request, StringRef name, int64_t threads)
    : b(request.module.getContext()), loc(request.fusion->getLoc()), fusion(request.fusion),
      body(b, loc, fusion, *this), threads(threads), module(request.module), narrow(request.narrow) {
  b.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(b, loc, name, b.getFunctionType({}, {}));
  function->setAttr("nvvm.kernel", b.getUnitAttr());
  function->setAttr("nvvm.reqntid", b.getDenseI32ArrayAttr({int32_t(threads), 1, 1}));
  b.setInsertionPointToEnd(function.addEntryBlock());
  auto special = [&](Value number) {
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), number).getResult();
  };
  thread = special(NVVM::ThreadIdXOp::create(b, loc, b.getI32Type()));
  block = special(NVVM::BlockIdXOp::create(b, loc, b.getI32Type()));
  entryEnd = arith::ConstantIndexOp::create(b, loc, 0);
  body.indices.setExtent(thread, body.indices.constant(threads));
  body.indices.setRange(block, 0, INT32_MAX);
}
CudaKernel::~CudaKernel() = default;

Value CudaKernel::pointer(KernelBuffer buffer) {
  for (auto [i, known] : llvm::enumerate(buffers))
    if (known.kind == buffer.kind && known.index == buffer.index) return function.getArgument(i);
  buffers.push_back(buffer);
  return function.getBody().front().insertArgument(buffers.size() - 1,
                                                   LLVM::LLVMPointerType::get(b.getContext(), globalSpace), loc);
}

Value CudaKernel::sizeArgument(graph::DimExpr expr) {
  graph::DimRange range =
      graph::rangeOf(expr, [&](StringRef name) { return graph::symbolRange(fusion.getOperation(), name); });
  bool fits = range.min > INT32_MIN && range.max < narrowLimit;
  tooWide |= narrow && !fits;
  bool asI32 = narrow && fits;
  sizes.push_back(expr);
  narrowSizes.push_back(asI32);
  Value value = function.getBody().front().addArgument(asI32 ? b.getI32Type() : b.getI64Type(), loc);
  OpBuilder entry(entryEnd);
  return arith::IndexCastOp::create(entry, loc, b.getIndexType(), value);
}

Value CudaKernel::address(Value base, Value linear, Type unit, unsigned space, int64_t &alignment) {
  IndexForm form = body.indices.formOf(linear);
  int64_t width = unit.getIntOrFloatBitWidth() / 8, step = form.constant, offset = form.constant;
  for (const IndexTerm &term : form.terms) step = std::gcd(step, term.coefficient);
  alignment = cudaBufferAlignment;
  while (step != 0 && alignment > width && (step * width) % alignment != 0) alignment /= 2;
  alignment = std::max(alignment, width);
  Type pointer = LLVM::LLVMPointerType::get(b.getContext(), space);
  auto flags = LLVM::GEPNoWrapFlags::inbounds;
  Value at = base;
  bool folds = offset > INT32_MIN && offset < INT32_MAX;
  if (!form.terms.empty() || !folds) {
    if (folds) form.constant = 0;
    // An index of the machine is negative only where a constant offset is taken away from it.
    Value variable = body.indices.materialize(form);
    Value number = arith::IndexCastOp::create(b, loc, narrow ? b.getI32Type() : b.getI64Type(), variable);
    at = LLVM::GEPOp::create(b, loc, pointer, unit, at, ArrayRef<LLVM::GEPArg>{number},
                             offset < 0 ? LLVM::GEPNoWrapFlags::none : flags);
  }
  if (folds && offset != 0)
    at = LLVM::GEPOp::create(b, loc, pointer, unit, at, ArrayRef<LLVM::GEPArg>{int32_t(offset)},
                             offset < 0 ? LLVM::GEPNoWrapFlags::none : flags);
  return at;
}

Value CudaKernel::loadAt(Value base, Value linear, Type element, unsigned space) {
  Type unit = memoryType(element);
  int64_t alignment;
  Value at = address(base, linear, unit, space, alignment);
  Value value = LLVM::LoadOp::create(b, loc, unit, at, alignment);
  if (element.isInteger(1))
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, value, arith::ConstantIntOp::create(b, loc, 0, 8));
  if (isa<FloatType>(element) && isa<IntegerType>(unit)) return arith::BitcastOp::create(b, loc, element, value);
  return value;
}
void CudaKernel::storeAt(Value base, Value linear, Value value, Type element, unsigned space) {
  Type unit = memoryType(element);
  if (element.isInteger(1))
    value = arith::ExtUIOp::create(b, loc, unit, value);
  else if (isa<FloatType>(element) && isa<IntegerType>(unit))
    value = arith::BitcastOp::create(b, loc, unit, value);
  int64_t alignment;
  Value at = address(base, linear, unit, space, alignment);
  LLVM::StoreOp::create(b, loc, value, at, alignment);
}

Value CudaKernel::load(KernelBuffer buffer, Value linear, Type element) {
  return loadAt(pointer(buffer), linear, element, globalSpace);
}
void CudaKernel::store(KernelBuffer buffer, Value linear, Value value, Type element) {
  storeAt(pointer(buffer), linear, value, element, globalSpace);
}
Value CudaKernel::loadInput(OpBuilder &, Location, unsigned input, Value linear, Type element) {
  auto read = [&] { return load({KernelBuffer::Input, input}, linear, element); };
  return onLoad ? onLoad(linear, element, read) : read();
}
void CudaKernel::storeResult(OpBuilder &, Location, unsigned result, Value linear, Value value, Type element) {
  store({KernelBuffer::Result, result}, linear, value, element);
}

Value CudaKernel::loadConstant(OpBuilder &, Location, graph::ConstantOp constant, Value linear, Type element) {
  Value &base = constants[constant];
  if (!base) {
    auto elements = cast<DenseElementsAttr>(constant.getValue());
    std::string bytes;
    unsigned stored = llvm::divideCeil(element.getIntOrFloatBitWidth(), 8);
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
    auto global = LLVM::GlobalOp::create(top, loc, type, /*isConstant=*/true, LLVM::Linkage::Private, name,
                                         top.getStringAttr(bytes), cudaBufferAlignment, globalSpace);
    globals.push_back(global);
    OpBuilder entry(entryEnd);
    base = LLVM::AddressOfOp::create(entry, loc, LLVM::LLVMPointerType::get(b.getContext(), globalSpace), name);
  }
  return loadAt(base, linear, element, globalSpace);
}

//===----------------------------------------------------------------------------------------------------------------===//
// Threads that work together
//===----------------------------------------------------------------------------------------------------------------===//

Value CudaKernel::sharedArray(Type element, int64_t count) {
  OpBuilder top(module.getBody(), module.getBody()->begin());
  std::string name = (function.getName() + "_shared" + llvm::Twine(globals.size())).str();
  auto type = LLVM::LLVMArrayType::get(memoryType(element), count);
  auto global = LLVM::GlobalOp::create(top, loc, type, /*isConstant=*/false, LLVM::Linkage::Internal, name, Attribute(),
                                       cudaBufferAlignment, sharedSpace);
  OpBuilder inside(b.getContext());
  inside.createBlock(&global.getInitializerRegion());
  LLVM::ReturnOp::create(inside, loc, LLVM::UndefOp::create(inside, loc, type).getResult());
  globals.push_back(global);
  OpBuilder entry(entryEnd);
  return LLVM::AddressOfOp::create(entry, loc, LLVM::LLVMPointerType::get(b.getContext(), sharedSpace), name);
}
Value CudaKernel::loadShared(Value array, Value linear, Type element) {
  return loadAt(array, linear, element, sharedSpace);
}
void CudaKernel::storeShared(Value array, Value linear, Value value, Type element) {
  storeAt(array, linear, value, element, sharedSpace);
}

void CudaKernel::barrier() { NVVM::BarrierOp::create(b, loc); }

Value CudaKernel::exchange(Value value, int64_t laneMask) {
  Type type = value.getType(), i32 = b.getI32Type(), i64 = b.getI64Type();
  unsigned width = type.getIntOrFloatBitWidth();
  auto constant = [&](int64_t number) { return arith::ConstantIntOp::create(b, loc, number, 32).getResult(); };
  auto move = [&](Value word) {
    return NVVM::ShflOp::create(b, loc, i32, constant(-1), word, constant(laneMask), constant(31), NVVM::ShflKind::bfly,
                                UnitAttr())
        ->getResult(0);
  };
  Value bits =
      isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, b.getIntegerType(width), value).getResult() : value;
  if (width == 64) {
    Value shift = arith::ConstantIntOp::create(b, loc, 32, 64);
    Value low = move(arith::TruncIOp::create(b, loc, i32, bits));
    Value high = move(arith::TruncIOp::create(b, loc, i32, arith::ShRUIOp::create(b, loc, bits, shift)));
    Value upper = arith::ShLIOp::create(b, loc, arith::ExtUIOp::create(b, loc, i64, high), shift);
    bits = arith::OrIOp::create(b, loc, upper, arith::ExtUIOp::create(b, loc, i64, low));
  } else if (width == 32) {
    bits = move(bits);
  } else {
    bits = arith::TruncIOp::create(b, loc, bits.getType(), move(arith::ExtUIOp::create(b, loc, i32, bits)));
  }
  return isa<FloatType>(type) ? arith::BitcastOp::create(b, loc, type, bits).getResult() : bits;
}

//===----------------------------------------------------------------------------------------------------------------===//
// Control flow and indices
//===----------------------------------------------------------------------------------------------------------------===//

void CudaKernel::loop(Value lower, Value upper, Value step, function_ref<void(Value)> emit, Value extent) {
  loopCarrying(
      lower, upper, step, {},
      [&](Value i, ValueRange) -> SmallVector<Value> {
        emit(i);
        return {};
      },
      extent);
}

SmallVector<Value> CudaKernel::loopCarrying(Value lower, Value upper, Value step, ValueRange initial,
                                            function_ref<SmallVector<Value>(Value, ValueRange)> emit, Value extent) {
  auto op = scf::ForOp::create(b, loc, lower, upper, step, initial);
  OpBuilder::InsertionGuard guard(b);
  if (initial.empty())
    b.setInsertionPoint(op.getBody()->getTerminator());
  else
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

void CudaKernel::when(Value condition, function_ref<void()> emit, function_ref<void()> otherwise) {
  if (!condition) return emit();
  auto branch = scf::IfOp::create(b, loc, condition, /*withElseRegion=*/bool(otherwise));
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenBlock()->getTerminator());
  emit();
  if (!otherwise) return;
  b.setInsertionPoint(branch.elseBlock()->getTerminator());
  otherwise();
}

Value CudaKernel::below(Value a, Value c) {
  auto known = body.indices.lessThan(a, c);
  if (known && *known) return {};
  return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, a, c);
}
Value CudaKernel::atMost(Value a, Value c) {
  auto known = body.indices.lessThan(c, a);
  if (known && !*known) return a;
  return arith::MinSIOp::create(b, loc, a, c);
}
Value CudaKernel::both(Value a, Value c) {
  if (!a || !c) return a ? a : c;
  return arith::AndIOp::create(b, loc, a, c);
}

Value CudaKernel::opaque(Value value, Value extent) {
  // A cast that folds away, so that the forms see a new atom.
  Type number = narrow ? b.getI32Type() : b.getI64Type();
  Value atom = arith::IndexCastOp::create(b, loc, b.getIndexType(), arith::IndexCastOp::create(b, loc, number, value));
  body.indices.setExtent(atom, extent);
  return atom;
}
Value CudaKernel::globalThread(Value extent) {
  Value size = body.indices.constant(threads);
  Value number = arith::AddIOp::create(b, loc, arith::MulIOp::create(b, loc, block, size), thread);
  body.indices.setExtent(number, extent);
  return number;
}
Value CudaKernel::probeIndex(Value extent) { return opaque(thread, extent); }

bool CudaKernel::hasLoops() {
  return function.walk([](scf::ForOp) { return WalkResult::interrupt(); }).wasInterrupted() ||
         function.walk([](scf::WhileOp) { return WalkResult::interrupt(); }).wasInterrupted();
}

KernelLaunch CudaKernel::finish() {
  b.setInsertionPointToEnd(&function.getBody().back());
  func::ReturnOp::create(b, loc);
  function.setFunctionType(b.getFunctionType(function.getBody().front().getArgumentTypes(), {}));
  for (auto [i, buffer] : llvm::enumerate(buffers)) {
    function.setArgAttr(i, LLVM::LLVMDialect::getAlignAttrName(), b.getI64IntegerAttr(cudaBufferAlignment));
    bool isShared = llvm::any_of(shared, [&](auto pair) {
      return (buffer.kind == KernelBuffer::Result && pair.first == buffer.index) ||
             (buffer.kind == KernelBuffer::Input && pair.second == buffer.index);
    });
    if (isShared) continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
    if (buffer.kind == KernelBuffer::Input)
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(), b.getUnitAttr());
  }
  KernelLaunch launch;
  launch.kernel = function.getName().str();
  launch.buffers = buffers;
  launch.sizes = sizes;
  launch.narrow = narrowSizes;
  launch.block = {threads, 1, 1};
  graph::DimExpr one = graph::DimExpr::constant(b.getContext(), 1);
  launch.grid = {one, one, one};
  return launch;
}
void CudaKernel::discard() {
  function.erase();
  for (Operation *global : globals) global->erase();
}

} // namespace stator::codegen
