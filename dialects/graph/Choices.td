// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The names of enumerated attributes' values. A file of its own, so that only who asks depends on it.
#ifndef STATOR_DIALECTS_GRAPH_CHOICES
#define STATOR_DIALECTS_GRAPH_CHOICES

include "mlir/IR/OpBase.td"

def ChoiceOpInterface : OpInterface<"ChoiceOpInterface"> {
  let cppNamespace = "::stator::graph";
  let description = [{ Question: which values has an enumerated attribute, and what are they called? }];
  let methods = [
    StaticInterfaceMethod<"Names and values of the attribute; none where it is not an enumeration.",
      "::llvm::SmallVector<::stator::graph::Choice>", "getChoices",
      (ins "::mlir::MLIRContext *":$context, "::llvm::StringRef":$attribute)>,
  ];
}

#endif
