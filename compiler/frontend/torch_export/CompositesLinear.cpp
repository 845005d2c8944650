// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matrix products and their relatives.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// torch.matmul: vectors are rows on the left and columns on the right; leading dimensions broadcast.
Value matmul(Call &c, Value x, Value y) {
  int64_t left = GraphBuilder::rank(x), right = GraphBuilder::rank(y);
  if (left == 0 || right == 0) Call::fail("a matrix product of a 0-d tensor");
  if (left == 1) x = c.b.unsqueeze(x, 0);
  if (right == 1) y = c.b.unsqueeze(y, 1);
  Value z = c.b.matmul(x, y);
  int64_t rank = GraphBuilder::rank(z);
  if (right == 1) z = c.b.squeeze(z, {rank - 1});
  if (left == 1) z = c.b.squeeze(z, {right == 1 ? GraphBuilder::rank(z) - 1 : rank - 2});
  return z;
}

void expectRanks(StringRef what, std::initializer_list<std::pair<Value, int64_t>> ranks) {
  for (auto [value, rank] : ranks)
    if (GraphBuilder::rank(value) != rank)
      Call::fail(what + " of a tensor of rank " + Twine(GraphBuilder::rank(value)) + " where " + Twine(rank) +
                 " is expected");
}

Results linear(Call &c) {
  Value x = c.tensor("input"), weight = c.tensor("weight"), bias = c.optional("bias");
  if (GraphBuilder::rank(weight) == 1) {
    Value y = matmul(c, x, weight);
    return bias ? c.b.add(y, bias) : y;
  }
  expectRanks("linear", {{weight, 2}});
  bool isVector = GraphBuilder::rank(x) == 1;
  if (isVector) x = c.b.unsqueeze(x, 0);
  Value y;
  if (bias) // Rounded once, after the bias.
    y = narrow(c, c.b.add(c.b.matmul(c.b.widen(x), c.b.widen(weight), false, true), c.b.widen(bias)), x);
  else
    y = c.b.matmul(x, weight, false, true);
  return isVector ? c.b.squeeze(y, {0}) : y;
}

/// beta * self + alpha * product, rounded once; a beta of 0 ignores self, NaN and all. The product is computed wide.
Value scaledSum(Call &c, Value self, Value product) {
  Number beta = c.number("beta"), alpha = c.number("alpha");
  Type type = GraphBuilder::element(product), narrowType = GraphBuilder::element(self);
  self = c.b.cast(self, type);
  auto rounded = [&](Value value) { return c.b.cast(value, narrowType); };
  if (alpha.asDouble() != 1) product = c.b.mul(product, c.b.scalar(alpha, type));
  if (beta.isZero()) return rounded(product);
  if (beta.asDouble() != 1) self = c.b.mul(self, c.b.scalar(beta, type));
  return rounded(c.b.add(product, self));
}

Results addMatmul(Call &c) {
  Value x = c.tensor("mat1"), y = c.tensor("mat2");
  expectRanks("addmm", {{x, 2}, {y, 2}});
  return scaledSum(c, c.tensor("self"), c.b.matmul(c.b.widen(x), c.b.widen(y)));
}
Results addBatchMatmul(Call &c) {
  Value x = c.tensor("batch1"), y = c.tensor("batch2");
  expectRanks("baddbmm", {{x, 3}, {y, 3}});
  return scaledSum(c, c.tensor("self"), c.b.matmul(c.b.widen(x), c.b.widen(y)));
}

Results dot(Call &c, StringRef first, StringRef second) {
  Value x = c.tensor(first), y = c.tensor(second);
  return c.b.reshape(c.b.matmul(c.b.unsqueeze(x, 0), c.b.unsqueeze(y, 1)), {});
}

Results tensorDot(Call &c) {
  Value x = c.tensor("self"), y = c.tensor("other");
  int64_t left = GraphBuilder::rank(x), right = GraphBuilder::rank(y);
  Ints xs = GraphBuilder::axes(c.integers("dims_self"), left), ys = GraphBuilder::axes(c.integers("dims_other"), right);
  if (xs.size() != ys.size())
    Call::fail("tensordot over " + Twine(xs.size()) + " and " + Twine(ys.size()) + " dimensions");
  Ints xOrder, yOrder(ys.begin(), ys.end());
  Dims result;
  for (int64_t d = 0; d < left; ++d)
    if (!llvm::is_contained(xs, d)) xOrder.push_back(d), result.push_back(GraphBuilder::dim(x, d));
  DimExpr rows = graph::numElements(result, c.b.context());
  xOrder.append(xs.begin(), xs.end());
  Dims columnsDims;
  for (int64_t d = 0; d < right; ++d)
    if (!llvm::is_contained(ys, d)) yOrder.push_back(d), columnsDims.push_back(GraphBuilder::dim(y, d));
  DimExpr columns = graph::numElements(columnsDims, c.b.context()), inner = c.b.dim(1);
  for (int64_t d : xs) inner = DimExpr::mul(inner, GraphBuilder::dim(x, d));
  result.append(columnsDims.begin(), columnsDims.end());
  Value z = c.b.matmul(c.b.reshape(c.b.transpose(x, xOrder), {rows, inner}),
                       c.b.reshape(c.b.transpose(y, yOrder), {inner, columns}));
  return c.b.reshape(z, result);
}

