// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The blocked contraction kernel. A task computes a tile of `tileRows` x `tileColumns` results:
//
//   for each block of `depth` of k:
//     copy rhs[k, n] into panels of `columns` columns, lhs[m, k] into panels of `rows` rows
//     for each pair of panels: rows x columns sums in registers, updated once for each k
//   epilogue over the tile
//
// After Goto and van de Geijn, "Anatomy of high-performance matrix multiplication", TOMS 34(3), 2008.
#include "codegen/target/host/Contraction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
struct Blocking {
  int64_t lanes, rows, vectors, depth = 256, rowPanels, columnPanels;
  int64_t columns() const { return lanes * vectors; }
  int64_t tileRows() const { return rows * rowPanels; }
  int64_t tileColumns() const { return columns() * columnPanels; }
};

class ContractionKernel {
public:
  ContractionKernel(HostRequest request, const Contraction &c, Blocking blocking, bool lhsAlongK, bool rhsAlongK)
      : kernel(request.module, request.name, request.fusion), body(kernel.body), forms(body.indices), b(kernel.b),
        loc(kernel.loc), c(c), blocking(blocking), lhsAlongK(lhsAlongK), rhsAlongK(rhsAlongK) {
    element = computeType(cast<RankedTensorType>(c.op->getResult(0).getType()).getElementType());
  }
  std::optional<LoweredFusion> emit(DimExpr tilesM, DimExpr tilesN, DimExpr count);

private:
  Value constant(int64_t value) { return forms.constant(value); }
  Value minimum(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }
  /// base + offset, known to lie below `extent`.
  Value within(Value base, Value offset, Value extent) {
    Value value = arith::AddIOp::create(b, loc, base, offset, arith::IntegerOverflowFlags::nsw);
    forms.setExtent(value, extent);
    return value;
  }
  Value localAddress(Value base, Value offset) {
    Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(), offset);
    return LLVM::GEPOp::create(b, loc, base.getType(), element, base, ArrayRef<LLVM::GEPArg>{index});
  }
  void packRhs(Value batch, Value n0, Value columns, Value k0, Value depth);
  void packLhs(Value batch, Value m0, Value rows, Value k0, Value depth);
  void microkernel(Value aPanel, Value bPanel, Value tile, Value depth, Value first);
  void epilogue(Value batch, Value m0, Value rows, Value n0, Value columns);

  HostKernel kernel;
  BodyEmitter &body;
  IndexForms &forms;
  OpBuilder &b;
  Location loc;
  const Contraction &c;
  Blocking blocking;
  Type element;
  bool lhsAlongK, rhsAlongK;
  Value packedA, packedB, tile, sizeM, sizeN, sizeK;
};
} // namespace

/// A kernel of its own, thrown away: does memory run along k?
static bool runsAlongK(HostRequest request, const Contraction &c, bool ofLhs) {
  HostKernel probe(request.module, request.name + "_probe", request.fusion);
  BodyEmitter &e = probe.body;
  Value batch = probe.probeIndex(e.size(c.batch)), m = probe.probeIndex(e.size(c.m)), n = probe.probeIndex(e.size(c.n)),
        k = probe.probeIndex(e.size(c.k));
  if (ofLhs) c.lhs(e, batch, m, k);
  else c.rhs(e, batch, k, n);
  bool along = false;
  for (auto &access : e.accesses()) {
    auto stride = e.indices.strideOf(access.linear, k);
    along |= stride && *stride == IndexForm{1, {}};
  }
  probe.discard();
  return along;
}

