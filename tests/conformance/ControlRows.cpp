// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow, symbols, effects, and what only stands between phases.
#include "tests/conformance/Case.h"

namespace stator::conformance {

std::vector<Row> controlRows() {
  const std::vector<std::string> some = {"f32", "i64", "i1"};
  return {
      {"if",
       some,
       exact,
       {{"c[]:i1, x[n], y[n] -> [n] where b[n]:i1", "%r = graph.if %c : $c -> ($x) {\ngraph.yield %x : $x\n} else "
                                                    "{\n%z = graph.eq %y, %x : $x\n%w = graph.cast %z : "
                                                    "$b to $x\ngraph.yield %w : $x\n}"}}},
      {"while",
       {"f32", "i32"},
       exact,
       {{"x[n], k[]:i64{0..6} -> [n] where b[]:i1, i[]:i64",
         "%zero = graph.constant dense<0> : $i\n%q:2 = graph.while %x, %zero : $x, $i -> ($x, $i) {\n^bb0(%a: $x, %j: "
         "$i):\n"
         "%go = graph.lt %j, %k : $i\ngraph.yield %go : $b\n} do {\n^bb0(%a: $x, %j: $i):\n%one = graph.constant "
         "dense<1> : $i\n"
         "%next = graph.add %j, %one : $i\n%s = graph.add %a, %a : $x\ngraph.yield %s, %next : $x, $i\n}\n"
         "%r = graph.neg %q#0 : $x"}},
       Fill::Integers},
      {"fusion",
       {"f32", "i64"},
       exact,
       {{"x[n], y[n] -> [n], [n]", "%r:2 = graph.fusion \"mine\" \"loop\" (%x, %y) : ($x, $y) -> ($0, $1) {\n^bb0(%a: "
                                   "$x, %b: $y):\n%s = graph.add %a, %b "
                                   ": $x\n%d = graph.sub %s, %b : $x\ngraph.yield %s, %d : $x, $x\n}"}}},
      {"yield",
       {"f32"},
       exact,
       {{"c[]:i1, x[3] -> [3]",
         "%r = graph.if %c : $c -> ($x) {\ngraph.yield %x : $x\n} else {\ngraph.yield %x : $x\n}"}}},
      {"bind_symbol",
       {"f32", "i64"},
       exact,
       {{"x[20], k[]:i64{0..20} -> [u] where m[20]:i1",
         "graph.bind_symbol \"u\", %k : $k\n%r = graph.slice %x starts <0> steps [1] : $x to $0"}}},
      {"assert",
       {"f32"},
       exact,
       {{"x[n], c[]:i1{1..1} -> [n]", "graph.assert %c, \"holds\" : $c\n%r = graph.neg %x : $x"}}},
      {"assert_shape",
       some,
       exact,
       {{"x[n], y[m] -> [m]", "%r = graph.assert_shape %x : $x to $0", {{0, 0}, {1, 1}, {33, 33}}}}},
      {"write",
       some,
       exact,
       {{"x[6, 5], y[3, 5] -> [6, 5]", "%r = graph.copy %x : $x\n%v = graph.slice %r starts <0, 0> steps [2, 1] : $x "
                                       "to $y\ngraph.write %v, %y : $y"}}},
      {"copy",
       some,
       exact,
       {{"x[n] -> [n], [n]",
         "%c = graph.copy %x : $x\n%d = graph.copy %c : $x\n%e = graph.reverse %x dims = [0] : $x\ngraph.write %c, %e "
         ": $x\n"
         "%r:2 = graph.fusion \"pair\" \"loop\" (%c, %d) : ($x, $x) -> ($x, $x) {\n^bb0(%a: $x, %b: $x):\n%p = "
         "graph.reverse %a "
         "dims = [0] : $x\n%q = graph.reverse %b dims = [0] : $x\ngraph.yield %p, %q : $x, $x\n}"}}},
  };
}

} // namespace stator::conformance
