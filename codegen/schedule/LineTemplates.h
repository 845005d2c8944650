// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that go along one dimension: prefix scans, sort, top-k. Lines along the dimension are independent: one iteration
// of the parallel domain is one line.
//
// Kernel is a target's kernel whose iterations are independent of each other:
//   Kernel(request)                 a function for the request's fusion; members b, loc, body, load, store, loop,
//   loopCarrying iterate(count, emit)            emit(i) for each 0 <= i < count finishIterations(count, each)   ends
//   the function; `each`: about how many elements an iteration handles discard()
#ifndef STATOR_CODEGEN_SCHEDULE_LINETEMPLATES_H
#define STATOR_CODEGEN_SCHEDULE_LINETEMPLATES_H

#include "codegen/schedule/BodyEmitter.h"
#include "codegen/target/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

namespace stator::codegen {

/// A kernel over the lines of operand 0 along `dim`.
template <typename Kernel, typename Request> class LineKernel {
  using DimExpr = graph::DimExpr;
  using Value = mlir::Value;
  using ValueRange = mlir::ValueRange;

public:
  LineKernel(Request request, mlir::Operation *op, int64_t dim)
      : kernel(request), body(kernel.body), forms(body.indices), s(body.s), b(kernel.b), loc(kernel.loc), op(op),
        x(op->getOperand(0)), context(op->getContext()) {
    llvm::SmallVector<DimExpr> dims = graph::dimsOf(x.getType());
    llvm::ArrayRef<DimExpr> all(dims);
    length = dims[dim];
    outer = graph::numElements(all.take_front(dim), context);
    inner = graph::numElements(all.drop_front(dim + 1), context);
    count = outer && inner ? DimExpr::mul(outer, inner) : DimExpr();
    element = llvm::cast<mlir::RankedTensorType>(x.getType()).getElementType();
  }

  std::optional<LoweredFusion> emit(llvm::StringRef name, llvm::function_ref<void(Value line)> line) {
    if (count) kernel.iterate(count, line);
    if (!count || kernel.failed()) {
      kernel.discard();
      return std::nullopt;
    }
    lowered.templateName = name.str();
    lowered.launches.push_back(kernel.finishIterations(count, length));
    return lowered;
  }
  /// The row-major number of element j of a line in a tensor whose lines have `size` elements.
  Value place(Value line, Value j, Value size) {
    Value i = body.size(inner), o = forms.floorDiv(line, i);
    return forms.add(forms.mul(forms.add(forms.mul(o, size), j), i), forms.mod(line, i));
  }
  Scalar read(Value line, Value j) {
    Value linear = place(line, j, body.size(length));
    return body.valueAt(x, forms.delinearize(linear, body.sizes(x)));
  }
  void write(unsigned result, Value line, Value j, Value size, Scalar value) {
    mlir::Type type = llvm::cast<mlir::RankedTensorType>(op->getResult(result).getType()).getElementType();
    kernel.store({KernelBuffer::Result, result}, place(line, j, size), s.cast(value, type).value, type);
  }
  /// a stands before c: NaN above everything.
  Scalar less(Scalar a, Scalar c) {
    Scalar smaller = s.lt(a, c);
    if (!a.isFloat()) return smaller;
    return s.bitOr(smaller, s.bitAnd(s.isNan(c), s.logicalNot(s.isNan(a))));
  }
  std::optional<LoweredFusion> sort(DimExpr kept, bool descending);
  std::optional<LoweredFusion> accumulate(bool product);
  std::optional<LoweredFusion> extremum(bool smallest);

  Kernel kernel;
  BodyEmitter &body;
  IndexForms &forms;
  ScalarBuilder &s;
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Operation *op;
  Value x;
  mlir::MLIRContext *context;
  DimExpr length, outer, inner, count;
  mlir::Type element;
  LoweredFusion lowered;
};

template <typename Kernel, typename Request>
std::optional<LoweredFusion> LineKernel<Kernel, Request>::accumulate(bool product) {
  return emit("scan", [&](Value line) {
    mlir::Type wide = computeType(element);
    Scalar start = product                                                  ? s.constant(wide, 1)
                   : wide.isInteger() || llvm::isa<mlir::IntegerType>(wide) ? s.integer(wide, 0)
                                                                            : s.constant(wide, -0.0);
    Value size = body.size(length);
    kernel.loopCarrying(forms.constant(0), size, {start.value},
                        [&](Value j, ValueRange carried) -> llvm::SmallVector<Value> {
                          Scalar held{carried[0], wide}, next = body.widen(read(line, j));
                          Scalar total = product ? s.mul(held, next) : s.add(held, next);
                          write(0, line, j, size, total);
                          return {total.value};
                        });
  });
}

template <typename Kernel, typename Request>
std::optional<LoweredFusion> LineKernel<Kernel, Request>::extremum(bool smallest) {
  return emit("scan", [&](Value line) {
    mlir::Type wide = computeType(element), i64 = b.getI64Type();
    Value size = body.size(length);
    Scalar start = smallest ? s.highest(wide) : s.lowest(wide), zero = s.integer(i64, 0);
    kernel.loopCarrying(forms.constant(0), size, {start.value, zero.value},
                        [&](Value j, ValueRange carried) -> llvm::SmallVector<Value> {
                          Scalar held{carried[0], wide}, position{carried[1], i64}, here = s.index(j);
                          Scalar next = body.widen(read(line, j));
                          // Equal elements move the position on; once NaN, only another NaN does. The first always
                          // counts.
                          Scalar wins = smallest ? s.le(next, held) : s.ge(next, held);
                          if (wide != element || next.isFloat()) wins = s.bitOr(wins, s.isNan(next));
                          wins = s.bitOr(wins, s.eq(here, zero));
                          Scalar best = s.select(wins, next, held), where = s.select(wins, here, position);
                          write(0, line, j, size, best);
                          write(1, line, j, size, where);
                          return {best.value, where.value};
                        });
  });
}

/// A stable merge sort of positions, bottom up, between two scratch rows.
template <typename Kernel, typename Request>
std::optional<LoweredFusion> LineKernel<Kernel, Request>::sort(DimExpr kept, bool descending) {
  DimExpr bytes = count ? DimExpr::mul(DimExpr::mul(count, length), DimExpr::constant(context, 16)) : DimExpr();
  if (!bytes) return std::nullopt;
  lowered.scratchBytes.push_back(bytes);
  KernelBuffer scratch{KernelBuffer::Scratch, 0};
  mlir::Type i64 = b.getI64Type();
  return emit("sort", [&](Value line) {
    Value size = body.size(length), zero = forms.constant(0), one = forms.constant(1);
    Value rows = forms.mul(line, forms.mul(size, forms.constant(2)));
    // Row 0 and row 1 take turns; `from` is the one that holds the order so far.
    auto at = [&](Value row, Value j) {
      return mlir::arith::AddIOp::create(
                 b, loc, mlir::arith::AddIOp::create(b, loc, rows, mlir::arith::MulIOp::create(b, loc, row, size)), j)
          .getResult();
    };
    auto position = [&](Value row, Value j) { return Scalar{kernel.load(scratch, at(row, j), i64), i64}; };
    auto key = [&](Scalar where) {
      Value j = s.toIndex(where);
      forms.setExtent(j, size);
      return body.widen(read(line, j));
    };
    kernel.loop(zero, size, [&](Value j) { kernel.store(scratch, at(zero, j), s.index(j).value, i64); });
    mlir::Type indexType = b.getIndexType();
    auto passes = mlir::scf::WhileOp::create(b, loc, mlir::TypeRange{indexType, indexType}, ValueRange{one, zero});
    {
      mlir::OpBuilder::InsertionGuard guard(b);
      mlir::Block *before = b.createBlock(&passes.getBefore(), {}, {indexType, indexType}, {loc, loc});
      Value more = mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt, before->getArgument(0), size);
      mlir::scf::ConditionOp::create(b, loc, more, before->getArguments());
      mlir::Block *after = b.createBlock(&passes.getAfter(), {}, {indexType, indexType}, {loc, loc});
      Value width = after->getArgument(0), from = after->getArgument(1),
            to = mlir::arith::SubIOp::create(b, loc, one, from);
      Value step = mlir::arith::AddIOp::create(b, loc, width, width);
      auto runs = mlir::scf::ForOp::create(b, loc, zero, size, step);
      {
        mlir::OpBuilder::InsertionGuard inner(b);
        b.setInsertionPoint(runs.getBody()->getTerminator());
        Value first = runs.getInductionVar();
        Value middle = mlir::arith::MinSIOp::create(b, loc, mlir::arith::AddIOp::create(b, loc, first, width), size);
        Value end = mlir::arith::MinSIOp::create(b, loc, mlir::arith::AddIOp::create(b, loc, first, step), size);
        auto merge = mlir::scf::ForOp::create(b, loc, first, end, one, ValueRange{first, middle});
        b.setInsertionPointToStart(merge.getBody());
        Value i = merge.getRegionIterArgs()[0], j = merge.getRegionIterArgs()[1];
        auto below = [&](Value a, Value c) {
          return Scalar{mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt, a, c), b.getI1Type()};
        };
        Scalar haveLeft = below(i, middle), haveRight = below(j, end);
        // Read inside the runs whether or not they are used up; the flags decide.
        Value safeI = mlir::arith::MinSIOp::create(b, loc, i, mlir::arith::SubIOp::create(b, loc, middle, one));
        Value safeJ = mlir::arith::MinSIOp::create(b, loc, j, mlir::arith::SubIOp::create(b, loc, end, one));
        Scalar left = position(from, safeI), right = position(from, safeJ);
        Scalar leftKey = key(left), rightKey = key(right);
        Scalar rightFirst = descending ? less(leftKey, rightKey) : less(rightKey, leftKey);
        Scalar takeRight = s.bitAnd(haveRight, s.bitOr(rightFirst, s.logicalNot(haveLeft)));
        Scalar chosen = s.select(takeRight, right, left);
        kernel.store(scratch, at(to, merge.getInductionVar()), chosen.value, i64);
        Value nextI =
            mlir::arith::SelectOp::create(b, loc, takeRight.value, i, mlir::arith::AddIOp::create(b, loc, i, one));
        Value nextJ =
            mlir::arith::SelectOp::create(b, loc, takeRight.value, mlir::arith::AddIOp::create(b, loc, j, one), j);
        mlir::scf::YieldOp::create(b, loc, ValueRange{nextI, nextJ});
      }
      mlir::scf::YieldOp::create(b, loc, ValueRange{step, to});
    }
    Value row = passes.getResult(1), keptSize = body.size(kept);
    kernel.loop(zero, keptSize, [&](Value j) {
      Scalar where = position(row, j);
      Value index = s.toIndex(where);
      forms.setExtent(index, size);
      write(0, line, j, keptSize, read(line, index));
      write(1, line, j, keptSize, where);
    });
  });
}

