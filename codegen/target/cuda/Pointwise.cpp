// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/cuda/CudaTemplates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static constexpr int64_t threadsPerBlock = 256;

GridStride gridStride(CudaRequest request, DimExpr count, int64_t threads) {
  // Far more blocks than any device runs at once; beyond, blocks take several turns.
  constexpr int64_t mostBlocks = int64_t(1) << 20;
  MLIRContext *context = count.getContext();
  DimExpr blocks = DimExpr::ceilDiv(count, DimExpr::constant(context, threads));
  graph::DimRange range =
      graph::rangeOf(count, [&](StringRef name) { return graph::symbolRange(request.fusion, name); });
  bool loops = range.max / threads >= mostBlocks;
  if (loops) blocks = DimExpr::min(blocks, DimExpr::constant(context, mostBlocks));
  return {blocks, loops};
}

std::optional<KernelLaunch> finishLaunch(CudaKernel &kernel, DimExpr blocks) {
  if (kernel.failed() || !blocks) {
    kernel.discard();
    return std::nullopt;
  }
  KernelLaunch launch = kernel.finish();
  launch.grid[0] = blocks;
  return launch;
}

namespace {
struct PointwisePlan {
  /// Neighbouring elements of the innermost dimension, for each thread.
  int64_t width = 1;
  SmallVector<std::pair<unsigned, unsigned>> mayShare;
};
} // namespace

/// Emits the body once at an opaque index and looks at what it reads.
static std::optional<PointwisePlan> planPointwise(CudaRequest request, ArrayRef<DimExpr> dims,
                                                  ArrayRef<unsigned> results) {
  CudaKernel probe(request, request.name, threadsPerBlock);
  IndexForms &forms = probe.body.indices;
  SmallVector<Value> at, sizes;
  for (DimExpr dim : dims) {
    sizes.push_back(probe.body.size(dim));
    at.push_back(dim.isConstant(1) ? forms.constant(0) : probe.probeIndex(sizes.back()));
  }
  for (unsigned r : results) probe.body.valueAt(probe.body.result(r), at);
  IndexForm written = forms.formOf(forms.linearize(at, sizes));
  PointwisePlan plan;
  auto bytesOf = [](Value v) { return int64_t(elementBytes(cast<RankedTensorType>(v.getType()).getElementType())); };
  MLIRContext *context = request.fusion.getContext();
  DimExpr count = graph::numElements(dims, context);
  if (probe.failed() || !count) {
    probe.discard();
    return std::nullopt;
  }

  // One access of 16 bytes for the narrowest element; elements that come from loops are work enough for a thread.
  int64_t narrowest = 16;
  for (unsigned r : results) narrowest = std::min(narrowest, bytesOf(probe.body.result(r)));
  bool contiguous = true;
  std::optional<size_t> last;
  for (size_t d = 0; d < dims.size(); ++d)
    if (!dims[d].isConstant(1)) last = d;
  for (auto &access : probe.body.accesses()) {
    if (!last) break;
    auto stride = forms.strideOf(access.linear, at[*last]);
    bool same = stride && *stride == IndexForm{}, next = stride && *stride == IndexForm{1, {}};
    contiguous &= same || next;
    if (next) narrowest = std::min(narrowest, bytesOf(request.fusion.getInputs()[access.input]));
  }
  if (last && contiguous && !probe.hasLoops()) {
    int64_t width = std::clamp<int64_t>(16 / narrowest, 1, 8);
    // Large bodies are not multiplied by eight.
    while (width > 1 && width * probe.body.emittedElements() > 512) width /= 2;
    auto rowLength = dims[*last].asConstant(), total = count.asConstant();
    // Rows must start where vectors do. Where every access is the written one, the tensor is one row.
    bool oneRow = llvm::all_of(probe.body.accesses(), [&](auto &access) { return access.linear == written; });
    if (rowLength) {
      int64_t fitting = width;
      while (*rowLength % fitting != 0) fitting /= 2;
      plan.width = fitting;
    }
    if (oneRow && plan.width < width) plan.width = width;
    // Few elements are spread over threads instead.
    while (plan.width > 1 && total && *total / plan.width < 8192) plan.width /= 2;
  }

  for (unsigned r : results)
    for (unsigned input = 0; input < request.fusion.getInputs().size(); ++input) {
      if (bytesOf(probe.body.result(r)) != bytesOf(request.fusion.getInputs()[input])) continue;
      if (graph::numElements(graph::dimsOf(request.fusion.getInputs()[input].getType()), context) != count) continue;
      bool same = llvm::all_of(probe.body.accesses(),
                               [&](auto &access) { return access.input != input || access.linear == written; });
      if (same) plan.mayShare.push_back({r, input});
    }
  probe.discard();
  return plan;
}

