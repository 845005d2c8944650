// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indexed writes. Places that differ outside of the indexed dimensions never meet, so those are the parallel domain, in
// blocks of adjacent ones; a block copies its part of x and applies its updates in row-major order.
//
// Kernel is what LineTemplates.h says, and Kernel::scatterColumns is the number of adjacent places of an iteration.
#ifndef STATOR_CODEGEN_SCHEDULE_SCATTERTEMPLATES_H
#define STATOR_CODEGEN_SCHEDULE_SCATTERTEMPLATES_H

#include "codegen/schedule/BodyEmitter.h"
#include "codegen/target/Target.h"
#include "dialects/graph/IndexEmission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace stator::codegen {
namespace scattering {
using namespace mlir;
using graph::DimExpr;

inline Scalar combine(ScalarBuilder &s, graph::ScatterMode mode, Scalar held, Scalar update) {
  switch (mode) {
  case graph::ScatterMode::Set: return update;
  case graph::ScatterMode::Add: return held.isBool() ? s.bitOr(held, update) : s.add(held, update);
  case graph::ScatterMode::Mul: return held.isBool() ? s.bitAnd(held, update) : s.mul(held, update);
  case graph::ScatterMode::Max: return s.maximum(held, update);
  case graph::ScatterMode::Min: return s.minimum(held, update);
  }
  return update;
}

/// x as outer x indexed x inner; updates as outer x positions x inner, where outer and inner may be smaller than x's.
struct ScatterShape {
  SmallVector<DimExpr> outer, indexed, inner, positions, updateOuter, updateInner;
};

/// One iteration is one outer index and a block of inner ones.
template <typename Kernel, typename Request>
std::optional<LoweredFusion>
emitScatter(Request request, Operation *op, Value x, Value updates, graph::ScatterMode mode, const ScatterShape &shape,
            function_ref<SmallVector<Value>(BodyEmitter &, ArrayRef<Value> outer, ArrayRef<Value> position,
                                            ArrayRef<Value> inner)>
                target) {
  MLIRContext *context = op->getContext();
  auto product = [&](ArrayRef<DimExpr> dims) { return graph::numElements(dims, context); };
  DimExpr outerCount = product(shape.outer), innerCount = product(shape.inner), indexedCount = product(shape.indexed),
          positionCount = product(shape.positions);
  if (!outerCount || !innerCount || !indexedCount || !positionCount) return std::nullopt;
  DimExpr blocks = DimExpr::ceilDiv(innerCount, DimExpr::constant(context, Kernel::scatterColumns));
  DimExpr count = DimExpr::mul(outerCount, blocks);
  if (!count) return std::nullopt;
  Kernel kernel(request);
  BodyEmitter &body = kernel.body;
  IndexForms &f = body.indices;
  OpBuilder &b = kernel.b;
  ScalarBuilder &s = body.s;
  auto sizesOf = [&](ArrayRef<DimExpr> dims) {
    SmallVector<Value> sizes;
    for (DimExpr dim : dims) sizes.push_back(body.size(dim));
    return sizes;
  };
  Type element = cast<RankedTensorType>(x.getType()).getElementType();
  auto join = [](std::initializer_list<ArrayRef<Value>> parts) {
    SmallVector<Value> all;
    for (ArrayRef<Value> part : parts) all.append(part.begin(), part.end());
    return all;
  };
  KernelBuffer out{KernelBuffer::Result, 0};
  kernel.iterate(count, [&](Value p) {
    Value zero = f.constant(0), blockCount = body.size(blocks), width = f.constant(Kernel::scatterColumns),
          innerSize = body.size(innerCount);
    SmallVector<Value> o = f.delinearize(f.floorDiv(p, blockCount), sizesOf(shape.outer));
    Value first = f.mul(f.mod(p, blockCount), width);
    Value columns = arith::MinSIOp::create(b, kernel.loc, f.sub(innerSize, first), width);
    auto overColumns = [&](bool parallel, function_ref<void(ArrayRef<Value>)> emit) {
      kernel.loop(
          zero, columns,
          [&](Value c) {
            Value column = arith::AddIOp::create(b, kernel.loc, first, c, arith::IntegerOverflowFlags::nsw);
            f.setExtent(column, innerSize);
            emit(f.delinearize(column, sizesOf(shape.inner)));
          },
          parallel, width);
    };
    kernel.loop(zero, body.size(indexedCount), [&](Value v) {
      overColumns(true, [&](ArrayRef<Value> i) {
        SmallVector<Value> at = join({o, f.delinearize(v, sizesOf(shape.indexed)), i});
        body.store(0, at, body.valueAt(x, at));
      });
    });
    kernel.loop(zero, body.size(positionCount), [&](Value t) {
      SmallVector<Value> position = f.delinearize(t, sizesOf(shape.positions));
      overColumns(false, [&](ArrayRef<Value> i) {
        // The updates may stop before x does.
        Value inside;
        auto require = [&](ArrayRef<Value> at, ArrayRef<DimExpr> have, ArrayRef<DimExpr> limit) {
          for (auto [index, all, some] : llvm::zip_equal(at, have, limit)) {
            if (all == some) continue;
            Value below = body.lessThan(index, body.size(some));
            inside = inside ? arith::AndIOp::create(b, kernel.loc, inside, below).getResult() : below;
          }
        };
        require(o, shape.outer, shape.updateOuter);
        require(i, shape.inner, shape.updateInner);
        auto apply = [&] {
          SmallVector<Value> at = target(body, o, position, i);
          Value linear = f.linearize(at, body.sizes(x));
          Scalar update = body.widen(body.valueAt(updates, join({o, position, i})));
          Scalar held = body.widen({kernel.load(out, linear, element), element});
          kernel.store(out, linear, s.cast(combine(s, mode, held, update), element).value, element);
        };
        if (!inside) return apply();
        auto branch = scf::IfOp::create(b, kernel.loc, inside, /*withElseRegion=*/false);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(branch.thenBlock()->getTerminator());
        apply();
      });
    });
  });
  if (kernel.failed()) {
    kernel.discard();
    return std::nullopt;
  }
  LoweredFusion lowered;
  lowered.templateName = "scatter";
  lowered.launches.push_back(kernel.finishIterations(count, indexedCount));
  return lowered;
}

} // namespace scattering

