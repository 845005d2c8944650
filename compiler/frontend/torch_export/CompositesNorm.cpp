// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Norms, distances and what is made of them.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

/// The p-norm of a float tensor, in its own type.
Value pNorm(Call &c, Value x, double p, Ints dims, bool keep) {
  Value wide = c.b.widen(x), magnitude = c.b.unary<graph::AbsOp>(wide), y;
  if (p == INFINITY)
    y = c.b.reduce<graph::ReduceMaxOp>(magnitude, dims, keep);
  else if (p == -INFINITY)
    y = c.b.reduce<graph::ReduceMinOp>(magnitude, dims, keep);
  else if (p == 0)
    y = c.b.sum(c.b.cast(c.b.ne(wide, 0.0), GraphBuilder::element(wide)), dims, keep);
  else if (p == 1)
    y = c.b.sum(magnitude, dims, keep);
  else if (p == 2)
    y = c.b.unary<graph::SqrtOp>(c.b.sum(c.b.mul(wide, wide), dims, keep));
  else
    y = c.b.binary<graph::PowOp>(c.b.sum(c.b.binary<graph::PowOp>(magnitude, p), dims, keep), 1 / p);
  return narrow(c, y, x);
}

Value floatSelf(Call &c, StringRef name = "self") {
  Value x = c.tensor(name);
  Type type = c.has("dtype") ? c.dtype("dtype", GraphBuilder::element(x)) : GraphBuilder::element(x);
  if (!isFloat(type)) Call::fail("a norm of integers");
  return c.b.cast(x, type);
}

Results vectorNorm(Call &c) { return pNorm(c, floatSelf(c), c.real("ord"), c.integers("dim"), c.flag("keepdim")); }

Results norm(Call &c) {
  double p = c.isNone("p") ? 2 : c.real("p");
  return pNorm(c, floatSelf(c), p, c.has("dim") ? c.integers("dim") : Ints(), c.has("keepdim") && c.flag("keepdim"));
}

/// Matrix norms that need no singular values.
Value matrixNorm(Call &c, Value x, StringRef name, double order, Ints dims, bool keep) {
  if (name == "fro") return pNorm(c, x, 2, dims, keep);
  if (!name.empty() || std::abs(order) == 2)
    Call::fail("this matrix norm needs singular values, which are not supported");
  if (dims.size() != 2) Call::fail("a matrix norm needs two dimensions");
  int64_t rank = GraphBuilder::rank(x), rows = GraphBuilder::axis(dims[0], rank),
          columns = GraphBuilder::axis(dims[1], rank);
  bool isInfinite = std::isinf(order);
  if (!isInfinite && std::abs(order) != 1) Call::fail(Twine("a matrix norm of order ") + std::to_string(order));
  Value wide = c.b.widen(x);
  Value sums = c.b.sum(c.b.unary<graph::AbsOp>(wide), {isInfinite ? columns : rows}, true);
  int64_t other = isInfinite ? rows : columns;
  Value y = order > 0 ? c.b.reduce<graph::ReduceMaxOp>(sums, {other}, true)
                      : c.b.reduce<graph::ReduceMinOp>(sums, {other}, true);
  if (!keep) y = c.b.squeeze(y, {rows, columns});
  return narrow(c, y, x);
}

Results linalgNorm(Call &c) {
  Value x = floatSelf(c);
  Ints dims = c.integers("dim");
  bool keep = c.flag("keepdim"), byName = c.argument("ord").kind == Argument::Kind::String;
  if (c.isNone("ord")) return pNorm(c, x, 2, dims, keep);
  if (dims.empty()) dims = counting(0, GraphBuilder::rank(x));
  if (dims.size() == 1) return pNorm(c, x, c.real("ord"), dims, keep);
  return matrixNorm(c, x, byName ? c.string("ord") : StringRef(), byName ? 0 : c.real("ord"), dims, keep);
}

Results linalgMatrixNorm(Call &c) {
  bool byName = c.argument("ord").kind == Argument::Kind::String;
  return matrixNorm(c, floatSelf(c), byName ? c.string("ord") : StringRef(), byName ? 0 : c.real("ord"),
                    c.integers("dim"), c.flag("keepdim"));
}

Results cosineSimilarity(Call &c) {
  auto v = c.b.promote({c.operand("x1"), c.operand("x2")}, Promotion::Float);
  Value x = c.b.widen(v[0]), y = c.b.widen(v[1]);
  Dims common = c.b.broadcastDims({x, y});
  x = c.b.broadcastTo(x, common);
  y = c.b.broadcastTo(y, common);
  Ints d{c.integer("dim")};
  double eps = c.real("eps");
  auto unit = [&](Value z) {
    return c.b.div(z, c.b.maximum(c.b.unary<graph::SqrtOp>(c.b.sum(c.b.mul(z, z), d, true)), eps));
  };
  return narrow(c, c.b.sum(c.b.mul(unit(x), unit(y)), d, false), v[0]);
}

