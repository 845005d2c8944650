// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef STATOR_DIALECTS_GRAPH_CHOICES_H
#define STATOR_DIALECTS_GRAPH_CHOICES_H

#include "mlir/IR/OpDefinition.h"
#include <optional>

namespace stator::graph {

/// A value of an enumerated attribute and its name.
struct Choice {
  llvm::StringRef name;
  mlir::Attribute value;
};

} // namespace stator::graph

#include "dialects/graph/Choices.h.inc"

namespace stator::graph {

/// The names of the attribute's values; empty where it is not an enumeration of the op.
llvm::SmallVector<llvm::StringRef> choicesOf(mlir::OperationName op, llvm::StringRef attribute);
mlir::Attribute choiceNamed(mlir::OperationName op, llvm::StringRef attribute, llvm::StringRef name);
std::optional<llvm::StringRef> nameOfChoice(mlir::OperationName op, llvm::StringRef attribute, mlir::Attribute value);

/// How an op with one enumerated attribute, `mode`, answers: ScatterOp::attachInterface<ModeChoices<ScatterOp,
/// ScatterModeAttr, ScatterMode, symbolizeScatterMode>>(context), where the op is registered.
template <typename Op, typename Attr, typename Enum, std::optional<Enum> (*fromNumber)(uint32_t)>
struct ModeChoices : ChoiceOpInterface::ExternalModel<ModeChoices<Op, Attr, Enum, fromNumber>, Op> {
  static llvm::SmallVector<Choice> getChoices(mlir::MLIRContext *context, llvm::StringRef attribute) {
    llvm::SmallVector<Choice> choices;
    if (attribute != "mode") return choices;
    for (uint32_t number = 0; std::optional<Enum> value = fromNumber(number); ++number)
      choices.push_back({stringifyEnum(*value), Attr::get(context, *value)});
    return choices;
  }
};

} // namespace stator::graph

#endif // STATOR_DIALECTS_GRAPH_CHOICES_H
