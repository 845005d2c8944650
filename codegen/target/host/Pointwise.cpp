// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target/host/HostTemplates.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

// Elements of the innermost loop that one iteration of the parallel domain does, where that loop is long.
static constexpr int64_t blockElements = 2048;

int64_t grainFor(int64_t work, DimExpr elements) {
  // About ten microseconds: what waking a thread costs.
  constexpr int64_t enough = 32768;
  int64_t each = std::max<int64_t>(1, elements.asConstant().value_or(256));
  return std::max<int64_t>(1, enough / std::max<int64_t>(1, std::min<int64_t>(enough, work * each)));
}

namespace {
/// A run of adjacent dimensions that one loop goes over.
struct MergedDim {
  SmallVector<unsigned> dims;
  DimExpr size;
};
struct PointwisePlan {
  SmallVector<MergedDim> loops;
  /// results[i] is written at the loop's index as it is.
  SmallVector<unsigned> results;
  int64_t work = 1;
  SmallVector<std::pair<unsigned, unsigned>> mayShare;
  /// The innermost loop in pieces [pieces[i], pieces[i + 1]): inside the long one, no border of a window or a pad is in
  /// reach, and its elements become vectors. Empty where there is nothing to gain.
  SmallVector<int64_t> pieces;
};
} // namespace

static bool usesAtom(IndexForms &forms, ArrayRef<IndexForm> used, Value variable) {
  for (const IndexForm &form : used) {
    auto stride = forms.strideOf(form, variable);
    if (!stride || !(*stride == IndexForm{})) return true;
  }
  return false;
}

/// Where comparisons that depend on `variable` begin or cease to hold, if some stretch between these places is most of
/// its `size` values: {0, begin, end, size}.
static SmallVector<int64_t> piecesOf(HostKernel &probe, Value variable, int64_t size) {
  IndexForms &forms = probe.body.indices;
  SmallVector<int64_t> cuts = {0, size};
  for (auto &[left, right] : probe.body.comparisons()) {
    auto of = [&](const IndexForm &form) { return forms.strideOf(form, variable); };
    auto strideLeft = of(left), strideRight = of(right);
    if (!strideLeft || !strideRight || !strideLeft->isConstant() || !strideRight->isConstant()) return {};
    // left < right is 0 < stride * variable + rest, with what is known of the rest.
    int64_t stride = strideRight->constant - strideLeft->constant;
    if (stride == 0) continue;
    Value gap = forms.sub(forms.materialize(right), forms.materialize(left));
    Value rest = forms.sub(gap, forms.mul(forms.constant(stride), variable));
    graph::DimRange range = forms.rangeOf(rest);
    if (range.min <= -(int64_t(1) << 40) || range.max >= int64_t(1) << 40) return {};
    for (int64_t known : {range.min, range.max}) {
      // stride > 0: holds from the first value on that makes it positive; stride < 0: up to before the first that does
      // not.
      int64_t cut = stride > 0 ? llvm::divideFloorSigned(-known, stride) + 1 : llvm::divideCeilSigned(known, -stride);
      if (cut > 0 && cut < size) cuts.push_back(cut);
    }
  }
  llvm::sort(cuts);
  size_t longest = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i)
    if (cuts[i + 1] - cuts[i] > cuts[longest + 1] - cuts[longest]) longest = i;
  int64_t begin = cuts[longest], end = cuts[longest + 1];
  if (end - begin == size || end - begin < size / 2) return {};
  return {0, begin, end, size};
}

