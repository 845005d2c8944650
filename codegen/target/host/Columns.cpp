// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions over a group that is not innermost: a block of adjacent columns at a time, so that memory is read in rows.
// Accumulators and finished reductions of the block stand in small arrays on the stack.
#include "codegen/target/host/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static constexpr int64_t blockColumns = 64;

std::optional<LoweredFusion> lowerColumns(HostRequest request, const FusionShape &shape) {
  if (shape.inner.isConstant(1)) return std::nullopt;
  MLIRContext *context = request.fusion.getContext();
  DimExpr blocks = DimExpr::ceilDiv(shape.inner, DimExpr::constant(context, blockColumns));
  DimExpr count = DimExpr::mul(shape.outer, blocks);
  if (!count) return std::nullopt;

  HostKernel kernel(request.module, request.name, request.fusion);
  BodyEmitter &body = kernel.body;
  IndexForms &forms = body.indices;
  OpBuilder &b = kernel.b;
  Value reduced = body.size(shape.reduced), inner = body.size(shape.inner), blockCount = body.size(blocks);
  Value zero = forms.constant(0), width = forms.constant(blockColumns);

  // One array for each accumulator component, and one for each finished reduction.
  struct Level {
    SmallVector<Value> accumulators, results;
    SmallVector<Type> types;
  };
  SmallVector<Level> levels;
  auto resultType = [](Operation *op) { return cast<RankedTensorType>(op->getResult(0).getType()).getElementType(); };

  kernel.loop(
      kernel.begin, kernel.end,
      [&](Value p) {
        Value outer = forms.floorDiv(p, blockCount), first = forms.mul(forms.mod(p, blockCount), width);
        Value left = forms.sub(inner, first);
        Value columns = arith::MinSIOp::create(b, kernel.loc, left, width);
        forms.setRange(columns, 1, blockColumns);
        // Column c of the block, with the results of the levels before `level` known.
        auto columnLoop = [&](size_t level, bool parallel, function_ref<void(Value, Coordinates &)> emit) {
          kernel.loop(
              zero, columns,
              [&](Value c) {
                // The column's number has a range of its own: first + c < inner.
                Value column = arith::AddIOp::create(b, kernel.loc, first, c, arith::IntegerOverflowFlags::nsw);
                forms.setExtent(column, inner);
                Coordinates at(body, shape, outer, column);
                for (size_t k = 0; k < level; ++k) {
                  Accumulators acc(kernel.body, shape.levels[k]);
                  SmallVector<Scalar> known;
                  for (auto [op, array] : llvm::zip_equal(shape.levels[k], levels[k].results))
                    known.push_back({kernel.loadLocal(array, c, resultType(op)), resultType(op)});
                  acc.define(known, at);
                }
                emit(c, at);
              },
              parallel, columns);
        };
        for (auto [k, reductions] : llvm::enumerate(shape.levels)) {
          Accumulators acc(kernel.body, reductions);
          SmallVector<Value> identities = acc.identities();
          Level level;
          level.types.append(acc.types().begin(), acc.types().end());
          for (Type type : level.types) level.accumulators.push_back(kernel.stackArray(type, blockColumns));
          for (Operation *op : reductions) level.results.push_back(kernel.stackArray(resultType(op), blockColumns));
          levels.push_back(level);
          auto each = [&](function_ref<void(Value, Type, size_t)> f) {
            for (size_t i = 0; i < level.types.size(); ++i) f(level.accumulators[i], level.types[i], i);
          };
          kernel.loop(zero, columns, [&](Value c) {
            each([&](Value array, Type type, size_t i) { kernel.storeLocal(array, c, identities[i], type); });
          }, true);
          kernel.loop(zero, reduced, [&](Value j) {
            columnLoop(k, true, [&](Value c, Coordinates &at) {
              SmallVector<Value> carried;
              each([&](Value array, Type type, size_t) { carried.push_back(kernel.loadLocal(array, c, type)); });
              SmallVector<Value> next = acc.accumulate(carried, at, j);
              each([&](Value array, Type type, size_t i) { kernel.storeLocal(array, c, next[i], type); });
            });
          });
          columnLoop(k, true, [&](Value c, Coordinates &at) {
            SmallVector<Value> last;
            each([&](Value array, Type type, size_t) { last.push_back(kernel.loadLocal(array, c, type)); });
            for (auto [op, array, result] : llvm::zip_equal(reductions, level.results, acc.finish(last)))
              kernel.storeLocal(array, c, body.s.cast(result, resultType(op)).value, resultType(op));
          });
        }
        if (llvm::is_contained(shape.fullDomain, true))
          kernel.loop(zero, reduced, [&](Value j) {
            columnLoop(levels.size(), true, [&](Value, Coordinates &at) { emitResultsAt(kernel, shape, at, j, true); });
          });
        if (llvm::is_contained(shape.fullDomain, false))
          columnLoop(levels.size(), true, [&](Value, Coordinates &at) { emitResultsAt(kernel, shape, at, {}, false); });
      },
      false, body.size(count));
  if (body.failed()) {
    kernel.discard();
    return std::nullopt;
  }
  LoweredFusion lowered;
  lowered.templateName = "columns";
  int64_t work = kernel.work();
  KernelLaunch launch = kernel.finish();
  launch.count = count;
  DimExpr each = DimExpr::mul(shape.reduced, DimExpr::constant(context, blockColumns));
  launch.grain = grainFor(work, each ? each : shape.reduced);
  lowered.launches.push_back(launch);
  return lowered;
}

} // namespace stator::codegen
