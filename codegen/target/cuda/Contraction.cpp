// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products by tiles. A block computes a tile of the result; for each block of k its threads fill a tile of
// either factor in shared memory, and each thread updates its own small tile in registers:
//
//   for k0 in 0, depth, 2 depth, ...:
//     lhsTile[k][m], rhsTile[k][n] = factors (with whatever is fused before; 0 outside of the tensors)
//     for k in the tile: sums[i][j] += lhsTile[k][m_i] * rhsTile[k][n_j]
//   results = epilogue(sums)
//
// Products and sums are fused multiply-adds: one rounding instead of two.
#include "codegen/target/cuda/CudaTemplates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

namespace {
struct Tiling {
  /// Rows and columns of a thread and of the block; k's of a tile.
  int64_t threadRows, threadColumns, rows, columns, depth = 16;
  int64_t threads() const { return rows / threadRows * (columns / threadColumns); }
};

/// How memory holds a factor.
struct FactorLayout {
  /// Neighbours along k (else along rows or columns) lie side by side, or at least nearer together.
  bool alongK;
  /// They do lie side by side, for every access.
  bool dense;
};

class ContractionKernel {
public:
  ContractionKernel(CudaRequest request, const Contraction &c, const Tiling &t)
      : kernel(request, request.name, t.threads()), body(kernel.body), f(body.indices), b(kernel.b), loc(kernel.loc),
        c(c), t(t), request(request) {
    element = computeType(cast<RankedTensorType>(c.op->getResult(0).getType()).getElementType());
  }
  std::optional<KernelLaunch> emit();

private:
  using Factor = llvm::function_ref<Scalar(Value major, Value k)>;
  Value number(int64_t value) { return f.constant(value); }
  /// Fills `tile`[k][i] with the factor at (first + i, k0 + k), i below `size`; 0 from `extent` on.
  void fill(Value tile, int64_t size, Value first, DimExpr extent, Value k0, FactorLayout layout, Factor factor);
  void epilogue(Value batch, Value rowTile, Value columnTile, ValueRange sums);

  CudaKernel kernel;
  BodyEmitter &body;
  IndexForms &f;
  OpBuilder &b;
  Location loc;
  const Contraction &c;
  Tiling t;
  CudaRequest request;
  Type element;
  Value threadRow, threadColumn;
};
} // namespace

// Rows of tiles are padded so that stores of neighbouring k's fall into other banks, and stay aligned for 16-byte
// reads.
static constexpr int64_t padding = 4;

/// Emits the factor once at opaque indices and looks at what it reads.
static FactorLayout layoutOf(CudaRequest request, const Contraction &c, bool isLhs, bool usuallyAlongK) {
  CudaKernel probe(request, request.name, 32);
  IndexForms &f = probe.body.indices;
  auto index = [&](DimExpr size) {
    return size.isConstant(1) ? f.constant(0) : probe.probeIndex(probe.body.size(size));
  };
  Value batch = index(c.batch), k = index(c.k), major = index(isLhs ? c.m : c.n);
  isLhs ? c.lhs(probe.body, batch, major, k) : c.rhs(probe.body, batch, k, major);
  auto isDense = [&](Value along, DimExpr size) {
    if (size.isConstant(1)) return false;
    bool moves = false;
    for (auto &access : probe.body.accesses()) {
      auto stride = f.strideOf(access.linear, along);
      if (!stride || !(*stride == IndexForm{} || *stride == IndexForm{1, {}})) return false;
      moves |= *stride == IndexForm{1, {}};
    }
    return moves;
  };
  bool failed = probe.failed(), denseK = !failed && isDense(k, c.k),
       denseMajor = !failed && isDense(major, isLhs ? c.m : c.n);
  probe.discard();
  return {denseK || (usuallyAlongK && !denseMajor), denseK || denseMajor};
}

