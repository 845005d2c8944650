// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefix scans and sorting along one dimension: each result element depends on many of one line. They run as kernels of
// their own.
#ifndef STATOR_DIALECTS_GRAPH_SCAN
#define STATOR_DIALECTS_GRAPH_SCAN

include "dialects/graph/GraphBase.td"

class Graph_Cumulative<string mnemonic> : Graph_Op<mnemonic, [Pure, SameOperandsAndResultType,
    DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `dim` `=` $dim attr-dict `:` type($x)";
  let hasVerifier = 1;
}
def Graph_CumsumOp : Graph_Cumulative<"cumsum"> { let summary = "Inclusive prefix sum from 0; floats accumulate in f32 (f64 for f64)"; }
def Graph_CumprodOp : Graph_Cumulative<"cumprod"> { let summary = "Inclusive prefix product"; }
class Graph_CumulativeExtremum<string mnemonic> : Graph_Op<mnemonic, [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let assemblyFormat = "$x `dim` `=` $dim attr-dict `:` type($x)";
  let hasVerifier = 1;
}
def Graph_CummaxOp : Graph_CumulativeExtremum<"cummax"> { let summary = "Running maximum and the position (i64) of its latest occurrence; NaN stays"; }
def Graph_CumminOp : Graph_CumulativeExtremum<"cummin"> { let summary = "Running minimum and the position (i64) of its latest occurrence; NaN stays"; }

def Graph_SortOp : Graph_Op<"sort", [Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "Stable sort along a dimension: values and the positions (i64) they came from; NaN counts as largest";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$dim, UnitAttr:$descending);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let assemblyFormat = "$x `dim` `=` $dim attr-dict `:` type($x)";
  let hasVerifier = 1;
}
def Graph_TopkOp : Graph_Op<"topk", [Pure, InferTypeOpAdaptor, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "The k largest (or smallest) along a dimension, sorted, ties by position: values and positions (i64)";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$k, I64Attr:$dim, UnitAttr:$smallest);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let assemblyFormat = "$x `k` `=` $k `dim` `=` $dim attr-dict `:` type($x)";
  let hasVerifier = 1;
}

def Graph_NonzeroOp : Graph_Op<"nonzero", [Pure, DeclareOpInterfaceMethods<EvaluableOpInterface>,
    DeclareOpInterfaceMethods<DecomposableOpInterface>]> {
  let summary = "Row i is the position of the i-th element that is not zero, in row-major order; rows beyond the last are `fill`";
  let description = [{
    The result is [n, rank of x] in i64. Its n decides how many rows there are: surplus elements are cut off. For the
    usual data-dependent size, count the elements first and bind the count to the symbol that the result's type uses:

      %count = graph.sum ... : the mask as i64
      graph.bind_symbol "u0", %count : tensor<i64>
      %rows = graph.nonzero %x fill = -1 : tensor<4x5xf32> to tensor<?x2xi64, #graph.shape<u0, 2>>
  }];
  let arguments = (ins Graph_Tensor:$x, I64Attr:$fill);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `fill` `=` $fill attr-dict `:` type($x) `to` type($result)";
  let hasVerifier = 1;
}

#endif