/// The product of three tensors, each given new dimensions of size 1, summed over some: what bilinear is made of.
Results trilinear(Call &c) {
  Value product;
  constexpr std::pair<StringLiteral, StringLiteral> operands[] = {
      {"i1", "expand1"}, {"i2", "expand2"}, {"i3", "expand3"}};
  for (auto [name, places] : operands) {
    Value x = c.tensor(name);
    Ints dims = c.integers(places);
    llvm::sort(dims);
    for (int64_t d : dims) x = c.b.unsqueeze(x, GraphBuilder::axis(d, GraphBuilder::rank(x) + 1));
    product = product ? c.b.mul(product, x) : x;
  }
  Ints sums = c.integers("sumdim");
  return sums.empty() ? product : c.b.sum(product, sums, false);
}

/// Sums of products over the last dimension of both.
Results inner(Call &c) {
  Value x = c.tensor("self"), y = c.tensor("other");
  if (GraphBuilder::rank(x) == 0 || GraphBuilder::rank(y) == 0) return c.b.mul(x, y);
  Dims xs = GraphBuilder::dims(x), ys = GraphBuilder::dims(y), result(xs.begin(), xs.end() - 1),
       columns(ys.begin(), ys.end() - 1);
  Value rows = c.b.reshape(x, {graph::numElements(result, c.b.context()), xs.back()});
  Value z = c.b.matmul(rows, c.b.reshape(y, {graph::numElements(columns, c.b.context()), ys.back()}), false, true);
  result.append(columns);
  return c.b.reshape(z, result);
}

/// y[.., o] = x1[.., i] W[o, i, j] x2[.., j] + b[o].
Results bilinear(Call &c) {
  Value x = c.tensor("input1"), y = c.tensor("input2"), weight = c.tensor("weight"), bias = c.optional("bias");
  expectRanks("bilinear", {{weight, 3}});
  Dims lead = GraphBuilder::dims(x);
  if (lead.empty()) Call::fail("bilinear of a 0-d tensor");
  lead.pop_back();
  DimExpr rows = graph::numElements(lead, c.b.context());
  DimExpr i = GraphBuilder::dim(weight, 1), j = GraphBuilder::dim(weight, 2), o = GraphBuilder::dim(weight, 0);
  Value a = c.b.reshape(x, {rows, i}), b = c.b.reshape(y, {rows, j});
  Value flat = c.b.reshape(c.b.transpose(weight, {1, 0, 2}), {i, DimExpr::mul(o, j)});
  Value t = c.b.reshape(c.b.matmul(a, flat), {rows, o, j});
  Value z = c.b.sum(c.b.mul(t, c.b.unsqueeze(b, 1)), {2}, false);
  if (bias) z = c.b.add(z, bias);
  lead.push_back(o);
  return c.b.reshape(z, lead);
}

Results cross(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Same);
  Dims common = c.b.broadcastDims({v[0], v[1]});
  Value x = c.b.broadcastTo(v[0], common), y = c.b.broadcastTo(v[1], common);
  int64_t rank = GraphBuilder::rank(x), d = -1;
  if (c.isNone("dim")) {
    for (int64_t i = 0; i < rank && d < 0; ++i)
      if (common[i].isConstant(3)) d = i;
  } else {
    d = GraphBuilder::axis(c.integer("dim"), rank);
  }
  if (d < 0 || rank == 0 || !common[d].isConstant(3)) Call::fail("a cross product needs a dimension of size 3");
  auto part = [&](Value z, int64_t i) { return c.b.slice(z, d, c.b.dim(i), c.b.dim(1)); };
  SmallVector<Value> parts;
  for (int64_t i = 0; i < 3; ++i) {
    int64_t j = (i + 1) % 3, k = (i + 2) % 3;
    parts.push_back(c.b.sub(c.b.mul(part(x, j), part(y, k)), c.b.mul(part(x, k), part(y, j))));
  }
  return c.b.concat(parts, d);
}

Results kronecker(Call &c) {
  auto v = c.b.promote({c.operand("self"), c.operand("other")}, Promotion::Same);
  Value x = v[0], y = v[1];
  while (GraphBuilder::rank(x) < GraphBuilder::rank(y)) x = c.b.unsqueeze(x, 0);
  while (GraphBuilder::rank(y) < GraphBuilder::rank(x)) y = c.b.unsqueeze(y, 0);
  Dims xs, ys, result;
  for (int64_t d = 0; d < GraphBuilder::rank(x); ++d) {
    DimExpr a = GraphBuilder::dim(x, d), b = GraphBuilder::dim(y, d);
    xs.append({a, c.b.dim(1)});
    ys.append({c.b.dim(1), b});
    result.push_back(DimExpr::mul(a, b));
  }
  return c.b.reshape(c.b.mul(c.b.reshape(x, xs), c.b.reshape(y, ys)), result);
}

