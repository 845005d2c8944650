// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along dimensions, which vanish from the result. Floats accumulate in f32 (f64 for f64) and round once.
#ifndef STATOR_DIALECTS_GRAPH_REDUCE
#define STATOR_DIALECTS_GRAPH_REDUCE

include "dialects/graph/GraphBase.td"

class Graph_Reduce<string mnemonic> : Graph_Op<mnemonic, [Pure, InferTypeOpAdaptor,
    DeclareOpInterfaceMethods<ReductionOpInterface, ["emitIdentity", "emitLift", "emitCombine", "emitFinish"]>,
    DeclareOpInterfaceMethods<ElementalOpInterface>, DeclareOpInterfaceMethods<EvaluableOpInterface>]> {
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `dims` `=` $dims attr-dict `:` type($x)";
  let extraClassDefinition = [{ ::llvm::ArrayRef<int64_t> $cppClass::getReducedDims() { return getDims(); } }];
  let hasVerifier = 1;
}
def Graph_SumOp : Graph_Reduce<"sum"> { let summary = "Sum; 0 of no elements; integers wrap"; }
def Graph_ProdOp : Graph_Reduce<"prod"> { let summary = "Product; 1 of no elements; integers wrap"; }
def Graph_ReduceMaxOp : Graph_Reduce<"reduce_max"> { let summary = "Largest element; NaN if any is NaN; lowest value of no elements"; }
def Graph_ReduceMinOp : Graph_Reduce<"reduce_min"> { let summary = "Smallest element; NaN if any is NaN; highest value of no elements"; }
def Graph_AnyOp : Graph_Reduce<"any"> { let summary = "Or of bools; false of no elements"; }
def Graph_AllOp : Graph_Reduce<"all"> { let summary = "And of bools; true of no elements"; }
def Graph_ArgmaxOp : Graph_Reduce<"argmax"> { let summary = "Row-major position (i64) of the first largest element among the reduced dimensions; NaN counts as largest"; }
def Graph_ArgminOp : Graph_Reduce<"argmin"> { let summary = "Row-major position (i64) of the first smallest element among the reduced dimensions; NaN counts as smallest"; }

#endif
