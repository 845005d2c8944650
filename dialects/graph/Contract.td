// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Contractions.
#ifndef STATOR_DIALECTS_GRAPH_CONTRACT
#define STATOR_DIALECTS_GRAPH_CONTRACT

include "dialects/graph/GraphBase.td"

def Graph_MatmulOp : Graph_Op<"matmul", [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ElementalOpInterface, ["readsMany"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let summary = "Batched matrix product";
  let description = [{
    `lhs` is [batch..., M, K] ([batch..., K, M] with `transpose_lhs`), `rhs` is [batch..., K, N] ([batch..., N, K] with
    `transpose_rhs`), the result [batch..., M, N]. Batch dimensions are equal (broadcast first), or rhs has rank 2 and is
    shared by every batch (a linear layer's weight; lhs is then not transposed). K is equal; element types are equal. Floats are summed in f32 (f64 for f64) and rounded once; integers wrap. K = 0 gives zeros.
    Emission computes one element with a loop over K; matmul templates do better.
  }];
  let arguments = (ins Graph_Tensor:$lhs, Graph_Tensor:$rhs, UnitAttr:$transpose_lhs, UnitAttr:$transpose_rhs);
  let results = (outs Graph_Tensor:$result);
  // Attributes that the result type depends on stand in the syntax: type inference while parsing sees no attr-dict.
  let assemblyFormat = [{
    $lhs `,` $rhs (`transpose_lhs` $transpose_lhs^)? (`transpose_rhs` $transpose_rhs^)? attr-dict
    `:` type($lhs) `,` type($rhs)
  }];
  let hasVerifier = 1;
  let extraClassDefinition = [{ bool $cppClass::readsMany() { return true; } }];
}

#endif
