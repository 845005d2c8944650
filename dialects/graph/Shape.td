// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants, index arithmetic and data movement. All of it fuses: an element is an element of an operand at other indices.
#ifndef STATOR_DIALECTS_GRAPH_SHAPE
#define STATOR_DIALECTS_GRAPH_SHAPE

include "dialects/graph/GraphBase.td"

class Graph_ShapeOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic, !listconcat([Pure,
    DeclareOpInterfaceMethods<ElementalOpInterface, ["getOperandDims"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>], traits)> {
  let results = (outs Graph_Tensor:$result);
  let hasVerifier = 1;
  /// C++ for ElementalOpInterface::getOperandDims.
  code operandDims = "::std::nullopt";
  let extraClassDefinition = [{
    ::std::optional<::llvm::SmallVector<int64_t>> $cppClass::getOperandDims([[maybe_unused]] unsigned operand) {
      return }] # operandDims # [{;
    }
  }];
}
class Graph_ViewOp<string mnemonic, list<Trait> traits = []>
    : Graph_ShapeOp<mnemonic, !listconcat([DeclareOpInterfaceMethods<ViewOpInterface>], traits)>;

def Graph_ConstantOp : Graph_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "A tensor known at compile time: a literal, or a weight";
  let description = [{
    Weights are dense resources (bytes outside the IR) and carry the program's name for them in `name`; several constants
    of one resource are one weight in the artifact.
  }];
  let arguments = (ins ElementsAttr:$value, OptionalAttr<StrAttr>:$name);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value attr-dict";
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{ build($_builder, $_state, value.getType(), value, {}); }]>];
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// The same scalar in every element, as a double or int64; nullopt where elements differ.
    static ::std::optional<double> splatDouble(::mlir::Value value);
    static ::std::optional<int64_t> splatInt(::mlir::Value value);
  }];
  let hasVerifier = 1;
}
def Graph_IotaOp : Graph_ShapeOp<"iota"> {
  let summary = "start + step * (index along `dim`), in the result's element type (floats in f64, rounded once)";
  let arguments = (ins I64Attr:$dim, F64Attr:$start, F64Attr:$step);
  let assemblyFormat = "`dim` `=` $dim `start` `=` $start `step` `=` $step attr-dict `:` type($result)";
}
def Graph_SizeOp : Graph_ShapeOp<"size"> {
  let summary = "The value of a dimension expression as a 0-d i64 tensor";
  let arguments = (ins Graph_ShapeAttr:$expr);
  let assemblyFormat = "$expr attr-dict `:` type($result)";
  let builders = [OpBuilder<(ins "::stator::graph::DimExpr":$expr), [{
    build($_builder, $_state, ::mlir::RankedTensorType::get({}, $_builder.getI64Type()), ShapeAttr::get($_builder.getContext(), expr)); }]>];
  let hasFolder = 1;
}
def Graph_ReshapeOp : Graph_ViewOp<"reshape"> {
  let summary = "The same elements in row-major order under another shape of as many elements";
  let operandDims = "::stator::graph::reshapedDims(getX().getType(), getType())";
  let arguments = (ins Graph_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasFolder = 1;
}
def Graph_BroadcastOp : Graph_ViewOp<"broadcast"> {
  let summary = "NumPy broadcasting: shapes align at the right, size 1 and missing dimensions repeat";
  let operandDims = "::stator::graph::broadcastDims(getX().getType(), getType())";
  let arguments = (ins Graph_Tensor:$x);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasFolder = 1;
}
def Graph_TransposeOp : Graph_ViewOp<"transpose", [InferTypeOpAdaptor]> {
  let summary = "Result dimension i is operand dimension permutation[i]";
  let operandDims = "::stator::graph::transposedDims(getPermutation())";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let assemblyFormat = "$x $permutation attr-dict `:` type($x)";
  let hasFolder = 1;
}
def Graph_SliceOp : Graph_ViewOp<"slice"> {
  let summary = "Elements starts[d] + i * steps[d] of each dimension; sizes are the result's; steps are positive";
  let arguments = (ins Graph_Tensor:$x, Graph_ShapeAttr:$starts, DenseI64ArrayAttr:$steps);
  let assemblyFormat = "$x `starts` $starts `steps` $steps attr-dict `:` type($x) `to` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$starts, "::llvm::ArrayRef<int64_t>":$steps), [{
    build($_builder, $_state, result, x, constantDims($_builder.getContext(), starts), steps); }]>];
  let hasFolder = 1;
}
def Graph_UpdateSliceOp : Graph_ShapeOp<"update_slice", [AllTypesMatch<["x", "result"]>]> {
  let summary = "x with the elements that graph.slice would give replaced by `updates`";
  let operandDims = "operand == 0 ? ::std::optional(::llvm::to_vector(::llvm::seq<int64_t>(0, getType().getRank()))) : ::std::nullopt";
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$updates, Graph_ShapeAttr:$starts, DenseI64ArrayAttr:$steps);
  let assemblyFormat = "$x `,` $updates `starts` $starts `steps` $steps attr-dict `:` type($x) `,` type($updates)";
  let hasFolder = 1;
}
def Graph_ReverseOp : Graph_ShapeOp<"reverse", [SameOperandsAndResultType]> {
  let summary = "The order along each of `dims` turned round";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims);
  let assemblyFormat = "$x `dims` `=` $dims attr-dict `:` type($x)";
  let hasFolder = 1;
}
def Graph_PadOp : Graph_ShapeOp<"pad", [InferTypeOpAdaptor]> {
  let summary = "low[d] elements of `value` (0-d) before and high[d] after each dimension; negative amounts cut off";
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$value, Graph_ShapeAttr:$low, Graph_ShapeAttr:$high);
  let assemblyFormat = "$x `,` $value `low` $low `high` $high attr-dict `:` type($x) `,` type($value)";
  let builders = [OpBuilder<(ins "::mlir::Value":$x, "::mlir::Value":$value, "::llvm::ArrayRef<int64_t>":$low, "::llvm::ArrayRef<int64_t>":$high), [{
    build($_builder, $_state, x, value, constantDims($_builder.getContext(), low), constantDims($_builder.getContext(), high)); }]>];
  let hasFolder = 1;
}
def Graph_ConcatOp : Graph_ShapeOp<"concat", [InferTypeOpAdaptor]> {
  let summary = "Operands one after the other along `dim`";
  let arguments = (ins Variadic<Graph_Tensor>:$xs, I64Attr:$dim);
  let assemblyFormat = "$xs `dim` `=` $dim attr-dict `:` type($xs)";
  let hasFolder = 1;
}
def Graph_StridedOp : Graph_ViewOp<"strided"> {
  let summary = "as_strided of a 1-d operand: element (i...) is operand[offset + sum(i[d] * strides[d])]";
  let description = [{
    Strides and offset are not negative; `offset` holds one expression. The diagonal of an [n, n] tensor is its reshape
    to [n * n] with strides <n + 1>.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ShapeAttr:$strides, Graph_ShapeAttr:$offset);
  let assemblyFormat = "$x `strides` $strides `offset` $offset attr-dict `:` type($x) `to` type($result)";
  let builders = [OpBuilder<(ins "::mlir::Type":$result, "::mlir::Value":$x, "::llvm::ArrayRef<int64_t>":$strides, "int64_t":$offset), [{
    build($_builder, $_state, result, x, constantDims($_builder.getContext(), strides), constantDims($_builder.getContext(), offset)); }]>];
  let hasFolder = 1;
}

#endif