/// Emits the body once at an opaque index and looks at what it reads.
static std::optional<PointwisePlan> planPointwise(HostRequest request, ArrayRef<DimExpr> dims, ArrayRef<unsigned> results) {
  HostKernel probe(request.module, request.name, request.fusion);
  IndexForms &forms = probe.body.indices;
  SmallVector<Value> at, sizes;
  for (DimExpr dim : dims) {
    sizes.push_back(probe.body.size(dim));
    at.push_back(dim.isConstant(1) ? forms.constant(0) : probe.probeIndex(sizes.back()));
  }
  SmallVector<IndexForm> reads, writes;
  PointwisePlan plan;
  plan.results.append(results.begin(), results.end());
  for (unsigned r : results) probe.body.valueAt(probe.body.result(r), at);
  if (probe.body.failed()) {
    probe.discard();
    return std::nullopt;
  }
  IndexForm written = forms.formOf(forms.linearize(at, sizes));
  for (auto &access : probe.body.accesses()) reads.push_back(access.linear);
  reads.push_back(written);
  SmallVector<IndexForm> numbers = probe.indicesUsedAsNumbers();

  // Adjacent dimensions merge where stepping the outer one is stepping the inner one `size` times, in every access.
  for (unsigned d = 0; d < dims.size(); ++d) {
    if (dims[d].isConstant(1)) continue;
    bool merges = !plan.loops.empty();
    if (merges) {
      unsigned last = plan.loops.back().dims.back();
      for (const IndexForm &form : reads) {
        auto outer = forms.strideOf(form, at[last]), inner = forms.strideOf(form, at[d]);
        merges &= outer && inner && forms.formOf(forms.mul(forms.materialize(*inner), sizes[d])) == *outer;
        if (!merges) break;
      }
      merges = merges && !usesAtom(forms, numbers, at[last]) && !usesAtom(forms, numbers, at[d]);
    }
    if (merges) {
      plan.loops.back().dims.push_back(d);
      plan.loops.back().size = DimExpr::mul(plan.loops.back().size, dims[d]);
    } else {
      plan.loops.push_back({{d}, dims[d]});
    }
  }
  plan.work = probe.work();
  if (!plan.loops.empty() && plan.loops.back().dims.size() == 1)
    if (auto size = plan.loops.back().size.asConstant(); size && *size <= 2 * blockElements)
      plan.pieces = piecesOf(probe, at[plan.loops.back().dims[0]], *size);
  for (unsigned r : results)
    for (unsigned input = 0; input < request.fusion.getInputs().size(); ++input) {
      auto width = [](Value v) { return elementBytes(cast<RankedTensorType>(v.getType()).getElementType()); };
      if (width(probe.body.result(r)) != width(request.fusion.getInputs()[input])) continue;
      if (graph::numElements(graph::dimsOf(request.fusion.getInputs()[input].getType()), request.fusion.getContext()) !=
          graph::numElements(dims, request.fusion.getContext()))
        continue;
      bool same = llvm::all_of(probe.body.accesses(),
                               [&](auto &access) { return access.input != input || access.linear == written; });
      if (same) plan.mayShare.push_back({r, input});
    }
  probe.discard();
  for (auto &loop : plan.loops)
    if (!loop.size) return std::nullopt;
  return plan;
}

