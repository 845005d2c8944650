// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executable plan: what the runtime does, step by step, in the terms of docs/artifact-format.md. codegen builds it
// from graph functions, the memory phase gives its arena buffers their offsets, and codegen/emit writes it as JSON.
#ifndef STATOR_DIALECTS_PLAN
#define STATOR_DIALECTS_PLAN

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::stator::plan";
  let summary = "Buffers and steps of a compiled function on one device";
  let description = [{
    Sizes, offsets and counts are dimension expressions over the function's symbols and stand in `#graph.shape` lists.
    Steps run in order; regions are lists of steps. Buffers are SSA values, so a step's operands say what it touches.
  }];
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::stator::graph::GraphDialect"];
}

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "A range of bytes in memory of the plan's device";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
def Plan_Exprs : Attr<CPred<"::llvm::isa<::stator::graph::ShapeAttr>($_self)">, "dimension expressions"> {
  let storageType = "::stator::graph::ShapeAttr";
  let returnType = "::stator::graph::ShapeAttr";
  let convertFromStorage = "$_self";
}

def Plan_ProgramOp : Plan_Op<"program", [IsolatedFromAbove, SingleBlock, NoTerminator]> {
  let summary = "How one function runs on one device";
  let description = [{
    `symbols`, `inputs`, `outputs`, `states` are lists of dictionaries with the manifest's keys; tensor types stand under
    `type`. `arenas` is filled in by the memory phase: dictionaries with `memory`, `bytes`, `live_load`.
  }];
  let arguments = (ins StrAttr:$name, StrAttr:$device, ArrayAttr:$symbols, ArrayAttr:$inputs, ArrayAttr:$outputs,
                       ArrayAttr:$states, DefaultValuedAttr<ArrayAttr, "{}">:$arenas);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$name $device attr-dict-with-keyword $body";
}

def Plan_BufferOp : Plan_Op<"buffer"> {
  let summary = "A buffer: input, output, state, weight, arena, view or dynamic";
  let description = [{
    `index` numbers an input, output or state; `weight` names a tensor of the weights; `bytes` and `offset` (one expression
    each) are an arena's, view's or dynamic buffer's; an arena buffer has no offset until the memory phase gives it one.
  }];
  let arguments = (ins StrAttr:$space, OptionalAttr<I64Attr>:$index, OptionalAttr<StrAttr>:$weight, OptionalAttr<Plan_Exprs>:$bytes,
                       OptionalAttr<Plan_Exprs>:$offset, TypeAttr:$type, Optional<Plan_BufferType>:$of);
  let results = (outs Plan_BufferType:$result);
  let assemblyFormat = "$space $type (`of` $of^)? attr-dict";
  let hasVerifier = 1;
}

def Plan_LaunchOp : Plan_Op<"launch"> {
  let summary = "Runs a generated kernel";
  let description = [{
    On the host `count` iterations in pieces of at least `grain`; on CUDA a grid of blocks, with scalar i passed as i32
    where `narrow[i]`. `may_share` holds pairs (written operand, read operand) that may be one buffer. `cost` holds what
    the step needs at least: bytes read, bytes written, operations.
  }];
  let arguments = (ins StrAttr:$kernel, Variadic<Plan_BufferType>:$buffers, Plan_Exprs:$sizes, OptionalAttr<Plan_Exprs>:$count,
                       OptionalAttr<I64Attr>:$grain, OptionalAttr<Plan_Exprs>:$grid, OptionalAttr<DenseI64ArrayAttr>:$block,
                       OptionalAttr<I64Attr>:$shared, OptionalAttr<DenseBoolArrayAttr>:$narrow,
                       OptionalAttr<DenseI64ArrayAttr>:$may_share, OptionalAttr<Plan_Exprs>:$cost, OptionalAttr<StrAttr>:$label,
                       OptionalAttr<StrAttr>:$source);
  let assemblyFormat = "$kernel `(` $buffers `)` attr-dict";
}

def Plan_LibraryOp : Plan_Op<"library", [SingleBlock, NoTerminator]> {
  let summary = "A library's operation, with the steps that replace it where the library is absent or declines";
  let description = [{
    `parameters` has the manifest's keys; an operand is a dictionary whose `buffer` is the number of an operand of this op.
    `cost` as a launch has it.
  }];
  let arguments = (ins StrAttr:$library, StrAttr:$function, Variadic<Plan_BufferType>:$buffers, DictionaryAttr:$parameters,
                       OptionalAttr<Plan_Exprs>:$cost, OptionalAttr<StrAttr>:$label, OptionalAttr<StrAttr>:$source);
  let regions = (region SizedRegion<1>:$fallback);
  let assemblyFormat = "$library $function `(` $buffers `)` $parameters attr-dict-with-keyword `fallback` $fallback";
}

def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "Copies the whole of one buffer to another of the same size";
  let arguments = (ins Plan_BufferType:$from, Plan_BufferType:$to);
  let assemblyFormat = "$from `to` $to attr-dict";
}
def Plan_ReadSymbolOp : Plan_Op<"read_symbol"> {
  let summary = "Gives a data-dependent symbol its value: the first element of a buffer";
  let arguments = (ins StrAttr:$symbol, Plan_BufferType:$from, TypeAttr:$element);
  let assemblyFormat = "$symbol $from $element attr-dict";
}
def Plan_AssertOp : Plan_Op<"assert"> {
  let summary = "An error of the call with `message` unless left relation right";
  let arguments = (ins Plan_Exprs:$sides, StrAttr:$relation, StrAttr:$message);
  let assemblyFormat = "$sides $relation $message attr-dict";
}
def Plan_IfOp : Plan_Op<"if", [NoRegionArguments, NoTerminator]> {
  let summary = "One of two lists of steps, by the buffer's first byte";
  let arguments = (ins Plan_BufferType:$predicate);
  let regions = (region SizedRegion<1>:$then_steps, SizedRegion<1>:$else_steps);
  let assemblyFormat = "$predicate $then_steps `else` $else_steps attr-dict";
}
def Plan_WhileOp : Plan_Op<"while", [NoRegionArguments, NoTerminator]> {
  let summary = "Condition steps, test of the predicate's first byte, body steps, again";
  let arguments = (ins Plan_BufferType:$predicate);
  let regions = (region SizedRegion<1>:$condition, SizedRegion<1>:$body);
  let assemblyFormat = "$predicate $condition `do` $body attr-dict";
}

#endif