Results pairwiseDistance(Call &c) {
  auto v = c.b.promote({c.operand("x1"), c.operand("x2")}, Promotion::Float);
  Value difference = c.b.add(c.b.sub(v[0], v[1]), c.real("eps"));
  return pNorm(c, difference, c.real("p"), {GraphBuilder::rank(difference) - 1}, c.flag("keepdim"));
}

/// Distances between all rows of x1 [.., P, M] and of x2 [.., R, M].
Results pairDistances(Call &c) {
  Value x = c.tensor("x1"), y = c.tensor("x2");
  if (GraphBuilder::rank(x) < 2 || GraphBuilder::rank(y) < 2) Call::fail("cdist of tensors that are not matrices");
  Value left = c.b.unsqueeze(x, GraphBuilder::rank(x) - 1), right = c.b.unsqueeze(y, GraphBuilder::rank(y) - 2);
  Value difference = c.b.sub(left, right);
  return pNorm(c, difference, c.real("p"), {GraphBuilder::rank(difference) - 1}, false);
}

Results selfDistances(Call &c) {
  Value x = c.tensor("self");
  int64_t n = GraphBuilder::staticDim(x, 0, "pdist");
  SmallVector<int64_t> first, second;
  for (int64_t i = 0; i < n; ++i)
    for (int64_t j = i + 1; j < n; ++j) first.push_back(i), second.push_back(j);
  Value difference = c.b.sub(c.b.take(x, c.b.indices(first), 0), c.b.take(x, c.b.indices(second), 0));
  return pNorm(c, difference, c.real("p"), {1}, false);
}

/// Slices along a dimension, scaled down where their norm is above `maxnorm`.
Results renorm(Call &c) {
  Value x = c.tensor("self");
  int64_t d = GraphBuilder::axis(c.integer("dim"), GraphBuilder::rank(x));
  Ints others;
  for (int64_t i = 0; i < GraphBuilder::rank(x); ++i)
    if (i != d) others.push_back(i);
  double limit = c.real("maxnorm");
  Value wide = c.b.widen(x), length = pNorm(c, wide, c.real("p"), others, true);
  Type type = GraphBuilder::element(wide);
  Value factor = c.b.div(c.b.scalar(limit, type), c.b.add(length, 1e-7));
  return narrow(c, c.b.mul(wide, c.b.where(c.b.gt(length, limit), factor, c.b.scalar(1, type))), x);
}

/// v * (g / |v|), the norm over all dimensions but one.
Results weightNorm(Call &c) {
  Value v = c.tensor("v"), g = c.tensor("g");
  int64_t rank = GraphBuilder::rank(v), keep = c.integer("dim");
  Ints others;
  for (int64_t i = 0; i < rank; ++i)
    if (keep == -1 || i != GraphBuilder::axis(keep, rank)) others.push_back(i);
  Value wide = c.b.widen(v), length = pNorm(c, wide, 2, others, true);
  return narrow(c, c.b.mul(wide, c.b.div(c.b.widen(g), length)), v);
}

} // namespace

void addNormComposites(CompositeTable &t) {
  t.add({"linalg_vector_norm.default"}, vectorNorm);
  t.add({"norm.Scalar", "norm.ScalarOpt_dim", "norm.ScalarOpt_dtype", "norm.ScalarOpt_dim_dtype"}, norm);
  t.add({"linalg_norm.default", "linalg_norm.ord_str"}, linalgNorm);
  t.add({"linalg_matrix_norm.default", "linalg_matrix_norm.str_ord"}, linalgMatrixNorm);
  t.add({"dist.default"}, [](Call &c) -> Results {
    return pNorm(c, c.b.sub(c.tensor("self"), c.tensor("other")), c.real("p"), {}, false);
  });
  t.add({"cosine_similarity.default"}, cosineSimilarity);
  t.add({"pairwise_distance.default"}, pairwiseDistance);
  t.add({"cdist.default", "_cdist_forward.default"}, pairDistances);
  t.add({"pdist.default", "_pdist_forward.default"}, selfDistances);
  t.add({"renorm.default"}, renorm);
  t.add({"_weight_norm.default"}, weightNorm);
  t.add({"_weight_norm_interface.default"}, [](Call &c) -> Results { return {weightNorm(c)[0], Value()}; });
}

} // namespace stator::torch_export
