// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layer, batch, group, instance and root-mean-square normalization. Narrow floats are normalized in f32 and rounded
// once.
#include "compiler/frontend/torch_export/Composites.h"

using namespace mlir;

namespace stator::torch_export {

Value perChannel(Call &c, Value parameter, int64_t rank) {
  if (GraphBuilder::rank(parameter) != 1)
    Call::fail("a parameter per channel of rank " + Twine(GraphBuilder::rank(parameter)));
  Dims dims(std::max<int64_t>(rank, 1), c.b.dim(1));
  dims[rank > 1 ? 1 : 0] = GraphBuilder::dim(parameter, 0);
  return c.b.reshape(parameter, dims);
}

namespace {

/// A statistic as the program types it: some decompositions give it in the input's type, others in f32.
Value asDeclared(Call &c, Value value, size_t result) {
  Type type = value && result < c.resultCount() ? c.declaredType(result) : Type();
  return type && isFloat(type) ? c.b.cast(value, type) : value;
}
/// Results of a normalization whose statistics are given beside.
Results withStatistics(Call &c, Results results) {
  for (size_t i = 1; i < results.size(); ++i) results[i] = asDeclared(c, results[i], i);
  return results;
}

/// x * weight + bias where they are given, in x's type.
Value scaleAndShift(Call &c, Value x, Value weight, Value bias) {
  Type type = GraphBuilder::element(x);
  if (weight) x = c.b.mul(x, c.b.cast(weight, type));
  if (bias) x = c.b.add(x, c.b.cast(bias, type));
  return x;
}

Ints lastDims(Value x, size_t count) {
  int64_t rank = GraphBuilder::rank(x);
  if (count == 0 || int64_t(count) > rank)
    Call::fail("normalization over " + Twine(count) + " of " + Twine(rank) + " dimensions");
  return counting(rank - int64_t(count), rank);
}

Results layerNorm(Call &c) {
  Value x = c.tensor("input");
  Ints dims = lastDims(x, c.sizes("normalized_shape").size());
  Value mean, rstd, y = c.b.normalize(c.b.widen(x), dims, c.real("eps"), &mean, &rstd);
  return {narrow(c, scaleAndShift(c, y, c.optional("weight"), c.optional("bias")), x), mean, rstd};
}
Results layerNormOnly(Call &c) { return layerNorm(c)[0]; }

Results rmsNorm(Call &c) {
  Value x = c.tensor("input"), wide = c.b.widen(x);
  Ints dims = lastDims(x, c.sizes("normalized_shape").size());
  double eps = c.isNone("eps") ? (GraphBuilder::element(x).isF64() ? 2.220446049250313e-16 : 1.1920928955078125e-07)
                               : c.real("eps");
  Value rstd = c.b.unary<graph::RsqrtOp>(c.b.add(c.b.mean(c.b.mul(wide, wide), dims, true), eps));
  return {narrow(c, scaleAndShift(c, c.b.mul(wide, rstd), c.optional("weight"), {}), x), rstd};
}

/// All dimensions but that of the channels.
Ints statisticsDims(int64_t rank) {
  Ints dims;
  for (int64_t d = 0; d < rank; ++d)
    if (d != 1) dims.push_back(d);
  return dims;
}

/// With stored statistics the scale and the shift of a channel are known numbers: x * alpha + beta.
Value withStored(Call &c, Value x, Value mean, Value variance, Value weight, Value bias, double eps) {
  int64_t rank = GraphBuilder::rank(x);
  Value wide = c.b.widen(x);
  Type type = GraphBuilder::element(wide);
  Value alpha = c.b.unary<graph::RsqrtOp>(c.b.add(c.b.cast(variance, type), eps));
  if (weight) alpha = c.b.mul(alpha, c.b.cast(weight, type));
  Value beta = c.b.mul(c.b.cast(mean, type), alpha);
  beta = bias ? c.b.sub(c.b.cast(bias, type), beta) : c.b.unary<graph::NegOp>(beta);
  return narrow(c, c.b.add(c.b.mul(wide, perChannel(c, alpha, rank)), perChannel(c, beta, rank)), x);
}

struct BatchResult {
  Value y, mean, rstd, runningMean, runningVariance;
};

/// Normalizes with the batch's own statistics; the running ones move by `momentum` towards them (the unbiased
/// variance).
BatchResult withOwn(Call &c, Value x, Value weight, Value bias, Value runningMean, Value runningVariance,
                    double momentum, double eps) {
  int64_t rank = GraphBuilder::rank(x);
  if (rank < 2) Call::fail("batch normalization of a tensor of rank " + Twine(rank));
  Value wide = c.b.widen(x);
  Type type = GraphBuilder::element(wide);
  Ints dims = statisticsDims(rank);
  BatchResult r;
  Value mean, rstd, y = c.b.normalize(wide, dims, eps, &mean, &rstd);
  y = scaleAndShift(c, y, weight ? perChannel(c, weight, rank) : Value(), bias ? perChannel(c, bias, rank) : Value());
  r.y = narrow(c, y, x);
  r.mean = c.b.squeeze(mean, dims);
  r.rstd = c.b.squeeze(rstd, dims);
  auto moved = [&](Value running, Value now) {
    Value wideRunning = c.b.cast(running, type);
    return c.b.cast(c.b.add(c.b.mul(wideRunning, 1 - momentum), c.b.mul(now, momentum)),
                    GraphBuilder::element(running));
  };
  if (runningMean) r.runningMean = moved(runningMean, r.mean);
  if (runningVariance) r.runningVariance = moved(runningVariance, c.b.variance(wide, dims, 1, false));
  return r;
}

Results batchNorm(Call &c) {
  Value x = c.tensor("input"), mean = c.optional("running_mean"), variance = c.optional("running_var");
  Value weight = c.optional("weight"), bias = c.optional("bias");
  bool training = c.flag("training") || !mean;
  if (!training) return {withStored(c, x, mean, variance, weight, bias, c.real("eps")), Value(), Value(), Value()};
  BatchResult r = withOwn(c, x, weight, bias, mean, variance, c.real("momentum"), c.real("eps"));
  if (mean && variance) {
    c.write(mean, r.runningMean);
    c.write(variance, r.runningVariance);
  }
  return {r.y, r.mean, r.rstd, Value()};
}

Results instanceNorm(Call &c) {
  Value x = c.tensor("input"), mean = c.optional("running_mean"), variance = c.optional("running_var");
  Value weight = c.optional("weight"), bias = c.optional("bias");
  int64_t rank = GraphBuilder::rank(x);
  if (rank < 3) Call::fail("instance normalization of a tensor of rank " + Twine(rank));
  if (!c.flag("use_input_stats")) return withStored(c, x, mean, variance, weight, bias, c.real("eps"));
  if (mean || variance) Call::fail("instance normalization that tracks statistics while it trains");
  Ints dims = counting(2, rank);
  Value y = c.b.normalize(c.b.widen(x), dims, c.real("eps"));
  return narrow(
      c,
      scaleAndShift(c, y, weight ? perChannel(c, weight, rank) : Value(), bias ? perChannel(c, bias, rank) : Value()),
      x);
}

Results groupNorm(Call &c) {
  Value x = c.tensor("input"), weight = c.optional("weight"), bias = c.optional("bias");
  int64_t groups = c.integer(c.has("group") ? "group" : "num_groups"), rank = GraphBuilder::rank(x);
  if (rank < 2 || groups <= 0)
    Call::fail("group normalization with " + Twine(groups) + " groups of a tensor of rank " + Twine(rank));
  Dims dims = GraphBuilder::dims(x), split{dims[0], c.b.dim(groups), DimExpr::floorDiv(dims[1], c.b.dim(groups))};
  split.append(dims.begin() + 2, dims.end());
  Value mean, rstd,
      y = c.b.normalize(c.b.reshape(c.b.widen(x), split), counting(2, rank + 1), c.real("eps"), &mean, &rstd);
  y = c.b.reshape(y, dims);
  y = scaleAndShift(c, y, weight ? perChannel(c, weight, rank) : Value(), bias ? perChannel(c, bias, rank) : Value());
  Dims perGroup{dims[0], c.b.dim(groups)};
  return {narrow(c, y, x), c.b.reshape(mean, perGroup), c.b.reshape(rstd, perGroup)};
}

} // namespace

void addNormalizationComposites(CompositeTable &t) {
  t.add({"layer_norm.default"}, layerNormOnly);
  t.add({"native_layer_norm.default"}, [](Call &c) { return withStatistics(c, layerNorm(c)); });
  t.add({"rms_norm.default"}, [](Call &c) -> Results { return rmsNorm(c)[0]; });
  t.add({"_fused_rms_norm.default"}, [](Call &c) { return withStatistics(c, rmsNorm(c)); });
  t.add({"batch_norm.default"}, [](Call &c) -> Results { return batchNorm(c)[0]; });
  t.add({"native_batch_norm.default", "_native_batch_norm_legit.default", "_batch_norm_with_update.default"},
        [](Call &c) { return withStatistics(c, batchNorm(c)); });
  t.add({"_native_batch_norm_legit_no_training.default", "_batch_norm_no_update.default"}, [](Call &c) -> Results {
    return {withStored(c, c.tensor("input"), c.tensor("running_mean"), c.tensor("running_var"), c.optional("weight"),
                       c.optional("bias"), c.real("eps")),
            Value(), Value(), Value()};
  });
  t.add({"_native_batch_norm_legit.no_stats"}, [](Call &c) -> Results {
    BatchResult r = withOwn(c, c.tensor("input"), c.optional("weight"), c.optional("bias"), {}, {}, c.real("momentum"),
                            c.real("eps"));
    return withStatistics(c, {r.y, r.mean, r.rstd});
  });
  t.add({"_native_batch_norm_legit_functional.default"}, [](Call &c) -> Results {
    Value mean = c.tensor("running_mean"), variance = c.tensor("running_var");
    if (!c.flag("training"))
      return {withStored(c, c.tensor("input"), mean, variance, c.optional("weight"), c.optional("bias"), c.real("eps")),
              Value(), Value(), mean, variance};
    BatchResult r = withOwn(c, c.tensor("input"), c.optional("weight"), c.optional("bias"), mean, variance,
                            c.real("momentum"), c.real("eps"));
    return withStatistics(c, {r.y, r.mean, r.rstd, r.runningMean, r.runningVariance});
  });
  t.add({"instance_norm.default"}, instanceNorm);
  t.add({"group_norm.default"}, [](Call &c) -> Results { return groupNorm(c)[0]; });
  t.add({"native_group_norm.default"}, [](Call &c) { return withStatistics(c, groupNorm(c)); });
}

} // namespace stator::torch_export
