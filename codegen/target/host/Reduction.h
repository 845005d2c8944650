// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the reduction templates of the host share.
#ifndef STATOR_CODEGEN_TARGET_HOST_REDUCTION_H
#define STATOR_CODEGEN_TARGET_HOST_REDUCTION_H

#include "codegen/schedule/Accumulators.h"
#include "codegen/target/host/HostTemplates.h"

namespace stator::codegen {

/// Values of the domain that are costly and wanted by several passes (exp(x - max) of a softmax): kept in a row on the
/// stack by the first pass and read back by the later ones.
class StashPlan {
public:
  struct Entry {
    mlir::Value value;
    size_t firstPass;
    mlir::Value array;
  };
  void keep(size_t pass, const Coordinates &at, mlir::Value j);
  void recall(size_t pass, const Coordinates &at, mlir::Value j);
  HostKernel *kernel = nullptr;
  llvm::SmallVector<Entry> entries;
};
StashPlan planStash(HostKernel &kernel, const FusionShape &shape);

/// for j: every full-domain result; `before(j)` runs first.
void emitFullResults(HostKernel &kernel, const FusionShape &shape, const Coordinates &at,
                     llvm::function_ref<void(mlir::Value)> before);
void emitRowResults(HostKernel &kernel, const FusionShape &shape, const Coordinates &at);
/// The element of full-domain (or row) result `r` and its store at one place.
void emitResultsAt(HostKernel &kernel, const FusionShape &shape, const Coordinates &at, mlir::Value j, bool full);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_REDUCTION_H
