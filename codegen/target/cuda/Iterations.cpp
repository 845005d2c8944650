// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lines and scatters on the GPU: a thread for each iteration.
#include "codegen/schedule/LineTemplates.h"
#include "codegen/schedule/ScatterTemplates.h"
#include "codegen/target/cuda/CudaTemplates.h"

using namespace mlir;

namespace stator::codegen {

namespace {
class ThreadIterations : public CudaKernel {
public:
  static constexpr int64_t scatterColumns = 1, threadsPerBlock = 128;
  explicit ThreadIterations(CudaRequest request) : CudaKernel(request, request.name, threadsPerBlock) {}

  void iterate(graph::DimExpr count, function_ref<void(Value)> emit) {
    Value size = body.size(count), i = globalThread(size);
    when(arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, i, size), [&] { emit(i); });
  }
  KernelLaunch finishIterations(graph::DimExpr count, graph::DimExpr) {
    KernelLaunch launch = finish();
    launch.grid[0] = graph::DimExpr::ceilDiv(count, graph::DimExpr::constant(b.getContext(), threadsPerBlock));
    return launch;
  }
  // Loops of one thread; what `parallel` tells is of no use here.
  void loop(Value lower, Value upper, function_ref<void(Value)> emit, bool /*parallel*/ = false, Value extent = {}) {
    CudaKernel::loop(lower, upper, body.indices.constant(1), emit, extent);
  }
  SmallVector<Value> loopCarrying(Value lower, Value upper, ValueRange initial,
                                  function_ref<SmallVector<Value>(Value, ValueRange)> emit, Value extent = {}) {
    return CudaKernel::loopCarrying(lower, upper, body.indices.constant(1), initial, emit, extent);
  }
};
} // namespace

std::optional<LoweredFusion> lowerCudaIterations(CudaRequest request) {
  std::optional<LoweredFusion> lowered = lowerLinesWith<ThreadIterations>(request);
  if (!lowered) lowered = lowerScatterWith<ThreadIterations>(request);
  if (!lowered) lowered = lowerNonzeroWith<ThreadIterations>(request);
  return lowered;
}

} // namespace stator::codegen
