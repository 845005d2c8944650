// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One host kernel function while it is emitted: its buffers, sizes, loops and memory accesses.
//
//   func.func @name(%buffers: !llvm.ptr, %sizes: !llvm.ptr, %begin: i64, %end: i64)
//
// Pointers and sizes are loaded at the entry when they are first asked for, so a kernel takes only what it uses.
#ifndef STATOR_CODEGEN_TARGET_HOST_HOSTKERNEL_H
#define STATOR_CODEGEN_TARGET_HOST_HOSTKERNEL_H

#include "codegen/schedule/BodyEmitter.h"
#include "codegen/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace stator::codegen {

class HostKernel : public KernelMemory {
public:
  HostKernel(mlir::ModuleOp module, llvm::StringRef name, graph::FusionOp fusion);
  ~HostKernel() override;

  mlir::Value loadInput(mlir::OpBuilder &, mlir::Location, unsigned input, mlir::Value linear, mlir::Type element) override;
  void storeResult(mlir::OpBuilder &, mlir::Location, unsigned result, mlir::Value linear, mlir::Value value,
                   mlir::Type element) override;
  mlir::Value loadConstant(mlir::OpBuilder &, mlir::Location, graph::ConstantOp constant, mlir::Value linear,
                           mlir::Type element) override;
  mlir::Value sizeArgument(graph::DimExpr expr) override;

  /// Element `linear` of any buffer.
  mlir::Value load(KernelBuffer buffer, mlir::Value linear, mlir::Type element);
  void store(KernelBuffer buffer, mlir::Value linear, mlir::Value value, mlir::Type element);

  /// Room for `count` elements on the stack, aligned to a cache line. The ABI allows 256 KiB for all of a kernel.
  mlir::Value stackArray(mlir::Type element, int64_t count);
  /// Element of a stack array, in its memory form (bools are bytes).
  mlir::Value loadLocal(mlir::Value array, mlir::Value linear, mlir::Type element);
  void storeLocal(mlir::Value array, mlir::Value linear, mlir::Value value, mlir::Type element);

  /// for (i = lower; i < upper; ++i) body(i). `parallel`: no iteration touches what another one writes, as LLVM is told.
  /// `extent` bounds i where `upper` is not the best bound to reason with (upper = min(x, extent)).
  void loop(mlir::Value lower, mlir::Value upper, llvm::function_ref<void(mlir::Value)> body, bool parallel = false,
            mlir::Value extent = {});
  /// With carried values.
  llvm::SmallVector<mlir::Value>
  loopCarrying(mlir::Value lower, mlir::Value upper, mlir::ValueRange initial,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> body,
               mlir::Value extent = {});

  /// The iterations of this call, as `index` values.
  mlir::Value begin, end;

  /// States that result and input may be one buffer (their accesses are then not told to be disjoint).
  void mayShare(unsigned result, unsigned input) { shared.push_back({result, input}); }

  /// A rough number of machine operations that the function has in its text (a transcendental counts 8).
  int64_t work();
  /// An opaque index, for looking at access patterns with a kernel that will be discarded.
  mlir::Value probeIndex(mlir::Value extent);
  /// Forms of the indices that the function uses as numbers or compares, rather than as addresses.
  llvm::SmallVector<IndexForm> indicesUsedAsNumbers();

  /// Ends the function and gives the launch, whose domain the caller fills in.
  KernelLaunch finish();
  /// Throws the function away instead.
  void discard();

  mlir::OpBuilder b;
  mlir::Location loc;
  graph::FusionOp fusion;
  BodyEmitter body;

private:
  mlir::Value pointer(KernelBuffer buffer);
  mlir::Value address(mlir::Value base, mlir::Value linear, mlir::Type element);
  mlir::Value loadAt(mlir::Value address, mlir::Type element, int tag);
  void storeAt(mlir::Value address, mlir::Value value, mlir::Type element, int tag);
  void setAliasScopes();

  mlir::ModuleOp module;
  mlir::func::FuncOp function;
  mlir::Operation *entryEnd = nullptr; // entry code goes before it
  llvm::SmallVector<KernelBuffer> buffers;
  llvm::SmallVector<mlir::Value> pointers;
  llvm::SmallVector<graph::DimExpr> sizes;
  llvm::DenseMap<mlir::Operation *, mlir::Value> constants;
  llvm::SmallVector<mlir::Operation *> globals;
  llvm::SmallVector<std::pair<unsigned, unsigned>> shared;
  llvm::SmallVector<std::pair<mlir::Operation *, unsigned>> tagged; // memory op, buffer number
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_HOSTKERNEL_H
