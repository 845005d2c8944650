// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One question per interface. Passes and code generation ask ops only through these.
#ifndef STATOR_DIALECTS_INTERFACES
#define STATOR_DIALECTS_INTERFACES

include "mlir/IR/OpBase.td"

def ScalarOpInterface : OpInterface<"ScalarOpInterface"> {
  let cppNamespace = "::stator";
  let description = [{
    Elementwise: element i of the result depends on element i of every operand only. Operands and result have one shape.
    Question: how is one element computed?
  }];
  let methods = [
    InterfaceMethod<[{
      Emits the element from the operands' elements. `operands` are already widened for computing (f16, bf16 and f8 as
      f32); the answer is in the same widened type and is rounded to the result's element type by the caller.
    }], "::stator::Scalar", "emitScalar", (ins "::stator::ScalarBuilder &":$s, "::llvm::ArrayRef<::stator::Scalar>":$operands)>,
    InterfaceMethod<"Whether one element costs much more than an addition, so that computing it twice is worse than storing it.",
      "bool", "isExpensive", (ins), "", [{ return false; }]>,
  ];
}

def ElementalOpInterface : OpInterface<"ElementalOpInterface"> {
  let cppNamespace = "::stator";
  let description = [{
    Question: how is the element of a result at given indices computed from elements of the operands?
    Answered by every op that can stand inside a fused kernel and is not elementwise (those answer ScalarOpInterface).
  }];
  let methods = [
    InterfaceMethod<[{
      Emits element `indices` (one `index` value per dimension of the result, in bounds) of result `result`.
    }], "::stator::Scalar", "emitElement", (ins "::stator::ElementEmitter &":$e, "unsigned":$result, "::mlir::ValueRange":$indices)>,
    InterfaceMethod<[{
      Where the operand's index follows from the result's by picking dimensions: for each dimension of operand number
      `operand` the result dimension whose index it takes, or -1 where the index is always 0. nullopt otherwise.
    }], "::std::optional<::llvm::SmallVector<int64_t>>", "getOperandDims", (ins "unsigned":$operand), "", [{ return ::std::nullopt; }]>,
    InterfaceMethod<"Whether one element reads many elements of an operand, in a loop (windows, contractions, reductions).",
      "bool", "readsMany", (ins), "", [{ return false; }]>,
  ];
}

def ReductionOpInterface : OpInterface<"ReductionOpInterface"> {
  let cppNamespace = "::stator";
  let description = [{
    Question: how are elements combined along the reduced dimensions? An accumulator is a list of scalars (one for sum;
    value and position for argmax); combining is associative and commutative up to rounding.
  }];
  let methods = [
    InterfaceMethod<"Dimensions of operand 0 that are reduced, ascending; they are absent from the result.",
      "::llvm::ArrayRef<int64_t>", "getReducedDims">,
    InterfaceMethod<"The accumulator of no elements.",
      "::llvm::SmallVector<::stator::Scalar>", "emitIdentity", (ins "::stator::ScalarBuilder &":$s)>,
    InterfaceMethod<"The accumulator of one element; `position` is its row-major index among the reduced dimensions (i64).",
      "::llvm::SmallVector<::stator::Scalar>", "emitLift",
      (ins "::stator::ScalarBuilder &":$s, "::stator::Scalar":$element, "::stator::Scalar":$position)>,
    InterfaceMethod<"Both accumulators together.",
      "::llvm::SmallVector<::stator::Scalar>", "emitCombine",
      (ins "::stator::ScalarBuilder &":$s, "::llvm::ArrayRef<::stator::Scalar>":$a, "::llvm::ArrayRef<::stator::Scalar>":$b)>,
    InterfaceMethod<"The result's element (widened type) from the final accumulator.",
      "::stator::Scalar", "emitFinish",
      (ins "::stator::ScalarBuilder &":$s, "::llvm::ArrayRef<::stator::Scalar>":$accumulator)>,
  ];
}

def EvaluableOpInterface : OpInterface<"EvaluableOpInterface"> {
  let cppNamespace = "::stator";
  let description = [{
    Question: what is the value? Plain loops on host tensors, floating sums in f64, integers exact. This is the oracle of
    every test and shares nothing with emission.
  }];
  let methods = [
    InterfaceMethod<[{
      Fills `results`, allocated with the result types' shapes under the symbol values of `env`. An error (an index out of
      range, say) is reported through `env.error(op, message)`, which returns failure.
    }], "::llvm::LogicalResult", "evaluate",
      (ins "::stator::EvalEnv &":$env, "::llvm::ArrayRef<const ::stator::HostTensor *>":$operands,
           "::llvm::MutableArrayRef<::stator::HostTensor>":$results)>,
  ];
}

def ImportableOpInterface : OpInterface<"ImportableOpInterface"> {
  let cppNamespace = "::stator";
  let description = [{ Question: which torch.export targets does this op stand for, operands in schema order? }];
  let methods = [
    StaticInterfaceMethod<"Targets without the `torch.ops.` prefix: `aten.exp.default`.",
      "::llvm::ArrayRef<::llvm::StringLiteral>", "getTorchTargets">,
    StaticInterfaceMethod<[{
      How operand element types become one: None (as they are), Same (PyTorch's promotion), Float (promotion, integers
      become the default float), Bool (operands are compared with zero).
    }], "::stator::Promotion", "getPromotion">,
  ];
}

def ViewOpInterface : OpInterface<"ViewOpInterface"> {
  let cppNamespace = "::stator";
  let description = [{
    Question: if the result is overwritten, what does the source become? Answered by the ops whose torch counterparts
    alias their input, so that normalize can functionalise writes.
  }];
  let methods = [
    InterfaceMethod<"The source tensor (operand 0) with the viewed elements replaced by `updated` (the result's type).",
      "::mlir::Value", "scatterBack", (ins "::mlir::OpBuilder &":$b, "::mlir::Value":$source, "::mlir::Value":$updated)>,
  ];
}

def DecomposableOpInterface : OpInterface<"DecomposableOpInterface"> {
  let cppNamespace = "::stator";
  let description = [{ Question: what simpler ops compute the same results? Asked when no later phase wants the op whole. }];
  let methods = [
    InterfaceMethod<"Builds the replacement and returns one value per result.",
      "::llvm::SmallVector<::mlir::Value>", "decompose", (ins "::mlir::OpBuilder &":$b)>,
  ];
}

#endif