// Panels of rhs: [panel][k][column]; the loop that runs along memory is the inner one.
void ContractionKernel::packRhs(Value batch, Value n0, Value columns, Value k0, Value depth) {
  Value width = constant(blocking.columns());
  auto at = [&](Value k, Value j) {
    Value panel = forms.floorDiv(j, width), lane = forms.mod(j, width);
    Value place = forms.add(forms.mul(forms.add(forms.mul(panel, constant(blocking.depth)), k), width), lane);
    Scalar value = c.rhs(body, batch, within(k0, k, sizeK), within(n0, j, sizeN));
    kernel.storeLocal(packedB, place, value.value, element);
  };
  Value zero = constant(0), limit = constant(blocking.tileColumns());
  if (rhsAlongK) {
    kernel.loop(zero, columns, [&](Value j) { kernel.loop(zero, depth, [&](Value k) { at(k, j); }, true, constant(blocking.depth)); },
                false, limit);
    return;
  }
  // Whole panels, so that the innermost loop has neither division nor remainder.
  Value panels = forms.floorDiv(forms.add(columns, constant(blocking.columns() - 1)), width);
  kernel.loop(
      zero, depth,
      [&](Value k) {
        kernel.loop(
            zero, panels,
            [&](Value panel) {
              Value first = forms.mul(panel, width), left = minimum(forms.sub(columns, first), width);
              kernel.loop(
                  zero, left,
                  [&](Value lane) {
                    Value j = forms.add(first, lane);
                    Value place = forms.add(forms.mul(forms.add(forms.mul(panel, constant(blocking.depth)), k), width), lane);
                    Scalar value = c.rhs(body, batch, within(k0, k, sizeK), within(n0, j, sizeN));
                    kernel.storeLocal(packedB, place, value.value, element);
                  },
                  true, width);
            },
            false, constant(blocking.columnPanels));
      },
      false, constant(blocking.depth));
}

// Panels of lhs: [panel][k][row].
void ContractionKernel::packLhs(Value batch, Value m0, Value rows, Value k0, Value depth) {
  Value height = constant(blocking.rows);
  auto at = [&](Value i, Value k) {
    Value panel = forms.floorDiv(i, height), lane = forms.mod(i, height);
    Value place = forms.add(forms.mul(forms.add(forms.mul(panel, constant(blocking.depth)), k), height), lane);
    Scalar value = c.lhs(body, batch, within(m0, i, sizeM), within(k0, k, sizeK));
    kernel.storeLocal(packedA, place, value.value, element);
  };
  Value zero = constant(0);
  auto overRows = [&](function_ref<void(Value)> f, bool inner) { kernel.loop(zero, rows, f, inner, constant(blocking.tileRows())); };
  auto overDepth = [&](function_ref<void(Value)> f, bool inner) { kernel.loop(zero, depth, f, inner, constant(blocking.depth)); };
  if (lhsAlongK) overRows([&](Value i) { overDepth([&](Value k) { at(i, k); }, true); }, false);
  else overDepth([&](Value k) { overRows([&](Value i) { at(i, k); }, true); }, false);
}

