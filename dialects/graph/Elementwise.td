// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The base classes of elementwise ops: an op is one row that gives name, targets, emission and evaluation.
//
//   emission   a C++ expression of type Scalar over `s` (ScalarBuilder) and the operands `x`, `y`, `z`
//   evaluation C++ expressions over the operands: `evalF` on double, `evalI` on int64_t (uint64_t where the element type
//              is unsigned or bool: write `x` operations that are right for both, or ask `isUnsigned`)
//
// Where integers have no meaning (exp), integer emission and evaluation are left out and the verifier refuses them.
#ifndef STATOR_DIALECTS_GRAPH_ELEMENTWISE
#define STATOR_DIALECTS_GRAPH_ELEMENTWISE

include "dialects/graph/GraphBase.td"

def SameShape : NativeOpTrait<"SameShape"> { let cppNamespace = "::stator::graph::OpTrait"; }

// Result element type: that of operand 0, or bool.
class Graph_Elementwise<string mnemonic, TorchTargets torch, int arity, bit toBool, bit floatOnly, bit intOnly,
                        code emission, code evalF, code evalI, list<Trait> extra = []>
    : Graph_Op<mnemonic, !listconcat(extra, [Pure, SameShape, InferTypeOpAdaptor,
                          DeclareOpInterfaceMethods<ScalarOpInterface, ["isExpensive"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>,
                          DeclareOpInterfaceMethods<ImportableOpInterface>])> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
  /// Set where an element costs much more than an addition; functions that only floats have (exp, division) do.
  bit costly = floatOnly;
  defvar targetList = !interleave(!foreach(t, torch.targets, "::llvm::StringLiteral(\"" # t # "\")"), ", ");
  defvar bind = "[[maybe_unused]] auto x = v[0];" # !if(!gt(arity, 1), " [[maybe_unused]] auto y = v[1];", "")
                # !if(!gt(arity, 2), " [[maybe_unused]] auto z = v[2];", "");
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context, ::std::optional<::mlir::Location>,
                                                      Adaptor adaptor, ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      auto type = ::llvm::cast<::mlir::RankedTensorType>(adaptor.getOperands()[0].getType());
      types.push_back(}] # !if(toBool, "type.clone(::mlir::IntegerType::get(context, 1))", "type") # [{);
      return ::mlir::success();
    }
    bool $cppClass::isExpensive() { return }] # !if(costly, "true", "false") # [{; }
    ::mlir::LogicalResult $cppClass::verify() {
      return ::stator::graph::verifyElementwise(*this, }] # !if(floatOnly, "true", "false") # ", "
          # !if(intOnly, "true", "false") # [{);
    }
    ::stator::Scalar $cppClass::emitScalar(::stator::ScalarBuilder &s, ::llvm::ArrayRef<::stator::Scalar> v) {
      }] # bind # [{
      [[maybe_unused]] auto &op = *this;
      return }] # emission # [{;
    }
    ::mlir::LogicalResult $cppClass::evaluate(::stator::EvalEnv &env, ::llvm::ArrayRef<const ::stator::HostTensor *> operands,
                                              ::llvm::MutableArrayRef<::stator::HostTensor> results) {
      [[maybe_unused]] auto &op = *this;
      ::stator::graph::evaluateElementwise(operands, results[0],
          [&]([[maybe_unused]] ::llvm::ArrayRef<double> v) { }] # bind # " return " # !if(!eq(evalF, ""), "0.0", evalF) # [{; },
          [&]([[maybe_unused]] ::llvm::ArrayRef<int64_t> v, [[maybe_unused]] bool isUnsigned) -> int64_t { }] # bind # " return " # !if(!eq(evalI, ""), "0", evalI) # [{; });
      return ::mlir::success();
    }
    ::llvm::ArrayRef<::llvm::StringLiteral> $cppClass::getTorchTargets() {
      static constexpr ::llvm::StringLiteral targets[] = {}] # !if(!empty(torch.targets), "::llvm::StringLiteral(\"\")", targetList) # [{};
      return ::llvm::ArrayRef(targets}] # !if(!empty(torch.targets), ", size_t(0)", "") # [{);
    }
    ::stator::Promotion $cppClass::getPromotion() { return ::stator::Promotion::}] # torch.rule # [{; }
  }];
}

class Graph_Unary<string mnemonic, TorchTargets torch, code emission, code evalF, code evalI = "", bit toBool = 0, bit intOnly = 0>
    : Graph_Elementwise<mnemonic, torch, 1, toBool, !and(!eq(evalI, ""), !not(intOnly)), intOnly, emission, evalF, evalI> {
  let arguments = (ins Graph_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
class Graph_Binary<string mnemonic, TorchTargets torch, code emission, code evalF, code evalI = "", bit toBool = 0, bit intOnly = 0>
    : Graph_Elementwise<mnemonic, torch, 2, toBool, !and(!eq(evalI, ""), !not(intOnly)), intOnly, emission, evalF, evalI,
                        [AllTypesMatch<["x", "y"]>]> {
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$y);
  let assemblyFormat = "$x `,` $y attr-dict `:` type($x)";
}

#endif
