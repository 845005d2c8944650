// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over a group that is not innermost: the lanes of a warp take neighbouring columns, so that memory is read
// in rows. Where the group is long, several warps share the columns and meet in shared memory.
#include "codegen/target/cuda/RowGroup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

std::optional<LoweredFusion> lowerCudaColumns(CudaRequest request, const FusionShape &shape) {
  MLIRContext *context = request.fusion.getContext();
  auto length = shape.reduced.asConstant();
  constexpr int64_t threads = 256, shortLength = 16;
  bool isShort = length && *length <= shortLength;
  int64_t shares = isShort ? 1 : 8, columns = threads / shares;
  DimExpr blocks = DimExpr::ceilDiv(shape.rows, DimExpr::constant(context, columns));

  CudaKernel kernel(request, request.name, threads);
  BodyEmitter &body = kernel.body;
  IndexForms &f = body.indices;
  Value rows = body.size(shape.rows), reduced = body.size(shape.reduced), width = f.constant(columns);
  Value column = f.mod(kernel.thread, width), share = f.floorDiv(kernel.thread, width);
  Value number = f.add(f.mul(kernel.block, width), column);
  Value inRange = arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::slt, number, rows);
  Value row = kernel.opaque(arith::MinSIOp::create(kernel.b, kernel.loc, number, f.sub(rows, f.constant(1))), rows);
  Value inner = body.size(shape.inner);
  Coordinates at(body, shape, f.floorDiv(row, inner), f.mod(row, inner));
  Value step = f.constant(shares);

  for (auto &reductions : shape.levels) {
    Accumulators acc(body, reductions);
    SmallVector<Value> own = acc.identities();
    if (isShort) {
      for (int64_t j = 0; j < *length; ++j) own = acc.accumulate(own, at, f.constant(j));
      acc.define(own, at);
      continue;
    }
    own = kernel.loopCarrying(share, reduced, step, own,
                              [&](Value j, ValueRange carried) { return acc.accumulate(carried, at, j); });
    SmallVector<Type> types(acc.types());
    SmallVector<Value> arrays;
    for (Type type : types) arrays.push_back(kernel.sharedArray(type, threads));
    for (auto [array, value, type] : llvm::zip_equal(arrays, own, types))
      kernel.storeShared(array, kernel.thread, value, type);
    kernel.barrier();
    for (int64_t s = 0; s < shares; ++s) {
      SmallVector<Value> part;
      Value place = f.add(column, f.constant(s * columns));
      for (auto [array, type] : llvm::zip_equal(arrays, types)) part.push_back(kernel.loadShared(array, place, type));
      own = s == 0 ? part : acc.combine(own, part);
    }
    acc.define(own, at);
  }
  if (llvm::is_contained(shape.fullDomain, true)) {
    if (isShort)
      for (int64_t j = 0; j < *length; ++j) storeResultsAt(kernel, shape, at, {f.constant(j)}, true, inRange);
    else
      kernel.loop(share, reduced, step, [&](Value j) { storeResultsAt(kernel, shape, at, {j}, true, inRange); });
  }
  if (llvm::is_contained(shape.fullDomain, false)) {
    Value first =
        isShort
            ? Value()
            : arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::eq, share, f.constant(0)).getResult();
    storeRowResults(kernel, shape, at, kernel.both(inRange, first));
  }
  auto launch = finishLaunch(kernel, blocks);
  if (!launch) return std::nullopt;
  LoweredFusion lowered;
  lowered.templateName = "columns";
  lowered.launches.push_back(*launch);
  return lowered;
}

} // namespace stator::codegen
