// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise fusions that read an input along another dimension than they write. A block takes a tile of 32 x 32
// places over the two dimensions. First its threads go along the input's dimension and put what they read into shared
// memory; then they go along the result's and compute, with those reads answered from there.
//
// The first half is the body emitted at the input's order, of which only the reads are used; LLVM removes the rest.
#include "codegen/target/cuda/CudaTemplates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static constexpr int64_t tileSize = 32, tileRows = 8, pitch = tileSize + 1;

/// The dimension along which some input is contiguous while the results' innermost one jumps in it.
static std::optional<unsigned> turnedDimension(CudaRequest request, ArrayRef<DimExpr> dims, unsigned last) {
  CudaKernel probe(request, request.name, tileSize * tileRows);
  IndexForms &f = probe.body.indices;
  SmallVector<Value> at;
  for (DimExpr dim : dims) at.push_back(dim.isConstant(1) ? f.constant(0) : probe.probeIndex(probe.body.size(dim)));
  for (unsigned r = 0; r < request.fusion.getNumResults(); ++r) probe.body.valueAt(probe.body.result(r), at);
  std::optional<unsigned> turned;
  int64_t tiles = 0;
  bool fits = !probe.failed() && !probe.hasLoops();
  auto small = [&](unsigned d) { return dims[d].asConstant().value_or(tileSize) < tileSize / 2; };
  for (auto &access : probe.body.accesses()) {
    auto along = f.strideOf(access.linear, at[last]);
    if (!fits || !along || *along == IndexForm{} || *along == IndexForm{1, {}}) continue;
    for (unsigned d = 0; d < dims.size(); ++d) {
      if (d == last || dims[d].isConstant(1) || small(d) || (turned && *turned != d)) continue;
      auto stride = f.strideOf(access.linear, at[d]);
      if (!stride || !(*stride == IndexForm{1, {}})) continue;
      turned = d;
      ++tiles;
    }
  }
  probe.discard();
  if (!fits || small(last) || tiles > 4) return std::nullopt;
  return turned;
}

std::optional<LoweredFusion> lowerCudaTranspose(CudaRequest request) {
  auto results = request.fusion.getBody().front().getTerminator()->getOperands();
  if (results.empty()) return std::nullopt;
  SmallVector<DimExpr> dims = graph::dimsOf(results[0].getType());
  for (Value result : results)
    if (graph::dimsOf(result.getType()) != dims) return std::nullopt;
  std::optional<unsigned> last;
  for (unsigned d = 0; d < dims.size(); ++d)
    if (!dims[d].isConstant(1)) last = d;
  if (!last) return std::nullopt;
  auto turned = turnedDimension(request, dims, *last);
  if (!turned) return std::nullopt;

  MLIRContext *context = request.fusion.getContext();
  DimExpr tile = DimExpr::constant(context, tileSize), blocks = DimExpr::constant(context, 1);
  SmallVector<DimExpr> tiledDims = dims;
  tiledDims[*turned] = DimExpr::ceilDiv(dims[*turned], tile);
  tiledDims[*last] = DimExpr::ceilDiv(dims[*last], tile);
  for (DimExpr dim : tiledDims) {
    blocks = DimExpr::mul(blocks, dim);
    if (!blocks) return std::nullopt;
  }

  CudaKernel kernel(request, request.name, tileSize * tileRows);
  BodyEmitter &body = kernel.body;
  IndexForms &f = body.indices;
  SmallVector<Value> sizes;
  for (DimExpr dim : tiledDims) sizes.push_back(body.size(dim));
  SmallVector<Value> base = f.delinearize(kernel.opaque(kernel.block, body.size(blocks)), sizes);
  Value lane = f.mod(kernel.thread, f.constant(tileSize)), row = f.floorDiv(kernel.thread, f.constant(tileSize));
  Value turnedSize = body.size(dims[*turned]), lastSize = body.size(dims[*last]);

  /// Emits the body at place (i, j) of the tile, i along the turned dimension; reads of turned inputs go through
  /// `answer` with their number.
  auto emitAt = [&](Value i, Value j, function_ref<Value(size_t, Type, function_ref<Value()>)> answer, bool stores) {
    Value x = kernel.opaque(f.add(f.mul(base[*turned], f.constant(tileSize)), i), turnedSize);
    Value y = kernel.opaque(f.add(f.mul(base[*last], f.constant(tileSize)), j), lastSize);
    auto below = [&](Value a, Value c) {
      return arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::slt, a, c).getResult();
    };
    kernel.when(kernel.both(below(x, turnedSize), below(y, lastSize)), [&] {
      SmallVector<Value> at(base);
      at[*turned] = x;
      at[*last] = y;
      size_t reads = 0;
      kernel.onLoad = [&](Value linear, Type element, function_ref<Value()> load) -> Value {
        auto stride = f.strideOf(f.formOf(linear), x), along = f.strideOf(f.formOf(linear), y);
        bool isTurned =
            stride && *stride == IndexForm{1, {}} && along && !(*along == IndexForm{}) && !(*along == IndexForm{1, {}});
        return isTurned ? answer(reads++, element, load) : load();
      };
      SmallVector<Scalar> values;
      for (unsigned r = 0; r < results.size(); ++r) values.push_back(body.valueAt(body.result(r), at));
      kernel.onLoad = nullptr;
      if (stores)
        for (unsigned r = 0; r < results.size(); ++r) body.store(r, at, values[r]);
    });
  };
  SmallVector<Value> tiles;
  SmallVector<Type> types;
  auto place = [&](Value i, Value j) { return f.add(f.mul(i, f.constant(pitch)), j); };
  for (int64_t k = 0; k < tileSize; k += tileRows) {
    Value i = lane, j = f.add(row, f.constant(k));
    emitAt(
        i, j,
        [&](size_t number, Type element, function_ref<Value()> load) {
          if (number == tiles.size()) {
            tiles.push_back(kernel.sharedArray(element, tileSize * pitch));
            types.push_back(element);
          }
          Value value = load();
          kernel.storeShared(tiles[number], place(i, j), value, element);
          return value;
        },
        false);
  }
  kernel.barrier();
  for (int64_t k = 0; k < tileSize; k += tileRows) {
    Value i = f.add(row, f.constant(k)), j = lane;
    emitAt(
        i, j,
        [&](size_t number, Type element, function_ref<Value()> load) {
          // The same text reads the same number of times.
          if (number >= tiles.size() || types[number] != element) return load();
          return kernel.loadShared(tiles[number], place(i, j), element);
        },
        true);
  }
  auto launch = finishLaunch(kernel, blocks);
  if (!launch) return std::nullopt;
  LoweredFusion lowered;
  lowered.templateName = "transpose";
  lowered.launches.push_back(*launch);
  return lowered;
}

} // namespace stator::codegen