void ContractionKernel::fill(Value tile, int64_t size, Value first, DimExpr extent, Value k0, FactorLayout layout,
                             Factor factor) {
  // Neighbours that a thread takes together, so that they are one access.
  bool alongK = layout.alongK;
  auto along = (alongK ? c.k : extent).asConstant();
  int64_t width = layout.dense && along && *along > 0 && *along % 4 == 0 ? 4 : 1, depth = t.depth;
  int64_t pieces = size * depth / width, threads = t.threads();
  for (int64_t done = 0; done < pieces; done += threads) {
    Value e = f.add(kernel.thread, number(done)), i, k;
    if (!alongK) {
      i = f.mod(e, number(size / width));
      k = f.floorDiv(e, number(size / width));
    } else if (width == 1 || *along % 8 != 0) {
      i = f.floorDiv(e, number(depth / width));
      k = f.mod(e, number(depth / width));
    } else {
      // Half a warp takes one column of pieces: whole sectors are read, and the stores fall into different banks.
      i = f.add(f.mod(e, number(16)), f.mul(f.floorDiv(e, number(16 * depth / width)), number(16)));
      k = f.mod(f.floorDiv(e, number(16)), number(depth / width));
    }
    // Along the contiguous dimension these count pieces.
    int64_t majorStep = alongK ? 1 : width, depthStep = alongK ? width : 1;
    auto inside = [&](Value at, DimExpr bound, int64_t block, int64_t step) -> Value {
      auto known = bound.asConstant();
      if (known && *known % block == 0) return {};
      Value limit = step == 1 ? body.size(bound) : number(*known / step);
      return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, at, limit);
    };
    auto counted = [&](Value at, DimExpr bound, int64_t step) {
      f.setExtent(at, step == 1 ? body.size(bound) : number(*bound.asConstant() / step));
    };
    auto fillPiece = [&] {
      Value major = arith::AddIOp::create(b, loc, f.floorDiv(first, number(majorStep)), i);
      Value at = arith::AddIOp::create(b, loc, f.floorDiv(k0, number(depthStep)), k);
      Value condition = kernel.both(inside(major, extent, size, majorStep), inside(at, c.k, depth, depthStep));
      counted(major, extent, majorStep);
      counted(at, c.k, depthStep);
      auto neighbour = [&](Value piece, int64_t step, int64_t n) {
        return step == 1 ? piece : f.add(f.mul(piece, number(step)), number(n));
      };
      auto valuesThere = [&] {
        SmallVector<Value> values;
        for (int64_t n = 0; n < width; ++n)
          values.push_back(factor(neighbour(major, majorStep, n), neighbour(at, depthStep, n)).value);
        return values;
      };
      SmallVector<Value> values;
      if (condition) {
        SmallVector<Type> types(width, storageType(element));
        auto branch = scf::IfOp::create(b, loc, types, condition, /*addThenBlock=*/true, /*addElseBlock=*/true);
        OpBuilder::InsertionGuard guard(b);
        b.setInsertionPointToStart(branch.thenBlock());
        scf::YieldOp::create(b, loc, valuesThere());
        b.setInsertionPointToStart(branch.elseBlock());
        scf::YieldOp::create(b, loc, SmallVector<Value>(width, body.s.constant(element, 0).value));
        llvm::append_range(values, branch.getResults());
      } else {
        values = valuesThere();
      }
      for (auto [n, value] : llvm::enumerate(values)) {
        Value place = neighbour(i, majorStep, n), row = neighbour(k, depthStep, n);
        kernel.storeShared(tile, f.add(f.mul(row, number(size + padding)), place), value, element);
      }
    };
    Value takesPart = done + threads <= pieces
                          ? Value()
                          : arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, e, number(pieces)).getResult();
    kernel.when(takesPart, fillPiece);
  }
}

void ContractionKernel::epilogue(Value batch, Value rowTile, Value columnTile, ValueRange sums) {
  Value rows = body.size(c.m), columns = body.size(c.n), step = number(t.threadColumns);
  Value firstRow = f.add(f.mul(rowTile, number(t.rows)), f.mul(threadRow, number(t.threadRows)));
  Value piece = f.add(f.mul(columnTile, number(t.columns / t.threadColumns)), threadColumn);
  auto columnCount = c.n.asConstant();
  bool wholePieces = columnCount && *columnCount % t.threadColumns == 0;
  auto less = [&](Value x, Value y) {
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x, y).getResult();
  };
  auto store = [&](Value row, ArrayRef<Value> places, ArrayRef<Value> values) {
    SmallVector<std::tuple<unsigned, SmallVector<Value>, Scalar>> stores;
    for (auto [column, sum] : llvm::zip_equal(places, values)) {
      SmallVector<Value> at = c.resultIndex(body, batch, row, column);
      body.define(c.op->getResult(0), at, {sum, element});
      Value linear = f.linearize(at, body.sizes(c.op->getResult(0)));
      for (unsigned r = 0; r < request.fusion.getNumResults(); ++r) {
        // The result's element that this one becomes; where the two have other shapes, by its number.
        Value root = domainRoot(body.result(r));
        SmallVector<Value> index =
            root.getType() == c.op->getResult(0).getType() ? at : f.delinearize(linear, body.sizes(root));
        Scalar value = body.valueAt(root, index);
        stores.push_back({r, forwardIndex(body, root, body.result(r), index), value});
      }
    }
    for (unsigned r = 0; r < request.fusion.getNumResults(); ++r)
      for (auto &[number, at, value] : stores)
        if (number == r) body.store(r, at, value);
  };
  Value pieceInside = wholePieces ? less(piece, number(*columnCount / t.threadColumns)) : Value();
  Value wholePiece = wholePieces ? kernel.opaque(piece, number(*columnCount / t.threadColumns)) : piece;
  for (int64_t i = 0; i < t.threadRows; ++i) {
    Value row = kernel.opaque(f.add(firstRow, number(i)), rows), rowInside = less(row, rows);
    SmallVector<Value> values(sums.slice(i * t.threadColumns, t.threadColumns));
    if (wholePieces) {
      kernel.when(kernel.both(rowInside, pieceInside), [&] {
        SmallVector<Value> places;
        for (int64_t j = 0; j < t.threadColumns; ++j) places.push_back(f.add(f.mul(wholePiece, step), number(j)));
        store(row, places, values);
      });
      continue;
    }
    for (int64_t j = 0; j < t.threadColumns; ++j) {
      Value column = kernel.opaque(f.add(f.mul(piece, step), number(j)), columns);
      kernel.when(kernel.both(rowInside, less(column, columns)), [&] { store(row, {column}, {values[j]}); });
    }
  }
}