void ContractionKernel::microkernel(Value aPanel, Value bPanel, Value tileAt, Value depth, Value first) {
  auto vector = VectorType::get({blocking.lanes}, element);
  unsigned bytes = element.getIntOrFloatBitWidth() / 8;
  Value stride = constant(blocking.tileColumns());
  auto tileAddress = [&](int64_t row, int64_t v) {
    return localAddress(tileAt, forms.add(forms.mul(constant(row), stride), constant(v * blocking.lanes)));
  };
  SmallVector<Value> sums;
  Value zeros = arith::ConstantOp::create(b, loc, DenseElementsAttr::get(vector, FloatAttr::get(element, 0.0)));
  for (int64_t row = 0; row < blocking.rows; ++row)
    for (int64_t v = 0; v < blocking.vectors; ++v) {
      Value old = LLVM::LoadOp::create(b, loc, vector, tileAddress(row, v), bytes);
      sums.push_back(arith::SelectOp::create(b, loc, first, zeros, old));
    }
  SmallVector<Value> last = kernel.loopCarrying(
      constant(0), depth, sums,
      [&](Value k, ValueRange carried) {
        SmallVector<Value> right, next;
        for (int64_t v = 0; v < blocking.vectors; ++v)
          right.push_back(LLVM::LoadOp::create(
              b, loc, vector, localAddress(bPanel, forms.add(forms.mul(k, constant(blocking.columns())), constant(v * blocking.lanes))), bytes));
        for (int64_t row = 0; row < blocking.rows; ++row) {
          Value left = LLVM::LoadOp::create(b, loc, element, localAddress(aPanel, forms.add(forms.mul(k, constant(blocking.rows)), constant(row))), bytes);
          Value spread = LLVM::PoisonOp::create(b, loc, vector);
          spread = LLVM::InsertElementOp::create(b, loc, spread, left, LLVM::ConstantOp::create(b, loc, b.getI64Type(), b.getI64IntegerAttr(0)));
          SmallVector<int32_t> mask(blocking.lanes, 0);
          spread = LLVM::ShuffleVectorOp::create(b, loc, spread, spread, mask);
          for (int64_t v = 0; v < blocking.vectors; ++v)
            next.push_back(LLVM::FMAOp::create(b, loc, vector, spread, right[v], carried[row * blocking.vectors + v]));
        }
        return next;
      },
      constant(blocking.depth));
  for (int64_t row = 0; row < blocking.rows; ++row)
    for (int64_t v = 0; v < blocking.vectors; ++v)
      LLVM::StoreOp::create(b, loc, last[row * blocking.vectors + v], tileAddress(row, v), bytes);
}

void ContractionKernel::epilogue(Value batch, Value m0, Value rows, Value n0, Value columns) {
  Value zero = constant(0);
  kernel.loop(
      zero, rows,
      [&](Value i) {
        Value m = within(m0, i, sizeM);
        kernel.loop(
            zero, columns,
            [&](Value j) {
              Value n = within(n0, j, sizeN);
              Value sum = kernel.loadLocal(tile, forms.add(forms.mul(i, constant(blocking.tileColumns())), j), element);
              Value result = c.op->getResult(0);
              SmallVector<Value> at = c.resultIndex(body, batch, m, n);
              body.define(result, at, {sum, element});
              Value linear = forms.linearize(at, body.sizes(result));
              SmallVector<std::tuple<unsigned, SmallVector<Value>, Scalar>> stores;
              for (unsigned r = 0; r < kernel.fusion.getNumResults(); ++r) {
                Value root = domainRoot(body.result(r));
                SmallVector<Value> index = forms.delinearize(linear, body.sizes(root));
                Scalar value = body.valueAt(root, index);
                stores.push_back({r, forwardIndex(body, root, body.result(r), index), value});
              }
              for (auto &[r, index, value] : stores) body.store(r, index, value);
            },
            true, constant(blocking.tileColumns()));
      },
      false, constant(blocking.tileRows()));
}

