// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operators that are more than one graph op, by theme: each file registers its targets.
#ifndef STATOR_COMPILER_FRONTEND_TORCH_EXPORT_COMPOSITES_H
#define STATOR_COMPILER_FRONTEND_TORCH_EXPORT_COMPOSITES_H

#include "compiler/frontend/torch_export/Call.h"

namespace stator::torch_export {

void addArithmeticComposites(CompositeTable &table);
void addSpecialComposites(CompositeTable &table);
void addActivationComposites(CompositeTable &table);
void addCastComposites(CompositeTable &table);
void addViewComposites(CompositeTable &table);
void addSplitComposites(CompositeTable &table);
void addCreationComposites(CompositeTable &table);
void addReductionComposites(CompositeTable &table);
void addNormComposites(CompositeTable &table);
void addOrderComposites(CompositeTable &table);
void addNormalizationComposites(CompositeTable &table);
void addLinearComposites(CompositeTable &table);
void addEinsumComposites(CompositeTable &table);
void addAttentionComposites(CompositeTable &table);
void addConvolutionComposites(CompositeTable &table);
void addPoolComposites(CompositeTable &table);
void addResizeComposites(CompositeTable &table);
void addPadComposites(CompositeTable &table);
void addIndexComposites(CompositeTable &table);
void addScatterComposites(CompositeTable &table);
void addArrangeComposites(CompositeTable &table);
void addRecurrentComposites(CompositeTable &table);
void addLossComposites(CompositeTable &table);
void addVisionComposites(CompositeTable &table);
void addGammaComposites(CompositeTable &table);

// Shared between files.
/// PyTorch's opmath rule: `a OP b` where a number or 0-d tensor beside a narrow float is used unrounded.
template <typename OpTy> Value arithmetic(Call &c, const Operand &x, const Operand &y) {
  Type type = c.b.resultType({x, y});
  auto unrounded = [&](const Operand &o) { return !o.value || GraphBuilder::element(o.value) != type; };
  Type compute = graph::isNarrowFloat(type) && (unrounded(x) || unrounded(y)) ? Type(c.b.f32()) : type;
  return c.b.cast(c.b.binary<OpTy>(c.b.as(x, compute), c.b.as(y, compute)), type);
}
/// The value in the element type of `like`, which a composite computed wider.
inline Value narrow(Call &c, Value value, Value like) { return c.b.cast(value, GraphBuilder::element(like)); }
/// A parameter per channel of dimension 1, shaped to broadcast over `rank` dimensions.
Value perChannel(Call &c, Value parameter, int64_t rank);
/// The diagonal of dimensions a and e as a view whose last dimension it is.
Value diagonalOf(Call &c, Value x, int64_t a, int64_t e, int64_t offset);
/// Softmax along a dimension, computed in f32 for narrow types.
Value softmax(Call &c, Value x, int64_t dim, bool log);
/// An integer tensor as i32 or i64 indices.
Value asIndex(Call &c, Value index);
mlir::NamedAttribute scatterMode(Call &c, graph::ScatterMode mode);

} // namespace stator::torch_export

#endif // STATOR_COMPILER_FRONTEND_TORCH_EXPORT_COMPOSITES_H