std::optional<KernelLaunch> ContractionKernel::emit() {
  MLIRContext *context = b.getContext();
  DimExpr rowTiles = DimExpr::ceilDiv(c.m, DimExpr::constant(context, t.rows));
  DimExpr columnTiles = DimExpr::ceilDiv(c.n, DimExpr::constant(context, t.columns));
  DimExpr tiles = DimExpr::mul(rowTiles, columnTiles), count = tiles ? DimExpr::mul(c.batch, tiles) : DimExpr();
  if (!count) {
    kernel.discard();
    return std::nullopt;
  }
  // Tiles of one row of tiles follow each other, and share its part of lhs in the cache.
  Value tile = kernel.opaque(kernel.block, body.size(count));
  Value columnTile = f.mod(tile, body.size(columnTiles)), rest = f.floorDiv(tile, body.size(columnTiles));
  Value rowTile = f.mod(rest, body.size(rowTiles)), batch = f.floorDiv(rest, body.size(rowTiles));
  Value firstRow = f.mul(rowTile, number(t.rows)), firstColumn = f.mul(columnTile, number(t.columns));
  int64_t across = t.columns / t.threadColumns;
  threadRow = f.floorDiv(kernel.thread, number(across));
  threadColumn = f.mod(kernel.thread, number(across));
  Value lhsTile = kernel.sharedArray(element, t.depth * (t.rows + padding));
  Value rhsTile = kernel.sharedArray(element, t.depth * (t.columns + padding));
  auto matmul = dyn_cast<graph::MatmulOp>(c.op);
  FactorLayout lhsLayout = layoutOf(request, c, true, !matmul || !matmul.getTransposeLhs()),
               rhsLayout = layoutOf(request, c, false, matmul && matmul.getTransposeRhs());

  SmallVector<Value> zeros(t.threadRows * t.threadColumns, body.s.constant(element, 0).value);
  SmallVector<Value> sums =
      kernel.loopCarrying(number(0), body.size(c.k), number(t.depth), zeros, [&](Value k0, ValueRange carried) {
        fill(lhsTile, t.rows, firstRow, c.m, k0, lhsLayout, [&](Value m, Value k) { return c.lhs(body, batch, m, k); });
        fill(rhsTile, t.columns, firstColumn, c.n, k0, rhsLayout,
             [&](Value n, Value k) { return c.rhs(body, batch, k, n); });
        kernel.barrier();
        SmallVector<Value> next(carried);
        for (int64_t k = 0; k < t.depth; ++k) {
          auto read = [&](Value from, int64_t size, Value which, int64_t n) {
            SmallVector<Value> values;
            for (int64_t i = 0; i < n; ++i)
              values.push_back(
                  kernel.loadShared(from, f.add(f.mul(which, number(n)), number(k * (size + padding) + i)), element));
            return values;
          };
          SmallVector<Value> x = read(lhsTile, t.rows, threadRow, t.threadRows),
                             y = read(rhsTile, t.columns, threadColumn, t.threadColumns);
          for (int64_t i = 0; i < t.threadRows; ++i)
            for (int64_t j = 0; j < t.threadColumns; ++j) {
              Value &sum = next[i * t.threadColumns + j];
              sum = math::FmaOp::create(b, loc, x[i], y[j], sum);
            }
        }
        kernel.barrier();
        return next;
      });
  epilogue(batch, rowTile, columnTile, sums);
  return finishLaunch(kernel, count);
}

std::optional<LoweredFusion> lowerCudaContraction(CudaRequest request, const Contraction &contraction) {
  Tiling tiling{4, 4, 64, 64};
  auto rows = contraction.m.asConstant(), columns = contraction.n.asConstant();
  if (rows && *rows <= 16)
    tiling = {1, 4, 16, 64};
  else if (columns && *columns <= 16)
    tiling = {4, 1, 64, 16};
  else if (rows && columns && *rows * *columns <= 128 * 128)
    tiling = {2, 2, 32, 32};
  auto launch = ContractionKernel(request, contraction, tiling).emit();
  if (!launch) return std::nullopt;
  LoweredFusion lowered;
  lowered.templateName = "tiles";
  lowered.launches.push_back(*launch);
  return lowered;
}

} // namespace stator::codegen
