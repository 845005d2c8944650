// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Python arithmetic on sizes. The program states the expression of every symbolic integer, so most of these nodes need
// no computing at all; booleans, floats and expressions that no size can have are computed as 0-d tensors.
#include "compiler/frontend/torch_export/Importer.h"
#include "compiler/frontend/torch_export/SymbolicExpr.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;

namespace stator::torch_export {
namespace {

/// Computes `function` on 0-d tensors of i64, f64 and i1; null where it is not known.
Value compute(GraphBuilder &b, StringRef function, SmallVector<Value> v) {
  auto isReal = [&](Value x) { return isFloat(GraphBuilder::element(x)); };
  Type f64 = b.b.getF64Type();
  auto boolean = [&](Value x) { return isBool(GraphBuilder::element(x)) ? x : b.cast(x, b.i1()); };
  if (v.size() == 1) {
    Value x = v[0];
    if (function == "neg") return b.unary<graph::NegOp>(x);
    if (function == "pos") return x;
    if (function == "abs") return b.unary<graph::AbsOp>(x);
    if (function == "not_" || function == "sym_not") return b.logicalNot(boolean(x));
    if (function == "sym_float") return b.cast(x, f64);
    if (function == "sym_int" || function == "trunc") return b.cast(x, b.i64());
    if (function == "floor") return b.cast(isReal(x) ? b.unary<graph::FloorOp>(x) : x, b.i64());
    if (function == "ceil") return b.cast(isReal(x) ? b.unary<graph::CeilOp>(x) : x, b.i64());
    if (function == "_sym_sqrt" || function == "sym_sqrt" || function == "sqrt")
      return b.unary<graph::SqrtOp>(b.cast(x, f64));
    if (function == "_sym_log2" || function == "log2") return b.unary<graph::Log2Op>(b.cast(x, f64));
    return {};
  }
  if (v.size() == 3 && function == "sym_ite") {
    if (isReal(v[1]) != isReal(v[2])) v[1] = b.cast(v[1], f64), v[2] = b.cast(v[2], f64);
    return b.where(boolean(v[0]), v[1], v[2]);
  }
  if (v.size() == 2) {
    if (function == "and_") return b.logicalAnd(boolean(v[0]), boolean(v[1]));
    if (function == "or_") return b.logicalOr(boolean(v[0]), boolean(v[1]));
    bool real = isReal(v[0]) || isReal(v[1]) || function == "truediv";
    for (Value &x : v) x = b.cast(x, real ? f64 : b.i64());
    if (function == "add") return b.add(v[0], v[1]);
    if (function == "sub") return b.sub(v[0], v[1]);
    if (function == "mul") return b.mul(v[0], v[1]);
    if (function == "truediv") return b.div(v[0], v[1]);
    if (function == "floordiv") return b.binary<graph::FloorDivideOp>(v[0], v[1]);
    if (function == "mod") return b.binary<graph::RemainderOp>(v[0], v[1]);
    if (function == "pow") return b.binary<graph::PowOp>(v[0], v[1]);
    if (function == "sym_max") return b.maximum(v[0], v[1]);
    if (function == "sym_min") return b.minimum(v[0], v[1]);
    if (function == "eq") return b.eq(v[0], v[1]);
    if (function == "ne") return b.ne(v[0], v[1]);
    if (function == "lt") return b.lt(v[0], v[1]);
    if (function == "le") return b.le(v[0], v[1]);
    if (function == "gt") return b.gt(v[0], v[1]);
    if (function == "ge") return b.ge(v[0], v[1]);
  }
  return {};
}

} // namespace

void Importer::importSymbolic(Scope &scope, GraphBuilder &b, const Node &node) {
  if (node.outputs.size() != 1 || node.outputs[0].scalars.size() != 1)
    GraphBuilder::fail("it does not give one number");
  const Argument &output = node.outputs[0];
  const ScalarArg &result = output.scalars[0];
  if (!result.isName()) return; // A number that the exporter found to be constant.
  if (output.kind == Argument::Kind::Int) {
    auto known = scope.graph->symInts.find(result.name);
    if (known != scope.graph->symInts.end()) {
      std::string error;
      DimExpr expr = known->second.isText() ? parseSymbolic(ctx, known->second.text, error)
                                            : DimExpr::constant(ctx, known->second.value);
      if (expr) {
        scope.scalars[result.name] = {expr, {}};
        return;
      }
    }
  }
  SmallVector<Value> operands;
  for (const NamedArgument &input : node.inputs) operands.push_back(argumentTensor(scope, b, input.value));
  for (Value operand : operands)
    if (!operand || GraphBuilder::rank(operand) != 0) GraphBuilder::fail("an operand that is not a number");
  StringRef function = StringRef(node.target).rsplit('.').second;
  Value value = compute(b, function, operands);
  if (!value) GraphBuilder::fail("this function of sizes is not supported");
  scope.scalars[result.name] = {{}, value};
}

} // namespace stator::torch_export
