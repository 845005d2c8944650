// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel templates of the host. Each states its precondition; what it cannot take, it returns nullopt for, having
// emitted nothing, and the next candidate is asked. `pointwise` takes whatever elemental emission can express.
#ifndef STATOR_CODEGEN_TARGET_HOST_HOSTTEMPLATES_H
#define STATOR_CODEGEN_TARGET_HOST_HOSTTEMPLATES_H

#include "codegen/schedule/Domain.h"
#include "codegen/target/host/HostKernel.h"

namespace stator::codegen {

/// What templates share: the module that gets the functions, the fusion, its kernel's name.
struct HostRequest {
  mlir::ModuleOp module;
  graph::FusionOp fusion;
  std::string name;
  /// Lanes of f32 in a vector register.
  int64_t lanes = 8;
};

/// Every result element by itself: loops over the results' own dimensions, merged where all accesses stay linear, the
/// innermost one contiguous in the results. Results of several sizes take turns.
std::optional<LoweredFusion> lowerPointwise(HostRequest request);

/// Reductions over the innermost group, a row at a time; level by level, then the row's elements, then its row results.
/// Precondition: `shape.inner` is 1.
std::optional<LoweredFusion> lowerRows(HostRequest request, const FusionShape &shape);

/// Reductions over a group that is not innermost: blocks of columns with their accumulators on the stack.
std::optional<LoweredFusion> lowerColumns(HostRequest request, const FusionShape &shape);

/// Few rows, many elements: chunks of the reduced group in parallel, then their combination in chunk order, level by
/// level. The chunks do not depend on the number of threads. Precondition: constant sizes.
std::optional<LoweredFusion> lowerSplit(HostRequest request, const FusionShape &shape);

/// Prefix scans, sort and top-k, a line at a time; scatter and index_put by blocks of independent places; nonzero serially.
/// Precondition: the op is the fusion's only result.
std::optional<LoweredFusion> lowerLines(HostRequest request);
std::optional<LoweredFusion> lowerScatter(HostRequest request);
std::optional<LoweredFusion> lowerNonzero(HostRequest request);

/// Iterations that are worth a thread, for a loop body of `work` machine operations repeated `elements` times.
int64_t grainFor(int64_t work, graph::DimExpr elements);

} // namespace stator::codegen

#endif // STATOR_CODEGEN_TARGET_HOST_HOSTTEMPLATES_H
