// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel templates of the CUDA target. Each states its precondition; what it cannot take, it returns nullopt for,
// having emitted nothing, and the next candidate is asked. `pointwise` takes whatever elemental emission can express.
#ifndef STATOR_CODEGEN_TARGET_CUDA_CUDATEMPLATES_H
#define STATOR_CODEGEN_TARGET_CUDA_CUDATEMPLATES_H

#include "codegen/schedule/Accumulators.h"
#include "codegen/schedule/Contraction.h"
#include "codegen/target/cuda/CudaKernel.h"

namespace stator::codegen {

/// Every result element by itself. A thread computes several neighbouring elements where that makes 16-byte accesses of
/// contiguous inputs and results. Results of several shapes take turns.
std::optional<LoweredFusion> lowerCudaPointwise(CudaRequest request);

/// Elementwise fusions that read an input along another dimension than the results': tiles through shared memory.
/// Precondition: results of one shape, some input so read.
std::optional<LoweredFusion> lowerCudaTranspose(CudaRequest request);

/// Reductions over the innermost group: a warp or a block for each row. Rows of constant length up to a few thousand
/// elements are read once and stay in registers for all levels and the results.
/// Precondition: `shape.inner` is 1.
std::optional<LoweredFusion> lowerCudaRows(CudaRequest request, const FusionShape &shape);

/// Reductions over a group that is not innermost: neighbouring lanes take neighbouring columns, several lanes share
/// one.
std::optional<LoweredFusion> lowerCudaColumns(CudaRequest request, const FusionShape &shape);

/// Few rows, many elements: for each level one launch reduces chunks and one combines them in chunk order. The chunks
/// depend on the sizes only. Precondition: constant sizes.
std::optional<LoweredFusion> lowerCudaSplit(CudaRequest request, const FusionShape &shape);

/// Sums of products by tiles in shared memory; a thread computes a small tile of the result in registers. Whatever is
/// fused before is computed when tiles are filled, whatever is fused after at the end.
std::optional<LoweredFusion> lowerCudaContraction(CudaRequest request, const Contraction &contraction);

/// Prefix scans, sort and top-k, a thread for each line; scatter and index_put, a thread for each place that no other
/// update meets; nonzero by one thread. Precondition: the op is the fusion's only result.
std::optional<LoweredFusion> lowerCudaIterations(CudaRequest request);

/// One thread or more for each element of the result: enough blocks, but not more than a grid that loops needs.
struct GridStride {
  graph::DimExpr blocks;
  bool loops;
};
GridStride gridStride(CudaRequest request, graph::DimExpr count, int64_t threads);

/// The kernel's launch with `blocks` as its grid, or nullopt and the kernel discarded where emission failed.
std::optional<KernelLaunch> finishLaunch(CudaKernel &kernel, graph::DimExpr blocks);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_CUDATEMPLATES_H
