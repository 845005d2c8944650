// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads that reduce one row together.
#ifndef STATOR_CODEGEN_TARGET_CUDA_ROWGROUP_H
#define STATOR_CODEGEN_TARGET_CUDA_ROWGROUP_H

#include "codegen/target/cuda/CudaTemplates.h"

namespace stator::codegen {

constexpr int64_t lanesPerWarp = 32;

/// `size` neighbouring threads: a power of two that divides the block's threads.
class RowGroup {
public:
  RowGroup(CudaKernel &kernel, int64_t size);
  /// Every thread's accumulators together, the same in all threads of the group. All threads of the block take part.
  llvm::SmallVector<mlir::Value> combine(Accumulators &acc, llvm::SmallVector<mlir::Value> own);

  CudaKernel &kernel;
  const int64_t size;
  mlir::Value number; // of the group in the block
  mlir::Value member; // of the thread in the group
};

/// How a thread of a group goes through a row of `length` elements: pieces of `width` neighbours, `size` pieces apart.
struct RowWalk {
  int64_t width = 1;
  /// Pieces of a thread where they are unrolled; the row has then constant length.
  std::optional<int64_t> unrolled;
  graph::DimExpr length;
};

/// Elements of 16 bytes of the narrowest full-domain input or result that divide the row; at most 8.
int64_t rowWidth(CudaRequest request, const FusionShape &shape);

/// acc's reductions over the part of the row that the thread walks.
llvm::SmallVector<mlir::Value> accumulateRow(RowGroup &group, const RowWalk &walk, Accumulators &acc,
                                             const Coordinates &at);
/// The full-domain results of the thread's part; stores where `inRange` (null: always).
void storeRow(RowGroup &group, const RowWalk &walk, const FusionShape &shape, const Coordinates &at,
              mlir::Value inRange);
/// The row results, by the threads for which `condition` holds.
void storeRowResults(CudaKernel &kernel, const FusionShape &shape, const Coordinates &at, mlir::Value condition);

/// The elements of full (or row) results at the places j, then their stores where `condition` holds.
void storeResultsAt(CudaKernel &kernel, const FusionShape &shape, const Coordinates &at,
                    llvm::ArrayRef<mlir::Value> places, bool full, mlir::Value condition);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_CUDA_ROWGROUP_H
