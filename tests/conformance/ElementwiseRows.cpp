// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elementwise ops: one line each; the forms are the same for all. Bounds are those of docs/numerics.md.
#include "tests/conformance/Case.h"

namespace stator::conformance {

namespace {
struct Elementwise {
  std::string op;
  unsigned arity;
  std::vector<std::string> elements;
  Tolerance tolerance = exact;
  /// Behind the operands: `{slope = 0.1 : f64}`.
  std::string attributes = "";
  /// Element type of the result, where it is not the operands'.
  std::string result = "";
  /// Range of the last operand's values.
  std::string range = "";
  /// Narrow floats besides.
  bool narrow = false;
};

/// `dims` for each operand (the last repeats) and for the operands of the op itself, after `prologue`.
Form form(const Elementwise &row, std::vector<std::string> dims, const std::string &resultDims,
          const std::string &prologue = "") {
  static const char *names[] = {"x", "y", "z"};
  Form form;
  std::string operands;
  for (unsigned i = 0; i < row.arity; ++i) {
    form.signature += (i ? ", " : "") + std::string(names[i]) + "[" + dims[std::min<size_t>(i, dims.size() - 1)] + "]" +
                      (i + 1 == row.arity ? row.range : "");
    operands += (i ? ", %" : "%") + std::string(names[i]) + (prologue.empty() ? "" : "p");
  }
  form.signature +=
      " -> [" + resultDims + "]" + (row.result.empty() ? "" : ":" + row.result) + " where p[" + resultDims + "]";
  if (!prologue.empty())
    for (unsigned i = 0; i < row.arity; ++i) {
      std::string text = prologue;
      for (size_t at; (at = text.find('@')) != std::string::npos;) text.replace(at, 1, names[i]);
      form.body += text + "\n";
    }
  form.body += "%r = graph." + row.op + " " + operands + (row.attributes.empty() ? "" : " " + row.attributes) + " : $p";
  return form;
}

/// Compiling is what costs, so the forms are shared out: every element type meets any size in one dimension, the first
/// floats and integers some more, and the ops together meet every form with every type.
void addRows(std::vector<Row> &rows, const Elementwise &e) {
  Form any = form(e, {"n"}, "n"), row = form(e, {"n"}, "5, n", "%@p = graph.broadcast %@ : $@ to $p");
  any.sizes = {{0}, {1}, {31}, {33}, {1025}};
  const std::vector<Form> shapes = {
      form(e, {"127"}, "127"),
      form(e, {""}, ""),
      form(e, {"2, 1, 4"}, "2, 1, 4"),
      form(e, {"1, 2, 1, 3, 1, 2, 1, 2"}, "1, 2, 1, 3, 1, 2, 1, 2"),
      form(e, {"3, 0"}, "3, 0"),
      form(e, {"17, 13"}, "13, 17", "%@p = graph.transpose %@ [1, 0] : $@"),
      row,
      form(e, {"5, 1"}, "5, 33", "%@p = graph.broadcast %@ : $@ to $p"),
      form(e, {"3, 33"}, "3, 16", "%@p = graph.slice %@ starts <0, 1> steps [1, 2] : $@ to $p"),
      form(e, {"2, 31"}, "2, 31", "%@p = graph.reverse %@ dims = [1] : $@"),
      form(e, {"n, 3"}, "3, n", "%@p = graph.transpose %@ [1, 0] : $@"),
  };
  size_t turn = rows.size();
  for (const std::string &element : e.narrow ? e.elements + narrowTypes : e.elements) {
    std::vector<Form> forms = {any};
    for (int more = element == "f32" || element == "i32" ? 3 : 1; more-- > 0;)
      forms.push_back(shapes[turn++ % shapes.size()]);
    rows.push_back({e.op, {element}, e.tolerance, forms});
  }
}
} // namespace

std::vector<Row> elementwiseRows() {
  const std::vector<std::string> bits = integerTypes + boolType;
  const std::vector<Elementwise> table = {
      // Signs and rounding.
      {"neg", 1, numberTypes, exact, "", "", "", true},
      {"abs", 1, numberTypes, exact, "", "", "", true},
      {"sign", 1, numberTypes},
      {"floor", 1, numberTypes},
      {"ceil", 1, numberTypes},
      {"round", 1, numberTypes},
      {"trunc", 1, numberTypes},
      {"frac", 1, floatTypes},
      // Functions of one operand.
      {"exp", 1, floatTypes, ulps(1)},
      {"exp2", 1, floatTypes, ulps(1)},
      {"expm1", 1, floatTypes, ulps(1.5)},
      {"log", 1, floatTypes, ulps(1)},
      {"log2", 1, floatTypes, ulps(2)},
      {"log10", 1, floatTypes, ulps(1)},
      {"log1p", 1, floatTypes, ulps(2.5)},
      {"sqrt", 1, floatTypes},
      {"rsqrt", 1, floatTypes, ulps(1.5)},
      {"reciprocal", 1, floatTypes},
      {"sin", 1, floatTypes, ulps(1)},
      {"cos", 1, floatTypes, ulps(1)},
      {"tan", 1, floatTypes, ulps(1)},
      {"asin", 1, floatTypes, ulps(2)},
      {"acos", 1, floatTypes, ulps(2)},
      {"atan", 1, floatTypes, ulps(2)},
      {"sinh", 1, floatTypes, ulps(3)},
      {"cosh", 1, floatTypes, ulps(3)},
      {"tanh", 1, floatTypes, ulps(2.5)},
      {"asinh", 1, floatTypes, ulps(3)},
      {"acosh", 1, floatTypes, ulps(3)},
      {"atanh", 1, floatTypes, ulps(3)},
      {"erf", 1, floatTypes, ulps(1)},
      {"erfc", 1, floatTypes, ulps(3)},
      {"bitwise_not", 1, bits},
      {"logical_not", 1, numberTypes + boolType, exact, "", "i1"},
      {"is_nan", 1, numberTypes + boolType, exact, "", "i1", "", true},
      {"is_inf", 1, numberTypes + boolType, exact, "", "i1"},
      {"is_finite", 1, numberTypes + boolType, exact, "", "i1"},
      // Arithmetic.
      {"add", 2, numberTypes + boolType, exact, "", "", "", true},
      {"sub", 2, numberTypes, exact, "", "", "", true},
      {"mul", 2, numberTypes + boolType, exact, "", "", "", true},
      {"div", 2, floatTypes, exact, "", "", "", true},
      {"floor_divide", 2, numberTypes},
      {"trunc_divide", 2, numberTypes},
      {"remainder", 2, numberTypes},
      {"fmod", 2, numberTypes},
      {"pow", 2, numberTypes, ulps(2)},
      {"atan2", 2, floatTypes, ulps(2)},
      {"xlog1py", 2, floatTypes, ulps(3.5)},
      {"copysign", 2, floatTypes},
      {"maximum", 2, numberTypes + boolType},
      {"minimum", 2, numberTypes + boolType},
      {"fmax", 2, numberTypes},
      {"fmin", 2, numberTypes},
      {"bitwise_and", 2, bits},
      {"bitwise_or", 2, bits},
      {"bitwise_xor", 2, bits},
      {"shift_left", 2, integerTypes, exact, "", "", "{-1..65}"},
      {"shift_right", 2, integerTypes, exact, "", "", "{-1..65}"},
      {"logical_and", 2, boolType},
      {"logical_or", 2, boolType},
      {"logical_xor", 2, boolType},
      // Comparisons.
      {"eq", 2, numberTypes + boolType, exact, "", "i1"},
      {"ne", 2, numberTypes + boolType, exact, "", "i1"},
      {"lt", 2, numberTypes + boolType, exact, "", "i1"},
      {"le", 2, numberTypes + boolType, exact, "", "i1"},
      {"gt", 2, numberTypes + boolType, exact, "", "i1"},
      {"ge", 2, numberTypes + boolType, exact, "", "i1"},
      // Activations.
      {"relu", 1, numberTypes},
      {"sigmoid", 1, floatTypes, {3, 0, true, 0}},
      {"silu", 1, floatTypes, {3, 0, true, 0}},
      {"gelu", 1, floatTypes, ofOperand(2)},
      {"gelu_tanh", 1, floatTypes, ofOperand(3)},
      {"hard_sigmoid", 1, floatTypes, ulps(1.5)},
      {"hard_swish", 1, floatTypes, ulps(2)},
      {"mish", 1, floatTypes, {5, 0, true, 0}},
      {"log_sigmoid", 1, floatTypes, {3, 0, true, 0}},
      {"leaky_relu", 1, floatTypes, exact, "{slope = 0.125 : f64}"},
      {"elu", 1, floatTypes, ulps(3), "{alpha = 1.5 : f64, scale = 1.25 : f64, input_scale = 0.5 : f64}"},
      {"softplus", 1, floatTypes, {4, 0, true, 0}, "{beta = 2.0 : f64, threshold = 20.0 : f64}"},
  };
  std::vector<Row> rows;
  for (const Elementwise &e : table) addRows(rows, e);

  rows.push_back(
      {"where",
       allTypes,
       exact,
       {{"c[n]:i1, x[n], y[n] -> [n]", "%r = graph.where %c, %x, %y : $c, $x"},
        {"c[1, 1, 5]:i1, x[1, 1, 5], y[1, 1, 5] -> [1, 1, 5]", "%r = graph.where %c, %x, %y : $c, $x"},
        {"c[7]:i1, x[], y[3, 7] -> [3, 7] where b[3, 7]:i1", "%d = graph.broadcast %c : $c to $b\n%e = graph.broadcast "
                                                             "%x : $x to $y\n%r = graph.where %d, %e, %y : $b, $y"}}});
  for (const std::string &to : allTypes) {
    rows.push_back(
        {"cast", allTypes, exact, {{"x[n] -> [n]:" + to, "%r = graph.cast %x : $x to $0", {{0}, {1}, {33}, {130}}}}});
    rows.push_back({"cast",
                    {"f32", "f16", "i64"},
                    exact,
                    {{"x[31, 3] -> [3, 31]:" + to + " where t[3, 31]",
                      "%t = graph.transpose %x [1, 0] : $x\n%r = graph.cast %t : $t to $0"}}});
  }
  return rows;
}

} // namespace stator::conformance