static std::optional<KernelLaunch> emitPointwise(CudaRequest request, const std::string &name, ArrayRef<DimExpr> dims,
                                                 ArrayRef<unsigned> results, const PointwisePlan &plan) {
  MLIRContext *context = request.fusion.getContext();
  DimExpr count = graph::numElements(dims, context), widthExpr = DimExpr::constant(context, plan.width);
  DimExpr pieces = DimExpr::ceilDiv(count, widthExpr);
  if (!pieces) return std::nullopt;
  GridStride grid = gridStride(request, pieces, threadsPerBlock);

  CudaKernel kernel(request, name, threadsPerBlock);
  BodyEmitter &body = kernel.body;
  IndexForms &f = body.indices;
  for (auto [r, input] : plan.mayShare) kernel.mayShare(r, input);
  Value total = body.size(count), pieceCount = body.size(pieces), width = f.constant(plan.width);
  SmallVector<Value> sizes;
  for (DimExpr dim : dims) sizes.push_back(body.size(dim));

  /// Elements first .. first + number: all values before any store, since a result may be an input's buffer.
  auto emitAt = [&](ArrayRef<Value> places) {
    SmallVector<std::tuple<unsigned, SmallVector<Value>, Scalar>> stores;
    for (Value place : places) {
      SmallVector<Value> at = f.delinearize(place, sizes);
      for (unsigned r : results) stores.push_back({r, at, body.valueAt(body.result(r), at)});
    }
    for (unsigned r : results)
      for (auto &[number, at, value] : stores)
        if (number == r) body.store(r, at, value);
  };
  auto emitPiece = [&](Value piece) {
    Value first = f.mul(piece, width);
    SmallVector<Value> places;
    for (int64_t lane = 0; lane < plan.width; ++lane) places.push_back(f.add(first, f.constant(lane)));
    if (DimExpr::mul(pieces, widthExpr) == count) return emitAt(places);
    Value whole = arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::slt, places.back(), total);
    kernel.when(
        whole, [&] { emitAt(places); },
        [&] { kernel.loop(first, total, f.constant(1), [&](Value i) { emitAt({i}); }); });
  };
  if (!grid.loops) {
    Value piece = kernel.globalThread(pieceCount);
    auto known = pieces.asConstant();
    Value inside =
        known && *known % threadsPerBlock == 0
            ? Value()
            : arith::CmpIOp::create(kernel.b, kernel.loc, arith::CmpIPredicate::slt, piece, pieceCount).getResult();
    kernel.when(inside, [&] { emitPiece(piece); });
  } else {
    Value start = arith::AddIOp::create(
        kernel.b, kernel.loc, arith::MulIOp::create(kernel.b, kernel.loc, kernel.block, f.constant(threadsPerBlock)),
        kernel.thread);
    Value blocks = arith::IndexCastUIOp::create(kernel.b, kernel.loc, kernel.b.getIndexType(),
                                                NVVM::GridDimXOp::create(kernel.b, kernel.loc, kernel.b.getI32Type()));
    Value step = arith::MulIOp::create(kernel.b, kernel.loc, blocks, f.constant(threadsPerBlock));
    kernel.loop(start, pieceCount, step, emitPiece);
  }
  return finishLaunch(kernel, grid.blocks);
}

std::optional<LoweredFusion> lowerCudaPointwise(CudaRequest request) {
  LoweredFusion lowered;
  lowered.templateName = "pointwise";
  // Results of one shape share a kernel.
  auto results = request.fusion.getBody().front().getTerminator()->getOperands();
  SmallVector<std::pair<SmallVector<DimExpr>, SmallVector<unsigned>>> groups;
  for (auto [i, value] : llvm::enumerate(results)) {
    SmallVector<DimExpr> dims = graph::dimsOf(value.getType());
    auto *group = llvm::find_if(groups, [&](auto &g) { return g.first == dims; });
    if (group == groups.end())
      groups.push_back({dims, {unsigned(i)}});
    else
      group->second.push_back(i);
  }
  for (auto [i, group] : llvm::enumerate(groups)) {
    std::string name = i ? request.name + "_" + std::to_string(i) : request.name;
    auto plan = planPointwise(request, group.first, group.second);
    if (!plan) return std::nullopt;
    // A later kernel of this fusion may still read the input.
    if (groups.size() > 1) plan->mayShare.clear();
    auto launch = emitPointwise(request, name, group.first, group.second, *plan);
    if (!launch) return std::nullopt;
    lowered.launches.push_back(*launch);
    llvm::append_range(lowered.mayShare, plan->mayShare);
  }
  return lowered;
}

} // namespace stator::codegen
