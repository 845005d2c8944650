// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows over spatial dimensions: convolution, pooling, resizing. Layout [N, C, spatial...]; one to three spatial
// dimensions; attribute lists have one number per spatial dimension. Attributes that a result type depends on stand in the
// syntax: type inference while parsing sees no attr-dict.
#ifndef STATOR_DIALECTS_GRAPH_WINDOW
#define STATOR_DIALECTS_GRAPH_WINDOW

include "dialects/graph/GraphBase.td"
include "mlir/IR/EnumAttr.td"


class Graph_WindowOp<string mnemonic, list<Trait> traits = []> : Graph_Op<mnemonic, !listconcat([Pure,
    DeclareOpInterfaceMethods<ElementalOpInterface, ["readsMany"]>, DeclareOpInterfaceMethods<EvaluableOpInterface>], traits)> {
  let hasVerifier = 1;
  let extraClassDefinition = [{ bool $cppClass::readsMany() { return true; } }];
}
def Graph_ConvolutionOp : Graph_WindowOp<"convolution", [InferTypeOpAdaptor]> {
  let summary = "Convolution (cross-correlation) with groups, dilation, zero padding; or its transpose";
  let description = [{
    x is [N, C, spatial...]. Plain: weight is [O, C / groups, kernel...], the output size is
    floordiv(in + low + high - dilation * (kernel - 1) - 1, stride) + 1. Transposed: weight is [C, O / groups, kernel...],
    the output size is (in - 1) * stride - low - high + dilation * (kernel - 1) + output_padding + 1.
    Floats are summed in f32 (f64 for f64) and rounded once.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$weight, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$low,
                       DenseI64ArrayAttr:$high, DenseI64ArrayAttr:$dilations, I64Attr:$groups, UnitAttr:$transposed,
                       DenseI64ArrayAttr:$output_padding);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $x `,` $weight `strides` `=` $strides `low` `=` $low `high` `=` $high `dilations` `=` $dilations `groups` `=` $groups
    (`transposed` $transposed^)? `output_padding` `=` $output_padding attr-dict `:` type($x) `,` type($weight)
  }];
}
def Graph_MaxPoolOp : Graph_WindowOp<"max_pool", [InferTypeOpAdaptor]> {
  let summary = "Largest element of each window and its position (i64, row-major among the spatial dimensions)";
  let description = [{
    The output size is (in + 2 * padding - dilation * (kernel - 1) - 1) / stride + 1, rounded down, or up with `ceil_mode`
    as far as the last window still begins inside the input or its left padding. Padding never wins. Of equal elements the
    first in row-major order wins; of NaN the last, as in PyTorch. A window that meets no element (dilation can step over
    a short input) gives the lowest value and position 0.
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
                       DenseI64ArrayAttr:$dilations, UnitAttr:$ceil_mode);
  let results = (outs Graph_Tensor:$values, Graph_Tensor:$indices);
  let assemblyFormat = [{
    $x `kernel` `=` $kernel `strides` `=` $strides `padding` `=` $padding `dilations` `=` $dilations
    (`ceil_mode` $ceil_mode^)? attr-dict `:` type($x)
  }];
}
def Graph_AvgPoolOp : Graph_WindowOp<"avg_pool", [InferTypeOpAdaptor]> {
  let summary = "Mean of each window; the overhang of ceil_mode never counts, padding counts unless exclude_padding";
  let description = [{
    Sizes as for max_pool. `divisor` replaces the count.
  }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$kernel, DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$padding,
                       UnitAttr:$ceil_mode, UnitAttr:$exclude_padding, OptionalAttr<I64Attr>:$divisor);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $x `kernel` `=` $kernel `strides` `=` $strides `padding` `=` $padding (`ceil_mode` $ceil_mode^)?
    (`exclude_padding` $exclude_padding^)? (`divisor` `=` $divisor^)? attr-dict `:` type($x)
  }];
}
def Graph_AdaptiveAvgPoolOp : Graph_WindowOp<"adaptive_avg_pool"> {
  let summary = "Output i is the mean over [floor(i * in / out), ceil((i + 1) * in / out)) in each spatial dimension";
  let arguments = (ins Graph_Tensor:$x);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `to` type($result)";
}
def Graph_ResizeMode : I32EnumAttr<"ResizeMode", "How a resized element is computed", [
    I32EnumAttrCase<"Nearest", 0, "nearest">, I32EnumAttrCase<"NearestExact", 1, "nearest_exact">,
    I32EnumAttrCase<"Linear", 2, "linear">, I32EnumAttrCase<"Cubic", 3, "cubic">]> {
  let cppNamespace = "::stator::graph";
}
def Graph_ResizeOp : Graph_WindowOp<"resize"> {
  let summary = "Resizing of the spatial dimensions to the result's sizes";
  let description = [{
    The source coordinate of output i is i * scale with align_corners (scale = (in - 1) / (out - 1)), else
    (i + 0.5) * scale - 0.5 for linear (clamped at 0) and cubic (A = -0.75), floor(i * scale) for nearest, floor((i + 0.5) * scale) for
    nearest_exact; scale = in / out, or 1 / scales[d] where `scales` gives a number above 0 (`scales` may be empty). A
    dimension that keeps its size is copied for nearest and linear, whatever `scales` says. Linear is bi- or trilinear;
    cubic is for one or two spatial dimensions. Coordinates are computed in f32 (f64 for f64), as PyTorch does.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_ResizeMode:$mode, UnitAttr:$align_corners, DenseF64ArrayAttr:$scales);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x $mode attr-dict `:` type($x) `to` type($result)";
}

#endif
