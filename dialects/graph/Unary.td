// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise functions of one operand.
#ifndef STATOR_DIALECTS_GRAPH_UNARY
#define STATOR_DIALECTS_GRAPH_UNARY

include "dialects/graph/Elementwise.td"

// Sign, absolute value, rounding: floats and integers.
def Graph_NegOp : Graph_Unary<"neg", TorchTargets<["aten.neg.default", "aten.neg_.default", "aten.negative.default"], "Same">,
  "s.neg(x)", "-x", "int64_t(0 - uint64_t(x))"> { let summary = "-x"; }
def Graph_AbsOp : Graph_Unary<"abs", TorchTargets<["aten.abs.default", "aten.abs_.default", "aten.absolute.default"], "Same">,
  "s.abs(x)", "std::fabs(x)", "isUnsigned || x >= 0 ? x : int64_t(0 - uint64_t(x))"> { let summary = "|x|"; }
def Graph_SignOp : Graph_Unary<"sign", TorchTargets<["aten.sign.default", "aten.sgn.default"], "Same">,
  "s.sub(s.cast(s.gt(x, s.like(x, 0)), x.type), s.cast(s.lt(x, s.like(x, 0)), x.type))",
  "double((x > 0) - (x < 0))", "isUnsigned ? int64_t(x != 0) : int64_t((x > 0) - (x < 0))"> { let summary = "-1, 0 or 1; 0 for NaN"; }
def Graph_FloorOp : Graph_Unary<"floor", TorchTargets<["aten.floor.default", "aten.floor_.default"], "Same">,
  "x.isFloat() ? s.floor(x) : x", "std::floor(x)", "x"> { let summary = "Largest integer not above x"; }
def Graph_CeilOp : Graph_Unary<"ceil", TorchTargets<["aten.ceil.default", "aten.ceil_.default"], "Same">,
  "x.isFloat() ? s.ceil(x) : x", "std::ceil(x)", "x"> { let summary = "Smallest integer not below x"; }
def Graph_RoundOp : Graph_Unary<"round", TorchTargets<["aten.round.default", "aten.round_.default"], "Same">,
  "x.isFloat() ? s.round(x) : x", "std::nearbyint(x)", "x"> { let summary = "Nearest integer, half to even"; }
def Graph_TruncOp : Graph_Unary<"trunc", TorchTargets<["aten.trunc.default", "aten.trunc_.default", "aten.fix.default"], "Same">,
  "x.isFloat() ? s.trunc(x) : x", "std::trunc(x)", "x"> { let summary = "Integer part"; }
def Graph_FracOp : Graph_Unary<"frac", TorchTargets<["aten.frac.default"], "Same">,
  "s.sub(x, s.trunc(x))", "x - std::trunc(x)"> { let summary = "x - trunc(x)"; }

// Exponentials, logarithms, roots.
def Graph_ExpOp : Graph_Unary<"exp", TorchTargets<["aten.exp.default", "aten.exp_.default"], "Float">, "s.exp(x)", "std::exp(x)"> { let summary = "e^x"; }
def Graph_Exp2Op : Graph_Unary<"exp2", TorchTargets<["aten.exp2.default", "aten.special_exp2.default"], "Float">, "s.exp2(x)", "std::exp2(x)"> { let summary = "2^x"; }
def Graph_Expm1Op : Graph_Unary<"expm1", TorchTargets<["aten.expm1.default", "aten.special_expm1.default"], "Float">, "s.expm1(x)", "std::expm1(x)"> { let summary = "e^x - 1"; }
def Graph_LogOp : Graph_Unary<"log", TorchTargets<["aten.log.default", "aten.log_.default"], "Float">, "s.log(x)", "std::log(x)"> { let summary = "Natural logarithm"; }
def Graph_Log2Op : Graph_Unary<"log2", TorchTargets<["aten.log2.default"], "Float">, "s.log2(x)", "std::log2(x)"> { let summary = "Logarithm to base 2"; }
def Graph_Log10Op : Graph_Unary<"log10", TorchTargets<["aten.log10.default"], "Float">, "s.log10(x)", "std::log10(x)"> { let summary = "Logarithm to base 10"; }
def Graph_Log1pOp : Graph_Unary<"log1p", TorchTargets<["aten.log1p.default", "aten.special_log1p.default"], "Float">, "s.log1p(x)", "std::log1p(x)"> { let summary = "log(1 + x)"; }
def Graph_SqrtOp : Graph_Unary<"sqrt", TorchTargets<["aten.sqrt.default", "aten.sqrt_.default"], "Float">, "s.sqrt(x)", "std::sqrt(x)"> { let summary = "Square root"; }
def Graph_RsqrtOp : Graph_Unary<"rsqrt", TorchTargets<["aten.rsqrt.default", "aten.rsqrt_.default"], "Float">, "s.rsqrt(x)", "1 / std::sqrt(x)"> { let summary = "1 / sqrt(x)"; }
def Graph_ReciprocalOp : Graph_Unary<"reciprocal", TorchTargets<["aten.reciprocal.default", "aten.reciprocal_.default"], "Float">, "s.div(s.like(x, 1), x)", "1 / x"> { let summary = "1 / x"; }

