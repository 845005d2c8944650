// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise functions of two operands of one type.
#ifndef STATOR_DIALECTS_GRAPH_BINARY
#define STATOR_DIALECTS_GRAPH_BINARY

include "dialects/graph/Elementwise.td"

// Arithmetic. Integers wrap; bool adds and multiplies as or and and.
def Graph_AddOp : Graph_Binary<"add", TorchTargets<[]>, "x.isBool() ? s.bitOr(x, y) : s.add(x, y)", "x + y", "int64_t(uint64_t(x) + uint64_t(y))"> { let summary = "x + y"; }
def Graph_SubOp : Graph_Binary<"sub", TorchTargets<[]>, "s.sub(x, y)", "x - y", "int64_t(uint64_t(x) - uint64_t(y))"> { let summary = "x - y"; }
def Graph_MulOp : Graph_Binary<"mul", TorchTargets<["aten.mul.Tensor", "aten.mul.Scalar", "aten.mul_.Tensor", "aten.mul_.Scalar", "aten.multiply.Tensor"], "Same">,
  "x.isBool() ? s.bitAnd(x, y) : s.mul(x, y)", "x * y", "int64_t(uint64_t(x) * uint64_t(y))"> { let summary = "x * y"; }
def Graph_DivOp : Graph_Binary<"div", TorchTargets<["aten.div.Tensor", "aten.div.Scalar", "aten.div_.Tensor", "aten.div_.Scalar", "aten.true_divide.Tensor", "aten.divide.Tensor"], "Float">,
  "s.div(x, y)", "x / y"> { let summary = "x / y of floats"; }
def Graph_FloorDivideOp : Graph_Binary<"floor_divide", TorchTargets<["aten.floor_divide.default", "aten.floor_divide_.Tensor"], "Same">,
  "emitFloorDivide(s, x, y)", "op.getType().getElementType().isF64() ? floorDivide(x, y) : floorDivide(float(x), float(y))", "floorDivide(x, y, isUnsigned)"> {
  let costly = 1; let summary = "Quotient rounded toward minus infinity, as Python's //; integer division by zero gives 0"; }
def Graph_TruncDivideOp : Graph_Binary<"trunc_divide", TorchTargets<[]>,
  "x.isFloat() ? s.trunc(s.div(x, y)) : s.div(x, y)", "op.getType().getElementType().isF64() ? std::trunc(x / y) : std::trunc(float(x / y))", "truncDivide(x, y, isUnsigned)"> {
  let costly = 1; let summary = "Quotient rounded toward zero; integer division by zero gives 0"; }
def Graph_RemainderOp : Graph_Binary<"remainder", TorchTargets<["aten.remainder.Tensor", "aten.remainder.Scalar", "aten.remainder_.Tensor"], "Same">,
  "emitRemainder(s, x, y)", "remainderLikePython(x, y)", "remainderLikePython(x, y, isUnsigned)"> {
  let costly = 1; let summary = "x - y * floor(x / y), with the divisor's sign; integer remainder by zero gives 0"; }
def Graph_FmodOp : Graph_Binary<"fmod", TorchTargets<["aten.fmod.Tensor", "aten.fmod.Scalar"], "Same">,
  "s.rem(x, y)", "std::fmod(x, y)", "truncRemainder(x, y, isUnsigned)"> { let costly = 1; let summary = "Remainder with the dividend's sign"; }
def Graph_PowOp : Graph_Binary<"pow", TorchTargets<["aten.pow.Tensor_Tensor", "aten.pow.Scalar", "aten.pow_.Tensor"], "Same">,
  "emitPow(s, x, y)", "std::pow(x, y)", "powInteger(x, y, isUnsigned)"> {
  let costly = 1; let summary = "x to the power y; an integer to a negative power is 0 unless |x| is 1"; }
def Graph_Atan2Op : Graph_Binary<"atan2", TorchTargets<["aten.atan2.default", "aten.arctan2.default"], "Float">, "s.atan2(x, y)", "std::atan2(x, y)"> { let summary = "Angle of the point (y, x)"; }
def Graph_Xlog1pyOp : Graph_Binary<"xlog1py", TorchTargets<["aten.special_xlog1py.default", "aten.special_xlog1py.other_scalar", "aten.special_xlog1py.self_scalar"], "Float">,
  "s.select(s.eq(x, s.like(x, 0)), s.select(s.isNan(y), y, s.like(x, 0)), s.mul(x, s.log1p(y)))",
  "x == 0 ? (std::isnan(y) ? y : 0.0) : x * std::log1p(y)"> { let summary = "x * log(1 + y); 0 where x is 0 and y is a number"; }
def Graph_CopysignOp : Graph_Binary<"copysign", TorchTargets<["aten.copysign.Tensor", "aten.copysign.Scalar"], "Float">, "s.copysign(x, y)", "std::copysign(x, y)"> { let summary = "|x| with y's sign"; }