/// Precondition: the op is the fusion's only result.
template <typename Kernel, typename Request> std::optional<LoweredFusion> lowerScatterWith(Request request) {
  using namespace mlir;
  using namespace scattering;
  Operation *op = request.fusion.getBody().front().getTerminator()->getPrevNode();
  if (!op || request.fusion.getNumResults() != 1 ||
      request.fusion.getBody().front().getTerminator()->getOperand(0).getDefiningOp() != op)
    return std::nullopt;
  auto range = [](ArrayRef<DimExpr> dims, size_t from, size_t to) {
    return SmallVector<DimExpr>(dims.begin() + from, dims.begin() + to);
  };
  if (auto scatter = dyn_cast<graph::ScatterOp>(op)) {
    SmallVector<DimExpr> dims = graph::dimsOf(scatter.getX().getType()),
                         updates = graph::dimsOf(scatter.getIndices().getType());
    size_t dim = scatter.getDim(), rank = dims.size();
    ScatterShape shape;
    shape.outer = range(dims, 0, dim);
    shape.indexed = {dims[dim]};
    shape.inner = range(dims, dim + 1, rank);
    shape.updateOuter = range(updates, 0, dim);
    shape.positions = {updates[dim]};
    shape.updateInner = range(updates, dim + 1, rank);
    return emitScatter<Kernel>(request, op, scatter.getX(), scatter.getUpdates(), scatter.getMode(), shape,
                               [&](BodyEmitter &body, ArrayRef<Value> o, ArrayRef<Value> position, ArrayRef<Value> i) {
                                 SmallVector<Value> at(o), from(o);
                                 from.append(position.begin(), position.end());
                                 from.append(i.begin(), i.end());
                                 at.push_back(
                                     graph::emitWrapped(body, body.valueAt(scatter.getIndices(), from), dims[dim]));
                                 at.append(i.begin(), i.end());
                                 return at;
                               });
  }
  if (auto put = dyn_cast<graph::IndexPutOp>(op)) {
    SmallVector<DimExpr> dims = graph::dimsOf(put.getX().getType());
    size_t first = put.getDims().front(), last = put.getDims().back(), rank = dims.size();
    ScatterShape shape;
    shape.outer = shape.updateOuter = range(dims, 0, first);
    shape.indexed = range(dims, first, last + 1);
    shape.inner = shape.updateInner = range(dims, last + 1, rank);
    shape.positions = graph::dimsOf(put.getIndices()[0].getType());
    return emitScatter<Kernel>(request, op, put.getX(), put.getUpdates(), put.getMode(), shape,
                               [&](BodyEmitter &body, ArrayRef<Value> o, ArrayRef<Value> position, ArrayRef<Value> i) {
                                 SmallVector<Value> at(o);
                                 for (auto [tensor, dim] : llvm::zip_equal(put.getIndices(), put.getDims()))
                                   at.push_back(graph::emitWrapped(body, body.valueAt(tensor, position), dims[dim]));
                                 at.append(i.begin(), i.end());
                                 return at;
                               });
  }
  return std::nullopt;
}

