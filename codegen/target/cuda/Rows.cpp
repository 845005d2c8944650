// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Row reductions. A row of constant length is unrolled over its threads: each thread's elements, and what was computed
// from them, are then values of straight-line code, which BodyEmitter finds again in later levels and in the results,
// so memory is read once. Longer rows, and rows of symbolic length, are read once for each level.
#include "codegen/target/cuda/RowGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
struct RowPlan {
  int64_t group, threads;
  RowWalk walk;
};
} // namespace

static RowPlan planRows(CudaRequest request, const FusionShape &shape) {
  // What a thread may keep in registers, for one full-domain value.
  constexpr int64_t mostElements = 16, mostThreads = 512, ordinaryThreads = 128;
  RowPlan plan;
  plan.walk.length = shape.reduced;
  plan.walk.width = rowWidth(request, shape);
  if (auto length = shape.reduced.asConstant()) {
    int64_t pieces = llvm::divideCeil(*length, plan.walk.width),
            each = std::max<int64_t>(1, mostElements / plan.walk.width);
    // Within a warp the threads are as many as there are pieces; beyond, each takes several.
    plan.group = std::min<int64_t>(lanesPerWarp, llvm::PowerOf2Ceil(std::max<int64_t>(pieces, 1)));
    while (plan.group < mostThreads && plan.group * each < pieces) plan.group *= 2;
    if (plan.group * each >= pieces) plan.walk.unrolled = llvm::divideCeil(pieces, plan.group);
  } else {
    graph::DimRange range =
        graph::rangeOf(shape.reduced, [&](StringRef name) { return graph::symbolRange(request.fusion, name); });
    plan.group = range.max <= 1024 ? lanesPerWarp : 256;
  }
  plan.threads = std::max(plan.group, ordinaryThreads);
  return plan;
}

std::optional<LoweredFusion> lowerCudaRows(CudaRequest request, const FusionShape &shape) {
  if (!shape.inner.isConstant(1)) return std::nullopt;
  MLIRContext *context = request.fusion.getContext();
  RowPlan plan = planRows(request, shape);
  int64_t rowsPerBlock = plan.threads / plan.group;
  DimExpr blocks = DimExpr::ceilDiv(shape.rows, DimExpr::constant(context, rowsPerBlock));

  CudaKernel kernel(request, request.name, plan.threads);
  BodyEmitter &body = kernel.body;
  IndexForms &f = body.indices;
  RowGroup group(kernel, plan.group);
  Value rows = body.size(shape.rows), row = f.add(f.mul(kernel.block, f.constant(rowsPerBlock)), group.number), inRange;
  // Threads without a row go along on the last one: barriers and shuffles need them.
  auto known = shape.rows.asConstant();
  if (rowsPerBlock > 1 && (!known || *known % rowsPerBlock != 0)) {
    inRange = arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::slt, row, rows);
    row = arith::MinSIOp::create(kernel.b, kernel.loc, row, f.sub(rows, f.constant(1)));
  }
  row = kernel.opaque(row, rows);
  Coordinates at(body, shape, row, f.constant(0));
  for (auto &reductions : shape.levels) {
    Accumulators acc(body, reductions);
    SmallVector<Value> own = accumulateRow(group, plan.walk, acc, at);
    acc.define(group.combine(acc, own), at);
  }
  storeRow(group, plan.walk, shape, at, inRange);
  if (llvm::is_contained(shape.fullDomain, false)) {
    Value first = plan.group == 1 ? Value()
                                  : arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::eq, group.member,
                                                          f.constant(0))
                                        .getResult();
    storeRowResults(kernel, shape, at, kernel.both(inRange, first));
  }
  auto launch = finishLaunch(kernel, blocks);
  if (!launch) return std::nullopt;
  LoweredFusion lowered;
  lowered.templateName = plan.group > lanesPerWarp ? "rows by block" : "rows by warp";
  lowered.launches.push_back(*launch);
  return lowered;
}

} // namespace stator::codegen
