// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that go along one dimension: prefix scans, sort, top-k. Lines along the dimension are independent: one iteration of
// the parallel domain is one line.
#include "codegen/target/host/HostTemplates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
/// A kernel over the lines of operand 0 along `dim`.
class LineKernel {
public:
  LineKernel(HostRequest request, Operation *op, int64_t dim)
      : kernel(request.module, request.name, request.fusion), body(kernel.body), forms(body.indices), s(body.s), b(kernel.b),
        loc(kernel.loc), op(op), x(op->getOperand(0)), context(op->getContext()) {
    SmallVector<DimExpr> dims = graph::dimsOf(x.getType());
    ArrayRef<DimExpr> all(dims);
    length = dims[dim];
    outer = graph::numElements(all.take_front(dim), context);
    inner = graph::numElements(all.drop_front(dim + 1), context);
    count = outer && inner ? DimExpr::mul(outer, inner) : DimExpr();
    element = cast<RankedTensorType>(x.getType()).getElementType();
  }

  std::optional<LoweredFusion> emit(StringRef name, function_ref<void(Value line)> line) {
    if (!count) return std::nullopt;
    kernel.loop(kernel.begin, kernel.end, line, false, body.size(count));
    if (body.failed()) {
      kernel.discard();
      return std::nullopt;
    }
    lowered.templateName = name.str();
    int64_t work = kernel.work();
    KernelLaunch launch = kernel.finish();
    launch.count = count;
    launch.grain = grainFor(work, length);
    lowered.launches.push_back(launch);
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
    Type type = cast<RankedTensorType>(op->getResult(result).getType()).getElementType();
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

  HostKernel kernel;
  BodyEmitter &body;
  IndexForms &forms;
  ScalarBuilder &s;
  OpBuilder &b;
  Location loc;
  Operation *op;
  Value x;
  MLIRContext *context;
  DimExpr length, outer, inner, count;
  Type element;
  LoweredFusion lowered;
};
} // namespace

std::optional<LoweredFusion> LineKernel::accumulate(bool product) {
  return emit("scan", [&](Value line) {
    Type wide = computeType(element);
    Scalar start = product ? s.constant(wide, 1) : wide.isInteger() || isa<IntegerType>(wide) ? s.integer(wide, 0) : s.constant(wide, -0.0);
    Value size = body.size(length);
    kernel.loopCarrying(forms.constant(0), size, {start.value}, [&](Value j, ValueRange carried) -> SmallVector<Value> {
      Scalar held{carried[0], wide}, next = body.widen(read(line, j));
      Scalar total = product ? s.mul(held, next) : s.add(held, next);
      write(0, line, j, size, total);
      return {total.value};
    });
  });
}

