// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/emit/Steps.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static graph::ShapeAttr exprs(MLIRContext *context, ArrayRef<DimExpr> list) { return graph::ShapeAttr::get(context, list); }
static StringAttr textOrNull(OpBuilder &b, StringRef text) { return text.empty() ? StringAttr() : b.getStringAttr(text); }

static void emitLaunch(OpBuilder &b, Location loc, const KernelLaunch &launch, const LoweredFusion &lowered,
                       const StepBuffers &at, bool host, StringRef label, StringRef source) {
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
  plan::LaunchOp::create(
      b, loc, b.getStringAttr(launch.kernel), buffers, exprs(context, launch.sizes),
      host ? exprs(context, launch.count) : graph::ShapeAttr(), host ? b.getI64IntegerAttr(launch.grain) : IntegerAttr(),
      host ? graph::ShapeAttr() : exprs(context, launch.grid), host ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(launch.block),
      host ? IntegerAttr() : b.getI64IntegerAttr(launch.sharedBytes),
      launch.narrow.empty() ? DenseBoolArrayAttr() : b.getDenseBoolArrayAttr(launch.narrow),
      share.empty() ? DenseI64ArrayAttr() : b.getDenseI64ArrayAttr(share), textOrNull(b, label), textOrNull(b, source));
}

void emitSteps(OpBuilder &b, Location loc, const LoweredFusion &lowered, const StepBuffers &at, bool host, StringRef label,
               StringRef source) {
  OpBuilder::InsertionGuard guard(b);
  if (lowered.library) {
    const LibraryCall &call = *lowered.library;
    MLIRContext *context = b.getContext();
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
    auto step = plan::LibraryOp::create(b, loc, b.getStringAttr(call.library), b.getStringAttr(call.operation), buffers,
                                        parameters.getDictionary(context), textOrNull(b, label), textOrNull(b, source));
    b.createBlock(&step.getFallback());
  }
  for (const KernelLaunch &launch : lowered.launches) emitLaunch(b, loc, launch, lowered, at, host, label, source);
}

} // namespace stator::codegen