/// Precondition: the op is the fusion's only result.
template <typename Kernel, typename Request> std::optional<LoweredFusion> lowerLinesWith(Request request) {
  using graph::DimExpr;
  using mlir::Operation;
  mlir::Operation *op = nullptr;
  for (mlir::Operation &inner : request.fusion.getBody().front().without_terminator())
    if (llvm::isa<graph::CumsumOp, graph::CumprodOp, graph::CummaxOp, graph::CumminOp, graph::SortOp, graph::TopkOp>(
            inner))
      op = &inner;
  if (!op || op != request.fusion.getBody().front().getTerminator()->getPrevNode()) return std::nullopt;
  auto results = request.fusion.getBody().front().getTerminator()->getOperands();
  if (!llvm::equal(results, op->getResults())) return std::nullopt;
  int64_t dim = op->getAttrOfType<mlir::IntegerAttr>("dim").getInt();
  LineKernel<Kernel, Request> kernel(request, op, dim);
  if (llvm::isa<graph::CumsumOp>(op)) return kernel.accumulate(false);
  if (llvm::isa<graph::CumprodOp>(op)) return kernel.accumulate(true);
  if (llvm::isa<graph::CummaxOp>(op)) return kernel.extremum(false);
  if (llvm::isa<graph::CumminOp>(op)) return kernel.extremum(true);
  if (auto sort = llvm::dyn_cast<graph::SortOp>(op)) return kernel.sort(kernel.length, sort.getDescending());
  auto topk = llvm::cast<graph::TopkOp>(op);
  return kernel.sort(DimExpr::constant(op->getContext(), topk.getK()), !topk.getSmallest());
}

} // namespace stator::codegen

#endif // STATOR_CODEGEN_SCHEDULE_LINETEMPLATES_H