// Trigonometric and hyperbolic functions; angles in radians.
def Graph_SinOp : Graph_Unary<"sin", TorchTargets<["aten.sin.default", "aten.sin_.default"], "Float">, "s.sin(x)", "std::sin(x)"> { let summary = "Sine"; }
def Graph_CosOp : Graph_Unary<"cos", TorchTargets<["aten.cos.default", "aten.cos_.default"], "Float">, "s.cos(x)", "std::cos(x)"> { let summary = "Cosine"; }
def Graph_TanOp : Graph_Unary<"tan", TorchTargets<["aten.tan.default"], "Float">, "s.tan(x)", "std::tan(x)"> { let summary = "Tangent"; }
def Graph_AsinOp : Graph_Unary<"asin", TorchTargets<["aten.asin.default", "aten.arcsin.default"], "Float">, "s.asin(x)", "std::asin(x)"> { let summary = "Arc sine"; }
def Graph_AcosOp : Graph_Unary<"acos", TorchTargets<["aten.acos.default", "aten.arccos.default"], "Float">, "s.acos(x)", "std::acos(x)"> { let summary = "Arc cosine"; }
def Graph_AtanOp : Graph_Unary<"atan", TorchTargets<["aten.atan.default", "aten.arctan.default"], "Float">, "s.atan(x)", "std::atan(x)"> { let summary = "Arc tangent"; }
def Graph_SinhOp : Graph_Unary<"sinh", TorchTargets<["aten.sinh.default"], "Float">, "s.sinh(x)", "std::sinh(x)"> { let summary = "Hyperbolic sine"; }
def Graph_CoshOp : Graph_Unary<"cosh", TorchTargets<["aten.cosh.default"], "Float">, "s.cosh(x)", "std::cosh(x)"> { let summary = "Hyperbolic cosine"; }
def Graph_TanhOp : Graph_Unary<"tanh", TorchTargets<["aten.tanh.default", "aten.tanh_.default"], "Float">, "s.tanh(x)", "std::tanh(x)"> { let summary = "Hyperbolic tangent"; }
def Graph_AsinhOp : Graph_Unary<"asinh", TorchTargets<["aten.asinh.default", "aten.arcsinh.default"], "Float">, "s.asinh(x)", "std::asinh(x)"> { let summary = "Inverse hyperbolic sine"; }
def Graph_AcoshOp : Graph_Unary<"acosh", TorchTargets<["aten.acosh.default", "aten.arccosh.default"], "Float">, "s.acosh(x)", "std::acosh(x)"> { let summary = "Inverse hyperbolic cosine"; }
def Graph_AtanhOp : Graph_Unary<"atanh", TorchTargets<["aten.atanh.default", "aten.arctanh.default"], "Float">, "s.atanh(x)", "std::atanh(x)"> { let summary = "Inverse hyperbolic tangent"; }
def Graph_ErfOp : Graph_Unary<"erf", TorchTargets<["aten.erf.default", "aten.erf_.default", "aten.special_erf.default"], "Float">, "s.erf(x)", "std::erf(x)"> { let summary = "Error function"; }
def Graph_ErfcOp : Graph_Unary<"erfc", TorchTargets<["aten.erfc.default", "aten.special_erfc.default"], "Float">, "s.erfc(x)", "std::erfc(x)"> { let summary = "1 - erf(x)"; }

// Bits and tests.
def Graph_BitwiseNotOp : Graph_Unary<"bitwise_not", TorchTargets<["aten.bitwise_not.default", "aten.bitwise_not_.default", "aten.__invert__.default"], "Same">,
  "x.isBool() ? s.logicalNot(x) : s.bitXor(x, s.integer(x.type, -1))", "", "op.getType().getElementType().isInteger(1) ? int64_t(!x) : ~x", 0, 1> { let summary = "Every bit inverted; logical not of a bool"; }
def Graph_LogicalNotOp : Graph_Unary<"logical_not", TorchTargets<["aten.logical_not.default"], "None">,
  "s.eq(x, s.like(x, 0))", "double(x == 0)", "int64_t(x == 0)", 1> { let summary = "x == 0 (false for NaN)"; }
def Graph_IsNanOp : Graph_Unary<"is_nan", TorchTargets<["aten.isnan.default"], "None">,
  "x.isFloat() ? s.isNan(x) : s.constant(::mlir::IntegerType::get(s.b.getContext(), 1), 0)", "double(std::isnan(x))", "int64_t(0)", 1> { let summary = "Whether x is NaN"; }
def Graph_IsInfOp : Graph_Unary<"is_inf", TorchTargets<["aten.isinf.default"], "None">,
  "x.isFloat() ? s.eq(s.abs(x), s.highest(x.type)) : s.constant(::mlir::IntegerType::get(s.b.getContext(), 1), 0)", "double(std::isinf(x))", "int64_t(0)", 1> { let summary = "Whether x is an infinity"; }
def Graph_IsFiniteOp : Graph_Unary<"is_finite", TorchTargets<["aten.isfinite.default"], "None">,
  "x.isFloat() ? s.lt(s.abs(x), s.highest(x.type)) : s.constant(::mlir::IntegerType::get(s.b.getContext(), 1), 1)", "double(std::isfinite(x))", "int64_t(1)", 1> { let summary = "Whether x is neither NaN nor an infinity"; }

#endif
