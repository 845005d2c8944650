// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Comparison, selection and conversion, element by element.
#ifndef STATOR_DIALECTS_GRAPH_COMPARE
#define STATOR_DIALECTS_GRAPH_COMPARE

include "dialects/graph/Elementwise.td"

class Graph_Compare<string mnemonic, list<string> torch, string function, string cxx>
    : Graph_Binary<mnemonic, TorchTargets<torch, "Same">, "s." # function # "(x, y)", "double(x " # cxx # " y)",
                   "isUnsigned ? int64_t(uint64_t(x) " # cxx # " uint64_t(y)) : int64_t(x " # cxx # " y)", 1> {
  let summary = "x " # cxx # " y, as bool; comparisons with NaN are false, != is true";
}
def Graph_EqOp : Graph_Compare<"eq", ["aten.eq.Tensor", "aten.eq.Scalar"], "eq", "==">;
def Graph_NeOp : Graph_Compare<"ne", ["aten.ne.Tensor", "aten.ne.Scalar", "aten.not_equal.Tensor"], "ne", "!=">;
def Graph_LtOp : Graph_Compare<"lt", ["aten.lt.Tensor", "aten.lt.Scalar", "aten.less.Tensor"], "lt", "<">;
def Graph_LeOp : Graph_Compare<"le", ["aten.le.Tensor", "aten.le.Scalar", "aten.less_equal.Tensor"], "le", "<=">;
def Graph_GtOp : Graph_Compare<"gt", ["aten.gt.Tensor", "aten.gt.Scalar", "aten.greater.Tensor"], "gt", ">">;
def Graph_GeOp : Graph_Compare<"ge", ["aten.ge.Tensor", "aten.ge.Scalar", "aten.greater_equal.Tensor"], "ge", ">=">;

def Graph_WhereOp : Graph_Op<"where", [Pure, SameShape, AllTypesMatch<["x", "y", "result"]>,
    DeclareOpInterfaceMethods<ScalarOpInterface>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "x where the condition holds, y elsewhere";
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$x, Graph_Tensor:$y);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$condition `,` $x `,` $y attr-dict `:` type($condition) `,` type($x)";
}

def Graph_CastOp : Graph_Op<"cast", [Pure, SameShape,
    DeclareOpInterfaceMethods<ScalarOpInterface>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "Conversion to another element type, defined for every value";
  let description = [{
    To bool: x != 0 (NaN is true). Float to integer: truncation, saturating at 32 bits (64 for 64-bit results), NaN gives
    0, then wrapping to narrower widths. Integer to integer: wrapping. To a narrower float: nearest even.
  }];
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
  let hasFolder = 1;
}

#endif