std::optional<LoweredFusion> ContractionKernel::emit(DimExpr tilesM, DimExpr tilesN, DimExpr count) {
  sizeM = body.size(c.m);
  sizeN = body.size(c.n);
  sizeK = body.size(c.k);
  packedA = kernel.stackArray(element, blocking.tileRows() * blocking.depth);
  packedB = kernel.stackArray(element, blocking.tileColumns() * blocking.depth);
  tile = kernel.stackArray(element, blocking.tileRows() * blocking.tileColumns());
  Value countM = body.size(tilesM), countN = body.size(tilesN), zero = constant(0), depthLimit = constant(blocking.depth);
  kernel.loop(
      kernel.begin, kernel.end,
      [&](Value p) {
        SmallVector<Value> at = forms.delinearize(p, {body.size(c.batch), countM, countN});
        Value batch = at[0];
        forms.setExtent(batch, body.size(c.batch));
        Value m0 = forms.mul(at[1], constant(blocking.tileRows())), n0 = forms.mul(at[2], constant(blocking.tileColumns()));
        Value rows = minimum(forms.sub(sizeM, m0), constant(blocking.tileRows()));
        Value columns = minimum(forms.sub(sizeN, n0), constant(blocking.tileColumns()));
        forms.setRange(rows, 1, blocking.tileRows());
        forms.setRange(columns, 1, blocking.tileColumns());
        Value rowPanels = forms.floorDiv(forms.add(rows, constant(blocking.rows - 1)), constant(blocking.rows));
        Value columnPanels = forms.floorDiv(forms.add(columns, constant(blocking.columns() - 1)), constant(blocking.columns()));
        // At least one round, so that k = 0 gives zeros.
        Value rounds = arith::MaxSIOp::create(b, loc, forms.floorDiv(forms.add(sizeK, constant(blocking.depth - 1)), depthLimit), constant(1));
        kernel.loop(zero, rounds, [&](Value round) {
          Value k0 = forms.mul(round, depthLimit), depth = minimum(forms.sub(sizeK, k0), depthLimit);
          forms.setRange(depth, 0, blocking.depth);
          packRhs(batch, n0, columns, k0, depth);
          packLhs(batch, m0, rows, k0, depth);
          Value first = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, round, zero);
          kernel.loop(zero, columnPanels, [&](Value jp) {
            kernel.loop(zero, rowPanels, [&](Value ip) {
              Value aPanel = localAddress(packedA, forms.mul(ip, constant(blocking.rows * blocking.depth)));
              Value bPanel = localAddress(packedB, forms.mul(jp, constant(blocking.columns() * blocking.depth)));
              Value tileAt = localAddress(tile, forms.add(forms.mul(ip, constant(blocking.rows * blocking.tileColumns())),
                                                          forms.mul(jp, constant(blocking.columns()))));
              microkernel(aPanel, bPanel, tileAt, depth, first);
            });
          });
        });
        epilogue(batch, m0, rows, n0, columns);
      },
      false, body.size(count));
  if (body.failed()) {
    kernel.discard();
    return std::nullopt;
  }
  LoweredFusion lowered;
  lowered.templateName = "contraction";
  KernelLaunch launch = kernel.finish();
  launch.count = count;
  launch.grain = 1;
  lowered.launches.push_back(launch);
  return lowered;
}

std::optional<LoweredFusion> lowerContraction(HostRequest request, const Contraction &c) {
  MLIRContext *context = request.fusion.getContext();
  Type element = computeType(cast<RankedTensorType>(c.op->getResult(0).getType()).getElementType());
  Blocking blocking;
  blocking.lanes = element.isF64() ? request.lanes / 2 : request.lanes;
  // Sums, a row of rhs and one spread element of lhs fit the registers (16 of AVX2, 32 of AVX-512).
  blocking.rows = request.lanes == 8 ? 6 : 12;
  blocking.vectors = 2;
  auto rows = c.m.asConstant();
  if (rows && *rows < blocking.rows) {
    blocking.rows = std::max<int64_t>(*rows, 1);
    blocking.vectors = blocking.rows <= 2 ? 4 : 2;
  }
  blocking.rowPanels = blocking.rows >= 6 ? 72 / blocking.rows : 1;
  blocking.columnPanels = std::max<int64_t>(1, 64 / blocking.columns());
  auto tiles = [&](DimExpr size, int64_t tile) { return DimExpr::ceilDiv(size, DimExpr::constant(context, tile)); };
  DimExpr tilesM = tiles(c.m, blocking.tileRows()), tilesN = tiles(c.n, blocking.tileColumns());
  DimExpr count = DimExpr::mul(c.batch, DimExpr::mul(tilesM, tilesN));
  if (!count) return std::nullopt;
  return ContractionKernel(request, c, blocking, runsAlongK(request, c, true), runsAlongK(request, c, false)).emit(tilesM, tilesN, count);
}

} // namespace stator::codegen
