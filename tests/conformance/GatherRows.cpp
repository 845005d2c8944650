// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indexed reads and writes.
#include "tests/conformance/Case.h"

namespace stator::conformance {

/// Scatters of every mode that the element types have; values whose sums and products are exact in any order.
static void addScatters(std::vector<Row> &rows) {
  for (const char *mode : {"set", "add", "mul", "max", "min"}) {
    std::string m = mode;
    bool any = m == "set";
    std::vector<std::string> elements =
        any ? std::vector<std::string>{"f32", "bf16", "i64", "i8", "i1", "f8E5M2"}
            : std::vector<std::string>{"f32", "f16", "bf16", "f64", "i64", "i32", "i8", "ui8"};
    Fill fill = m == "mul" ? Fill::Powers : m == "add" ? Fill::Integers : Fill::Special;
    rows.push_back({"scatter",
                    elements,
                    exact,
                    {{"x[7, 5], i[9, 3]:i64{-7..6}, u[9, 3] -> [7, 5]",
                      "%r = graph.scatter %x, %i, %u " + m + " dim = 0 : $x, $i, $u"},
                     {"x[3, 33], i[2, n]:i32{0..32}, u[2, n] -> [3, 33]",
                      "%r = graph.scatter %x, %i, %u " + m + " dim = 1 : $x, $i, $u"}},
                    fill});
    rows.push_back({"index_put",
                    elements,
                    exact,
                    {{"x[7, 5], i[4]:i64{-7..6}, u[4, 5] -> [7, 5]",
                      "%r = graph.index_put %x [%i], %u " + m + " dims = [0] : $x [$i], $u"},
                     {"x[3, 6, 7], i[n]:i32{0..5}, j[n]:i32{-7..6}, u[3, n] -> [3, 6, 7]",
                      "%r = graph.index_put %x [%i, %j], %u " + m + " dims = [1, 2] : $x [$i, $j], $u"}},
                    fill});
  }
}

std::vector<Row> gatherRows() {
  const std::vector<std::string> some = {"f32", "f16", "bf16", "f64", "f8E4M3FN", "i64", "i16", "i8", "ui8", "i1"};
  std::vector<Row> rows = {
      {"take",
       some,
       exact,
       {{"x[7, 5], i[n]:i64{-7..6} -> [n, 5]", "%r = graph.take %x, %i dim = 0 : $x, $i"},
        {"x[3, 9, 2], i[4, 2]:i32{0..8} -> [3, 4, 2, 2]", "%r = graph.take %x, %i dim = 1 : $x, $i"},
        {"x[3, 33], i[]:i64{32..32} -> [3]", "%r = graph.take %x, %i dim = 1 : $x, $i"}}},
      {"gather",
       some,
       exact,
       {{"x[7, n], i[5, n]:i64{-7..6} -> [5, n]", "%r = graph.gather %x, %i dim = 0 : $x, $i"},
        {"x[3, 9], i[2, 65]:i32{0..8} -> [2, 65]", "%r = graph.gather %x, %i dim = 1 : $x, $i"}}},
      {"index",
       some,
       exact,
       {{"x[7, 9], i[n]:i64{-7..6}, j[n]:i64{0..8} -> [n]", "%r = graph.index %x [%i, %j] dims = [0, 1] : $x [$i, $j]"},
        {"x[3, 9, 4], i[2, 5]:i32{-9..8} -> [3, 2, 5, 4]", "%r = graph.index %x [%i] dims = [1] : $x [$i]"}}},
  };
  addScatters(rows);
  return rows;
}

} // namespace stator::conformance
