// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions, contractions.
#include "tests/conformance/Case.h"

namespace stator::conformance {

/// Rows, columns, everything, the middle, nothing, and lengths that leave lanes, warps and blocks idle.
static std::vector<Form> reductions(const std::string &op, const std::string &result = "") {
  std::string to = result.empty() ? "" : ":" + result;
  auto form = [&](const std::string &in, const std::string &dims, const std::string &out,
                  std::vector<std::vector<int64_t>> sizes = {}) {
    return Form{"x[" + in + "] -> [" + out + "]" + to, "%r = graph." + op + " %x dims = [" + dims + "] : $x", sizes};
  };
  return {form("n, m", "1", "n", {{0, 3}, {3, 0}, {1, 1}, {3, 33}, {2, 1025}, {5, 32}}),
          form("n, m", "0", "m", {{0, 3}, {3, 0}, {1, 1}, {33, 3}, {130, 31}}),
          form("n", "0", "", {{0}, {1}, {31}, {33}, {8191}, {8193}}),
          form("3, 11, 5", "1", "3, 5"),
          form("2, 3, 4, 5", "1, 3", "2, 4"),
          form("2, 3", "", "2, 3"),
          form("7, 127", "1", "7"),
          {"x[33, 5] -> [5]" + to + " where t[5, 33]",
           "%t = graph.transpose %x [1, 0] : $x\n%r = graph." + op + " %t dims = [1] : $t"}};
}

/// A part of the forms for the element types after the first.
static void add(std::vector<Row> &rows, const std::string &op, const std::vector<std::string> &elements,
                Tolerance tolerance, Fill fill, const std::vector<Form> &forms, size_t always = 1) {
  for (size_t e = 0; e < elements.size(); ++e) {
    std::vector<Form> some;
    for (size_t f = 0; f < forms.size(); ++f)
      if (e == 0 || f < always || (f + e + rows.size()) % 3 == 0) some.push_back(forms[f]);
    rows.push_back({op, {elements[e]}, tolerance, some, fill});
  }
}

static std::vector<Form> matmuls() {
  auto form = [](const std::string &a, const std::string &b, const std::string &out, const std::string &flags = "",
                 std::vector<std::vector<int64_t>> sizes = {}) {
    return Form{"x[" + a + "], y[" + b + "] -> [" + out + "]", "%r = graph.matmul %x, %y" + flags + " : $x, $y", sizes};
  };
  return {form("n, k", "k, m", "n, m", "", {{1, 1, 1}, {0, 3, 2}, {2, 0, 3}, {3, 4, 0}, {5, 33, 17}, {33, 7, 40}}),
          form("n, 33", "33, 20", "n, 20", "", {{0}, {1}, {5}, {70}}),
          form("7, 13", "5, 13", "7, 5", " transpose_rhs"),
          form("13, 7", "13, 5", "7, 5", " transpose_lhs"),
          form("3, 4, 31", "3, 31, 6", "3, 4, 6"),
          form("2, 3, 4, 9", "9, 5", "2, 3, 4, 5"),
          form("1, 130", "130, 33", "1, 33"),
          form("4, 0", "0, 5", "4, 5")};
}

std::vector<Row> reduceRows() {
  const std::vector<std::string> numbers = {"f32", "i64", "f16", "bf16", "f64", "i32", "i16", "i8", "ui8"};
  const std::vector<std::string> floats = {"f32", "f16", "bf16", "f64"};
  std::vector<Row> rows;
  add(rows, "sum", numbers, exact, Fill::Integers, reductions("sum"));
  add(rows, "sum", floats, sumOf(8193), Fill::Random, reductions("sum"));
  add(rows, "prod", numbers, exact, Fill::Powers, reductions("prod"));
  for (const char *op : {"reduce_max", "reduce_min"}) add(rows, op, numbers, exact, Fill::Special, reductions(op));
  for (const char *op : {"argmax", "argmin"}) {
    add(rows, op, numbers, exact, Fill::Special, reductions(op, "i64"));
    // Few values: the first of equal ones is wanted, in whichever lane, warp or block.
    add(rows, op, {"f32", "i32"}, exact, Fill::Powers, reductions(op, "i64"));
  }
  for (const char *op : {"any", "all"}) rows.push_back({op, boolType, exact, reductions(op)});
  add(rows, "matmul", {"f32", "f16", "bf16", "f64", "i64", "i32", "i8"}, exact, Fill::Integers, matmuls(), 2);
  add(rows, "matmul", floats, sumOf(131), Fill::Random, matmuls());
  // A linear layer, whose bias and activation a library may take over; any size may be 0.
  rows.push_back(
      {"matmul",
       {"f32", "f64"},
       exact,
       {{"x[n, k], y[k, m], z[m] -> [n, m]",
         "%p = graph.matmul %x, %y : $x, $y\n%b = graph.broadcast %z : $z to $0\n%s = graph.add %p, %b : $0\n"
         "%r = graph.relu %s : $0",
         {{1, 1, 1}, {0, 3, 2}, {2, 0, 3}, {3, 4, 0}, {0, 0, 0}, {33, 7, 40}}}},
       Fill::Integers});
  return rows;
}

} // namespace stator::conformance
