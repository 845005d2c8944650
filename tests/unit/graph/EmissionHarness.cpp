// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/unit/graph/EmissionHarness.h"
#include "dialects/graph/Graph.h"
#include "dialects/graph/SymbolBinding.h"
#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/ExecutionEngine/ExecutionEngine.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "llvm/Support/TargetSelect.h"
#include <random>

using namespace mlir;

namespace stator::graph {

namespace {

/// Every tensor is a one-dimensional memref of its elements; bools are bytes. The last argument holds the sizes.
class Kernel : public ElementEmitter {
public:
  Kernel(OpBuilder &b, Operation *op, ArrayRef<HostTensor> inputs, const EvalEnv &env)
      : ElementEmitter(b, op->getLoc()), op(op), inputs(inputs), env(env) {}

  Scalar element(OpOperand &operand, ValueRange indices) override {
    unsigned number = operand.getOperandNumber();
    return {load(function.getArgument(number), linear(operand.get().getType(), indices), inputs[number].elementType),
            inputs[number].elementType};
  }
  Value size(DimExpr dim) override {
    if (auto value = dim.asConstant()) return index(*value);
    auto value = dim.evaluate([&](StringRef symbol) { return std::optional<int64_t>(env.symbols.lookup(symbol)); });
    auto *found = llvm::find(sizeExprs, dim);
    unsigned slot = found - sizeExprs.begin();
    if (found == sizeExprs.end()) {
      sizeExprs.push_back(dim);
      sizes.push_back(*value);
    }
    Value loaded = memref::LoadOp::create(s.b, s.loc, function.getArguments().back(), ValueRange{index(slot)});
    return arith::IndexCastOp::create(s.b, s.loc, s.b.getIndexType(), loaded);
  }

  Value linear(Type tensorType, ValueRange indices) {
    Value result = index(0);
    for (auto [d, i] : llvm::enumerate(indices)) result = add(mul(result, size(dimOf(tensorType, d))), i);
    return result;
  }
  Value load(Value memref, Value at, Type elementType) {
    Value value = memref::LoadOp::create(s.b, s.loc, memref, at);
    return elementType.isInteger(1) ? Value(arith::TruncIOp::create(s.b, s.loc, s.b.getI1Type(), value)) : value;
  }
  void store(Scalar value, Value memref, Value at) {
    Value stored =
        value.isBool() ? Value(arith::ExtUIOp::create(s.b, s.loc, s.b.getI8Type(), value.value)) : value.value;
    memref::StoreOp::create(s.b, s.loc, stored, memref, at);
  }

  /// Starts the function in `module`.
  void begin(ModuleOp module) {
    SmallVector<Type> types;
    auto add = [&](Type element) {
      Type stored = element.isInteger(1) ? s.b.getI8Type() : storageType(element);
      types.push_back(MemRefType::get({ShapedType::kDynamic}, stored));
    };
    for (Value operand : op->getOperands()) add(cast<RankedTensorType>(operand.getType()).getElementType());
    for (Type type : op->getResultTypes()) add(cast<RankedTensorType>(type).getElementType());
    add(s.b.getI64Type());
    s.b.setInsertionPointToEnd(module.getBody());
    function = func::FuncOp::create(s.b, s.loc, "kernel", s.b.getFunctionType(types, {}));
    function->setAttr("llvm.emit_c_interface", s.b.getUnitAttr());
    s.b.setInsertionPointToStart(function.addEntryBlock());
  }

  void emitResult(unsigned result) {
    OpBuilder::InsertionGuard guard(s.b);
    auto type = cast<RankedTensorType>(op->getResult(result).getType());
    SmallVector<Value> indices;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      auto loop = scf::ForOp::create(s.b, s.loc, index(0), size(dimOf(type, d)), index(1));
      s.b.setInsertionPointToStart(loop.getBody());
      indices.push_back(loop.getInductionVar());
    }
    Scalar value = s.cast(cast<ElementalOpInterface>(op).emitElement(*this, result, indices), type.getElementType());
    store(value, function.getArgument(op->getNumOperands() + result), linear(type, indices));
  }

  void emitTree(unsigned seed) {
    auto reduction = cast<ReductionOpInterface>(op);
    std::mt19937 random(seed);
    std::vector<SmallVector<Scalar>> parts{reduction.emitIdentity(s)};
    for (int64_t i = 0; i < inputs[0].size(); ++i)
      parts.push_back(
          reduction.emitLift(s, element(op->getOpOperand(0), ValueRange{index(i)}), s.integer(s.b.getI64Type(), i)));
    while (parts.size() > 1) {
      std::shuffle(parts.begin(), parts.end(), random);
      std::vector<SmallVector<Scalar>> next;
      for (size_t i = 0; i + 1 < parts.size(); i += 2) next.push_back(reduction.emitCombine(s, parts[i], parts[i + 1]));
      if (parts.size() % 2) next.push_back(parts.back());
      parts = std::move(next);
    }
    Type element = cast<RankedTensorType>(op->getResult(0).getType()).getElementType();
    store(s.cast(reduction.emitFinish(s, parts[0]), element), function.getArgument(1), index(0));
  }

