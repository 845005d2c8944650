// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Activation functions: elementwise, each rounded once, as eager PyTorch does it.
#ifndef STATOR_DIALECTS_GRAPH_ACTIVATION
#define STATOR_DIALECTS_GRAPH_ACTIVATION

include "dialects/graph/Elementwise.td"

def Graph_ReluOp : Graph_Unary<"relu", TorchTargets<["aten.relu.default", "aten.relu_.default"], "Same">,
  "s.select(s.lt(x, s.like(x, 0)), s.like(x, 0), x)", "x < 0 ? 0.0 : x", "!isUnsigned && x < 0 ? int64_t(0) : x"> {
  let summary = "x below 0 becomes 0; -0 and NaN stay"; }
def Graph_SigmoidOp : Graph_Unary<"sigmoid", TorchTargets<["aten.sigmoid.default", "aten.sigmoid_.default", "aten.special_expit.default"], "Float">,
  "s.div(s.like(x, 1), s.add(s.like(x, 1), s.exp(s.neg(x))))", "1 / (1 + std::exp(-x))"> { let summary = "1 / (1 + e^-x)"; }
def Graph_SiluOp : Graph_Unary<"silu", TorchTargets<["aten.silu.default", "aten.silu_.default"], "Float">,
  "s.div(x, s.add(s.like(x, 1), s.exp(s.neg(x))))", "x / (1 + std::exp(-x))"> { let summary = "x * sigmoid(x)"; }
def Graph_GeluOp : Graph_Unary<"gelu", TorchTargets<[]>,
  "s.mul(s.mul(s.like(x, 0.5), x), s.add(s.like(x, 1), s.erf(s.mul(x, s.like(x, M_SQRT1_2)))))",
  "0.5 * x * (1 + std::erf(x * M_SQRT1_2))"> { let summary = "x * Phi(x), by erf"; }
def Graph_GeluTanhOp : Graph_Unary<"gelu_tanh", TorchTargets<[]>,
  "s.mul(s.mul(s.like(x, 0.5), x), s.add(s.like(x, 1), s.tanh(s.mul(s.like(x, M_2_SQRTPI * M_SQRT1_2), s.add(x, s.mul(s.like(x, 0.044715), s.mul(s.mul(x, x), x)))))))",
  "0.5 * x * (1 + std::tanh(M_2_SQRTPI * M_SQRT1_2 * (x + 0.044715 * x * x * x)))"> { let summary = "The tanh approximation of gelu"; }
def Graph_HardSigmoidOp : Graph_Unary<"hard_sigmoid", TorchTargets<["aten.hardsigmoid.default", "aten.hardsigmoid_.default"], "Float">,
  "s.div(s.minimum(s.maximum(s.add(x, s.like(x, 3)), s.like(x, 0)), s.like(x, 6)), s.like(x, 6))",
  "(std::isnan(x) ? x : std::min(std::max(x + 3, 0.0), 6.0)) / 6"> { let summary = "clamp(x + 3, 0, 6) / 6"; }
def Graph_HardSwishOp : Graph_Unary<"hard_swish", TorchTargets<["aten.hardswish.default", "aten.hardswish_.default"], "Float">,
  "s.mul(x, s.div(s.minimum(s.maximum(s.add(x, s.like(x, 3)), s.like(x, 0)), s.like(x, 6)), s.like(x, 6)))",
  "std::isnan(x) ? x : x * std::min(std::max(x + 3, 0.0), 6.0) / 6"> { let summary = "x * clamp(x + 3, 0, 6) / 6"; }
def Graph_MishOp : Graph_Unary<"mish", TorchTargets<["aten.mish.default", "aten.mish_.default"], "Float">,
  "s.mul(x, s.tanh(s.log1p(s.exp(x))))", "x * std::tanh(std::log1p(std::exp(x)))"> { let summary = "x * tanh(log(1 + e^x))"; }
def Graph_LogSigmoidOp : Graph_Unary<"log_sigmoid", TorchTargets<["aten.log_sigmoid.default"], "Float">,
  "s.sub(s.minimum(x, s.like(x, 0)), s.log1p(s.exp(s.neg(s.abs(x)))))",
  "(x < 0 || std::isnan(x) ? x : 0.0) - std::log1p(std::exp(-std::fabs(x)))"> { let summary = "log(sigmoid(x)), without overflow"; }

class Graph_ParametricUnary<string mnemonic, dag attributes, code emission, code evalF>
    : Graph_Elementwise<mnemonic, TorchTargets<[]>, 1, 0, 1, 0, emission, evalF, ""> {
  let arguments = !con((ins Graph_Tensor:$x), attributes);
  let assemblyFormat = "$x attr-dict `:` type($x)";
}
def Graph_LeakyReluOp : Graph_ParametricUnary<"leaky_relu", (ins F64Attr:$slope),
  "s.select(s.gt(x, s.like(x, 0)), x, s.mul(x, s.like(x, op.getSlope().convertToDouble())))",
  "x > 0 ? x : x * op.getSlope().convertToDouble()"> { let summary = "x above 0, slope * x below"; }
def Graph_EluOp : Graph_ParametricUnary<"elu", (ins F64Attr:$alpha, F64Attr:$scale, F64Attr:$input_scale),
  "s.mul(s.like(x, op.getScale().convertToDouble()), s.select(s.gt(x, s.like(x, 0)), x, s.mul(s.like(x, op.getAlpha().convertToDouble()), s.expm1(s.mul(x, s.like(x, op.getInputScale().convertToDouble()))))))",
  "op.getScale().convertToDouble() * (x > 0 ? x : op.getAlpha().convertToDouble() * std::expm1(x * op.getInputScale().convertToDouble()))"> {
  let summary = "scale * (x above 0, alpha * (e^(input_scale * x) - 1) below); selu and celu are instances"; }
def Graph_SoftplusOp : Graph_ParametricUnary<"softplus", (ins F64Attr:$beta, F64Attr:$threshold),
  "s.select(s.gt(s.mul(x, s.like(x, op.getBeta().convertToDouble())), s.like(x, op.getThreshold().convertToDouble())), x, s.div(s.log1p(s.exp(s.mul(x, s.like(x, op.getBeta().convertToDouble())))), s.like(x, op.getBeta().convertToDouble())))",
  "x * op.getBeta().convertToDouble() > op.getThreshold().convertToDouble() ? x : std::log1p(std::exp(x * op.getBeta().convertToDouble())) / op.getBeta().convertToDouble()"> {
  let summary = "log(1 + e^(beta * x)) / beta; x itself where beta * x is above the threshold"; }

#endif
