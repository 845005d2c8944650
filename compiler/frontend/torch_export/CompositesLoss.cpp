// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Losses. `reduction`: 0 none, 1 mean, 2 sum.
#include "compiler/frontend/torch_export/Composites.h"
#include <cmath>

using namespace mlir;

namespace stator::torch_export {
namespace {

/// Operands in one float type, computed wide; the result is narrowed to `type`.
struct Wide {
  Wide(Call &c, std::initializer_list<StringRef> names) {
    SmallVector<Operand> operands;
    for (StringRef name : names) operands.push_back(c.operand(name));
    SmallVector<Value> promoted = c.b.promote(operands, Promotion::Float);
    type = GraphBuilder::element(promoted[0]);
    for (Value value : promoted) values.push_back(c.b.widen(value));
    compute = GraphBuilder::element(values[0]);
  }
  Value operator[](size_t i) const { return values[i]; }
  SmallVector<Value> values;
  Type type, compute;
};

Results reduced(Call &c, Value loss, Type type) {
  int64_t reduction = c.integer("reduction");
  if (reduction < 0 || reduction > 2) Call::fail("unknown reduction " + Twine(reduction));
  if (reduction == 1) loss = c.b.mean(loss, {}, false);
  if (reduction == 2) loss = c.b.sum(loss, {}, false);
  return c.b.cast(loss, type);
}

Value absolute(Call &c, Value x) { return c.b.unary<graph::AbsOp>(x); }
Value negative(Call &c, Value x) { return c.b.unary<graph::NegOp>(x); }
Value positivePart(Call &c, Value x) { return c.b.maximum(x, 0.0); }

Results smoothL1(Call &c) {
  Wide v(c, {"self", "target"});
  double beta = c.real("beta");
  Value d = absolute(c, c.b.sub(v[0], v[1]));
  if (beta == 0) return reduced(c, d, v.type);
  return reduced(c, c.b.where(c.b.lt(d, beta), c.b.div(c.b.mul(c.b.mul(d, d), 0.5), beta), c.b.sub(d, 0.5 * beta)),
                 v.type);
}

Results huber(Call &c) {
  Wide v(c, {"self", "target"});
  double delta = c.real("delta");
  Value d = absolute(c, c.b.sub(v[0], v[1]));
  return reduced(c, c.b.where(c.b.le(d, delta), c.b.mul(c.b.mul(d, d), 0.5), c.b.mul(c.b.sub(d, 0.5 * delta), delta)),
                 v.type);
}

Results binaryCrossEntropy(Call &c) {
  Wide v(c, {"self", "target"});
  auto logOf = [&](Value p) { return c.b.maximum(c.b.unary<graph::LogOp>(p), -100.0); };
  Value one = c.b.scalar(1, v.compute);
  Value loss = negative(c, c.b.add(c.b.mul(v[1], logOf(v[0])), c.b.mul(c.b.sub(one, v[1]), logOf(c.b.sub(one, v[0])))));
  if (Value weight = c.optional("weight")) loss = c.b.mul(loss, c.b.cast(weight, v.compute));
  return reduced(c, loss, v.type);
}

/// (1 - y) x + w (log(1 + e^-|x|) + max(-x, 0)).
Results binaryCrossEntropyWithLogits(Call &c) {
  Wide v(c, {"self", "target"});
  Value x = v[0], y = v[1], one = c.b.scalar(1, v.compute);
  Value soft = c.b.add(c.b.unary<graph::Log1pOp>(c.b.unary<graph::ExpOp>(negative(c, absolute(c, x)))),
                       positivePart(c, negative(c, x)));
  if (Value weight = c.optional("pos_weight"))
    soft = c.b.mul(soft, c.b.add(c.b.mul(c.b.sub(c.b.cast(weight, v.compute), 1.0), y), one));
  Value loss = c.b.add(c.b.mul(c.b.sub(one, y), x), soft);
  if (Value weight = c.optional("weight")) loss = c.b.mul(loss, c.b.cast(weight, v.compute));
  return reduced(c, loss, v.type);
}

struct Picked {
  Value loss, weights;
};
/// -x[class] * weight[class] for log-probabilities [N, C, ...] (or [C]); ignored targets count nothing.
Picked pickClasses(Call &c, Value x, Value target, Value weight) {
  int64_t d = GraphBuilder::rank(x) == 1 ? 0 : 1;
  if (GraphBuilder::rank(x) == 0 || GraphBuilder::rank(target) != GraphBuilder::rank(x) - 1)
    Call::fail("targets of rank " + Twine(GraphBuilder::rank(target)) + " for scores of rank " +
               Twine(GraphBuilder::rank(x)));
  Type type = GraphBuilder::element(x);
  target = asIndex(c, target);
  Value valid = c.b.ne(target, c.b.scalar(Number::of(c.integer("ignore_index")), GraphBuilder::element(target)));
  Value safe = c.b.where(valid, target, c.b.scalarInt(0, GraphBuilder::element(target)));
  Value picked = c.b.squeeze(c.b.op<graph::GatherOp>({x, c.b.unsqueeze(safe, d)}, {c.b.attr("dim", d)}), {d});
  if (d == 0) picked = c.b.reshape(picked, {});
  Value weights =
      weight ? c.b.take(c.b.cast(weight, type), safe, 0) : c.b.full(Number::of(1.0), GraphBuilder::dims(target), type);
  Value zero = c.b.scalar(0, type);
  weights = c.b.where(valid, weights, zero);
  return {c.b.where(valid, negative(c, c.b.mul(picked, weights)), zero), weights};
}

Value reduceWeighted(Call &c, Picked p, Value *total = nullptr) {
  int64_t reduction = c.integer("reduction");
  Value weights = c.b.sum(p.weights, {}, false);
  if (total) *total = weights;
  if (reduction == 0) return p.loss;
  Value sum = c.b.sum(p.loss, {}, false);
  return reduction == 1 ? c.b.div(sum, weights) : sum;
}

Results negativeLogLikelihood(Call &c) {
  Value x = c.tensor("self"), total;
  Value loss = reduceWeighted(c, pickClasses(c, c.b.widen(x), c.tensor("target"), c.optional("weight")), &total);
  return {narrow(c, loss, x), narrow(c, total, x)};
}

Results crossEntropy(Call &c) {
  Value x = c.tensor("self"), target = c.tensor("target"), weight = c.optional("weight"), wide = c.b.widen(x);
  Type type = GraphBuilder::element(wide);
  int64_t d = GraphBuilder::rank(x) == 1 ? 0 : 1, reduction = c.integer("reduction");
  double smoothing = c.real("label_smoothing");
  DimExpr classes = GraphBuilder::dim(x, d);
  Value logs = c.b.logSoftmax(wide, d);
  Value classWeights = weight ? perChannel(c, c.b.cast(weight, type), GraphBuilder::rank(x)) : Value();
  if (isFloat(GraphBuilder::element(target))) { // Probabilities of classes.
    Value y = c.b.cast(target, type);
    if (smoothing > 0)
      y = c.b.add(c.b.mul(y, 1 - smoothing), c.b.div(c.b.scalar(smoothing, type), c.b.cast(c.b.size(classes), type)));
    Value terms = c.b.mul(y, logs);
    if (classWeights) terms = c.b.mul(terms, classWeights);
    Value loss = negative(c, c.b.sum(terms, {d}, false));
    if (reduction != 0) {
      DimExpr rows = DimExpr::floorDiv(graph::numElements(GraphBuilder::dims(x), c.b.context()), classes);
      loss = c.b.sum(loss, {}, false);
      if (reduction == 1 && rows) loss = c.b.div(loss, c.b.cast(c.b.size(rows), type));
    }
    return narrow(c, loss, x);
  }
  Picked p = pickClasses(c, logs, target, weight);
  Value loss = reduceWeighted(c, p);
  if (smoothing > 0) {
    Value spread = negative(c, c.b.sum(classWeights ? c.b.mul(logs, classWeights) : logs, {d}, false));
    Value valid = c.b.ne(asIndex(c, target),
                         c.b.scalar(Number::of(c.integer("ignore_index")), GraphBuilder::element(asIndex(c, target))));
    spread = c.b.where(valid, spread, c.b.scalar(0, type));
    Value smooth = reduceWeighted(c, {spread, p.weights});
    Value share = c.b.div(c.b.scalar(smoothing, type), c.b.cast(c.b.size(classes), type));
    loss = c.b.add(c.b.mul(loss, 1 - smoothing), c.b.mul(smooth, share));
  }
  return narrow(c, loss, x);
}

Results divergence(Call &c) {
  Wide v(c, {"self", "target"});
  Value x = v[0], y = v[1], zero = c.b.scalar(0, v.compute);
  if (c.flag("log_target")) return reduced(c, c.b.mul(c.b.unary<graph::ExpOp>(y), c.b.sub(y, x)), v.type);
  Value own = c.b.where(c.b.eq(y, 0.0), zero, c.b.mul(y, c.b.unary<graph::LogOp>(y)));
  return reduced(c, c.b.sub(own, c.b.mul(y, x)), v.type);
}

Results poisson(Call &c) {
  Wide v(c, {"input", "target"});
  double eps = c.real("eps");
  Value x = v[0], y = v[1], loss;
  if (c.flag("log_input"))
    loss = c.b.sub(c.b.unary<graph::ExpOp>(x), c.b.mul(y, x));
  else
    loss = c.b.sub(x, c.b.mul(y, c.b.unary<graph::LogOp>(c.b.add(x, eps))));
  if (c.flag("full")) {
    Value stirling = c.b.add(c.b.sub(c.b.mul(y, c.b.unary<graph::LogOp>(y)), y),
                             c.b.mul(c.b.unary<graph::LogOp>(c.b.mul(y, 2 * M_PI)), 0.5));
    loss = c.b.add(loss, c.b.where(c.b.le(y, 1.0), c.b.scalar(0, v.compute), stirling));
  }
  return reduced(c, loss, v.type);
}

Results tripletMargin(Call &c) {
  Wide v(c, {"anchor", "positive", "negative"});
  double p = c.real("p"), eps = c.real("eps"), margin = c.real("margin");
  auto distance = [&](Value x, Value y) {
    Value d = absolute(c, c.b.add(c.b.sub(x, y), eps));
    Ints last{GraphBuilder::rank(d) - 1};
    if (p == 2) return c.b.unary<graph::SqrtOp>(c.b.sum(c.b.mul(d, d), last, false));
    if (p == 1) return c.b.sum(d, last, false);
    return c.b.binary<graph::PowOp>(c.b.sum(c.b.binary<graph::PowOp>(d, p), last, false), 1 / p);
  };
  Value far = distance(v[0], v[2]);
  if (c.flag("swap")) far = c.b.minimum(far, distance(v[1], v[2]));
  return reduced(c, positivePart(c, c.b.add(c.b.sub(distance(v[0], v[1]), far), margin)), v.type);
}

Results multiMargin(Call &c) {
  Value x = c.tensor("self"), wide = c.b.widen(x), target = asIndex(c, c.tensor("target"));
  Type type = GraphBuilder::element(wide);
  bool single = GraphBuilder::rank(x) <= 1;
  if (GraphBuilder::rank(x) == 0) wide = c.b.unsqueeze(wide, 0);
  if (single) wide = c.b.unsqueeze(wide, 0), target = c.b.reshape(target, {c.b.dim(1)});
  Value own = c.b.op<graph::GatherOp>({wide, c.b.unsqueeze(target, 1)}, {c.b.attr("dim", int64_t(1))});
  Value z = positivePart(c, c.b.add(c.b.sub(wide, own), c.real("margin")));
  double p = c.number("p").asDouble();
  if (p != 1 && p != 2) Call::fail(Twine("a margin loss with p = ") + std::to_string(p));
  if (p == 2) z = c.b.mul(z, z);
  if (Value weight = c.optional("weight"))
    z = c.b.mul(z, c.b.unsqueeze(c.b.take(c.b.cast(weight, type), target, 0), 1));
  Value others = c.b.ne(c.b.iota(GraphBuilder::dims(wide), 1, GraphBuilder::element(target)), c.b.unsqueeze(target, 1));
  Value loss = c.b.div(c.b.sum(c.b.where(others, z, c.b.scalar(0, type)), {1}, false),
                       c.b.cast(c.b.size(GraphBuilder::dim(wide, 1)), type));
  if (single) loss = c.b.reshape(loss, {});
  return reduced(c, loss, GraphBuilder::element(x));
}

} // namespace

void addLossComposites(CompositeTable &t) {
  t.add({"mse_loss.default"}, [](Call &c) {
    Wide v(c, {"self", "target"});
    Value d = c.b.sub(v[0], v[1]);
    return reduced(c, c.b.mul(d, d), v.type);
  });
  t.add({"l1_loss.default"}, [](Call &c) {
    Wide v(c, {"self", "target"});
    return reduced(c, absolute(c, c.b.sub(v[0], v[1])), v.type);
  });
  t.add({"smooth_l1_loss.default"}, smoothL1);
  t.add({"huber_loss.default"}, huber);
  t.add({"binary_cross_entropy.default"}, binaryCrossEntropy);
  t.add({"binary_cross_entropy_with_logits.default"}, binaryCrossEntropyWithLogits);
  t.add({"nll_loss_forward.default", "nll_loss2d_forward.default"}, negativeLogLikelihood);
  t.add({"nll_loss.default", "nll_loss2d.default", "nll_loss_nd.default"},
        [](Call &c) -> Results { return negativeLogLikelihood(c)[0]; });
  t.add({"cross_entropy_loss.default"}, crossEntropy);
  t.add({"kl_div.default"}, divergence);
  t.add({"poisson_nll_loss.default"}, poisson);
  t.add({"soft_margin_loss.default"}, [](Call &c) {
    Wide v(c, {"self", "target"});
    return reduced(c, c.b.unary<graph::Log1pOp>(c.b.unary<graph::ExpOp>(negative(c, c.b.mul(v[0], v[1])))), v.type);
  });
  t.add({"margin_ranking_loss.default"}, [](Call &c) {
    Wide v(c, {"input1", "input2", "target"});
    return reduced(c, positivePart(c, c.b.add(negative(c, c.b.mul(v[2], c.b.sub(v[0], v[1]))), c.real("margin"))),
                   v.type);
  });
  t.add({"hinge_embedding_loss.default"}, [](Call &c) {
    Wide v(c, {"self", "target"});
    Value zero = c.b.scalar(0, v.compute);
    Value apart = positivePart(c, c.b.sub(c.b.scalar(c.real("margin"), v.compute), v[0]));
    Value loss = c.b.add(c.b.where(c.b.ne(v[1], 1.0), apart, zero), c.b.where(c.b.ne(v[1], -1.0), v[0], zero));
    return reduced(c, loss, v.type);
  });
  t.add({"triplet_margin_loss.default"}, tripletMargin);
  t.add({"multi_margin_loss.default"}, multiMargin);
}

} // namespace stator::torch_export
