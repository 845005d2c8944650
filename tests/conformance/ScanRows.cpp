// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Prefix scans, sorting, positions of elements.
#include "tests/conformance/Case.h"

namespace stator::conformance {

/// Along the last, the first and a middle dimension.
static std::vector<Form> lines(const std::string &op, const std::string &attributes = "") {
  auto form = [&](const std::string &dims, int dim, std::vector<std::vector<int64_t>> sizes = {}) {
    return Form{"x[" + dims + "] -> [" + dims + "]",
                "%r = graph." + op + " %x dim = " + std::to_string(dim) + attributes + " : $x", sizes};
  };
  return {form("n, m", 1, {{0, 3}, {3, 0}, {1, 1}, {3, 33}, {2, 1025}}), form("n", 0, {{0}, {1}, {129}}),
          form("3, 11, 5", 1)};
}
static std::vector<Form> withPositions(std::vector<Form> forms) {
  for (Form &form : forms) {
    std::string result = form.signature.substr(form.signature.find("->") + 2);
    form.signature += "," + result + ":i64";
    form.body.replace(0, 2, "%r:2");
  }
  return forms;
}

std::vector<Row> scanRows() {
  const std::vector<std::string> numbers = {"f32", "i64", "f16", "bf16", "f64", "i32", "i8", "ui8"};
  std::vector<Row> rows = {
      {"cumsum", numbers, exact, lines("cumsum"), Fill::Integers},
      {"cumsum", floatTypes, sumOf(1025), lines("cumsum"), Fill::Random},
      {"cumprod", numbers, exact, lines("cumprod"), Fill::Powers},
  };
  for (const char *op : {"cummax", "cummin"})
    rows.push_back({op, numbers, exact, withPositions(lines(op)), Fill::Special});
  for (const char *direction : {"", " {descending}"}) {
    rows.push_back({"sort", numbers, exact, withPositions(lines("sort", direction)), Fill::Special});
    // Ties: the order of equal elements stays.
    rows.push_back({"sort", {"f32", "i64"}, exact, withPositions(lines("sort", direction)), Fill::Powers});
  }
  for (const char *direction : {"", " {smallest}"}) {
    std::string k = std::string("%r:2 = graph.topk %x k = 3 dim = ");
    rows.push_back(
        {"topk",
         numbers,
         exact,
         {{"x[n, m] -> [n, 3], [n, 3]:i64", k + "1" + direction + " : $x", {{0, 3}, {2, 3}, {3, 33}, {2, 1025}}},
          {"x[33] -> [3], [3]:i64", k + "0" + direction + " : $x"},
          {"x[3, 11, 5] -> [3, 3, 5], [3, 3, 5]:i64", k + "1" + direction + " : $x"}}});
  }
  // As many rows as the type says, the rest filled; and as many as there are elements that are not 0.
  rows.push_back({"nonzero",
                  {"f32", "i64", "i8", "i1"},
                  exact,
                  {{"x[3, 7] -> [25, 2]:i64", "%r = graph.nonzero %x fill = -1 : $x to $0"},
                   {"x[n] -> [4, 1]:i64", "%r = graph.nonzero %x fill = 7 : $x to $0"},
                   {"x[0, 4] -> [0, 2]:i64", "%r = graph.nonzero %x fill = 0 : $x to $0"}}});
  return rows;
}

} // namespace stator::conformance