// Extrema: NaN propagates in maximum and minimum, loses in fmax and fmin.
def Graph_MaximumOp : Graph_Binary<"maximum", TorchTargets<["aten.maximum.default", "aten.max.other"], "Same">,
  "s.maximum(x, y)", "std::isnan(x) ? x : std::isnan(y) ? y : x == y ? (std::signbit(x) ? y : x) : std::max(x, y)", "isUnsigned ? int64_t(std::max(uint64_t(x), uint64_t(y))) : std::max(x, y)"> { let summary = "The larger; NaN if either is NaN"; }
def Graph_MinimumOp : Graph_Binary<"minimum", TorchTargets<["aten.minimum.default", "aten.min.other"], "Same">,
  "s.minimum(x, y)", "std::isnan(x) ? x : std::isnan(y) ? y : x == y ? (std::signbit(x) ? x : y) : std::min(x, y)", "isUnsigned ? int64_t(std::min(uint64_t(x), uint64_t(y))) : std::min(x, y)"> { let summary = "The smaller; NaN if either is NaN"; }
def Graph_FmaxOp : Graph_Binary<"fmax", TorchTargets<["aten.fmax.default"], "Same">,
  "x.isFloat() ? s.select(s.isNan(x), y, s.select(s.isNan(y), x, s.maximum(x, y))) : s.maximum(x, y)", "greaterNumber(x, y)", "isUnsigned ? int64_t(std::max(uint64_t(x), uint64_t(y))) : std::max(x, y)"> { let summary = "The larger; the other if one is NaN"; }
def Graph_FminOp : Graph_Binary<"fmin", TorchTargets<["aten.fmin.default"], "Same">,
  "x.isFloat() ? s.select(s.isNan(x), y, s.select(s.isNan(y), x, s.minimum(x, y))) : s.minimum(x, y)", "-greaterNumber(-x, -y)", "isUnsigned ? int64_t(std::min(uint64_t(x), uint64_t(y))) : std::min(x, y)"> { let summary = "The smaller; the other if one is NaN"; }

// Bits and logic.
def Graph_BitwiseAndOp : Graph_Binary<"bitwise_and", TorchTargets<["aten.bitwise_and.Tensor", "aten.bitwise_and.Scalar", "aten.__and__.Tensor", "aten.__and__.Scalar", "aten.bitwise_and_.Tensor"], "Same">, "s.bitAnd(x, y)", "", "x & y", 0, 1> { let summary = "Bitwise and"; }
def Graph_BitwiseOrOp : Graph_Binary<"bitwise_or", TorchTargets<["aten.bitwise_or.Tensor", "aten.bitwise_or.Scalar", "aten.__or__.Tensor", "aten.__or__.Scalar", "aten.bitwise_or_.Tensor"], "Same">, "s.bitOr(x, y)", "", "x | y", 0, 1> { let summary = "Bitwise or"; }
def Graph_BitwiseXorOp : Graph_Binary<"bitwise_xor", TorchTargets<["aten.bitwise_xor.Tensor", "aten.bitwise_xor.Scalar", "aten.__xor__.Tensor", "aten.__xor__.Scalar"], "Same">, "s.bitXor(x, y)", "", "x ^ y", 0, 1> { let summary = "Bitwise exclusive or"; }
def Graph_ShiftLeftOp : Graph_Binary<"shift_left", TorchTargets<["aten.bitwise_left_shift.Tensor", "aten.bitwise_left_shift.Tensor_Scalar", "aten.__lshift__.Tensor", "aten.__lshift__.Scalar"], "Same">,
  "s.shiftLeft(x, y)", "", "shiftLeft(x, y, op.getType().getElementTypeBitWidth())", 0, 1> { let summary = "Shift left; amounts outside the width give 0"; }
def Graph_ShiftRightOp : Graph_Binary<"shift_right", TorchTargets<["aten.bitwise_right_shift.Tensor", "aten.bitwise_right_shift.Tensor_Scalar", "aten.__rshift__.Tensor", "aten.__rshift__.Scalar"], "Same">,
  "s.shiftRight(x, y)", "", "shiftRight(x, y, op.getType().getElementTypeBitWidth(), isUnsigned)", 0, 1> { let summary = "Arithmetic shift right (logical where unsigned); amounts outside the width leave the sign"; }
def Graph_LogicalAndOp : Graph_Binary<"logical_and", TorchTargets<["aten.logical_and.default"], "Bool">, "s.bitAnd(x, y)", "", "x & y", 0, 1> { let summary = "And of bools"; }
def Graph_LogicalOrOp : Graph_Binary<"logical_or", TorchTargets<["aten.logical_or.default"], "Bool">, "s.bitOr(x, y)", "", "x | y", 0, 1> { let summary = "Or of bools"; }
def Graph_LogicalXorOp : Graph_Binary<"logical_xor", TorchTargets<["aten.logical_xor.default"], "Bool">, "s.bitXor(x, y)", "", "x ^ y", 0, 1> { let summary = "Exclusive or of bools"; }

#endif
