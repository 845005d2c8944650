// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "dialects/graph/Choices.h"

using namespace mlir;

#include "dialects/graph/Choices.cpp.inc"

namespace stator::graph {

static SmallVector<Choice> choices(OperationName op, StringRef attribute) {
  auto *interface = op.getInterface<ChoiceOpInterface>();
  return interface ? interface->getChoices(op.getContext(), attribute) : SmallVector<Choice>();
}

SmallVector<StringRef> choicesOf(OperationName op, StringRef attribute) {
  SmallVector<StringRef> names;
  for (const Choice &choice : choices(op, attribute)) names.push_back(choice.name);
  return names;
}

Attribute choiceNamed(OperationName op, StringRef attribute, StringRef name) {
  for (const Choice &choice : choices(op, attribute))
    if (choice.name == name) return choice.value;
  return {};
}

std::optional<StringRef> nameOfChoice(OperationName op, StringRef attribute, Attribute value) {
  for (const Choice &choice : choices(op, attribute))
    if (choice.value == value) return choice.name;
  return std::nullopt;
}

} // namespace stator::graph
