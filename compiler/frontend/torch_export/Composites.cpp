// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/frontend/torch_export/Composites.h"

namespace stator::torch_export {

CompositeTable::CompositeTable() {
  addArithmeticComposites(*this);
  addSpecialComposites(*this);
  addActivationComposites(*this);
  addCastComposites(*this);
  addViewComposites(*this);
  addSplitComposites(*this);
  addCreationComposites(*this);
  addReductionComposites(*this);
  addNormComposites(*this);
  addOrderComposites(*this);
  addNormalizationComposites(*this);
  addLinearComposites(*this);
  addEinsumComposites(*this);
  addAttentionComposites(*this);
  addConvolutionComposites(*this);
  addPoolComposites(*this);
  addResizeComposites(*this);
  addPadComposites(*this);
  addIndexComposites(*this);
  addScatterComposites(*this);
  addArrangeComposites(*this);
  addRecurrentComposites(*this);
  addLossComposites(*this);
  addVisionComposites(*this);
  addGammaComposites(*this);
}

} // namespace stator::torch_export
