// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled dot-product attention. Scores and softmax are computed in f32 for narrow types, the result rounded once.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

/// Each head of [.., H, S, E] repeated `times` times in a row.
Value repeatHeads(Call &c, Value x, int64_t times) {
  if (times == 1) return x;
  Dims dims = GraphBuilder::dims(x);
  size_t head = dims.size() - 3;
  Dims split = dims, repeated, merged = dims;
  split.insert(split.begin() + long(head) + 1, c.b.dim(1));
  repeated = split;
  repeated[head + 1] = c.b.dim(times);
  merged[head] = DimExpr::mul(dims[head], c.b.dim(times));
  return c.b.reshape(c.b.broadcastTo(c.b.reshape(x, split), repeated), merged);
}

struct Attention {
  Value query, key, value, mask;
  bool causal = false;
  std::optional<double> scale;
  bool grouped = false;
};

Value attend(Call &c, Attention a) {
  int64_t rank = GraphBuilder::rank(a.query);
  if (rank < 2 || GraphBuilder::rank(a.key) < 2 || GraphBuilder::rank(a.value) < 2)
    Call::fail("attention of tensors of rank below 2");
  if (a.grouped && rank >= 3 && GraphBuilder::rank(a.key) >= 3) {
    int64_t heads = GraphBuilder::staticDim(a.query, rank - 3, "grouped attention"),
            pairs = GraphBuilder::staticDim(a.key, GraphBuilder::rank(a.key) - 3, "grouped attention");
    int64_t values = GraphBuilder::staticDim(a.value, GraphBuilder::rank(a.value) - 3, "grouped attention");
    if (pairs <= 0 || values <= 0 || heads % pairs != 0 || heads % values != 0)
      Call::fail("attention of " + Twine(heads) + " query heads over " + Twine(pairs) + " key heads");
    a.key = repeatHeads(c, a.key, heads / pairs);
    a.value = repeatHeads(c, a.value, heads / values);
  }
  Value query = c.b.widen(a.query), key = c.b.widen(a.key), value = c.b.widen(a.value);
  Type type = GraphBuilder::element(query);
  Value scale;
  if (a.scale) {
    scale = c.b.scalar(*a.scale, type);
  } else if (auto size = GraphBuilder::dim(query, rank - 1).asConstant()) {
    if (*size <= 0) Call::fail("attention with an empty embedding");
    scale = c.b.scalar(1 / std::sqrt(double(*size)), type);
  } else {
    scale = c.b.unary<graph::RsqrtOp>(c.b.cast(c.b.size(GraphBuilder::dim(query, rank - 1)), type));
  }
  Value scores = c.b.mul(c.b.matmul(query, key, false, true), scale);
  int64_t last = GraphBuilder::rank(scores) - 1;
  Value minusInfinity = c.b.lowest(type);
  if (a.causal) {
    Dims dims = GraphBuilder::dims(scores), square(dims.end() - 2, dims.end());
    Value seen = c.b.le(c.b.iota(square, 1, c.b.i64()), c.b.iota(square, 0, c.b.i64()));
    scores = c.b.where(seen, scores, minusInfinity);
  }
  if (a.mask) {
    scores = isBool(GraphBuilder::element(a.mask)) ? c.b.where(a.mask, scores, minusInfinity)
                                                   : c.b.add(scores, c.b.cast(a.mask, type));
    // A row that sees nothing gives zeros, not NaN: the maximum is kept finite and the sum at least 1.
    Value largest = c.b.maximum(c.b.reduce<graph::ReduceMaxOp>(scores, {last}, true), -3.4028234663852886e38);
    Value e = c.b.unary<graph::ExpOp>(c.b.sub(scores, largest));
    Value weights = c.b.div(e, c.b.maximum(c.b.sum(e, {last}, true), 1.0));
    return narrow(c, c.b.matmul(weights, value), a.query);
  }
  return narrow(c, c.b.matmul(c.b.softmax(scores, last), value), a.query);
}

Results attention(Call &c) {
  if (c.real("dropout_p") != 0) Call::fail("attention with dropout is random: export the model in eval mode");
  return attend(c, {c.tensor("query"), c.tensor("key"), c.tensor("value"),
                    c.has("attn_mask") ? c.optional("attn_mask") : Value(), c.flag("is_causal"),
                    c.optionalReal("scale"), c.has("enable_gqa") && c.flag("enable_gqa")});
}

} // namespace

void addAttentionComposites(CompositeTable &t) {
  t.add({"scaled_dot_product_attention.default"}, attention);
  t.add({"_scaled_dot_product_attention_math.default", "_scaled_dot_product_flash_attention_for_cpu.default"},
        [](Call &c) -> Results { return {attention(c)[0], Value()}; });
}

} // namespace stator::torch_export
