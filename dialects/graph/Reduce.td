// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along dimensions, which vanish from the result. Floats accumulate in f32 (f64 for f64) and round once.
#ifndef STATOR_DIALECTS_GRAPH_REDUCE
#define STATOR_DIALECTS_GRAPH_REDUCE

include "dialects/graph/GraphBase.td"

// An op is one row: what it accepts, and C++ expressions for emission and evaluation (see Reduce.h for what they may use).
//
//   resultType  C++ expression over `element`, the operand's element type
//   identity    accumulator of nothing, over `s` and `type` (what elements are computed in)
//   combine     accumulator of `a` and `b`
//   evaluation  fills `result` from `x`
class Graph_ReduceBase<string mnemonic, string accepts, code resultType, code identity, code lift, code combine, code finish,
                       code evaluation>
    : Graph_Op<mnemonic, [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReductionOpInterface, ["emitIdentity", "emitLift", "emitCombine", "emitFinish"]>,
    DeclareOpInterfaceMethods<ElementalOpInterface, ["readsMany"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `dims` `=` $dims attr-dict `:` type($x)";
  let hasVerifier = 1;
  let extraClassDefinition = [{
    ::mlir::LogicalResult $cppClass::inferReturnTypes(::mlir::MLIRContext *context,
                                                      ::std::optional<::mlir::Location> location, Adaptor adaptor,
                                                      ::llvm::SmallVectorImpl<::mlir::Type> &types) {
      [[maybe_unused]] ::mlir::Type element = ::llvm::cast<::mlir::RankedTensorType>(adaptor.getX().getType()).getElementType();
      return ::stator::graph::inferReduction(location, getOperationName(), adaptor.getX(), adaptor.getDims(), }] # resultType # [{, types);
    }
    ::llvm::ArrayRef<int64_t> $cppClass::getReducedDims() { return getDims(); }
    bool $cppClass::readsMany() { return true; }
    ::mlir::LogicalResult $cppClass::verify() {
      return ::stator::graph::verifyReduction(*this, ::stator::graph::ReducedElements::}] # accepts # [{);
    }
    ::llvm::SmallVector<::stator::Scalar> $cppClass::emitIdentity(::stator::ScalarBuilder &s) {
      ::mlir::Type type = ::stator::computeType(getX().getType().getElementType());
      return {}] # identity # [{};
    }
    ::llvm::SmallVector<::stator::Scalar> $cppClass::emitLift(::stator::ScalarBuilder &s, ::stator::Scalar x,
                                                              [[maybe_unused]] ::stator::Scalar position) {
      x = s.cast(x, ::stator::computeType(x.type));
      return {}] # lift # [{};
    }
    ::llvm::SmallVector<::stator::Scalar> $cppClass::emitCombine(::stator::ScalarBuilder &s,
        ::llvm::ArrayRef<::stator::Scalar> a, ::llvm::ArrayRef<::stator::Scalar> b) {
      return }] # combine # [{;
    }
    ::stator::Scalar $cppClass::emitFinish([[maybe_unused]] ::stator::ScalarBuilder &s,
                                           ::llvm::ArrayRef<::stator::Scalar> accumulator) {
      return }] # finish # [{;
    }
    ::stator::Scalar $cppClass::emitElement(::stator::ElementEmitter &e, unsigned, ::mlir::ValueRange indices) {
      return ::stator::graph::emitReductionElement(*this, e, indices);
    }
    ::mlir::LogicalResult $cppClass::evaluate(::stator::EvalEnv &, ::llvm::ArrayRef<const ::stator::HostTensor *> operands,
                                              ::llvm::MutableArrayRef<::stator::HostTensor> results) {
      const ::stator::HostTensor &x = *operands[0];
      ::stator::HostTensor &result = results[0];
      }] # evaluation # [{;
      return ::mlir::success();
    }
  }];
}

// One scalar, combined with an associative function: `evalF` over double a, b; `evalI` over int64_t a, b and isUnsigned.
class Graph_Reduce<string mnemonic, string accepts, code identity, code combine, code evalF, code evalI>
    : Graph_ReduceBase<mnemonic, accepts, "element", identity, "x", "{" # combine # "}", "accumulator[0]",
        "::stator::graph::evaluateReduction(x, getDims(), result, ::stator::graph::ReducedIdentity::" # mnemonic
          # ", [](double a, double b) -> double { return " # evalF
          # "; }, [](int64_t a, int64_t b, [[maybe_unused]] bool isUnsigned) -> int64_t { return " # evalI # "; })">;

def Graph_SumOp : Graph_Reduce<"sum", "Numbers", "s.constant(type, 0)", "s.add(a[0], b[0])",
  "a + b", "int64_t(uint64_t(a) + uint64_t(b))"> {
  let summary = "Sum; 0 of no elements; integers wrap"; }
def Graph_ProdOp : Graph_Reduce<"prod", "Numbers", "s.constant(type, 1)", "s.mul(a[0], b[0])",
  "a * b", "int64_t(uint64_t(a) * uint64_t(b))"> {
  let summary = "Product; 1 of no elements; integers wrap"; }
def Graph_ReduceMaxOp : Graph_Reduce<"reduce_max", "Any", "s.lowest(type)", "s.maximum(a[0], b[0])",
  "::stator::graph::largerOf(a, b)", "(isUnsigned ? uint64_t(a) < uint64_t(b) : a < b) ? b : a"> {
  let summary = "Largest element (-0 is below 0); NaN if any is NaN; lowest value of no elements"; }
def Graph_ReduceMinOp : Graph_Reduce<"reduce_min", "Any", "s.highest(type)", "s.minimum(a[0], b[0])",
  "-::stator::graph::largerOf(-a, -b)", "(isUnsigned ? uint64_t(b) < uint64_t(a) : b < a) ? b : a"> {
  let summary = "Smallest element (-0 is below 0); NaN if any is NaN; highest value of no elements"; }
def Graph_AnyOp : Graph_Reduce<"any", "Bools", "s.constant(type, 0)", "s.bitOr(a[0], b[0])", "0.0", "a | b"> {
  let summary = "Or of bools; false of no elements"; }
def Graph_AllOp : Graph_Reduce<"all", "Bools", "s.constant(type, 1)", "s.bitAnd(a[0], b[0])", "0.0", "a & b"> {
  let summary = "And of bools; true of no elements"; }

// The accumulator is value and position, so the answer is the same in any order of combining: of equal values (all NaN
// are equal here, and so are -0 and 0) the lower position wins. Nothing at all has the highest position, so that it loses
// against every element.
class Graph_ArgReduce<string mnemonic, bit largest>
    : Graph_ReduceBase<mnemonic, "Any", "::mlir::IntegerType::get(context, 64)",
        !if(largest, "s.lowest(type)", "s.highest(type)") # ", s.highest(s.b.getI64Type())", "x, position",
        "::stator::graph::combineArgument(s, a, b, " # !if(largest, "true", "false") # ")",
        "::stator::graph::finishArgument(s, accumulator)",
        "::stator::graph::evaluateArgument(x, getDims(), result, " # !if(largest, "true", "false") # ")">;

def Graph_ArgmaxOp : Graph_ArgReduce<"argmax", 1> {
  let summary = "Row-major position (i64) of the first largest element among the reduced dimensions; NaN counts as largest; 0 of no elements"; }
def Graph_ArgminOp : Graph_ArgReduce<"argmin", 0> {
  let summary = "Row-major position (i64) of the first smallest element among the reduced dimensions; NaN counts as smallest; 0 of no elements"; }

#endif
