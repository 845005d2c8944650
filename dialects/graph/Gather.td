// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indexed reads and writes. Indices are i32 or i64; negative ones count from the end. An index out of range is an error in
// the evaluator; compiled code clamps it into range (it never touches memory outside the tensor).
#ifndef STATOR_DIALECTS_GRAPH_GATHER
#define STATOR_DIALECTS_GRAPH_GATHER

include "dialects/graph/GraphBase.td"
include "mlir/IR/EnumAttr.td"

def Graph_TakeOp : Graph_Op<"take", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ElementalOpInterface>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "Whole slices: dimension `dim` of x is replaced by the dimensions of `indices` (embedding, index_select)";
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `,` $indices `dim` `=` $dim attr-dict `:` type($x) `,` type($indices)";
  let hasVerifier = 1;
}
def Graph_GatherOp : Graph_Op<"gather", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ElementalOpInterface>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "result[i...] = x[i... with i[dim] = indices[i...]]; indices have x's rank and no dimension above x's but dim";
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `,` $indices `dim` `=` $dim attr-dict `:` type($x) `,` type($indices)";
  let hasVerifier = 1;
}
def Graph_IndexOp : Graph_Op<"index", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ElementalOpInterface>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "Advanced indexing: index tensors of one shape address the dimensions `dims` of x together";
  let description = [{
    `dims` are ascending and adjacent (the caller transposes first). The result has x's dimensions with those replaced, at
    the place of the first, by the dimensions of the index tensors.
  }];
  let arguments = (ins Graph_Tensor:$x, Variadic<Graph_IndexTensor>:$indices, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `[` $indices `]` `dims` `=` $dims attr-dict `:` type($x) `[` type($indices) `]`";
  let hasVerifier = 1;
}

def Graph_ScatterMode : I32EnumAttr<"ScatterMode", "What happens where an element is written", [
    I32EnumAttrCase<"Set", 0, "set">, I32EnumAttrCase<"Add", 1, "add">, I32EnumAttrCase<"Mul", 2, "mul">,
    I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Min", 4, "min">]> {
  let cppNamespace = "::stator::graph";
}
def Graph_ScatterOp : Graph_Op<"scatter", [Pure, AllTypesMatch<["x", "result"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "x with updates[i...] combined into x[i... with i[dim] = indices[i...]], in row-major order of the updates";
  let arguments = (ins Graph_Tensor:$x, Graph_IndexTensor:$indices, Graph_Tensor:$updates, I64Attr:$dim, Graph_ScatterMode:$mode);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `,` $indices `,` $updates $mode `dim` `=` $dim attr-dict `:` type($x) `,` type($indices) `,` type($updates)";
  let hasVerifier = 1;
}
def Graph_IndexPutOp : Graph_Op<"index_put", [Pure, AllTypesMatch<["x", "result"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "x with `updates` (shaped as graph.index of x would be) combined into the indexed places, in row-major order";
  let arguments = (ins Graph_Tensor:$x, Variadic<Graph_IndexTensor>:$indices, Graph_Tensor:$updates, DenseI64ArrayAttr:$dims, Graph_ScatterMode:$mode);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `[` $indices `]` `,` $updates $mode `dims` `=` $dims attr-dict `:` type($x) `[` type($indices) `]` `,` type($updates)";
  let hasVerifier = 1;
}

#endif