std::optional<LoweredFusion> LineKernel::extremum(bool smallest) {
  return emit("scan", [&](Value line) {
    Type wide = computeType(element), i64 = b.getI64Type();
    Value size = body.size(length);
    Scalar start = smallest ? s.highest(wide) : s.lowest(wide), zero = s.integer(i64, 0);
    kernel.loopCarrying(forms.constant(0), size, {start.value, zero.value}, [&](Value j, ValueRange carried) -> SmallVector<Value> {
      Scalar held{carried[0], wide}, position{carried[1], i64}, here = s.index(j);
      Scalar next = body.widen(read(line, j));
      // Equal elements move the position on; once NaN, only another NaN does. The first always counts.
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
std::optional<LoweredFusion> LineKernel::sort(DimExpr kept, bool descending) {
  DimExpr bytes = count ? DimExpr::mul(DimExpr::mul(count, length), DimExpr::constant(context, 16)) : DimExpr();
  if (!bytes) return std::nullopt;
  lowered.scratchBytes.push_back(bytes);
  KernelBuffer scratch{KernelBuffer::Scratch, 0};
  Type i64 = b.getI64Type();
  return emit("sort", [&](Value line) {
    Value size = body.size(length), zero = forms.constant(0), one = forms.constant(1);
    Value rows = forms.mul(line, forms.mul(size, forms.constant(2)));
    // Row 0 and row 1 take turns; `from` is the one that holds the order so far.
    auto at = [&](Value row, Value j) {
      return arith::AddIOp::create(b, loc, arith::AddIOp::create(b, loc, rows, arith::MulIOp::create(b, loc, row, size)), j).getResult();
    };
    auto position = [&](Value row, Value j) { return Scalar{kernel.load(scratch, at(row, j), i64), i64}; };
    auto key = [&](Scalar where) {
      Value j = s.toIndex(where);
      forms.setExtent(j, size);
      return body.widen(read(line, j));
    };
    kernel.loop(zero, size, [&](Value j) { kernel.store(scratch, at(zero, j), s.index(j).value, i64); });
    Type indexType = b.getIndexType();
    auto passes = scf::WhileOp::create(b, loc, TypeRange{indexType, indexType}, ValueRange{one, zero});
    {
      OpBuilder::InsertionGuard guard(b);
      Block *before = b.createBlock(&passes.getBefore(), {}, {indexType, indexType}, {loc, loc});
      Value more = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, before->getArgument(0), size);
      scf::ConditionOp::create(b, loc, more, before->getArguments());
      Block *after = b.createBlock(&passes.getAfter(), {}, {indexType, indexType}, {loc, loc});
      Value width = after->getArgument(0), from = after->getArgument(1), to = arith::SubIOp::create(b, loc, one, from);
      Value step = arith::AddIOp::create(b, loc, width, width);
      auto runs = scf::ForOp::create(b, loc, zero, size, step);
      {
        OpBuilder::InsertionGuard inner(b);
        b.setInsertionPoint(runs.getBody()->getTerminator());
        Value first = runs.getInductionVar();
        Value middle = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, first, width), size);
        Value end = arith::MinSIOp::create(b, loc, arith::AddIOp::create(b, loc, first, step), size);
        auto merge = scf::ForOp::create(b, loc, first, end, one, ValueRange{first, middle});
        b.setInsertionPointToStart(merge.getBody());
        Value i = merge.getRegionIterArgs()[0], j = merge.getRegionIterArgs()[1];
        auto below = [&](Value a, Value c) { return Scalar{arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, a, c), b.getI1Type()}; };
        Scalar haveLeft = below(i, middle), haveRight = below(j, end);
        // Read inside the runs whether or not they are used up; the flags decide.
        Value safeI = arith::MinSIOp::create(b, loc, i, arith::SubIOp::create(b, loc, middle, one));
        Value safeJ = arith::MinSIOp::create(b, loc, j, arith::SubIOp::create(b, loc, end, one));
        Scalar left = position(from, safeI), right = position(from, safeJ);
        Scalar leftKey = key(left), rightKey = key(right);
        Scalar rightFirst = descending ? less(leftKey, rightKey) : less(rightKey, leftKey);
        Scalar takeRight = s.bitAnd(haveRight, s.bitOr(rightFirst, s.logicalNot(haveLeft)));
        Scalar chosen = s.select(takeRight, right, left);
        kernel.store(scratch, at(to, merge.getInductionVar()), chosen.value, i64);
        Value nextI = arith::SelectOp::create(b, loc, takeRight.value, i, arith::AddIOp::create(b, loc, i, one));
        Value nextJ = arith::SelectOp::create(b, loc, takeRight.value, arith::AddIOp::create(b, loc, j, one), j);
        scf::YieldOp::create(b, loc, ValueRange{nextI, nextJ});
      }
      scf::YieldOp::create(b, loc, ValueRange{step, to});
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

std::optional<LoweredFusion> lowerLines(HostRequest request) {
  Operation *op = nullptr;
  for (Operation &inner : request.fusion.getBody().front().without_terminator())
    if (isa<graph::CumsumOp, graph::CumprodOp, graph::CummaxOp, graph::CumminOp, graph::SortOp, graph::TopkOp>(inner)) op = &inner;
  if (!op || op != request.fusion.getBody().front().getTerminator()->getPrevNode()) return std::nullopt;
  auto results = request.fusion.getBody().front().getTerminator()->getOperands();
  if (!llvm::equal(results, op->getResults())) return std::nullopt;
  int64_t dim = op->getAttrOfType<IntegerAttr>("dim").getInt();
  LineKernel kernel(request, op, dim);
  return llvm::TypeSwitch<Operation *, std::optional<LoweredFusion>>(op)
      .Case<graph::CumsumOp>([&](auto) { return kernel.accumulate(false); })
      .Case<graph::CumprodOp>([&](auto) { return kernel.accumulate(true); })
      .Case<graph::CummaxOp>([&](auto) { return kernel.extremum(false); })
      .Case<graph::CumminOp>([&](auto) { return kernel.extremum(true); })
      .Case<graph::SortOp>([&](auto sort) { return kernel.sort(kernel.length, sort.getDescending()); })
      .Case<graph::TopkOp>([&](auto topk) {
        return kernel.sort(DimExpr::constant(op->getContext(), topk.getK()), !topk.getSmallest());
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace stator::codegen