/// Rows of x that lie together (up to offs[g]) are multiplied by matrix g.
Results groupedMatmul(Call &c) {
  Value x = c.tensor("input"), weight = c.tensor("weight"), offsets = c.tensor("offs");
  expectRanks("grouped_mm", {{x, 2}, {weight, 3}, {offsets, 1}});
  DimExpr rows = GraphBuilder::dim(x, 0);
  int64_t groups = GraphBuilder::staticDim(weight, 0, "grouped_mm");
  Value row = c.b.iota({rows}, 0, GraphBuilder::element(offsets));
  Value sum;
  for (int64_t g = 0; g < groups; ++g) {
    // Rows outside the group are zeroed, so that what they hold (NaN even) leaves the product.
    Value inside = c.b.lt(row, c.b.select(offsets, 0, c.b.dim(g)));
    if (g > 0) inside = c.b.logicalAnd(inside, c.b.ge(row, c.b.select(offsets, 0, c.b.dim(g - 1))));
    Value masked = c.b.where(c.b.unsqueeze(inside, 1), x, c.b.scalar(0, GraphBuilder::element(x)));
    Value product = c.b.matmul(masked, c.b.select(weight, 0, c.b.dim(g)));
    product = c.b.where(c.b.unsqueeze(inside, 1), product, c.b.scalar(0, GraphBuilder::element(x)));
    sum = sum ? c.b.add(sum, product) : product;
  }
  if (!sum) Call::fail("a grouped matrix product without groups");
  return sum;
}

} // namespace

void addLinearComposites(CompositeTable &t) {
  t.add({"linear.default"}, linear);
  t.add({"matmul.default", "linalg_matmul.default"},
        [](Call &c) -> Results { return matmul(c, c.tensor("self"), c.tensor("other")); });
  t.add({"mm.default", "bmm.default"},
        [](Call &c) -> Results { return c.b.matmul(c.tensor("self"), c.tensor("mat2")); });
  t.add({"mv.default"}, [](Call &c) -> Results { return matmul(c, c.tensor("self"), c.tensor("vec")); });
  t.add({"addmm.default"}, addMatmul);
  t.add({"baddbmm.default"}, addBatchMatmul);
  t.add({"addbmm.default"}, [](Call &c) -> Results {
    return scaledSum(c, c.tensor("self"), c.b.sum(c.b.matmul(c.tensor("batch1"), c.tensor("batch2")), {0}, false));
  });
  t.add({"addmv.default"},
        [](Call &c) -> Results { return scaledSum(c, c.tensor("self"), matmul(c, c.tensor("mat"), c.tensor("vec"))); });

  t.add({"dot.default"}, [](Call &c) { return dot(c, "self", "tensor"); });
  t.add({"vdot.default"}, [](Call &c) { return dot(c, "self", "other"); });
  t.add({"outer.default", "ger.default"}, [](Call &c) -> Results {
    auto v = c.b.promote({c.operand("self"), c.operand("vec2")}, Promotion::Same);
    return c.b.mul(c.b.unsqueeze(v[0], 1), c.b.unsqueeze(v[1], 0));
  });
  t.add({"addr.default"}, [](Call &c) -> Results {
    return scaledSum(c, c.tensor("self"),
                     c.b.mul(c.b.unsqueeze(c.tensor("vec1"), 1), c.b.unsqueeze(c.tensor("vec2"), 0)));
  });
  t.add({"linalg_vecdot.default"},
        [](Call &c) -> Results { return c.b.sum(c.b.mul(c.tensor("x"), c.tensor("y")), {c.integer("dim")}, false); });
  t.add({"chain_matmul.default", "linalg_multi_dot.default"}, [](Call &c) -> Results {
    SmallVector<Value> all = c.tensors(c.has("matrices") ? "matrices" : "tensors");
    if (all.empty()) Call::fail("a product of no matrices");
    Value product = all[0];
    for (Value next : ArrayRef(all).drop_front()) product = matmul(c, product, next);
    return product;
  });
  t.add({"tensordot.default"}, tensorDot);
  t.add({"inner.default"}, inner);
  t.add({"_trilinear.default"}, trilinear);
  t.add({"bilinear.default"}, bilinear);
  t.add({"cross.default", "linalg_cross.default"}, cross);
  t.add({"kron.default"}, kronecker);
  t.add({"trace.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    expectRanks("trace", {{x, 2}});
    Dims dims = GraphBuilder::dims(x);
    Value on = c.b.eq(c.b.iota(dims, 0, c.b.i64()), c.b.iota(dims, 1, c.b.i64()));
    Type type = isFloat(GraphBuilder::element(x)) ? GraphBuilder::element(x) : c.b.i64();
    return c.b.sum(c.b.where(on, c.b.cast(x, type), c.b.scalarInt(0, type)), {}, false);
  });
  t.addExact("transformers.grouped_mm_fallback.default", groupedMatmul);
}

} // namespace stator::torch_export
