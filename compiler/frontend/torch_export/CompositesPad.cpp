// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Padding. Lists of amounts go from the last dimension backwards, low before high.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

struct Amounts {
  int64_t dim;
  DimExpr low, high;
};
SmallVector<Amounts> amounts(Call &c, Value x) {
  Dims list = c.sizes(c.has("pad") ? "pad" : "padding");
  if (list.size() % 2 || int64_t(list.size() / 2) > GraphBuilder::rank(x))
    Call::fail(Twine(list.size()) + " amounts of padding for a tensor of rank " + Twine(GraphBuilder::rank(x)));
  SmallVector<Amounts> result;
  for (size_t i = 0; i < list.size(); i += 2)
    result.push_back({GraphBuilder::rank(x) - 1 - int64_t(i / 2), list[i], list[i + 1]});
  return result;
}

Value padConstant(Call &c, Value x, ArrayRef<Amounts> list, Value value) {
  Dims low(size_t(GraphBuilder::rank(x)), c.b.dim(0)), high = low;
  for (const Amounts &a : list) low[a.dim] = a.low, high[a.dim] = a.high;
  Value y = c.b.pad(x, value, low, high);
  return y == x ? c.b.copy(x) : y;
}

enum class Edge { Reflect, Replicate, Circular };

Value padEdges(Call &c, Value x, ArrayRef<Amounts> list, Edge edge) {
  for (const Amounts &a : list) {
    if (!a.low.isConstant() || !a.high.isConstant())
      Call::fail("padding by an amount that is not known when compiling");
    int64_t low = a.low.getConstant(), high = a.high.getConstant();
    DimExpr size = GraphBuilder::dim(x, a.dim);
    // Negative amounts cut off.
    if (low < 0 || high < 0) {
      DimExpr cutLow = c.b.dim(std::max<int64_t>(-low, 0)),
              rest = DimExpr::sub(DimExpr::sub(size, cutLow), c.b.dim(std::max<int64_t>(-high, 0)));
      x = c.b.slice(x, a.dim, cutLow, rest);
      size = rest;
      low = std::max<int64_t>(low, 0);
      high = std::max<int64_t>(high, 0);
    }
    if (low == 0 && high == 0) continue;
    int64_t room = edge == Edge::Reflect ? 1 : 0;
    if (size.isConstant() && edge != Edge::Replicate && std::max(low, high) > size.getConstant() - room)
      Call::fail("padding of " + Twine(std::max(low, high)) + " around a size of " + size.str());
    auto from = [&](DimExpr start, int64_t count) { return c.b.slice(x, a.dim, start, c.b.dim(count)); };
    auto back = [&](int64_t distance) { return DimExpr::sub(size, c.b.dim(distance)); };
    auto repeated = [&](DimExpr start, int64_t count) {
      Dims dims = GraphBuilder::dims(x);
      dims[a.dim] = c.b.dim(count);
      return c.b.broadcastTo(from(start, 1), dims);
    };
    SmallVector<Value> parts;
    if (low > 0)
      parts.push_back(edge == Edge::Reflect     ? c.b.reverse(from(c.b.dim(1), low), {a.dim})
                      : edge == Edge::Replicate ? repeated(c.b.dim(0), low)
                                                : from(back(low), low));
    parts.push_back(x);
    if (high > 0)
      parts.push_back(edge == Edge::Reflect     ? c.b.reverse(from(back(high + 1), high), {a.dim})
                      : edge == Edge::Replicate ? repeated(back(1), high)
                                                : from(c.b.dim(0), high));
    x = c.b.concat(parts, a.dim);
  }
  return x;
}

Results pad(Call &c) {
  Value x = c.tensor("self");
  StringRef mode = c.string("mode");
  if (mode == "constant") {
    Type type = GraphBuilder::element(x);
    return padConstant(c, x, amounts(c, x),
                       c.isNone("value") ? c.b.scalarInt(0, type) : c.b.reshape(c.b.as(c.operand("value"), type), {}));
  }
  if (mode == "reflect") return padEdges(c, x, amounts(c, x), Edge::Reflect);
  if (mode == "replicate") return padEdges(c, x, amounts(c, x), Edge::Replicate);
  if (mode == "circular") return padEdges(c, x, amounts(c, x), Edge::Circular);
  Call::fail("unknown padding mode '" + mode + "'");
}

template <Edge edge> Results padEdge(Call &c) {
  Value x = c.tensor("self");
  return padEdges(c, x, amounts(c, x), edge);
}

} // namespace

void addPadComposites(CompositeTable &t) {
  t.add({"pad.default"}, pad);
  t.add({"constant_pad_nd.default"}, [](Call &c) -> Results {
    Value x = c.tensor("self");
    return padConstant(c, x, amounts(c, x), c.b.reshape(c.b.as(c.operand("value"), GraphBuilder::element(x)), {}));
  });
  t.add({"reflection_pad1d.default", "reflection_pad2d.default", "reflection_pad3d.default"}, padEdge<Edge::Reflect>);
  t.add({"replication_pad1d.default", "replication_pad2d.default", "replication_pad3d.default"},
        padEdge<Edge::Replicate>);
  t.add({"_pad_circular.default"}, padEdge<Edge::Circular>);
}

} // namespace stator::torch_export