/// The indices of elements that are not zero, one after the other: a serial kernel.
template <typename Kernel, typename Request> std::optional<LoweredFusion> lowerNonzeroWith(Request request) {
  using namespace mlir;
  using graph::DimExpr;
  auto op = dyn_cast_or_null<graph::NonzeroOp>(request.fusion.getBody().front().getTerminator()->getPrevNode());
  if (!op) return std::nullopt;
  Kernel kernel(request);
  BodyEmitter &body = kernel.body;
  IndexForms &f = body.indices;
  OpBuilder &b = kernel.b;
  ScalarBuilder &s = body.s;
  MLIRContext *context = op.getContext();
  SmallVector<Value> sizes = body.sizes(op.getX());
  Value rows = body.sizes(op.getResult())[0], rank = f.constant(sizes.size()), zero = f.constant(0);
  DimExpr elements = graph::numElements(graph::dimsOf(op.getX().getType()), context);
  if (!elements) {
    kernel.discard();
    return std::nullopt;
  }
  Type i64 = b.getI64Type();
  KernelBuffer out{KernelBuffer::Result, 0};
  DimExpr once = DimExpr::constant(context, 1);
  kernel.iterate(once, [&](Value) {
    kernel.loop(zero, f.mul(rows, rank),
                [&](Value i) { kernel.store(out, i, s.integer(i64, op.getFill()).value, i64); });
    kernel.loopCarrying(zero, body.size(elements), {zero}, [&](Value i, ValueRange carried) -> SmallVector<Value> {
      SmallVector<Value> at = f.delinearize(i, sizes);
      Scalar x = body.valueAt(op.getX(), at);
      Value counts = x.isFloat() ? s.ne(body.widen(x), s.constant(computeType(x.type), 0)).value
                                 : s.ne(x, s.integer(x.type, 0)).value;
      Value room = arith::CmpIOp::create(b, kernel.loc, arith::CmpIPredicate::slt, carried[0], rows);
      Value writes = arith::AndIOp::create(b, kernel.loc, counts, room);
      auto branch = scf::IfOp::create(b, kernel.loc, writes, /*withElseRegion=*/false);
      {
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPoint(branch.thenBlock()->getTerminator());
        Value start = arith::MulIOp::create(b, kernel.loc, carried[0], rank);
        for (auto [d, index] : llvm::enumerate(at))
          kernel.store(out, arith::AddIOp::create(b, kernel.loc, start, f.constant(d)), s.index(index).value, i64);
      }
      Value step = arith::SelectOp::create(b, kernel.loc, writes, f.constant(1), zero);
      return {arith::AddIOp::create(b, kernel.loc, carried[0], step)};
    });
  });
  if (kernel.failed()) {
    kernel.discard();
    return std::nullopt;
  }
  LoweredFusion lowered;
  lowered.templateName = "serial";
  lowered.launches.push_back(kernel.finishIterations(once, elements));
  return lowered;
}

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_SCATTERTEMPLATES_H
