// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/schedule/Contraction.h"

using namespace mlir;
using stator::graph::DimExpr;

namespace stator::codegen {

static DimExpr product(ArrayRef<DimExpr> dims, MLIRContext *context) { return graph::numElements(dims, context); }

static std::optional<Contraction> ofMatmul(graph::MatmulOp op) {
  MLIRContext *context = op.getContext();
  SmallVector<DimExpr> lhs = graph::dimsOf(op.getLhs().getType()), rhs = graph::dimsOf(op.getRhs().getType());
  bool turnLhs = op.getTransposeLhs(), turnRhs = op.getTransposeRhs(), shared = rhs.size() == 2;
  size_t rank = lhs.size();
  Contraction c;
  c.op = op;
  c.k = lhs[turnLhs ? rank - 2 : rank - 1];
  c.n = rhs[turnRhs ? rhs.size() - 2 : rhs.size() - 1];
  if (shared && !turnLhs) {
    // A linear layer: all leading dimensions are rows.
    c.batch = DimExpr::constant(context, 1);
    c.m = product(ArrayRef(lhs).drop_back(), context);
  } else {
    c.batch = product(ArrayRef(lhs).drop_back(2), context);
    c.m = lhs[turnLhs ? rank - 1 : rank - 2];
  }
  auto rows = [=](BodyEmitter &e, Value b, Value m) {
    SmallVector<DimExpr> dims(lhs.begin(), lhs.end() - (shared && !turnLhs ? 1 : 2));
    SmallVector<Value> sizes;
    for (DimExpr dim : dims) sizes.push_back(e.size(dim));
    SmallVector<Value> at = e.indices.delinearize(shared && !turnLhs ? m : b, sizes);
    if (!(shared && !turnLhs)) at.push_back(m);
    return at;
  };
  c.lhs = [=](BodyEmitter &e, Value b, Value m, Value k) mutable {
    SmallVector<Value> at = rows(e, b, m);
    at.push_back(k);
    if (turnLhs) std::swap(at[at.size() - 1], at[at.size() - 2]);
    return e.wideValueAt(op.getLhs(), at);
  };
  c.rhs = [=](BodyEmitter &e, Value b, Value k, Value n) mutable {
    SmallVector<Value> at;
    if (!shared) {
      at = rows(e, b, k);
      at.pop_back();
    }
    at.append({k, n});
    if (turnRhs) std::swap(at[at.size() - 1], at[at.size() - 2]);
    return e.wideValueAt(op.getRhs(), at);
  };
  c.resultIndex = [=](BodyEmitter &e, Value b, Value m, Value n) {
    SmallVector<Value> at = rows(e, b, m);
    at.push_back(n);
    return at;
  };
  return c;
}

static std::optional<Contraction> ofConvolution(graph::ConvolutionOp op) {
  if (op.getTransposed()) return std::nullopt;
  MLIRContext *context = op.getContext();
  SmallVector<DimExpr> x = graph::dimsOf(op.getX().getType()), w = graph::dimsOf(op.getWeight().getType()),
                       out = graph::dimsOf(op.getType());
  int64_t groups = op.getGroups();
  auto outChannels = out[1].asConstant();
  // One channel a group is no product of matrices: elemental emission is right for it.
  if (!outChannels || *outChannels / groups < 4) return std::nullopt;
  SmallVector<DimExpr> window(w.begin() + 2, w.end()), spatial(out.begin() + 2, out.end());
  Contraction c;
  c.op = op;
  DimExpr groupCount = DimExpr::constant(context, groups);
  c.batch = DimExpr::mul(out[0], groupCount);
  c.m = DimExpr::constant(context, *outChannels / groups);
  c.n = product(spatial, context);
  DimExpr perWindow = product(window, context);
  if (!c.batch || !c.n || !perWindow) return std::nullopt;
  c.k = DimExpr::mul(w[1], perWindow);
  DimExpr channelsPerGroup = w[1], m = c.m;
  auto sizesOf = [](BodyEmitter &e, ArrayRef<DimExpr> dims) {
    SmallVector<Value> sizes;
    for (DimExpr dim : dims) sizes.push_back(e.size(dim));
    return sizes;
  };
  // k counts (channel of the group, window position).
  SmallVector<DimExpr> kDims{channelsPerGroup};
  kDims.append(window);
  auto group = [=](BodyEmitter &e, Value b) { return e.indices.mod(b, e.indices.constant(groups)); };
  c.lhs = [=](BodyEmitter &e, Value b, Value row, Value k) mutable {
    SmallVector<Value> at{e.indices.add(e.indices.mul(group(e, b), e.size(m)), row)};
    at.append(e.indices.delinearize(k, sizesOf(e, kDims)));
    return e.wideValueAt(op.getWeight(), at);
  };
  c.rhs = [=](BodyEmitter &e, Value b, Value k, Value n) mutable {
    IndexForms &f = e.indices;
    SmallVector<Value> tap = f.delinearize(k, sizesOf(e, kDims)), position = f.delinearize(n, sizesOf(e, spatial));
    SmallVector<Value> at{f.floorDiv(b, f.constant(groups)),
                          f.add(f.mul(group(e, b), e.size(channelsPerGroup)), tap[0])};
    Value inside;
    for (size_t d = 0; d < spatial.size(); ++d) {
      Value place = f.add(f.sub(f.mul(position[d], f.constant(op.getStrides()[d])), f.constant(op.getLow()[d])),
                          f.mul(tap[d + 1], f.constant(op.getDilations()[d])));
      at.push_back(place);
      if (op.getLow()[d] == 0 && op.getHigh()[d] == 0) continue;
      for (Value condition : {e.atLeast(place, f.constant(0)), e.lessThan(place, e.size(x[d + 2]))})
        inside = inside ? arith::AndIOp::create(e.s.b, e.s.loc, inside, condition).getResult() : condition;
    }
    Type element = cast<RankedTensorType>(op.getX().getType()).getElementType();
    if (!inside) return e.wideValueAt(op.getX(), at);
    return e.guarded(
        inside, [&] { return e.wideValueAt(op.getX(), at); }, [&] { return e.s.constant(computeType(element), 0); });
  };
  c.resultIndex = [=](BodyEmitter &e, Value b, Value row, Value n) {
    IndexForms &f = e.indices;
    SmallVector<Value> at{f.floorDiv(b, f.constant(groups)), f.add(f.mul(group(e, b), e.size(m)), row)};
    at.append(f.delinearize(n, sizesOf(e, spatial)));
    return at;
  };
  return c;
}

std::optional<Contraction> contractionOf(graph::FusionOp fusion) {
  std::optional<Contraction> found;
  for (Operation &op : fusion.getBody().front()) {
    if (!isa<graph::MatmulOp, graph::ConvolutionOp>(op)) continue;
    if (found) return std::nullopt;
    auto matmul = dyn_cast<graph::MatmulOp>(op);
    found = matmul ? ofMatmul(matmul) : ofConvolution(cast<graph::ConvolutionOp>(op));
    if (!found) return std::nullopt;
  }
  if (!found || !isa<FloatType>(cast<RankedTensorType>(found->op->getResult(0).getType()).getElementType()))
    return std::nullopt;
  if (!found->batch || !found->m || !found->n || !found->k) return std::nullopt;
  auto count = [&](Value v) { return graph::numElements(graph::dimsOf(v.getType()), fusion.getContext()); };
  for (Value result : fusion.getBody().front().getTerminator()->getOperands())
    if (count(result) != count(found->op->getResult(0))) return std::nullopt;
  return found;
}

} // namespace stator::codegen
