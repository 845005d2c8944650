// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graph dialect: types, attributes and the base classes from which every op family is made.
#ifndef STATOR_DIALECTS_GRAPH_GRAPHBASE
#define STATOR_DIALECTS_GRAPH_GRAPHBASE

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "dialects/interfaces/Interfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::stator::graph";
  let summary = "Tensor programs: pure operations on tensors with symbolic dimensions";
  let description = [{
    Values are ranked tensors. Elementwise operands have one shape and one element type: broadcasts and casts are ops of
    their own (`graph.broadcast`, `graph.cast`). Dimensions are integers or expressions over symbols, carried by the
    type's `#graph.shape` encoding; a function declares its symbols with ranges in `graph.symbols`.
    Only `graph.write` has an effect: it stands between import and normalize, where it is functionalised.
  }];
  let useDefaultAttributePrinterParser = 1;
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect"];
  let extraClassDeclaration = [{
    void registerAttributes();
    void registerDimExpr();
    void registerUnaryOps();
    void registerBinaryOps();
    void registerCompareOps();
    void registerActivationOps();
    void registerContractOps();
    void registerReduceOps();
    void registerScanOps();
    void registerShapeOps();
    void registerGatherOps();
    void registerWindowOps();
    void registerControlOps();
  }];
  let hasConstantMaterializer = 1;
}

class Graph_Attr<string cppName, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Graph_Dialect, cppName, traits> { let mnemonic = attrMnemonic; }

def Graph_ShapeAttr : Graph_Attr<"Shape", "shape", [DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "One dimension expression per dimension of a tensor";
  let parameters = (ins ArrayRefParameter<"::stator::graph::DimExpr">:$dims);
  let hasCustomAssemblyFormat = 1;
}

def Graph_SymbolAttr : Graph_Attr<"Symbol", "symbol"> {
  let summary = "A symbol that a function declares, with its inclusive bounds";
  let parameters = (ins StringRefParameter<>:$name, "int64_t":$min, "int64_t":$max);
  let assemblyFormat = "`<` $name `,` $min `,` $max `>`";
}

/// bool, u8 i8 i16 i32 i64 (u16 u32 u64 for storage), f16 bf16 f32 f64, f8E4M3FN f8E5M2.
def Graph_Element : AnyTypeOf<[I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64, F8E4M3FN, F8E5M2]>;
def HasDims : CPred<"::stator::graph::hasDims($_self)">;
defvar tensorSummary = "ranked tensor, with a #graph.shape encoding where its sizes are not all static,";
def Graph_Tensor : RankedTensorOf<[Graph_Element], [HasDims], tensorSummary>;
def Graph_BoolTensor : RankedTensorOf<[I1], [HasDims], tensorSummary>;
/// Indices: int64, or int32 where the program has them so.
def Graph_IndexTensor : RankedTensorOf<[I32, I64], [HasDims], tensorSummary>;

/// Every op of the dialect: pure unless it says otherwise.
class Graph_Op<string mnemonic, list<Trait> traits = []> : Op<Graph_Dialect, mnemonic, traits>;

/// An op that lists the `torch.export` targets it stands for one to one (operands in schema order). What needs more
/// than that is a composite in compiler/frontend/torch_export.
class TorchTargets<list<string> names, string promotion = "None"> {
  list<string> targets = names;
  string rule = promotion;
}

#endif