  LogicalResult compileAndRun(ModuleOp module, MutableArrayRef<HostTensor> results) {
    func::ReturnOp::create(s.b, s.loc);
    if (failed(mlir::verify(module))) return failure();
    PassManager passes(module.getContext());
    passes.addPass(createSCFToControlFlowPass());
    passes.addPass(createConvertMathToLLVMPass());
    passes.addPass(createConvertMathToLibmPass());
    passes.addPass(createArithToLLVMConversionPass());
    passes.addPass(createFinalizeMemRefToLLVMConversionPass());
    passes.addPass(createConvertFuncToLLVMPass());
    passes.addPass(createConvertControlFlowToLLVMPass());
    passes.addPass(createReconcileUnrealizedCastsPass());
    if (failed(passes.run(module))) return failure();
    ExecutionEngineOptions options;
    options.jitCodeGenOptLevel = llvm::CodeGenOptLevel::None;
    auto engine = ExecutionEngine::create(module, options);
    if (!engine) {
      llvm::errs() << llvm::toString(engine.takeError()) << "\n";
      return failure();
    }
    struct Descriptor {
      const char *base, *aligned;
      int64_t offset, size, stride;
    };
    std::vector<Descriptor> descriptors;
    auto describe = [&](const char *data, int64_t size) { descriptors.push_back({data, data, 0, size, 1}); };
    for (const HostTensor &input : inputs) describe(input.data(), input.size());
    for (HostTensor &result : results) describe(result.mutableData(), result.size());
    describe(reinterpret_cast<const char *>(sizes.data()), int64_t(sizes.size()));
    std::vector<Descriptor *> pointers;
    for (Descriptor &descriptor : descriptors) pointers.push_back(&descriptor);
    SmallVector<void *> arguments;
    for (Descriptor *&pointer : pointers) arguments.push_back(&pointer);
    if (auto error = (*engine)->invokePacked("_mlir_ciface_kernel", arguments)) {
      llvm::errs() << llvm::toString(std::move(error)) << "\n";
      return failure();
    }
    return success();
  }

private:
  Operation *op;
  ArrayRef<HostTensor> inputs;
  const EvalEnv &env;
  func::FuncOp function;
  SmallVector<DimExpr> sizeExprs;
  std::vector<int64_t> sizes;
};

} // namespace

static FailureOr<SmallVector<HostTensor>> compute(func::FuncOp source, ArrayRef<HostTensor> inputs,
                                                  std::optional<unsigned> treeSeed) {
  MLIRContext *context = source.getContext();
  context->loadDialect<memref::MemRefDialect, cf::ControlFlowDialect, LLVM::LLVMDialect>();
  registerBuiltinDialectTranslation(*context);
  registerLLVMDialectTranslation(*context);
  llvm::InitializeNativeTarget();
  llvm::InitializeNativeTargetAsmPrinter();

  EvalEnv env;
  SmallVector<const HostTensor *> pointers;
  for (const HostTensor &input : inputs) pointers.push_back(&input);
  if (failed(bindSymbols(source, pointers, env))) return failure();
  Operation *op = &source.getBody().front().front();
  SmallVector<HostTensor> results;
  for (Type type : op->getResultTypes()) {
    SmallVector<int64_t> shape;
    for (DimExpr dim : dimsOf(type))
      shape.push_back(dim.evaluate([&](StringRef symbol) { return std::optional<int64_t>(env.symbols.lookup(symbol)); })
                          .value_or(-1));
    HostTensor &result = results.emplace_back(cast<RankedTensorType>(type).getElementType(), shape);
    if (result.size()) std::memset(result.mutableData(), 0xCD, result.bytes()); // Every element must be written.
  }
  OwningOpRef<ModuleOp> module = ModuleOp::create(source.getLoc());
  OpBuilder builder(context);
  Kernel kernel(builder, op, inputs, env);
  kernel.begin(*module);
  if (treeSeed)
    kernel.emitTree(*treeSeed);
  else
    for (unsigned r = 0; r < results.size(); ++r) kernel.emitResult(r);
  if (failed(kernel.compileAndRun(*module, results))) return failure();
  return results;
}

FailureOr<SmallVector<HostTensor>> emitAndRun(func::FuncOp function, ArrayRef<HostTensor> inputs) {
  return compute(function, inputs, std::nullopt);
}

FailureOr<HostTensor> emitTreeAndRun(func::FuncOp function, const HostTensor &input, unsigned seed) {
  auto results = compute(function, ArrayRef(input), seed);
  return failed(results) ? FailureOr<HostTensor>(failure()) : FailureOr<HostTensor>((*results)[0]);
}

} // namespace stator::graph
