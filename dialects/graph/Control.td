// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow, symbols, effects, and the region of a fused kernel.
#ifndef STATOR_DIALECTS_GRAPH_CONTROL
#define STATOR_DIALECTS_GRAPH_CONTROL

include "dialects/graph/GraphBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Graph_YieldOp : Graph_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["IfOp", "WhileOp", "FusionOp"]>]> {
  let summary = "Values of a region";
  let arguments = (ins Variadic<Graph_Tensor>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}
def Graph_IfOp : Graph_Op<"if", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects, NoRegionArguments]> {
  let summary = "One of two regions, by a 0-d bool; both yield the result types";
  let arguments = (ins Graph_BoolTensor:$condition);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$then_region, SizedRegion<1>:$else_region);
  let assemblyFormat = [{
    $condition `:` type($condition) (`->` `(` type($results)^ `)`)? $then_region `else` $else_region attr-dict
  }];
  let hasVerifier = 1;
}
def Graph_WhileOp : Graph_Op<"while", [SingleBlockImplicitTerminator<"YieldOp">, RecursiveMemoryEffects]> {
  let summary = "While `condition(carried)` yields true, carried = body(carried); both regions take the carried values";
  let arguments = (ins Variadic<Graph_Tensor>:$initial);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = "$initial `:` type($initial) `->` `(` type($results) `)` $condition `do` $body attr-dict";
  let hasVerifier = 1;
}
def Graph_FusionOp : Graph_Op<"fusion", [IsolatedFromAbove, SingleBlockImplicitTerminator<"YieldOp">, Pure]> {
  let summary = "The ops of one kernel";
  let description = [{
    The block's arguments are the operands. `name` is unique in the module and names the kernel; `kind` says what the
    fuse phase grouped it as (loop, reduce, matmul, convolution, or a single op that runs as its own kernel) and so which
    kernel templates may take it.
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, StrAttr:$name, StrAttr:$kind);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name $kind `(` $inputs `)` `:` functional-type($inputs, $results) $body attr-dict";
  let hasVerifier = 1;
}

def Graph_BindSymbolOp : Graph_Op<"bind_symbol", [DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "Defines a data-dependent symbol of the function as the value of a 0-d i64 tensor; outside its bounds is an error";
  let arguments = (ins Graph_Tensor:$value, StrAttr:$symbol);
  let assemblyFormat = "$symbol `,` $value attr-dict `:` type($value)";
  let hasVerifier = 1;
}
def Graph_AssertOp : Graph_Op<"assert", [DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "A run-time error with `message` unless the 0-d bool holds";
  let arguments = (ins Graph_BoolTensor:$condition, StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasVerifier = 1;
}
def Graph_AssertShapeOp : Graph_Op<"assert_shape", [Pure, DeclareOpInterfaceMethods<EvaluableOpInterface>,
    DeclareOpInterfaceMethods<ElementalOpInterface>]> {
  let summary = "The same tensor under the result's dimension expressions; a run-time error where they differ in value";
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
}

// Between import and normalize only.
def Graph_WriteOp : Graph_Op<"write", [AllTypesMatch<["target", "value"]>, MemoryEffects<[MemWrite]>]> {
  let summary = "Overwrites `target`, and so whatever it is a view of, with `value`; normalize functionalises it";
  let arguments = (ins Graph_Tensor:$target, Graph_Tensor:$value);
  let assemblyFormat = "$target `,` $value attr-dict `:` type($target)";
}
def Graph_CopyOp : Graph_Op<"copy", [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<EvaluableOpInterface>, DeclareOpInterfaceMethods<ElementalOpInterface>]> {
  let summary = "A tensor of its own with x's elements: later writes to either leave the other alone";
  let description = [{
    Does not fold while writes may be about, not even for constants: `x` and its copy would be written together. Normalize
    drops copies once no write is left.
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}

#endif