static std::optional<KernelLaunch> emitPointwise(HostRequest request, const std::string &name, ArrayRef<DimExpr> dims,
                                                 const PointwisePlan &plan) {
  HostKernel kernel(request.module, name, request.fusion);
  BodyEmitter &body = kernel.body;
  IndexForms &forms = body.indices;
  MLIRContext *context = request.fusion.getContext();
  for (auto [r, input] : plan.mayShare) kernel.mayShare(r, input);

  auto emitAt = [&](ArrayRef<Value> loops) {
    SmallVector<Value> at(dims.size());
    for (unsigned d = 0; d < dims.size(); ++d) at[d] = forms.constant(0);
    for (auto [loop, index] : llvm::zip_equal(plan.loops, loops)) {
      SmallVector<Value> sizes;
      for (unsigned d : loop.dims) sizes.push_back(body.size(dims[d]));
      for (auto [d, part] : llvm::zip_equal(loop.dims, forms.delinearize(index, sizes))) at[d] = part;
    }
    // All values before any store: an input that shares a result's buffer is read first.
    SmallVector<Scalar> values;
    for (unsigned r : plan.results) values.push_back(body.valueAt(body.result(r), at));
    for (auto [r, value] : llvm::zip_equal(plan.results, values)) body.store(r, at, value);
  };

  DimExpr one = DimExpr::constant(context, 1), innermost = plan.loops.empty() ? one : plan.loops.back().size;
  DimExpr outer = one;
  for (auto &loop : llvm::drop_end(plan.loops, plan.loops.empty() ? 0 : 1)) {
    outer = DimExpr::mul(outer, loop.size);
    if (!outer) return std::nullopt;
  }
  // The innermost loop is cut into blocks where it is (or may be) long.
  auto length = innermost.asConstant();
  bool cut = !length || *length > 2 * blockElements;
  DimExpr blocks = cut ? DimExpr::ceilDiv(innermost, DimExpr::constant(context, blockElements)) : one;
  DimExpr count = DimExpr::mul(outer, blocks);
  if (!count) return std::nullopt;
  Value innerSize = body.size(innermost), blockCount = body.size(blocks), countValue = body.size(count);

  kernel.loop(
      kernel.begin, kernel.end,
      [&](Value p) {
        Value block = forms.mod(p, blockCount), outerIndex = forms.floorDiv(p, blockCount);
        SmallVector<Value> outerSizes, loops;
        for (auto &loop : llvm::drop_end(plan.loops, plan.loops.empty() ? 0 : 1)) outerSizes.push_back(body.size(loop.size));
        if (!outerSizes.empty()) loops = forms.delinearize(outerIndex, outerSizes);
        Value lower = forms.constant(0), upper = innerSize;
        if (cut) {
          lower = forms.mul(block, forms.constant(blockElements));
          upper = arith::MinSIOp::create(kernel.b, kernel.loc, forms.add(lower, forms.constant(blockElements)), innerSize);
        }
        auto inner = [&](Value from, Value to, std::optional<std::pair<int64_t, int64_t>> range) {
          kernel.loop(
              from, to,
              [&](Value i) {
                if (range) forms.setRange(i, range->first, range->second - 1);
                SmallVector<Value> all(loops);
                if (!plan.loops.empty()) all.push_back(i);
                emitAt(all);
              },
              /*parallel=*/true, innerSize);
        };
        if (plan.pieces.empty()) return inner(lower, upper, std::nullopt);
        for (size_t i = 0; i + 1 < plan.pieces.size(); ++i)
          if (int64_t from = plan.pieces[i], to = plan.pieces[i + 1]; from < to)
            inner(forms.constant(from), forms.constant(to), std::pair(from, to));
      },
      false, countValue);
  if (body.failed()) {
    kernel.discard();
    return std::nullopt;
  }
  KernelLaunch launch = kernel.finish();
  launch.count = count;
  launch.grain = grainFor(plan.work, cut ? DimExpr::constant(context, blockElements) : innermost);
  return launch;
}

std::optional<LoweredFusion> lowerPointwise(HostRequest request) {
  LoweredFusion lowered;
  lowered.templateName = "pointwise";
  // Results of one shape share a kernel.
  auto results = request.fusion.getBody().front().getTerminator()->getOperands();
  SmallVector<std::pair<SmallVector<DimExpr>, SmallVector<unsigned>>> groups;
  for (auto [i, value] : llvm::enumerate(results)) {
    SmallVector<DimExpr> dims = graph::dimsOf(value.getType());
    auto *group = llvm::find_if(groups, [&](auto &g) { return g.first == dims; });
    if (group == groups.end()) groups.push_back({dims, {unsigned(i)}});
    else group->second.push_back(i);
  }
  for (auto [i, group] : llvm::enumerate(groups)) {
    std::string name = i ? request.name + "_" + std::to_string(i) : request.name;
    HostRequest part = request;
    part.name = name;
    auto plan = planPointwise(part, group.first, group.second);
    if (!plan) return std::nullopt;
    // A later kernel of this fusion may still read the input.
    if (groups.size() > 1) plan->mayShare.clear();
    auto launch = emitPointwise(request, name, group.first, *plan);
    if (!launch) return std::nullopt;
    lowered.launches.push_back(*launch);
    llvm::append_range(lowered.mayShare, plan->mayShare);
  }
  return lowered;
}

} // namespace stator::codegen
