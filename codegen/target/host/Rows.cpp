// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row reductions: for each row, one loop for each level of reductions, a loop for the full-domain results, the row results.
#include "codegen/target/host/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

std::optional<LoweredFusion> lowerRows(HostRequest request, const FusionShape &shape) {
  if (!shape.inner.isConstant(1)) return std::nullopt;
  HostKernel kernel(request.module, request.name, request.fusion);
  BodyEmitter &body = kernel.body;
  IndexForms &forms = body.indices;
  Value reduced = body.size(shape.reduced), rows = body.size(shape.rows), zero = forms.constant(0);
  StashPlan stash = planStash(kernel, shape);

  kernel.loop(
      kernel.begin, kernel.end,
      [&](Value row) {
        Coordinates at(body, shape, row, zero);
        for (auto [level, reductions] : llvm::enumerate(shape.levels)) {
          Accumulators acc(kernel.body, reductions);
          SmallVector<Value> last = kernel.loopCarrying(
              zero, reduced, acc.identities(), [&](Value j, ValueRange carried) {
                stash.recall(level, at, j);
                SmallVector<Value> next = acc.accumulate(carried, at, j);
                stash.keep(level, at, j);
                return next;
              });
          acc.define(last, at);
        }
        emitFullResults(kernel, shape, at, [&](Value j) { stash.recall(shape.levels.size(), at, j); });
        emitRowResults(kernel, shape, at);
      },
      false, rows);
  if (body.failed()) {
    kernel.discard();
    return std::nullopt;
  }
  LoweredFusion lowered;
  lowered.templateName = "rows";
  int64_t work = kernel.work();
  KernelLaunch launch = kernel.finish();
  launch.count = shape.rows;
  launch.grain = grainFor(work, shape.reduced);
  lowered.launches.push_back(launch);
  return lowered;
}

} // namespace stator::codegen
