// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit/Steps.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static graph::ShapeAttr exprs(MLIRContext *context, ArrayRef<DimExpr> list) { return graph::ShapeAttr::get(context, list); }
static StringAttr textOrNull(OpBuilder &b, StringRef text) { return text.empty() ? StringAttr() : b.getStringAttr(text); }

/// bytes read, bytes written, operations; null where one of them is unknown.
static graph::ShapeAttr costAttr(MLIRContext *context, DimExpr read, DimExpr written, DimExpr operations) {
  return read && written && operations ? exprs(context, {read, written, operations}) : graph::ShapeAttr();
}

static DimExpr total(MLIRContext *context, ArrayRef<DimExpr> list) {
  DimExpr sum = DimExpr::constant(context, 0);
  for (DimExpr x : list) sum = sum && x ? DimExpr::add(sum, x) : DimExpr();
  return sum;
}

/// The part of the fusion's cost that falls to launch `number`: what it is given. A scratch buffer is written by the
/// first launch that has it, and read by later ones; the arithmetic is counted for the first.
static graph::ShapeAttr costOfLaunch(MLIRContext *context, const LoweredFusion &lowered, size_t number,
                                     const FusionCost &cost) {
  SmallVector<DimExpr> read, written;
  for (KernelBuffer buffer : lowered.launches[number].buffers) {
    if (buffer.kind == KernelBuffer::Input) read.push_back(cost.read[buffer.index]);
    if (buffer.kind == KernelBuffer::Result) written.push_back(cost.written[buffer.index]);
    if (buffer.kind != KernelBuffer::Scratch) continue;
    bool isFirst = true;
    for (size_t earlier = 0; earlier < number; ++earlier)
      for (KernelBuffer other : lowered.launches[earlier].buffers)
        isFirst &= other.kind != KernelBuffer::Scratch || other.index != buffer.index;
    (isFirst ? written : read).push_back(lowered.scratchBytes[buffer.index]);
  }
  return costAttr(context, total(context, read), total(context, written),
                  number == 0 ? cost.operations : DimExpr::constant(context, 0));
}

static void emitLaunch(OpBuilder &b, Location loc, const KernelLaunch &launch, const LoweredFusion &lowered,
                       const StepBuffers &at, graph::ShapeAttr cost, bool host, StringRef label, StringRef source) {
  SmallVector<Value> buffers;
  for (KernelBuffer buffer : launch.buffers) buffers.push_back(at.of(buffer));
  SmallVector<int64_t> share;
  auto position = [&](KernelBuffer::Kind kind, unsigned index) {
    auto *it = llvm::find_if(launch.buffers, [&](KernelBuffer x) { return x.kind == kind && x.index == index; });
    return it == launch.buffers.end() ? int64_t(-1) : int64_t(it - launch.buffers.begin());
  };
  for (auto [result, input] : lowered.mayShare) {
    int64_t written = position(KernelBuffer::Result, result), read = position(KernelBuffer::Input, input);
    if (written >= 0 && read >= 0) share.append({written, read});
  }
  MLIRContext *context = b.getContext();
  plan::LaunchOp::create(b, loc, b.getStringAttr(launch.kernel), buffers, exprs(context, launch.sizes),
                         host ? exprs(context, launch.count) : graph::ShapeAttr(),
                         host ? b.getI64IntegerAttr(launch.grain) : IntegerAttr(),
                         host ? graph::ShapeAttr() : exprs(context, launch.grid),
                         host ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(launch.block),
                         host ? IntegerAttr() : b.getI64IntegerAttr(launch.sharedBytes),
                         launch.narrow.empty() ? DenseBoolArrayAttr() : b.getDenseBoolArrayAttr(launch.narrow),
                         share.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(share), cost,
                         textOrNull(b, label), textOrNull(b, source));
}

void emitSteps(OpBuilder &b, Location loc, const LoweredFusion &lowered, const StepBuffers &at, const FusionCost &cost,
               bool host, StringRef label, StringRef source) {
  OpBuilder::InsertionGuard guard(b);
  MLIRContext *context = b.getContext();
  if (lowered.library) {
    const LibraryCall &call = *lowered.library;
    SmallVector<Value> buffers;
    auto operand = [&](const LibraryOperand &x) -> Attribute {
      Value buffer = at.of(x.buffer);
      auto *it = llvm::find(buffers, buffer);
      int64_t number = it - buffers.begin();
      if (it == buffers.end()) buffers.push_back(buffer);
      NamedAttrList dict;
      dict.set("buffer", b.getI64IntegerAttr(number));
      dict.set("type", TypeAttr::get(x.element));
      dict.set("dims", exprs(context, x.dims));
      if (!x.strides.empty()) dict.set("strides", exprs(context, x.strides));
      if (x.offset) dict.set("offset", exprs(context, x.offset));
      return dict.getDictionary(context);
    };
    NamedAttrList parameters;
    for (auto &[name, x] : call.operands) parameters.set(name, operand(x));
    for (auto &[name, list] : call.lists) parameters.set(name, b.getDenseI64ArrayAttr(list));
    for (auto &[name, value] : call.integers) parameters.set(name, b.getI64IntegerAttr(value));
    SmallVector<Attribute> post;
    for (auto &row : call.post) {
      NamedAttrList dict;
      dict.set("op", b.getStringAttr(row.op));
      if (row.operand) dict.set("operand", operand(*row.operand));
      if (row.alpha) dict.set("alpha", b.getF64FloatAttr(*row.alpha));
      if (row.beta) dict.set("beta", b.getF64FloatAttr(*row.beta));
      post.push_back(dict.getDictionary(context));
    }
    if (!post.empty()) parameters.set("post", b.getArrayAttr(post));
    auto step = plan::LibraryOp::create(
        b, loc, b.getStringAttr(call.library), b.getStringAttr(call.operation), buffers,
        parameters.getDictionary(context),
        costAttr(context, total(context, cost.read), total(context, cost.written), cost.operations),
        textOrNull(b, label), textOrNull(b, source));
    b.createBlock(&step.getFallback());
  }
  for (auto [i, launch] : llvm::enumerate(lowered.launches))
    emitLaunch(b, loc, launch, lowered, at, costOfLaunch(context, lowered, i, cost), host, label, source);
}

} // namespace stator::codegen
