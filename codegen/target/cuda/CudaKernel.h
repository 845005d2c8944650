// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One CUDA kernel while it is emitted: parameters, threads, shared memory, memory accesses.
//
//   func.func @name(%buffer: !llvm.ptr<1>..., %size: i32 or i64...) attributes {nvvm.kernel, nvvm.reqntid}
//
// Blocks are one-dimensional. A buffer or size becomes a parameter when it is first asked for. `index` is 32 bits wide
// in a narrow kernel: every element count is then known to be below narrowLimit.
//
// Neighbouring elements are addressed as one base and constant offsets, and every access carries the alignment that
// follows from its index form; LLVM's load-store vectoriser makes 16-byte accesses of that.
#ifndef STATOR_CODEGEN_TARGET_CUDA_CUDAKERNEL_H
#define STATOR_CODEGEN_TARGET_CUDA_CUDAKERNEL_H

#include "codegen/schedule/BodyEmitter.h"
#include "codegen/target/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include <functional>

namespace stator::codegen {

/// Bytes to which every buffer is aligned: arenas and weights are, callers' tensors are copied where they are not.
constexpr int64_t cudaBufferAlignment = 16;

/// What templates share: the module that gets the functions, the fusion, its kernel's name.
struct CudaRequest {
  mlir::ModuleOp module;
  graph::FusionOp fusion;
  std::string name;
  /// 32-bit indices.
  bool narrow = false;
};

class CudaKernel : public KernelMemory {
public:
  static constexpr int64_t narrowLimit = int64_t(1) << 29;

  CudaKernel(CudaRequest request, llvm::StringRef name, int64_t threads);
  ~CudaKernel() override;

  mlir::Value loadInput(mlir::OpBuilder &, mlir::Location, unsigned input, mlir::Value linear,
                        mlir::Type element) override;
  void storeResult(mlir::OpBuilder &, mlir::Location, unsigned result, mlir::Value linear, mlir::Value value,
                   mlir::Type element) override;
  mlir::Value loadConstant(mlir::OpBuilder &, mlir::Location, graph::ConstantOp constant, mlir::Value linear,
                           mlir::Type element) override;
  mlir::Value sizeArgument(graph::DimExpr expr) override;

  /// Element `linear` of any buffer.
  mlir::Value load(KernelBuffer buffer, mlir::Value linear, mlir::Type element);
  void store(KernelBuffer buffer, mlir::Value linear, mlir::Value value, mlir::Type element);

  /// Shared memory of `count` elements.
  mlir::Value sharedArray(mlir::Type element, int64_t count);
  mlir::Value loadShared(mlir::Value array, mlir::Value linear, mlir::Type element);
  void storeShared(mlir::Value array, mlir::Value linear, mlir::Value value, mlir::Type element);
  /// All threads of the block; none may have returned.
  void barrier();
  /// The value of the lane whose number differs from this one's in `laneMask`; all lanes of the warp take part.
  mlir::Value exchange(mlir::Value value, int64_t laneMask);

  /// for (i = lower; i < upper; i += step) body(i). `extent` bounds i where it is not `upper`.
  void loop(mlir::Value lower, mlir::Value upper, mlir::Value step, llvm::function_ref<void(mlir::Value)> emit,
            mlir::Value extent = {});
  llvm::SmallVector<mlir::Value>
  loopCarrying(mlir::Value lower, mlir::Value upper, mlir::Value step, mlir::ValueRange initial,
               llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value, mlir::ValueRange)> emit,
               mlir::Value extent = {});
  /// if (condition) emit(); else otherwise(). A null condition is true.
  void when(mlir::Value condition, llvm::function_ref<void()> emit, llvm::function_ref<void()> otherwise = {});
  /// a < c as an i1, null where it is known to hold.
  mlir::Value below(mlir::Value a, mlir::Value c);
  /// min(a, c) where that is not known to be a.
  mlir::Value atMost(mlir::Value a, mlir::Value c);
  mlir::Value both(mlir::Value a, mlir::Value c);

  /// An index of its own: `value` is taken for one number with 0 <= number < extent, however it was computed.
  mlir::Value opaque(mlir::Value value, mlir::Value extent);
  /// block * threads + thread, as an opaque index below `extent`.
  mlir::Value globalThread(mlir::Value extent);
  /// An opaque index, for looking at access patterns with a kernel that will be discarded.
  mlir::Value probeIndex(mlir::Value extent);

  /// Whether the text holds loops.
  bool hasLoops();
  /// Whether a size may exceed what a narrow kernel can hold; the request must then be repeated with wide indices.
  bool isTooWide() const { return tooWide; }

  /// States that result and input may be one buffer.
  void mayShare(unsigned result, unsigned input) { shared.push_back({result, input}); }

  /// Ends the function and gives the launch; the caller fills in the grid.
  KernelLaunch finish();
  /// Throws the function away instead.
  void discard();
  bool failed() const { return body.failed() || tooWide; }

  mlir::OpBuilder b;
  mlir::Location loc;
  graph::FusionOp fusion;
  BodyEmitter body;
  const int64_t threads;
  /// Where set, answers the body's reads of inputs; `load` emits the read from memory.
  std::function<mlir::Value(mlir::Value linear, mlir::Type element, llvm::function_ref<mlir::Value()> load)> onLoad;
  mlir::Value thread, block; // index

private:
  mlir::Value pointer(KernelBuffer buffer);
  mlir::Value address(mlir::Value base, mlir::Value linear, mlir::Type unit, unsigned space, int64_t &alignment);
  mlir::Value loadAt(mlir::Value base, mlir::Value linear, mlir::Type element, unsigned space);
  void storeAt(mlir::Value base, mlir::Value linear, mlir::Value value, mlir::Type element, unsigned space);

  mlir::ModuleOp module;
  bool narrow, tooWide = false;
  mlir::func::FuncOp function;
  mlir::Operation *entryEnd = nullptr; // entry code goes before it
  llvm::SmallVector<KernelBuffer> buffers;
  llvm::SmallVector<graph::DimExpr> sizes;
  llvm::SmallVector<bool> narrowSizes;
  llvm::DenseMap<mlir::Operation *, mlir::Value> constants;
  llvm::SmallVector<mlir::Operation *> globals;
  llvm::SmallVector<std::pair<unsigned, unsigned>> shared;
};

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_CUDAKERNEL_H
